/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_ENGINE_H
#define DISTRIBUTED_TRAINING_RDMA_ENGINE_H

#include <cstdint>

namespace ns3::training
{

class Frame;
class StateVisitor;

/**
 * @ingroup distributed-training-fabric
 *
 * The part of a NIC that handles RoCE. It takes over the RoCE frames that arrive at a HostDevice,
 * and may be the source of those that it sends.
 *
 * An event of the host is quiet if the engine calls nobody during it, such as the arrival of a
 * packet in the middle of a message. Then the engine, its port and their queue pairs are all that
 * it reads and changes.
 */
class RdmaEngine
{
  public:
    virtual ~RdmaEngine() = default;

    /** @param frame an arrived RoCE frame; owned by the callee from now on */
    virtual void Receive(Frame* frame) = 0;

    /**
     * Prefetches the data that Receive() needs. Not called for every frame.
     * @param frame arrives after a few other events
     * @param isSoon false in the first stage, true in the second one
     */
    virtual void Prefetch([[maybe_unused]] const Frame& frame, [[maybe_unused]] bool isSoon) const
    {
    }

    /**
     * Prefetches what the next events of the host need. Not called for every host.
     * @param isSoon false in the first stage, true in the second one
     */
    virtual void PrefetchTurn([[maybe_unused]] bool isSoon) const
    {
    }

    /**
     * Visits its state and that of what it sends.
     * @param visitor visits it
     * @param isIdle whether no frame has come or gone for long, see FabricPort::IsIdle()
     * @return whether that state may repeat
     */
    virtual bool Visit([[maybe_unused]] StateVisitor& visitor, [[maybe_unused]] bool isIdle)
    {
        return false;
    }

    /** @return least time until one of its messages may end, here or at the other side, ps */
    virtual uint64_t GetLeastTimeToEnd() const
    {
        return 0;
    }

    /** @return whether trace sinks learn of quiet events */
    virtual bool IsObserved() const
    {
        return true;
    }

    /**
     * @param duration time from now on, ps
     * @return whether for that long all its events are quiet, apart from arrivals, and all events
     *         that are not QuietEvents
     */
    virtual bool IsQuiet([[maybe_unused]] int64_t duration) const
    {
        return false;
    }

    /**
     * @param frame a positive acknowledgement that arrives later
     * @return whether its arrival is quiet if only quiet events come before
     */
    virtual bool IsQuiet([[maybe_unused]] const Frame& frame) const
    {
        return false;
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_ENGINE_H
