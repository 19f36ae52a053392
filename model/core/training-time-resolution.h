/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TIME_RESOLUTION_H
#define DISTRIBUTED_TRAINING_TIME_RESOLUTION_H

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Sets ns-3's time resolution to picoseconds unless it is already set: a byte takes 20 ps at 400
 * Gbit/s, which nanoseconds would round to zero. May be called repeatedly.
 *
 * The first call must precede the first Simulator::Run() of the process and should come as early as
 * possible: ns-3 rescales existing Time objects, but a constant such as PicoSeconds(20) created
 * earlier has already been rounded to whole nanoseconds. ns-3 aborts the program if the resolution
 * is changed after Run().
 */
void UsePicoseconds();

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TIME_RESOLUTION_H
