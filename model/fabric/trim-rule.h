/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRIM_RULE_H
#define DISTRIBUTED_TRAINING_TRIM_RULE_H

#include "fabric-port.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * When a switch cuts a frame to its header instead of dropping it (packet trimming; Handley et al.,
 * "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM
 * 2017, and the Ultra Ethernet specification): if the frame does not fit into its queue. The header
 * travels in a class of its own, so its receiver learns of the loss within a round trip.
 */
struct TrimRule
{
    double perGbps;   ///< size of a queue, bytes per Gbit/s of the port
    uint8_t classes;  ///< bit p: frames of priority p are cut
    uint8_t priority; ///< traffic class of the headers

    /**
     * @param losslessClasses bit p: priority p is lossless
     * @throw ConfigurationError if a class to cut is lossless, or is that of the headers
     */
    void Check(uint8_t losslessClasses) const;

    /**
     * @param frame a frame to enqueue
     * @param port egress port
     * @return whether to cut it
     */
    bool IsAbove(const Frame& frame, const FabricPort& port) const
    {
        return classes >> frame.priority & 1 &&
               static_cast<double>(port.GetQueueBytes(frame.priority) + frame.bytes) >
                   perGbps * static_cast<double>(port.GetRate()) * 1e-9;
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRIM_RULE_H
