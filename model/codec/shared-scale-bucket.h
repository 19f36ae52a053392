/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_SCALE_BUCKET_H
#define DISTRIBUTED_TRAINING_SHARED_SCALE_BUCKET_H

#include "bucket-codec.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-codec
 *
 * Sums of small integers: the ranks first agree on the largest scale, so that switches and NICs can
 * add the quantized numbers.
 */
class SharedScaleBucket : public BucketCodec
{
  public:
    /**
     * @param request the exchange
     * @param block numbers with one scale; 0: all
     */
    SharedScaleBucket(const BucketRequest& request, uint32_t block);

    std::vector<BucketPhase> GetPhases() const override;
    void Start(const float* gradient, const CodecKey& key) override;
    void Continue(const BucketResult& result) override;

  protected:
    /**
     * @param addends number of ranks
     * @return bits of their sum
     */
    virtual uint32_t GetBits(uint32_t addends) const = 0;
    /**
     * @param values of a block
     * @param count of the values
     * @return the block's scale at this rank
     */
    virtual float GetScale(const float* values, uint64_t count) const = 0;
    /**
     * @param value a number
     * @param scale the largest one of all ranks
     * @param random random numbers of the coding
     * @param index of the number
     * @return a whole number of steps
     */
    virtual int32_t Quantize(float value,
                             float scale,
                             const CodecRandom& random,
                             uint64_t index) const = 0;
    /**
     * @param steps of one rank or of the sum
     * @param scale the largest one of all ranks
     * @return the number
     */
    virtual float Restore(int32_t steps, float scale) const = 0;

    uint32_t m_ranks; ///< that add

  private:
    void Finish(const std::vector<float>& sums);

    uint64_t m_count;              // numbers
    uint64_t m_block;              // numbers with one scale
    CodecKey m_key;                // of the coding
    std::vector<float> m_gradient; // between the phases
    std::vector<float> m_scales;   // of the blocks
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_SCALE_BUCKET_H
