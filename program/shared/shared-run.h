/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_RUN_H
#define DISTRIBUTED_TRAINING_SHARED_RUN_H

#include "shared-run-options.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Simulates jobs that share a cluster. A job asks for hosts when it arrives, and for slots where
 * switches divide them among jobs. If they are not free, it waits, and later ones behind it, unless
 * they may overtake it (backfill). When a job ends, its hosts and slots are free again.
 *
 * @param options jobs and cluster
 * @return the results; those so far if the simulation could not make progress
 * @throw ConfigurationError if the options are wrong or inconsistent
 */
SharedRunResult RunShared(const SharedRunOptions& options);

/**
 * @ingroup distributed-training-helper
 *
 * Simulates a job of a run alone, on the same hosts, without traffic beside it. It has all slots
 * that switches divide among jobs, unless it asks for a number.
 * @param options of the run
 * @param job its index
 * @param hosts that it had in the run
 * @return its results
 */
SharedRunResult RunAlone(const SharedRunOptions& options,
                         std::size_t job,
                         const std::vector<uint32_t>& hosts);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_RUN_H
