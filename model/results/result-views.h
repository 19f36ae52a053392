/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RESULT_VIEWS_H
#define DISTRIBUTED_TRAINING_RESULT_VIEWS_H

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * SQL statements that create the views of a results file that it lacks. `bucket`, `bucket_wait`,
 * `bottleneck` and `slowest_message` answer a question each. `binding` says in one sentence per run
 * what limits it, from the measured iterations:
 *
 *  - computation, if ranks are idle for at most 5 % of an iteration;
 *  - waiting for other ranks, if ranks are idle for that longer than for communication in progress;
 *  - a link, if it is busy for at least 70 % of the communication time;
 *  - otherwise latencies, windows and hosts.
 *
 * Without iterations, the share of a link is that of the run.
 */
extern const char* const RESULT_VIEWS;

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RESULT_VIEWS_H
