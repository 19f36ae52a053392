/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_OUTPUT_FILE_H
#define DISTRIBUTED_TRAINING_OUTPUT_FILE_H

#include <string>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-results Results
 *
 * Output of a run. This code is independent of the simulation model: it receives numbers as plain
 * arguments.
 */

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * Checks before the simulation that an output file is writable, so that a long run does not fail at
 * its end. Creates and changes nothing.
 *
 * @param path path of the file, which need not exist
 * @throw ConfigurationError if the path is not a regular file, the file or its directory is not
 *        writable, or the directory does not exist
 */
void CheckOutputFile(const std::string& path);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_OUTPUT_FILE_H
