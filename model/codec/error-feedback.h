/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ERROR_FEEDBACK_H
#define DISTRIBUTED_TRAINING_ERROR_FEEDBACK_H

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-codec
 *
 * Error feedback (Seide et al., Interspeech 2014; Karimireddy et al., ICML 2019), beside any codec:
 * what a code leaves out is added to the next gradient of the same rank and bucket,
 *
 *   x = gradient + error,   error = x - decoded(x).
 */
class ErrorFeedback
{
  public:
    /**
     * @param rank whose gradient it is
     * @param bucket index of the bucket
     * @param gradient the bucket; receives x
     */
    void Add(uint32_t rank, uint64_t bucket, std::vector<float>& gradient) const;

    /**
     * @param rank whose gradient it is
     * @param bucket index of the bucket
     * @param coded x, as it was coded
     * @param decoded what the receivers got of it
     */
    void Keep(uint32_t rank,
              uint64_t bucket,
              const std::vector<float>& coded,
              const std::vector<float>& decoded);

    /**
     * Begins anew.
     * @param rank whose gradients they are
     * @param bucket index of the bucket
     */
    void Forget(uint32_t rank, uint64_t bucket);

    /**
     * @param rank whose gradient it is
     * @param bucket index of the bucket
     * @return the error; empty before the first Keep()
     */
    const std::vector<float>& GetError(uint32_t rank, uint64_t bucket) const;

  private:
    std::map<std::pair<uint32_t, uint64_t>, std::vector<float>> m_errors; // by rank and bucket
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ERROR_FEEDBACK_H
