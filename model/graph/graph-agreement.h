/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRAPH_AGREEMENT_H
#define DISTRIBUTED_TRAINING_GRAPH_AGREEMENT_H

#include "task-graph.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 *
 * Refuses a job whose ranks contradict each other, before it runs: a group that has a rank twice or
 * has none, ranks of a group that call other collectives, or in another order, and messages whose
 * two sides differ or that only one side knows.
 *
 * @param graph the job
 * @param isUniform whether all ranks have the same tasks: only groups are looked at
 * @throw ConfigurationError with both places, see TaskGraph::Describe()
 */
void CheckAgreement(const TaskGraph& graph, bool isUniform);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRAPH_AGREEMENT_H
