/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_PROGRAM_H
#define DISTRIBUTED_TRAINING_JOB_PROGRAM_H

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * The program training-job: trains a model on a simulated cluster, prints and writes what it
 * measures. Call in RunProgram().
 * @param arguments without the name of the program, see `training-job --help`
 * @return exit status: 0, or 4 for a wrong sum
 * @throw ConfigurationError if an argument is invalid
 * @throw SimulationStuck if the simulation cannot make progress
 */
int RunTrainingJob(const std::vector<std::string>& arguments);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_PROGRAM_H
