/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_VERSION_H
#define DISTRIBUTED_TRAINING_VERSION_H

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 * @return version of this module, from the file VERSION
 */
std::string GetVersion();

/**
 * @ingroup distributed-training
 * @return a line about this build: the version of this module, its commit, the version of ns-3
 */
std::string DescribeVersion();

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_VERSION_H
