/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MEMORY_H
#define DISTRIBUTED_TRAINING_MEMORY_H

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 * @return memory that this process may still take, bytes: what the machine has available, within
 *         the limits of the process and, on Linux, of its control group
 */
double GetAvailableMemory();

/**
 * @ingroup distributed-training
 *
 * Refuses a request that needs more memory than there is, instead of failing after minutes.
 * @param bytes estimate of the memory, bytes
 * @param what the option, file or value that needs it, at the start of the message
 * @throw ConfigurationError if the memory is not available
 */
void CheckMemory(double bytes, const std::string& what);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MEMORY_H
