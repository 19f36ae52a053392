/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GOAL_READER_H
#define DISTRIBUTED_TRAINING_GOAL_READER_H

#include "formats/listed-graph.h"
#include "formats/workload-format.h"

#include <memory>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 * Reads the text form of GOAL (Hoefler et al., LogGOPSim; txt2bin.re).
 * @param path of the file, for messages
 * @param text its content
 * @param problems receives the rules under which the job runs
 * @return the tasks
 * @throw ConfigurationError with file:line, if it is wrong
 */
std::unique_ptr<ListedGraph> ReadGoalText(const std::string& path,
                                          const std::string& text,
                                          FormatProblems& problems);

/**
 * @ingroup distributed-training-formats
 * @param text the first bytes of a file
 * @return whether it is the binary form of GOAL
 */
bool IsGoalBinary(const std::string& text);

/**
 * @ingroup distributed-training-formats
 * Reads the binary form of GOAL, which txt2bin writes (LogGOPSim, Parser.hpp); little endian.
 * @param path of the file, for messages
 * @param text its content
 * @param problems receives the rules under which the job runs
 * @return the tasks
 * @throw ConfigurationError with file and byte, if it is wrong
 */
std::unique_ptr<ListedGraph> ReadGoalBinary(const std::string& path,
                                            const std::string& text,
                                            FormatProblems& problems);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GOAL_READER_H
