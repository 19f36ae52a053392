/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COMMAND_LINE_WORDS_H
#define DISTRIBUTED_TRAINING_COMMAND_LINE_WORDS_H

#include "ns3/training-key-values.h"

#include <functional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param key of an option
 * @return whether the option without a value is true: a boolean, or a word that may be true or
 * false
 */
bool IsFlag(const Key& key);

/**
 * @ingroup distributed-training-helper
 * @param words the command line
 * @param find returns the key of an option by its name; null: there is no such option
 * @return the same with `--name value` as `--name=value`, and -h as --help
 */
std::vector<std::string> JoinValues(const std::vector<std::string>& words,
                                    const std::function<const Key*(const std::string& name)>& find);

/**
 * @ingroup distributed-training-helper
 * @param prefix an option: --name=
 * @param arguments the command line
 * @return the values of the option
 */
std::vector<std::string> GetValues(const std::string& prefix,
                                   const std::vector<std::string>& arguments);

/**
 * @ingroup distributed-training-helper
 * @param text of a list
 * @return the texts between semicolons
 */
std::vector<std::string> SplitList(const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COMMAND_LINE_WORDS_H
