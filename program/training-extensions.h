/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_EXTENSIONS_H
#define DISTRIBUTED_TRAINING_EXTENSIONS_H

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @addtogroup distributed-training-helper
 * @{
 */

/**
 * Loads a shared library that registers alternatives of its own: algorithms, topologies, congestion
 * controls and the like (see Registry). They can then be chosen by name as those of the module.
 * Loading a library again has no effect.
 *
 * @param file path of the library; it remains loaded until the program ends
 * @throw ConfigurationError if it cannot be loaded, or if it registers a name that is taken
 */
void LoadExtension(const std::string& file);

/**
 * @return the libraries that the environment variable DISTRIBUTED_TRAINING_EXTENSIONS names, paths
 *         separated by ":"
 */
std::vector<std::string> GetExtensionsOfEnvironment();

/** @} */

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_EXTENSIONS_H
