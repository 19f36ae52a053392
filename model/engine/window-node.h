/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WINDOW_NODE_H
#define DISTRIBUTED_TRAINING_WINDOW_NODE_H

#include <cstdint>
#include <vector>

namespace ns3::training
{

class HostDevice;

/** A node that executes events in windows. */
struct WindowNode
{
    uint32_t id{0};                         ///< id of the node
    std::vector<const HostDevice*> devices; ///< of a host: its ports; none: a switch

    /// @return whether two nodes are the same
    friend bool operator==(const WindowNode& a, const WindowNode& b)
    {
        return a.id == b.id && a.devices == b.devices;
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WINDOW_NODE_H
