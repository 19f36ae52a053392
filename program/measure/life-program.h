/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LIFE_PROGRAM_H
#define DISTRIBUTED_TRAINING_LIFE_PROGRAM_H

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * The program job-life: computes the life of jobs with failures, checkpoints and restarts. Call in
 * RunProgram().
 * @param arguments without the name of the program, see `job-life --help`
 * @return exit status
 * @throw ConfigurationError if an argument is invalid
 * @throw SimulationStuck if the simulation cannot make progress
 */
int RunJobLife(const std::vector<std::string>& arguments);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LIFE_PROGRAM_H
