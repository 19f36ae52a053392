/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-sums.h"

#include "ns3/abort.h"
#include "ns3/number-format.h"

#include <algorithm>

namespace ns3::training
{

void
SwitchPsSums::Configure(uint32_t slots, uint32_t elements, uint32_t workers, bool verify)
{
    m_sums.resize(2 * slots);
    m_elements = elements;
    m_workers = workers;
    m_verify = verify;
}

void
SwitchPsSums::Clear()
{
    std::fill(m_sums.begin(), m_sums.end(), Sum());
    std::fill(m_values.begin(), m_values.end(), 0);
    m_parts.assign(m_parts.size(), Part());
}

bool
SwitchPsSums::IsTaken(uint32_t slot) const
{
    const Sum* const sums = &m_sums[2 * slot];
    return (sums[0].used && !sums[0].complete) || (sums[1].used && !sums[1].complete);
}

bool
SwitchPsSums::IsStale(const SwitchPsHeader& header, uint32_t worker) const
{
    const Sum& sum = m_sums[2 * header.slot + header.set];
    const Sum& other = m_sums[2 * header.slot + 1 - header.set];
    // After a restart the slot may hold a contribution of this worker to the other version.
    const bool isTaken =
        other.used && !other.complete && other.seen >> worker & 1 && worker >= other.added;
    return (sum.used && static_cast<int32_t>(header.packet - sum.packet) < 0) || isTaken;
}

SwitchPsSums::Sum&
SwitchPsSums::Find(const SwitchPsHeader& header)
{
    Sum& sum = m_sums[2 * header.slot + header.set];
    if (!sum.used || sum.packet != header.packet)
    {
        NS_ABORT_MSG_IF(m_verify && sum.used && !sum.complete,
                        "slot " << header.slot << ": packet " << header.packet
                                << " before the sum of " << sum.packet << " is complete");
        sum = Sum();
        sum.used = true;
        sum.packet = header.packet;
        sum.range = header.keyRange;
        sum.exponent = header.exponent;
    }
    return sum;
}

void
SwitchPsSums::Add(Sum& sum, const Frame& frame, uint32_t worker, uint32_t workers)
{
    const auto& header = frame.As<SwitchPsHeader>();
    NS_ABORT_MSG_IF(m_verify && sum.range != header.keyRange,
                    "packet " << header.packet << " of key range " << header.keyRange << ", not "
                              << sum.range);
    sum.seen |= uint64_t{1} << worker;
    sum.check += header.check;
    sum.exponent = std::max(sum.exponent, header.exponent);
    sum.overflow |= header.overflow;
    float* const values = frame.payload ? GetValues(header) : nullptr;
    if (values)
    {
        m_parts[header.slot * m_workers + worker] = {frame.payload, frame.payloadOffset};
    }
    for (; sum.added < workers && sum.seen >> sum.added & 1; sum.added++)
    {
        if (!values)
        {
            continue;
        }
        Part& part = m_parts[header.slot * m_workers + sum.added];
        const uint8_t* from = part.payload->bytes.data() + part.offset;
        for (uint32_t i = 0; i < m_elements; i++, from += sizeof(float))
        {
            const float value = ToFloat(GetWord(from));
            values[i] = sum.added == 0 ? value : values[i] + value;
        }
        part.payload = nullptr;
    }
}

float*
SwitchPsSums::GetValues(const SwitchPsHeader& header)
{
    if (m_values.empty())
    {
        m_values.resize(m_sums.size() * m_elements);
        m_parts.resize(m_sums.size() / 2 * m_workers);
    }
    return m_values.data() + (2ULL * header.slot + header.set) * m_elements;
}

} // namespace ns3::training
