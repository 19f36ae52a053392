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
 * Sets ns-3's time resolution to picoseconds unless it is so already: at 400 Gbit/s a byte takes
 * 20 ps, which nanoseconds would round away. May be called any number of times.
 *
 * The first call must come before the first Simulator::Run() of the process, and as early as
 * possible: ns-3 rescales the Time objects that exist at that moment, but a constant such as
 * PicoSeconds(20) made before has already been rounded to whole nanoseconds. Once Run() has been
 * called with another resolution, ns-3 offers no way to change it and ends the program.
 */
void UsePicoseconds();

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TIME_RESOLUTION_H
