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
 * What a run leaves behind. Nothing here knows the rooms of the simulation; numbers come in as
 * plain arguments.
 */

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * Finds out whether a file can be written, before a simulation that would be in vain. Creates and
 * changes nothing.
 *
 * @param path the file, which need not exist
 * @throw ConfigurationError if it is no file, it or its directory is not writable, or there is no
 *        such directory
 */
void CheckOutputFile(const std::string& path);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_OUTPUT_FILE_H
