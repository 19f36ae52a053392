/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_QUANTIZED_TENSOR_H
#define DISTRIBUTED_TRAINING_QUANTIZED_TENSOR_H

#include "ns3/gradient-codec.h"
#include "ns3/task-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * The tensor of a rank in a collective that carries numbers in code (TaskCode). Part i of the
 * tensor has the words of part i: its code by `int4` or `int8`, filled up with zeros to a word.
 */
class QuantizedTensor
{
  public:
    /**
     * @param task an all-gather or an all-to-all with a code
     * @param ranks of its group
     * @param place of the rank in the group
     */
    QuantizedTensor(const GraphTask& task, uint32_t ranks, uint32_t place);

    /** @return numbers that the rank codes: its part for an all-gather, all for an all-to-all */
    uint64_t GetCount() const;

    /**
     * @param numbers GetCount() of them, finite
     * @return its words before the collective, 0 in the parts that it does not code
     */
    std::vector<float> Encode(const std::vector<float>& numbers) const;

    /**
     * @param words its tensor after the collective
     * @return all-gather: the numbers of all parts; all-to-all: the sums of its part
     */
    std::vector<float> Decode(const std::vector<float>& words) const;

  private:
    const TaskCode m_code;
    const bool m_isGather;
    const uint32_t m_ranks;
    const uint32_t m_place;
    const uint64_t m_words; // of a part
    const Ptr<const GradientCodec> m_codec;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_QUANTIZED_TENSOR_H
