/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec/sparse-code.h"

#include "codec-blocks.h"
#include "codec/codec-bit-stream.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

constexpr uint64_t VALUE_BYTES = sizeof(float);

/** @return bits of the indices of a tensor */
uint32_t
GetIndexBits(uint64_t count)
{
    uint32_t bits = 0;
    while (uint64_t{1} << bits < count)
    {
        bits++;
    }
    return bits;
}

} // namespace

void
SparseCode::Write(const float* values,
                  uint64_t count,
                  const std::vector<uint32_t>& kept,
                  Indices indices,
                  std::vector<uint8_t>& code)
{
    const uint64_t bytes = GetBytes(kept.size(), count, indices);
    code.assign(bytes + BIT_STREAM_SLACK, 0);
    uint8_t* to = code.data();
    for (const uint32_t index : kept)
    {
        std::memcpy(to, values + index, VALUE_BYTES);
        to += VALUE_BYTES;
    }
    if (indices == Indices::BITMAP)
    {
        for (const uint32_t index : kept)
        {
            to[index / 8] |= static_cast<uint8_t>(1U << index % 8);
        }
    }
    else
    {
        const uint32_t bits = indices == Indices::WORDS ? 32 : GetIndexBits(count);
        BitWriter writer(to);
        for (const uint32_t index : kept)
        {
            writer.Put(index, bits);
        }
    }
    code.resize(bytes);
}

void
SparseCode::Read(const std::string& name,
                 const uint8_t* code,
                 uint64_t bytes,
                 Indices indices,
                 uint64_t kept,
                 float* values,
                 uint64_t count)
{
    CheckCodeSize(name.c_str(), bytes, GetBytes(kept, count, indices), count);
    std::fill(values, values + count, 0.0F);
    const uint8_t* from = code + VALUE_BYTES * kept;
    const auto put = [&](uint64_t number, uint64_t index) {
        const auto value = ReadNumber<float>(code + VALUE_BYTES * number);
        if (!std::isfinite(value))
        {
            throw CodecError(name + ": number " + std::to_string(index) +
                             " is not one that the encoder writes");
        }
        values[index] = value;
    };
    if (indices == Indices::BITMAP)
    {
        uint64_t number = 0;
        for (uint64_t i = 0; i < 8 * (bytes - VALUE_BYTES * kept); i++)
        {
            if ((from[i / 8] >> i % 8 & 1) != 0)
            {
                if (i >= count || number == kept)
                {
                    throw CodecError(name + ": the bitmap has more than " + std::to_string(kept) +
                                     " of " + std::to_string(count) + " numbers");
                }
                put(number++, i);
            }
        }
        if (number != kept)
        {
            throw CodecError(name + ": the bitmap has " + std::to_string(number) +
                             " numbers (allowed: " + std::to_string(kept) + ")");
        }
        return;
    }
    const auto padded = PadCode(from, static_cast<uint64_t>(code + bytes - from));
    BitReader reader(padded.data());
    const uint32_t bits = indices == Indices::WORDS ? 32 : GetIndexBits(count);
    uint64_t least = 0;
    for (uint64_t i = 0; i < kept; i++)
    {
        const uint64_t index = reader.Get(bits);
        if (index < least || index >= count)
        {
            throw CodecError(name + ": index " + std::to_string(index) +
                             " (allowed: " + std::to_string(least) + " to " +
                             std::to_string(count - 1) + ", in ascending order)");
        }
        put(i, index);
        least = index + 1;
    }
}

uint64_t
SparseCode::GetBytes(uint64_t kept, uint64_t count, Indices indices)
{
    const uint64_t bits = indices == Indices::WORDS    ? 32 * kept
                          : indices == Indices::BITMAP ? count
                                                       : GetIndexBits(count) * kept;
    return VALUE_BYTES * kept + (bits + 7) / 8;
}

uint64_t
SparseCode::GetKept(double share, uint64_t count)
{
    const auto kept = static_cast<uint64_t>(share * static_cast<double>(count));
    return std::min(std::max<uint64_t>(kept, 1), count);
}

Key
SparseCode::MakeKeepKey(double initial)
{
    return Key::Number("keep", initial, 1e-9, 1, "share of the numbers that is sent, at least one");
}

void
SparseCode::CheckCount(uint64_t count)
{
    if (count > MAX_COUNT)
    {
        throw CodecError(std::to_string(count) + " numbers (allowed: up to 2^32, because indices "
                                                 "have 32 bits)");
    }
}

} // namespace ns3::training
