/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHECKPOINT_INTERVAL_H
#define DISTRIBUTED_TRAINING_CHECKPOINT_INTERVAL_H

namespace ns3::training
{

/**
 * @ingroup distributed-training-life
 * Young, A first order approximation to the optimum checkpoint interval, CACM 1974.
 * @param checkpoint time for which training stands still for a checkpoint, s
 * @param mean time between failures of the job, s
 * @return work between two checkpoints that loses the least time, about: sqrt(2 checkpoint mean), s
 */
double GetYoungInterval(double checkpoint, double mean);

/**
 * @ingroup distributed-training-life
 * Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, FGCS 2006,
 * equation 37.
 * @param checkpoint time for which training stands still for a checkpoint, s
 * @param mean time between failures of the job, s
 * @return work between two checkpoints that loses the least time, nearly, s
 */
double GetDalyInterval(double checkpoint, double mean);

/**
 * @ingroup distributed-training-life
 * @param checkpoint time for which training stands still for a checkpoint, s
 * @param mean time between failures of the job, s
 * @return work between two checkpoints at which GetExpectedEfficiency() is largest, s
 */
double GetBestInterval(double checkpoint, double mean);

/**
 * @ingroup distributed-training-life
 *
 * Part of its time in which a job makes progress that is kept, in the long run, if failures come
 * with exponential distribution, also during restarts (Daly's complete cost function, equation 20).
 *
 * @param interval work between two checkpoints, s
 * @param checkpoint time for which training stands still for a checkpoint, s
 * @param restart time from a failure to the next work, s
 * @param mean time between failures of the job, s; may be infinite
 * @return 0 to 1
 */
double GetExpectedEfficiency(double interval, double checkpoint, double restart, double mean);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHECKPOINT_INTERVAL_H
