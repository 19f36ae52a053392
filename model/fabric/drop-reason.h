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
    NO_BUFFER,        ///< switch: packet memory full; host: receive buffer full
    EARLY_DROP,       ///< switch: random early drop (WRED)
    QUEUE_LIMIT,      ///< host: transmit queue of the IP stack full
    NO_ROUTE,         ///< switch: no route; host: the next hop of the IP packet is no host
    TOO_LONG,         ///< host: packet of the IP stack exceeds the MTU
    UNKNOWN_PROTOCOL, ///< host: packet of the IP stack is not IPv4
    LINK_DOWN,        ///< link down during transmission or propagation
    LINK_LOSS,        ///< random or burst loss on the link
    CORRUPTED,        ///< bit error
    RESTART,          ///< switch restarted while the frame was queued
    OTHER_HOST,       ///< host: the frame is addressed to another endpoint
    NO_RECEIVER,      ///< host: no receiver for this protocol, job or queue pair; no IP stack
    PAUSE_STORM,      ///< switch: the watchdog empties a queue that is paused too long
    COUNT             ///< number of reasons
};

/**
 * @ingroup distributed-training-fabric
 * @param reason a drop reason
 * @return its name, such as "no-buffer"
 */
const char* GetName(DropReason reason);

/**
 * @ingroup distributed-training-fabric
 * @param stream output stream
 * @param reason reason to write by name
 * @return the stream
 */
std::ostream& operator<<(std::ostream& stream, DropReason reason);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DROP_REASON_H
