/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nic-engine.h"

#include <cstring>

namespace ns3::training
{

Ptr<ByteBuffer>
NicEngine::Format(Ptr<ByteBuffer> numbers) const
{
    if (!numbers)
    {
        return nullptr;
    }
    const std::vector<uint8_t>& bytes = numbers->bytes;
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    auto formatted = Create<ByteBuffer>();
    format->Encode(values.data(), values.size(), CodecKey(), formatted->bytes);
    const std::size_t rest = bytes.size() % sizeof(float);
    formatted->bytes.insert(formatted->bytes.end(), bytes.end() - rest, bytes.end());
    return formatted;
}

Ptr<ByteBuffer>
NicEngine::Unformat(Ptr<ByteBuffer> formatted) const
{
    if (!formatted)
    {
        return nullptr;
    }
    const std::vector<uint8_t>& bytes = formatted->bytes;
    const uint64_t size = format->GetCodedBytes(1);
    std::vector<float> values(bytes.size() / size);
    const std::size_t coded = values.size() * size;
    format->Decode(bytes.data(), coded, CodecKey(), values.data(), values.size());
    auto numbers = Create<ByteBuffer>();
    numbers->bytes.resize(values.size() * sizeof(float));
    std::memcpy(numbers->bytes.data(), values.data(), numbers->bytes.size());
    numbers->bytes.insert(numbers->bytes.end(), bytes.begin() + coded, bytes.end());
    return numbers;
}

Time
NicEngine::Add(uint64_t bytes)
{
    const uint64_t words = (GetFormattedBytes(bytes) + sizeof(float) - 1) / sizeof(float);
    const uint64_t cycles = (words + lanes - 1) / lanes;
    return adder.Reserve(cycle * static_cast<int64_t>(cycles)) + addLatency;
}

Time
NicEngine::Write(uint64_t bytes)
{
    return writeUnit.Reserve(Seconds(reading.secondsPerByte * static_cast<double>(bytes))) +
           reading.latency;
}

Time
NicEngine::EstimateStep(uint64_t bytes) const
{
    constexpr uint64_t BUFFERED = 58; // 32 in the interface, 16 and an 80-flit queue behind it
    const uint64_t full = subMessages.GetFullBytes();
    const uint64_t count = (bytes + full - 1) / full;
    const double line =
        count <= BUFFERED ? static_cast<double>(count * SubMessages::FLIT)
                          : static_cast<double>(count * full) * lineShare * subMessages.GetShare() -
                                static_cast<double>(BUFFERED * full);
    return Seconds(line * lineSecondsPerByte);
}

Time
NicEngine::GetLineTime(uint64_t bytes) const
{
    return Seconds(static_cast<double>(subMessages.GetLineBytes(bytes)) * lineShare *
                   lineSecondsPerByte);
}

} // namespace ns3::training
