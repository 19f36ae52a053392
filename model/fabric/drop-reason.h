/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_DROP_REASON_H
#define DISTRIBUTED_TRAINING_DROP_REASON_H

#include <cstdint>
#include <ostream>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * Why a frame was dropped or lost, as the trace source Drop of hosts and switches reports it.
 */
enum class DropReason : uint8_t
{
    NO_BUFFER,        ///< switch: the packet memory is full; host: its receive buffer is
    EARLY_DROP,       ///< switch: dropped at random before the queue is full (WRED)
    QUEUE_LIMIT,      ///< host: too much of the IP stack waits for the line
    NO_ROUTE,         ///< no port leads to the destination, or it is no address of the fabric
    TOO_LONG,         ///< host: a packet of the IP stack is longer than the MTU
    UNKNOWN_PROTOCOL, ///< host: a packet of the stack is not IPv4
    LINK_DOWN,        ///< the link was down when the frame was sent, or before it had arrived
    LINK_LOSS,        ///< lost on the link, at random or in a burst
    CORRUPTED,        ///< a bit of the frame was wrong
    RESTART,          ///< the switch restarted while the frame waited
    OTHER_HOST,       ///< host: the frame is addressed to another endpoint
    NO_RECEIVER,      ///< host: nothing there takes frames of this protocol, job or queue pair
    COUNT             ///< number of reasons
};

/**
 * @ingroup distributed-training-fabric
 * @param reason one of the reasons
 * @return its name, such as "no-buffer"
 */
const char* GetName(DropReason reason);

/**
 * @ingroup distributed-training-fabric
 * @param stream to write to
 * @param reason one of the reasons, written by name
 * @return the stream
 */
std::ostream& operator<<(std::ostream& stream, DropReason reason);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DROP_REASON_H
