/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_TITLE_H
#define DISTRIBUTED_TRAINING_RUN_TITLE_H

#include "ns3/cluster-options.h"

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param options of a cluster
 * @return what changes results and is not usual, for a title: ", loss 0.001, path spray"
 */
std::string DescribeDeviations(const ClusterOptions& options);

/**
 * @ingroup distributed-training-helper
 * @param options of a cluster
 * @return whether links lose or delay frames at random
 */
bool HasRandomLosses(const ClusterOptions& options);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_TITLE_H
