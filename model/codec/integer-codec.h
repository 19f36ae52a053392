/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_INTEGER_CODEC_H
#define DISTRIBUTED_TRAINING_INTEGER_CODEC_H

#include "gradient-codec.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-codec
 *
 * Whole numbers in a few bits each, without loss: what the ranks add in a phase of a BucketCodec.
 * It has no name, as it is no codec of gradients.
 */
class IntegerCodec final : public GradientCodec
{
  public:
    /// Most bits of a number: a float32 has all whole numbers of so many bits.
    static constexpr uint32_t MAX_BITS = 24;

    /**
     * @param bits of a number, 1 to MAX_BITS
     * @param isSigned whether numbers begin at -2^(bits - 1), not at 0
     */
    IntegerCodec(uint32_t bits, bool isSigned);

    CodecTraits GetTraits() const override;
    void Encode(const float* values,
                uint64_t count,
                const CodecKey& key,
                std::vector<uint8_t>& code) const override;
    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey& key,
                float* values,
                uint64_t count) const override;
    uint64_t GetCodedBytes(uint64_t count) const override;

  private:
    uint32_t m_bits;
    int32_t m_least; // representable number
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_INTEGER_CODEC_H
