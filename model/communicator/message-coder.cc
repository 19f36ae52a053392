/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "message-coder.h"

#include <cstring>
#include <vector>

namespace ns3::training
{

MessageCoder::MessageCoder(Ptr<const GradientCodec> codec, Ptr<CodingUnit> unit, uint64_t seed)
    : m_codec(codec),
      m_unit(unit),
      m_seed(seed)
{
}

bool
MessageCoder::Codes(CollectiveOperation operation)
{
    return operation == CollectiveOperation::ALL_REDUCE ||
           operation == CollectiveOperation::REDUCE_SCATTER ||
           operation == CollectiveOperation::REDUCE;
}

uint64_t
MessageCoder::GetCodedBytes(uint64_t bytes) const
{
    return m_codec->GetCodedBytes(bytes / FLOAT_BYTES) + bytes % FLOAT_BYTES;
}

CodecKey
MessageCoder::GetKey(uint64_t seed, uint32_t iteration, uint32_t bucket, const MessagePlace& place)
{
    CodecKey key;
    key.seed = seed;
    key.rank = place.sender;
    key.iteration = iteration;
    key.tensor = MixBits(uint64_t{bucket} << 32 | place.receiver) ^
                 (uint64_t{place.step} << 32 | place.message);
    return key;
}

MessageCoder::Code
MessageCoder::Encode(const Tensor& tensor,
                     const MessagePlace& place,
                     uint64_t bytes,
                     const Ptr<ByteBuffer>& payload) const
{
    Code code{0, nullptr};
    if (payload)
    {
        std::vector<float> values(bytes / FLOAT_BYTES);
        std::memcpy(values.data(), payload->bytes.data(), values.size() * FLOAT_BYTES);
        code.payload = Create<ByteBuffer>();
        m_codec->Encode(values.data(),
                        values.size(),
                        GetKey(m_seed, tensor.iteration, tensor.bucket, place),
                        code.payload->bytes);
    }
    code.bytes = payload ? code.payload->bytes.size() : GetCodedBytes(bytes);
    if (m_unit)
    {
        m_unit->Count(bytes, code.bytes);
    }
    return code;
}

Ptr<ByteBuffer>
MessageCoder::Decode(const Tensor& tensor,
                     const MessagePlace& place,
                     uint64_t bytes,
                     const Ptr<ByteBuffer>& payload) const
{
    if (!payload)
    {
        return nullptr;
    }
    std::vector<float> values(bytes / FLOAT_BYTES);
    const uint64_t size = m_codec->GetTraits().fixedSize ? m_codec->GetCodedBytes(values.size())
                                                         : payload->bytes.size();
    m_codec->Decode(payload->bytes.data(),
                    size,
                    GetKey(m_seed, tensor.iteration, tensor.bucket, place),
                    values.data(),
                    values.size());
    auto numbers = Create<ByteBuffer>();
    numbers->bytes.resize(bytes);
    std::memcpy(numbers->bytes.data(), values.data(), values.size() * FLOAT_BYTES);
    return numbers;
}

Time
MessageCoder::ReserveEncoding(uint64_t bytes) const
{
    return m_unit ? m_unit->Encode(bytes / FLOAT_BYTES) : Time(0);
}

Time
MessageCoder::ReserveDecoding(uint64_t bytes) const
{
    return m_unit ? m_unit->Decode(bytes / FLOAT_BYTES) : Time(0);
}

void
MessageCoder::RoundTrip(const GradientCodec& codec,
                        const CodecKey& key,
                        std::vector<uint8_t>& message)
{
    std::vector<float> values(message.size() / FLOAT_BYTES);
    std::memcpy(values.data(), message.data(), values.size() * FLOAT_BYTES);
    codec.RoundTrip(values.data(), values.size(), key);
    std::memcpy(message.data(), values.data(), values.size() * FLOAT_BYTES);
}

} // namespace ns3::training
