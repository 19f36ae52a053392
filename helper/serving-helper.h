/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SERVING_HELPER_H
#define DISTRIBUTED_TRAINING_SERVING_HELPER_H

#include "training-cluster.h"

#include "ns3/serving-system.h"

#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Places the instances of a ServingSystem on the first ranks of a cluster, those of prompts first.
 * @param cluster whose ranks are GPUs; must outlive the system
 * @param options the instances
 * @param model the transformer
 * @param rates of each GPU
 * @param requests by time
 * @return the system, which ServingSystem::Start() starts
 * @throw ConfigurationError if there are too few ranks, several processes, collectives that are not
 *        those of hosts, or as ServingSystem
 */
std::unique_ptr<ServingSystem> InstallServing(const Cluster& cluster,
                                              const ServingOptions& options,
                                              const TransformerModel& model,
                                              const TransformerRates& rates,
                                              const std::vector<ServingRequest>& requests);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SERVING_HELPER_H
