/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_PORT_OWNER_H
#define DISTRIBUTED_TRAINING_FABRIC_PORT_OWNER_H

#include "drop-reason.h"
#include "fabric-frame.h"
#include "port-scheduling.h"

#include "ns3/traced-callback.h"

#include <cstdint>

namespace ns3::training
{

class FabricPort;

/**
 * @ingroup distributed-training-fabric
 * The device that a port belongs to: a host's or a switch. It has the trace sources of its ports.
 */
class FabricPortOwner
{
  public:
    /** The length of a queue has changed. (port, priority, bytes that wait) */
    typedef void (*QueueLengthTracedCallback)(uint16_t port, uint8_t priority, uint64_t bytes);

    /**
     * The peer has paused or resumed a priority, or its pause has expired. (port, priority, paused)
     */
    typedef void (*PauseTracedCallback)(uint16_t port, uint8_t priority, bool paused);

    /**
     * A frame has been dropped by the device, or lost on its link. (frame, freed afterwards; port
     * that counts it: droppedFrames or lostFrames of PortCounters; reason)
     */
    typedef void (*DropTracedCallback)(const Frame& frame, uint16_t port, DropReason reason);

    virtual ~FabricPortOwner() = default;

    /**
     * A frame has arrived with its last bit, or its first 64 bytes if the port cuts through. Pause
     * frames never get here.
     * @param frame owned by the callee from now on
     * @param port it arrived at
     */
    virtual void Receive(Frame* frame, FabricPort& port) = 0;

    /**
     * A frame is going to arrive soon: brings into the cache the data that Receive() needs. Not
     * called for every frame.
     * @param frame the frame
     */
    virtual void Expect([[maybe_unused]] const Frame& frame)
    {
    }

    /**
     * The same a few events later, for data that are found by data that Expect() has asked for.
     * @param frame the frame
     */
    virtual void ExpectSoon([[maybe_unused]] const Frame& frame)
    {
    }

    /**
     * The transmission of a frame begins, so it no longer takes buffer space.
     * @param frame the frame; its ECN field may be changed
     * @param port that sends it
     * @return whether to send it; if not, the callee owns it now
     */
    virtual bool BeginTransmit(Frame& frame, FabricPort& port) = 0;

    /** The link of a port has gone up or down. */
    virtual void NotifyLinkChange()
    {
    }

    /** @return order in which all its ports serve their priorities */
    const PortScheduling& GetScheduling() const
    {
        return m_scheduling;
    }

    /**
     * Traces the length of a queue.
     * @param port number of a port
     * @param priority traffic class of the queue
     * @param bytes that wait in it now
     */
    void NotifyQueueLength(uint16_t port, uint8_t priority, uint64_t bytes)
    {
        m_queueLengthTrace(port, priority, bytes);
    }

    /**
     * Traces a pause by the peer.
     * @param port number of a port
     * @param priority traffic class
     * @param paused whether it is paused now
     */
    void NotifyPause(uint16_t port, uint8_t priority, bool paused)
    {
        m_pauseTrace(port, priority, paused);
    }

    /**
     * Traces a frame that is dropped.
     * @param frame the frame
     * @param port number of the port that counts it
     * @param reason for the drop
     */
    void NotifyDrop(const Frame& frame, uint16_t port, DropReason reason)
    {
        m_dropTrace(frame, port, reason);
    }

  protected:
    PortScheduling m_scheduling; ///< @see GetScheduling()

    TracedCallback<uint16_t, uint8_t, uint64_t>
        m_queueLengthTrace;                               ///< @see QueueLengthTracedCallback
    TracedCallback<uint16_t, uint8_t, bool> m_pauseTrace; ///< @see PauseTracedCallback
    TracedCallback<const Frame&, uint16_t, DropReason> m_dropTrace; ///< @see DropTracedCallback
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PORT_OWNER_H
