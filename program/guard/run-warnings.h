/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_WARNINGS_H
#define DISTRIBUTED_TRAINING_RUN_WARNINGS_H

#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Reports what makes the results of a run questionable: frames of a lossless class that a switch
 * dropped, limits of an in-network system that keep ranks from filling their lines, and
 * combinations of options that no one would run.
 * @param cluster after the simulation and GatherCounters()
 * @return one line each
 */
std::vector<std::string> GetWarnings(const Cluster& cluster);

/**
 * @ingroup distributed-training-helper
 * @param warnings one line each
 * @return "warning: " and a warning, a line each
 */
std::string FormatWarnings(const std::vector<std::string>& warnings);

/**
 * @ingroup distributed-training-helper
 * @param all receives the warnings that it does not have
 * @param more warnings of another simulation
 */
void MergeWarnings(std::vector<std::string>& all, const std::vector<std::string>& more);

/**
 * @ingroup distributed-training-helper
 * @param document JSON document that receives the member "warnings"
 * @param warnings one line each
 */
void AddWarnings(JsonValue& document, const std::vector<std::string>& warnings);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_WARNINGS_H
