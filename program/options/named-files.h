/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NAMED_FILES_H
#define DISTRIBUTED_TRAINING_NAMED_FILES_H

#include "program-description.h"

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param option an option
 * @param items its values
 * @return existing files that the values may name: items, and those after file: or @
 */
std::vector<std::string> GetNamedFiles(const OptionDescription& option,
                                       const std::vector<std::string>& items);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NAMED_FILES_H
