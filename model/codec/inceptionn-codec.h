/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_INCEPTIONN_CODEC_H
#define DISTRIBUTED_TRAINING_INCEPTIONN_CODEC_H

#include "codec/declared-size.h"
#include "gradient-codec.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-codec
 *
 * The codec of INCEPTIONN (Li et al.: A network-centric hardware/algorithm co-design to accelerate
 * distributed training of deep neural networks, MICRO 2018).
 *
 * Of a float32 below 1 in magnitude it keeps the sign and the upper bits of the magnitude as a
 * fixed-point fraction. A tag of 2 bits says how many bits follow. With MID = 2^(-L/2), rounded up
 * to a power of two, and a bound of 2^-L:
 *
 *   tag 0: below 2^-L            nothing      decoded as 0
 *   tag 1: from 2^-L below MID   8 bits       sign, 7 bits of the fraction
 *   tag 2: from MID below 1      16 bits      sign, 15 bits of the fraction
 *   tag 3: 1 and more, NaN       32 bits      the float32
 *
 * Eight floats are a group: 16 bits of tags (float i in bits 2i and 2i + 1), then the codes of
 * float 0 to 7. Groups follow each other without padding, zeros fill up the last byte. Absent
 * floats of the last group have tag 0. The fraction is cut off, not rounded: toward zero.
 *
 * The print leaves the weight of the fraction's last bit open. Variants:
 *
 *   paper     2^-15 and 2^-7. Errors up to 2^-7, so the bound holds for 2^-6 only.
 *   bounded   2^-15 and 2^-10, 2^-11, 2^-12 for bounds of 2^-6, 2^-8, 2^-10: the bound holds.
 *   grace     2^-14 and 2^-6, and a fraction of 0 is decoded as 2^-7, as in the emulation of GRACE
 *             (Xu et al., ICDCS 2021). Errors up to 2^-6.
 */
class InceptionnCodec : public GradientCodec
{
  public:
    /** What the last bit of a fraction weighs. */
    enum class Variant
    {
        PAPER,
        BOUNDED,
        GRACE
    };

    /// Number of tags.
    static constexpr uint32_t TAGS = 4;
    /// Floats of a group.
    static constexpr uint32_t GROUP = 8;
    /// Bits of a code by tag.
    static constexpr std::array<uint32_t, TAGS> CODE_BITS{0, 8, 16, 32};

    /**
     * @param level L of the bound 2^-L: 6, 8 or 10
     * @param variant weight of the last bit
     * @param declared size for virtual payload, if any
     */
    InceptionnCodec(uint32_t level, Variant variant, const DeclaredSize& declared = {});

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
    bool HasCodedBytes() const override;
    uint64_t GetCodedBytes(uint64_t count) const override;
    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override;
    std::vector<CodecClass> CountClasses(const float* values, uint64_t count) const override;

    /**
     * @param values the numbers
     * @param count of the numbers
     * @return how many have each tag
     */
    std::array<uint64_t, TAGS> CountTags(const float* values, uint64_t count) const;

    /** @return 2^-L, the bound that the codec is named by */
    double GetNamedError() const override;

    /** @return supremum of the error of one number; above GetNamedError() where the bound is broken
     */
    double GetLargestError() const;

  private:
    uint32_t GetTag(uint32_t bits) const;
    const uint8_t* DecodeGroup(const uint8_t* code,
                               uint32_t& bit,
                               float* values,
                               uint32_t count,
                               uint32_t& wrong) const;

    uint32_t m_bound;                    // exponent field of 2^-L
    uint32_t m_middle;                   // exponent field of MID
    uint32_t m_fraction;                 // bits of tag 1's fraction behind the point
    std::array<uint32_t, TAGS> m_shift;  // from {1, mantissa} to fraction, less the exponent
    std::array<uint32_t, TAGS> m_least;  // magnitude in the code
    std::array<uint32_t, TAGS> m_span;   // from the least to the largest magnitude
    std::array<float, TAGS> m_unit;      // weight of a fraction's last bit
    std::array<uint32_t, TAGS> m_ofZero; // bits of a fraction of 0, decoded
    DeclaredSize m_declared;             // for virtual payload
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_INCEPTIONN_CODEC_H
