/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SUM_CHECKER_H
#define DISTRIBUTED_TRAINING_SUM_CHECKER_H

#include "ns3/training-communicator.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 * Compares the bits of numbers.
 * @param actual a vector
 * @param expected the vector that it should be
 * @param begin first element to compare
 * @param end element behind the last one
 * @return description of the first difference, or empty
 */
std::string FindDifference(const std::vector<float>& actual,
                           const std::vector<float>& expected,
                           std::size_t begin,
                           std::size_t end);

/**
 * @ingroup distributed-training-job
 *
 * Compares sums of gradients bit by bit with a reference computed from the same inputs, which are
 * made again. Memory: 2 * ranks tensors while a reference is computed, then the
 * reference until the last rank has reported its sum.
 */
class SumChecker
{
  public:
    /**
     * Computes the sum of the tensors of all ranks in exactly the addition order of the collective
     * under test: one sum per rank, because some algorithms add in a different order at each, or a
     * single one for all. The result of one rank may reveal the order of arrival. Called once for
     * each tensor of each iteration, of one tensor in the order of iterations.
     */
    using Reference =
        std::function<std::vector<std::vector<float>>(uint32_t iteration,
                                                      uint32_t tensor,
                                                      const std::vector<std::vector<float>>& inputs,
                                                      const std::vector<float>& result)>;

    /** Makes the gradients of a rank, an iteration and a tensor of so many elements. */
    using Inputs = std::function<std::vector<
        float>(uint32_t rank, uint32_t iteration, uint32_t tensor, std::size_t elements)>;

    /**
     * @param ranks number of ranks
     * @param inputs makes the gradients
     * @param reference computes the expected sum
     */
    SumChecker(uint32_t ranks, Inputs inputs, Reference reference);

    /**
     * @param alternative computes another correct sum, valid if all ranks have it; returns nothing
     *        if there is none
     */
    void SetAlternative(Reference alternative);

    /**
     * Receives the expected sums of a tensor, by rank or a single one for all, once and before the
     * tensors of the next iteration are made.
     */
    using Listener = std::function<
        void(uint32_t iteration, uint32_t tensor, const std::vector<std::vector<float>>& sums)>;

    /** @param listener called with every expected sum */
    void OnExpected(Listener listener);

    /**
     * @param reporters number of ranks that will report each sum to this object
     */
    void SetReporters(uint32_t reporters);

    /** Forgets sums that some ranks have not reported. */
    void Clear();

    /**
     * @param rank rank that reports its sum
     * @param iteration number of the iteration
     * @param tensor number of the tensor in the iteration
     * @param sum sum of this rank
     * @return whether the sum is correct; GetMismatch() describes a wrong one
     */
    bool Check(uint32_t rank, uint32_t iteration, uint32_t tensor, const Tensor& sum);

    /** @return the first wrong sum: rank, iteration, tensor, element, both values; or empty */
    const std::string& GetMismatch() const;

    /** @param mismatch found by another process; the first one is kept */
    void AddMismatch(const std::string& mismatch);

  private:
    /** Expected sums of a tensor that some ranks have not reported yet. */
    struct Expected
    {
        uint32_t reports{0};
        std::vector<std::vector<float>> values; // by rank, or a single one for all
    };

    Expected MakeExpected(uint32_t rank,
                          uint32_t iteration,
                          uint32_t tensor,
                          const Tensor& sum) const;

    uint32_t m_ranks;
    Inputs m_inputs;
    Reference m_reference;
    Reference m_alternative; // or empty
    Listener m_listener;     // or empty
    uint32_t m_reporters;
    std::map<std::pair<uint32_t, uint32_t>, Expected> m_expected; // by iteration and tensor
    std::string m_mismatch;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SUM_CHECKER_H
