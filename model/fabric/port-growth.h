/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PORT_GROWTH_H
#define DISTRIBUTED_TRAINING_PORT_GROWTH_H

#include "port-counters.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * @param before counters of a port
 * @param after counters of the same port later
 * @return what has been added to the counts; peaks are 0
 */
PortCounters GetGrowth(const PortCounters& before, const PortCounters& after);

/**
 * @ingroup distributed-training-fabric
 * @param counters of a port, whose counts grow
 * @param growth what is added to them
 */
void Grow(PortCounters& counters, const PortCounters& growth);

/**
 * @ingroup distributed-training-fabric
 * @param one counters of a port
 * @param other counters of a port
 * @param comparesMarks whether counts of marked frames must be equal, too
 * @return whether all counts are equal
 */
bool HasEqualCounts(const PortCounters& one, const PortCounters& other, bool comparesMarks);

/**
 * @ingroup distributed-training-fabric
 * @param one counters of a port
 * @param other counters of the same port
 * @return whether all peaks are equal
 */
bool HasEqualPeaks(const PortCounters& one, const PortCounters& other);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PORT_GROWTH_H
