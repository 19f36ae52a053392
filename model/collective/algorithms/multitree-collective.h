/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MULTITREE_COLLECTIVE_H
#define DISTRIBUTED_TRAINING_MULTITREE_COLLECTIVE_H

#include "collective/multitree-construction.h"

#include "ns3/collective-algorithm.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 * @param request a request checked by CheckRequest() for algorithm `multitree`
 * @return the spanning trees used for the request
 */
SpanningTrees PlanSpanningTrees(const CollectiveRequest& request);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MULTITREE_COLLECTIVE_H
