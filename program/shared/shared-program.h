/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_PROGRAM_H
#define DISTRIBUTED_TRAINING_SHARED_PROGRAM_H

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * The program shared-cluster: simulates several jobs on one cluster. Call in
 * RunProgram().
 * @param arguments without the name of the program, see `shared-cluster --help`
 * @return exit status
 * @throw ConfigurationError if an argument is invalid
 * @throw SimulationStuck if the simulation cannot make progress
 */
int RunSharedCluster(const std::vector<std::string>& arguments);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_PROGRAM_H
