/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_QUEUED_EVENT_H
#define DISTRIBUTED_TRAINING_QUEUED_EVENT_H

#include "ns3/event-impl.h"
#include "ns3/fabric-frame.h"
#include "ns3/scheduler.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <functional>
#include <typeinfo>
#include <vector>

namespace ns3::training
{

/// Tells which events are meant.
using EventFilter = std::function<bool(const EventImpl& event)>;

/**
 * @ingroup distributed-training-fabric
 *
 * An event with its sort keys.
 *
 * Simultaneous events are ordered by node (context), events without a node last. At a node, frame
 * arrivals come first, by ingress port number and then in insertion order; all other events follow
 * in insertion order. So the event sequence of a node does not depend on events at other nodes, nor
 * on the partition of nodes among processes (MPI). Insertion order alone, as in ns-3's own
 * schedulers, would break a tie between two frames by the previous actions of their senders.
 */
struct QueuedEvent
{
    EventImpl* impl; ///< event implementation
    uint64_t time;   ///< time stamp, time steps
    /// Sort key among simultaneous events: context, non-frame bit, port number or event uid.
    uint64_t order;

    /// Order bit that is set for all events except frame arrivals. The bits above it hold the
    /// context without its top bit: 2^31 nodes are enough, and Simulator::NO_CONTEXT still sorts
    /// last.
    static constexpr uint64_t NO_FRAME = uint64_t{1} << 32;

    /** @param ev an event of ns-3 @return it with its keys; a frame keeps the uid */
    static QueuedEvent From(const Scheduler::Event& ev)
    {
        const uint64_t context = uint64_t{ev.key.m_context} << 33;
        EventImpl& impl = *ev.impl;
        if (&typeid(impl) == &typeid(Frame)) // same library, so comparing addresses is enough
        {
            auto& frame = static_cast<Frame&>(impl);
            frame.sequence = ev.key.m_uid;
            return {ev.impl, ev.key.m_ts, context | frame.ingress};
        }
        return {ev.impl, ev.key.m_ts, context | NO_FRAME | ev.key.m_uid};
    }

    /** @return the event of ns-3 */
    Scheduler::Event ToEvent() const
    {
        Scheduler::Event ev;
        ev.impl = impl;
        ev.key.m_ts = time;
        ev.key.m_context = GetContext();
        ev.key.m_uid = GetUid();
        return ev;
    }

    /** @return whether a frame arrives */
    bool IsArrival() const
    {
        return !(order & NO_FRAME);
    }

    /** @return its node, or Simulator::NO_CONTEXT */
    uint32_t GetContext() const
    {
        const auto context = static_cast<uint32_t>(order >> 33);
        return context == Simulator::NO_CONTEXT >> 1 ? Simulator::NO_CONTEXT : context;
    }

    /** @return its uid while it is executed; 0: a frame arrives */
    uint32_t GetUid() const
    {
        // ns-3 treats an event at the current time as expired unless its uid exceeds the uid of the
        // running event. When a frame arrives, none of the node's other events of this time has
        // expired, so the uid is 0.
        return IsArrival() ? 0 : static_cast<uint32_t>(order);
    }

    /** @return the uid that it was inserted with */
    uint32_t GetInsertionUid() const
    {
        return IsArrival() ? static_cast<uint32_t>(static_cast<Frame*>(impl)->sequence)
                           : static_cast<uint32_t>(order);
    }

    /** @param events to sort, the earliest first */
    static void Sort(std::vector<QueuedEvent>& events);
};

/**
 * @ingroup distributed-training-fabric
 * Sorts later events first: vectors are emptied from the back, and a heap has the earliest event on
 * top.
 */
struct LaterEvent
{
    /// @param a an event @param b another one @return whether the first is executed later
    bool operator()(const QueuedEvent& a, const QueuedEvent& b) const
    {
        // Without branches, as the order of two events cannot be predicted.
        const bool isSameTime = a.time == b.time;
        if (isSameTime & (a.order == b.order))
        {
            return IsLaterFrame(a, b);
        }
        return (a.time > b.time) | (isSameTime & (a.order > b.order));
    }

  private:
    /** @return whether frame `a`, of the same port and time as frame `b`, was inserted later */
    static bool IsLaterFrame(const QueuedEvent& a, const QueuedEvent& b)
    {
        return a.IsArrival() &&
               static_cast<Frame*>(a.impl)->sequence > static_cast<Frame*>(b.impl)->sequence;
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_QUEUED_EVENT_H
