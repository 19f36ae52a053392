/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_PATH_H
#define DISTRIBUTED_TRAINING_SHARED_PATH_H

#include "task-meetings.h"
#include "task-trace.h"

#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 * Finds a critical path whose ranks are divided among processes: each process follows it as far as
 * its own traces lead. Collective call.
 * @param meetings of this process, after TaskMeetings::Resolve()
 * @param last the task of this process that ended last, and of several the one of the highest
 *        rank; null: there is none
 * @param start where the path begins, the same in all processes
 * @return the path, the same in all processes
 */
std::vector<PathStep> FindSharedPath(const TaskMeetings& meetings,
                                     const TaskTrace::Pointer& last,
                                     Time start);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_PATH_H
