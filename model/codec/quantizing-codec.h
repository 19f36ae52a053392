/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_QUANTIZING_CODEC_H
#define DISTRIBUTED_TRAINING_QUANTIZING_CODEC_H

#include "gradient-codec.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-codec
 * Base of codecs that write a scale for each block, a float32, and a field of some bits for each
 * number.
 */
class QuantizingCodec : public GradientCodec
{
  public:
    /**
     * @param name of the codec
     * @param bits of a field
     * @param block numbers with one scale; 0: all
     */
    QuantizingCodec(const char* name, uint32_t bits, uint32_t block)
        : m_name(name),
          m_bits(bits),
          m_block(block)
    {
    }

    uint64_t GetCodedBytes(uint64_t count) const override;
    void Encode(const float* values,
                uint64_t count,
                const CodecKey& key,
                std::vector<uint8_t>& code) const override;
    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey& key,
                float* values,
                uint64_t count) const override;

  protected:
    /**
     * @param values of a block
     * @param count of the values
     * @return its scale, finite; at least its largest coded magnitude
     */
    virtual float GetScale(const float* values, uint64_t count) const = 0;
    /**
     * @param value a number
     * @param scale of its block
     * @param random random numbers of the coding
     * @param index of the number
     * @return its field
     */
    virtual uint32_t Quantize(float value,
                              float scale,
                              const CodecRandom& random,
                              uint64_t index) const = 0;
    /**
     * @param field any field
     * @return whether Quantize() may return it
     */
    virtual bool IsField(uint32_t field) const = 0;
    /**
     * @param field of a number
     * @param scale of its block
     * @return the number
     */
    virtual float Restore(uint32_t field, float scale) const = 0;

    const char* m_name;     ///< of the codec
    const uint32_t m_bits;  ///< of a field
    const uint32_t m_block; ///< numbers with one scale; 0: all

  private:
    uint64_t GetBlock(uint64_t count) const;
};

/**
 * @ingroup distributed-training-codec
 * @param levels number of levels above 0
 * @return bits of a level from 0 to that
 */
uint32_t GetLevelBits(uint32_t levels);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_QUANTIZING_CODEC_H
