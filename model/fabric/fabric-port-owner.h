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

#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

class FabricPort;

/**
 * @ingroup distributed-training-fabric
 * The device that owns a port: a host device or a switch. It provides the trace sources of its
 * ports.
 */
class FabricPortOwner
{
  public:
    /** The length of a queue has changed. (port, priority, queued bytes) */
    typedef void (*QueueLengthTracedCallback)(uint16_t port, uint8_t priority, uint64_t bytes);

    /**
     * The peer has paused or resumed a priority, or its pause has expired. (port, priority, paused)
     */
    typedef void (*PauseTracedCallback)(uint16_t port, uint8_t priority, bool paused);

    /**
     * A frame has been dropped by the device or lost on its link. (frame, freed afterwards; port
     * that counts the frame in droppedFrames or lostFrames of PortCounters; reason)
     */
    typedef void (*DropTracedCallback)(const Frame& frame, uint16_t port, DropReason reason);

    virtual ~FabricPortOwner() = default;

    /**
     * Handles an arriving frame: called on arrival of the last bit, or of the first 64 bytes in
     * case of cut-through. Not called for pause frames.
     * @param frame the frame; owned by the callee from now on
     * @param port ingress port
     */
    virtual void Receive(Frame* frame, FabricPort& port) = 0;

    /**
     * Prefetches the data that Receive() needs for a frame that is about to arrive. Not called for
     * every frame.
     * @param frame frame frame that is about to arrive
     */
    virtual void Prefetch([[maybe_unused]] const Frame& frame)
    {
    }

    /**
     * Second prefetch stage, a few events later, for data whose addresses depend on the data
     * prefetched by Prefetch().
     * @param frame frame frame that is about to arrive
     * @return the port at which it will probably be sent, also prefetched; null: unknown or none
     */
    virtual const FabricPort* PrefetchSoon([[maybe_unused]] const Frame& frame)
    {
        return nullptr;
    }

    /**
     * Called when the transmission of a frame begins: releases the buffer space of the frame.
     * @param frame the frame; its ECN field may be changed
     * @param port egress port
     * @return whether to send it; if not, the callee owns the frame now
     */
    virtual bool BeginTransmit(Frame& frame, FabricPort& port) = 0;

    /** Called when the link of a port has gone up or down. */
    virtual void NotifyLinkChange()
    {
    }

    /**
     * @param port port number
     * @param priority traffic class
     * @return bytes of frames that came by this port in this class and are stored
     */
    virtual uint64_t GetHeldBytes([[maybe_unused]] uint16_t port,
                                  [[maybe_unused]] uint8_t priority) const
    {
        return 0;
    }

    /**
     * @param bitsPerSecond line rate of a port
     * @return time from the arrival of a pause until the port obeys it
     */
    virtual Time GetPauseResponse([[maybe_unused]] uint64_t bitsPerSecond) const
    {
        return Time(0);
    }

    /** @return the scheduling of priorities at all ports */
    const PortScheduling& GetScheduling() const
    {
        return m_scheduling;
    }

    /**
     * Traces the length of a queue.
     * @param port port number
     * @param priority traffic class of the queue
     * @param bytes queued bytes
     */
    void NotifyQueueLength(uint16_t port, uint8_t priority, uint64_t bytes)
    {
        m_queueLengthTrace(port, priority, bytes);
    }

    /**
     * Traces a pause by the peer.
     * @param port port number
     * @param priority traffic class
     * @param paused whether the priority is now paused
     */
    void NotifyPause(uint16_t port, uint8_t priority, bool paused)
    {
        m_pauseTrace(port, priority, paused);
    }

    /**
     * Traces a dropped frame.
     * @param frame the frame
     * @param port number of the port that counts the drop
     * @param reason drop reason
     */
    void NotifyDrop(const Frame& frame, uint16_t port, DropReason reason)
    {
        m_dropTrace(frame, port, reason);
    }

  protected:
    /** @param weights eight numbers, the attribute Weights */
    void SetWeights(std::string weights)
    {
        m_scheduling.ReadWeights("Weights", weights);
    }

    /** @return the attribute Weights */
    std::string GetWeights() const
    {
        return m_scheduling.WriteWeights();
    }

    PortScheduling m_scheduling; ///< @see GetScheduling()

    TracedCallback<uint16_t, uint8_t, uint64_t>
        m_queueLengthTrace;                               ///< @see QueueLengthTracedCallback
    TracedCallback<uint16_t, uint8_t, bool> m_pauseTrace; ///< @see PauseTracedCallback
    TracedCallback<const Frame&, uint16_t, DropReason> m_dropTrace; ///< @see DropTracedCallback
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PORT_OWNER_H
