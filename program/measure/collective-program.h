/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_PROGRAM_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_PROGRAM_H

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * The program collective-benchmark: measures collectives over sizes, as nccl-tests does on real
 * clusters. Call in RunProgram().
 * @param arguments without the name of the program, see `collective-benchmark --help`
 * @return exit status: 0, or 4 for a wrong result
 * @throw ConfigurationError if an argument is invalid
 * @throw SimulationStuck if the simulation cannot make progress
 */
int RunCollectiveBenchmark(const std::vector<std::string>& arguments);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_PROGRAM_H
