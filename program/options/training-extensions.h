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
 * Loads a shared library that registers alternatives: algorithms, topologies, congestion controls
 * and the like (see Registry). They can then be selected by name like those of the module. Loading
 * a library again has no effect.
 *
 * @param file path of the library; it stays loaded until the program ends
 * @throw ConfigurationError if it cannot be loaded, or registers an existing name
 */
void LoadExtension(const std::string& file);

/**
 * @return the libraries in the environment variable DISTRIBUTED_TRAINING_EXTENSIONS, paths
 *         separated by ":"
 */
std::vector<std::string> GetExtensionsOfEnvironment();

/** @} */

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_EXTENSIONS_H
