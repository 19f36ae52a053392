/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec/omnireduce-codec.h"

#include "bucket-codec.h"
#include "codec-blocks.h"
#include "codec/sparse-code.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

OmniReduceCodec::OmniReduceCodec(uint32_t block, const DeclaredSize& declared)
    : m_block(block),
      m_declared(declared)
{
}

CodecTraits
OmniReduceCodec::GetTraits() const
{
    CodecTraits traits;
    traits.elementwise = true; // without loss
    traits.unbiased = true;
    traits.block = static_cast<uint32_t>(m_block);
    return traits;
}

bool
OmniReduceCodec::HasCodedBytes() const
{
    return m_declared.IsDeclared();
}

uint64_t
OmniReduceCodec::GetCodedBytes(uint64_t count) const
{
    return m_declared.GetBytes(count);
}

double
OmniReduceCodec::GetErrorBound(double largest, uint32_t, uint32_t addends) const
{
    return GetFloatSumError(largest, addends);
}

uint64_t
OmniReduceCodec::GetSize(uint64_t block, uint64_t count) const
{
    return std::min(m_block, count - block * m_block);
}

uint64_t
OmniReduceCodec::GetNext(const float* values, uint64_t block, uint64_t count) const
{
    const uint64_t blocks = (count + m_block - 1) / m_block;
    for (; block < blocks; block++)
    {
        const float* first = values + block * m_block;
        if (std::any_of(first, first + GetSize(block, count), [](float value) {
                return value != 0;
            }))
        {
            return block;
        }
    }
    return NONE;
}

void
OmniReduceCodec::Encode(const float* values,
                        uint64_t count,
                        const CodecKey&,
                        std::vector<uint8_t>& code) const
{
    SparseCode::CheckCount(count);
    code.clear();
    for (uint64_t block = count > 0 ? 0 : NONE; block != NONE;)
    {
        const uint64_t next = GetNext(values, block + 1, count);
        const auto* first = reinterpret_cast<const uint8_t*>(values + block * m_block);
        code.insert(code.end(), first, first + GetSize(block, count) * sizeof(float));
        AppendNumber(code, static_cast<uint32_t>(next));
        block = next;
    }
}

uint32_t
OmniReduceCodec::ReadNext(const uint8_t* code,
                          uint64_t bytes,
                          uint64_t at,
                          uint64_t block,
                          uint64_t count) const
{
    const uint64_t end = at + GetSize(block, count) * sizeof(float);
    if (end + sizeof(uint32_t) > bytes)
    {
        throw CodecError("omnireduce: a code of " + std::to_string(bytes) +
                         " bytes ends within block " + std::to_string(block));
    }
    const auto next = ReadNumber<uint32_t>(code + end);
    const uint64_t blocks = (count + m_block - 1) / m_block;
    if (next != NONE && (next <= block || next >= blocks))
    {
        throw CodecError("omnireduce: block " + std::to_string(next) + " follows block " +
                         std::to_string(block) + " of " + std::to_string(blocks));
    }
    if (next == NONE && end + sizeof(uint32_t) != bytes)
    {
        throw CodecError("omnireduce: a code of " + std::to_string(bytes) + " bytes ends at byte " +
                         std::to_string(end + sizeof(uint32_t)));
    }
    return next;
}

void
OmniReduceCodec::Decode(const uint8_t* code,
                        uint64_t bytes,
                        const CodecKey&,
                        float* values,
                        uint64_t count) const
{
    std::fill(values, values + count, 0.0F);
    if (count == 0)
    {
        CheckCodeSize("omnireduce", bytes, 0, count);
        return;
    }
    uint64_t at = 0;
    for (uint32_t block = 0; block != NONE;)
    {
        const uint32_t next = ReadNext(code, bytes, at, block, count);
        const uint64_t size = GetSize(block, count) * sizeof(float);
        std::memcpy(values + block * m_block, code + at, size);
        at += size + sizeof(uint32_t);
        block = next;
    }
}

std::vector<CodecClass>
OmniReduceCodec::CountClasses(const float* values, uint64_t count) const
{
    uint64_t sent = 0;
    for (uint64_t block = count > 0 ? 0 : NONE; block != NONE;
         block = GetNext(values, block + 1, count))
    {
        sent += GetSize(block, count);
    }
    return {{"in blocks of zeros", 0, count - sent},
            {"in blocks that are sent", 32 + 32.0 / static_cast<double>(m_block), sent}};
}

std::vector<uint8_t>
OmniReduceCodec::Aggregate(const std::vector<std::vector<uint8_t>>& codes, uint64_t count) const
{
    struct Sender
    {
        uint64_t at{0};
        uint32_t block{0}; // at
    };

    std::vector<Sender> senders(codes.size());
    std::vector<uint8_t> result;
    for (uint32_t block = count > 0 && !codes.empty() ? 0 : NONE; block != NONE;)
    {
        const uint64_t size = GetSize(block, count);
        std::vector<float> sum(size, 0);
        uint32_t least = NONE;
        for (std::size_t i = 0; i < codes.size(); i++)
        {
            Sender& sender = senders[i];
            if (sender.block == block)
            {
                const uint8_t* code = codes[i].data();
                sender.block = ReadNext(code, codes[i].size(), sender.at, block, count);
                for (uint64_t k = 0; k < size; k++)
                {
                    sum[k] += ReadNumber<float>(code + sender.at + k * sizeof(float));
                }
                sender.at += size * sizeof(float) + sizeof(uint32_t);
            }
            least = std::min(least, sender.block);
        }
        const auto* bytes = reinterpret_cast<const uint8_t*>(sum.data());
        result.insert(result.end(), bytes, bytes + size * sizeof(float));
        AppendNumber(result, least);
        block = least;
    }
    return result;
}

namespace
{

Ptr<GradientCodec>
MakeOmniReduce(const KeyValues& keys)
{
    return Create<OmniReduceCodec>(static_cast<uint32_t>(keys.GetCount("block")),
                                   DeclaredSize(keys));
}

const Registry<CodecEntry>::Entry g_omniReduce(
    "omnireduce",
    {"OmniReduce: blocks with a number that is not 0, without loss",
     {MakeBlockKey("numbers of a block", 256, 1), DeclaredSize::MakeRatioKey(0.5, 1e6)},
     &MakeOmniReduce});

} // namespace

} // namespace ns3::training
