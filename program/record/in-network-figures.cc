/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "in-network-figures.h"

#include "ns3/training-byte-archive.h"
#include "ns3/training-processes.h"
#include "ns3/training-record-field.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ns3::training
{

namespace
{

/// Fields that are summed over ranks and processes; the others take the maximum.
const std::vector<RecordField<InNetworkFigures>> COUNTS{
    {"sent", "", "packets, without those sent again", &InNetworkFigures::sent},
    {"resent", "", "packets sent again", &InNetworkFigures::resent},
    {"received", "", "sums used", &InNetworkFigures::received},
    {"duplicates", "", "sums that the rank had already", &InNetworkFigures::duplicates}};

void
Add(const InNetworkFigures& other, InNetworkFigures& sum)
{
    for (const auto& field : COUNTS)
    {
        const auto member = std::get<uint64_t InNetworkFigures::*>(field.member);
        sum.*member += other.*member;
    }
    sum.fallenBack |= other.fallenBack;
    sum.errorBound = std::max(sum.errorBound, other.errorBound);
}

} // namespace

JsonValue
InNetworkFigures::ToJson() const
{
    auto object = JsonValue::Object();
    SetMembers(object, COUNTS, *this);
    object.Set("fallen_back", fallenBack).Set("error_bound", errorBound);
    if (maxError >= 0)
    {
        object.Set("max_error", maxError);
    }
    return object;
}

InNetworkFigures
SumFigures(const std::vector<Ptr<InNetworkCommunicator>>& workers)
{
    InNetworkFigures sum;
    for (const auto& worker : workers)
    {
        const InNetworkCounters& counters = worker->GetCounters();
        InNetworkFigures one;
        one.sent = counters.sent;
        one.resent = counters.resent;
        one.received = counters.received;
        one.duplicates = counters.duplicates;
        one.fallenBack = worker->HasFallenBack();
        one.errorBound = worker->GetErrorBound();
        Add(one, sum);
    }
    return sum;
}

std::optional<InNetworkFigures>
GetInNetworkFigures(const Cluster& cluster)
{
    if (cluster.GetInNetworkCommunicators().empty())
    {
        return std::nullopt;
    }
    const InNetworkFigures mine = SumFigures(cluster.GetInNetworkCommunicators());
    InNetworkFigures sum;
    for (const std::string& bytes :
         Processes::Gather({reinterpret_cast<const char*>(&mine), sizeof(mine)}))
    {
        InNetworkFigures other;
        std::memcpy(&other, bytes.data(), sizeof(other));
        Add(other, sum);
    }
    return sum;
}

std::string
FormatFallback(const Cluster& cluster)
{
    for (const auto& worker : cluster.GetInNetworkCommunicators())
    {
        if (worker->HasFallenBack())
        {
            return "the hosts made all-reduces themselves from then on: " + worker->GetFailure() +
                   "\n";
        }
    }
    return "";
}

} // namespace ns3::training
