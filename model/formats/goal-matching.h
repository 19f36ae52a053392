/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GOAL_MATCHING_H
#define DISTRIBUTED_TRAINING_GOAL_MATCHING_H

#include "formats/goal-rank.h"
#include "formats/workload-format.h"

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 *
 * Gives sender and tag to the receives of a job that take messages from any rank or of any tag.
 * They take what the other receives of their rank leave. A choice is possible before the job runs
 * if no arrival can change it:
 *
 * - all that a receive can take is of one sender and one tag, or
 * - the receives that name the same take all that is left, and are alike: they have the same size,
 *   wait for the same operations, and the same operations wait for them.
 *
 * @param ranks of the job, after GoalRank::Sort()
 * @param path of the file, for messages
 * @param problems receives the rule, if it was used
 * @throw ConfigurationError if a receive gets no message, or its message depends on arrivals
 */
void MatchWildcards(std::vector<GoalRank>& ranks,
                    const std::string& path,
                    FormatProblems& problems);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GOAL_MATCHING_H
