/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CONFIGURATION_FILE_H
#define DISTRIBUTED_TRAINING_CONFIGURATION_FILE_H

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * An argument in a file of `--config=FILE`.
 */
struct ConfiguredArgument
{
    std::string argument; ///< as on the command line: --name=value
    std::string place;    ///< FILE:LINE
};

/**
 * @ingroup distributed-training-helper
 *
 * Reads the options of a run: TOML whose keys are names of options, or of attributes and global
 * values of ns-3, in quotes. An array gives an option several times.
 * @param path the file
 * @param option that names it, for messages
 * @return its arguments by line
 * @throw ConfigurationError with the place in the file if it is no such TOML
 */
std::vector<ConfiguredArgument> ReadConfiguration(const std::string& path,
                                                  const std::string& option = "config");

/**
 * @ingroup distributed-training-helper
 * @param key name of an option, or of an attribute
 * @param values the value, or several ones of an option that may be given several times
 * @param isWord whether the values are numbers or truth values, which need no quotes
 * @return a line for ReadConfiguration()
 */
std::string FormatConfiguration(const std::string& key,
                                const std::vector<std::string>& values,
                                bool isWord);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CONFIGURATION_FILE_H
