/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WINDOW_NODES_H
#define DISTRIBUTED_TRAINING_WINDOW_NODES_H

#include "engine/event-windows.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** The nodes that execute events in windows. */
struct WindowNodes
{
    std::vector<WindowNode> nodes; ///< switches first
    uint64_t length{1};            ///< of a window, time steps
};

/// Shortest lookahead of a node that takes part, time steps. A shorter window holds few events of a
/// node, and costs more than it saves.
constexpr uint64_t SHORTEST_WINDOW = 100000;

/**
 * Finds the nodes of this process that nobody observes, see WindowSimulatorImpl.
 * @param longest longest window, time steps
 * @return the nodes
 */
WindowNodes FindWindowNodes(uint64_t longest);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WINDOW_NODES_H
