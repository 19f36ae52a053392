/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SIZE_LIST_H
#define DISTRIBUTED_TRAINING_SIZE_LIST_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param option name of the option, for messages
 * @param text `begin:end:xFACTOR`, `begin:end:STEP`, or a list `a,b,c` of sizes with units
 * @return the sizes in bytes
 * @throw ConfigurationError if the text is invalid
 */
std::vector<uint64_t> ParseSizes(const std::string& option, const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SIZE_LIST_H
