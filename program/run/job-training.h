/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_TRAINING_H
#define DISTRIBUTED_TRAINING_JOB_TRAINING_H

#include "ns3/gradient-training.h"
#include "ns3/result-store.h"
#include "ns3/training-application.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * A training inside a simulated job, and beside it the same training without a network: the same
 * replicas, whose sums are the expected ones. Measures the replicas of the job after each iteration
 * and compares them with the others bit by bit.
 */
class JobTraining
{
  public:
    /**
     * @param training whose replicas are made
     * @param applications of all ranks, in their order; each gets a replica
     */
    JobTraining(const GradientTraining& training,
                std::vector<Ptr<TrainingApplication>> applications);

    /**
     * @param place of a bucket
     * @param count its gradients
     * @return gradients of the training without a network
     */
    std::vector<float> Make(const GradientPlace& place, std::size_t count);

    /**
     * Updates the replicas without a network.
     * @param place of a bucket at any rank
     * @param sums expected sums, by rank or a single one for all
     */
    void Apply(GradientPlace place, const std::vector<std::vector<float>>& sums);

    /**
     * Measures the replicas of the job; call when all ranks have applied all sums of an iteration.
     * @param iteration number of the iteration
     * @param endS simulated time of its end, s
     * @return the state of the training
     */
    LearningRow Measure(uint32_t iteration, double endS);

    /** @return whether a weight or a loss is no longer finite; then equality means nothing */
    bool HasDiverged() const;

    /** @return states after each iteration */
    const std::vector<LearningRow>& GetRows() const;

    /** @return the first difference from the training without a network, or empty; with NaN, whose
     *  bits depend on the order of operands, there is none */
    const std::string& GetMismatch() const;

    /** @return one line: the last state, and that the losses are those without a network */
    std::string Format() const;

  private:
    std::vector<Ptr<TrainingApplication>> m_applications;      // by rank
    std::vector<std::unique_ptr<GradientLearner>> m_reference; // by rank
    bool m_repeats; // the reference is a training of its own
    bool m_hasDiverged{false};
    std::vector<LearningRow> m_rows;
    std::string m_mismatch;
};

/** @return headings of the columns of FormatLearning() @ingroup distributed-training-helper */
std::string FormatLearningHeadings();

/**
 * @ingroup distributed-training-helper
 * @param row a state
 * @return its loss and accuracy, in columns beside those of an iteration
 */
std::string FormatLearning(const LearningRow& row);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_TRAINING_H
