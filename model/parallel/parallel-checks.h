/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PARALLEL_CHECKS_H
#define DISTRIBUTED_TRAINING_PARALLEL_CHECKS_H

#include "parallel-options.h"
#include "transformer-model.h"

#include "ns3/pipeline-schedule.h"

#include <cstdint>

namespace ns3::training
{

/** Whether options of parallelism suit a model and each other. */
class ParallelChecks
{
  public:
    /**
     * @param model must outlive this
     * @param options must outlive this
     */
    ParallelChecks(const TransformerModel& model, const ParallelOptions& options);

    /** @throw ConfigurationError if sizes do not divide each other, or options contradict */
    void CheckAll() const;

    /**
     * @param overlap what a schedule allows
     * @return whether messages between stages are exchanged in batches
     * @throw ConfigurationError if the options ask for something else
     */
    bool ChooseOverlap(PipelineOverlap overlap) const;

  private:
    void Check() const;
    void CheckLayer(uint32_t layer) const;
    void CheckSamples() const;
    void CheckZero() const;
    void CheckExperts() const;
    void CheckExpertRanks() const;

    const TransformerModel& m_model;
    const ParallelOptions& m_options;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PARALLEL_CHECKS_H
