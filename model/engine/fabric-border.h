/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_BORDER_H
#define DISTRIBUTED_TRAINING_FABRIC_BORDER_H

#include "process-border.h"

#include "ns3/training-fabric.h"

#include <memory>

namespace ns3::training
{

/**
 * @addtogroup distributed-training-helper
 * Connects the parts of a fabric whose nodes are partitioned among processes (see Processes). These
 * functions are collective calls: all processes must call them with the same fabric.
 * @{
 */

/**
 * Connects the processes. Every link between nodes of different processes becomes part of the
 * border. The event loop advances in rounds as long as the shortest delay of these links.
 * @param fabric installed by FabricHelper with a partition; must outlive the border
 * @param notice time within which a ProcessBorder::Notice must reach all processes
 * @return the border; must outlive the simulation
 * @throw ConfigurationError if a cross-process link has no delay, or if the event loop is not
 *        WindowSimulatorImpl
 */
std::unique_ptr<ProcessBorder> MakeBorder(const Fabric& fabric, Time notice);

/**
 * Distributes the counters of all ports to every process after a simulation. Does nothing if there
 * is only one process.
 * @param fabric the fabric
 */
void GatherCounters(const Fabric& fabric);

/** @} */

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_BORDER_H
