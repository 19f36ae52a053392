/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAINING_EVENT_LOOP_H
#define DISTRIBUTED_TRAINING_TRAINING_EVENT_LOOP_H

#include "ns3/event-impl.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * What code that handles each packet needs of ns3::Simulator. If the event loop that runs offers
 * it, the time is read and events are scheduled without virtual calls into another library;
 * otherwise Simulator is asked. The results are the same.
 *
 * An event loop may execute the events of some nodes later than those of others. So code that
 * shows the state of a node to others calls CatchUp() first.
 */
class EventLoop
{
  public:
    /** @return Simulator::Now(), time steps */
    static int64_t Now()
    {
        return m_time ? static_cast<int64_t>(*m_time) : Simulator::Now().GetTimeStep();
    }

    /**
     * Simulator::ScheduleWithContext().
     * @param context node of the event
     * @param now current time, time steps
     * @param time time of the event, time steps
     * @param event the event; one reference passes to the event loop
     */
    static void Schedule(uint32_t context, int64_t now, int64_t time, EventImpl* event)
    {
        if (m_time)
        {
            m_schedule(m_loop, context, static_cast<uint64_t>(time), event);
            return;
        }
        Simulator::ScheduleWithContext(context, TimeStep(time - now), event);
    }

    /**
     * Makes sure that a node has executed its events before the current one, so that its state is
     * that of the current time. Costs next to nothing if it has.
     * @param node id of the node
     */
    static void CatchUp(uint32_t node)
    {
        if (m_isBehind)
        {
            m_catchUp(m_loop, node);
        }
    }

    /** Somebody begins to observe a node, whose events must be executed in order from now on. */
    static void OnSink()
    {
        if (m_time)
        {
            m_onSink(m_loop);
        }
    }

    /** Schedules an event. (event loop, node, time in time steps, event) */
    using Scheduling = void (*)(void* loop, uint32_t context, uint64_t time, EventImpl* event);

    /** Executes events of a node before the current one. (event loop, node) */
    using CatchingUp = void (*)(void* loop, uint32_t node);

    /** Chooses anew which nodes may be behind. (event loop) */
    using Choosing = void (*)(void* loop);

    /**
     * Called by an event loop before it runs.
     * @param time current time, time steps; must stay valid until Reset()
     * @param loop the event loop
     * @param schedule schedules an event there
     * @param catchUp executes earlier events of a node that is behind
     * @param onSink is called when a sink has been connected
     */
    static void Set(const uint64_t* time,
                    void* loop,
                    Scheduling schedule,
                    CatchingUp catchUp,
                    Choosing onSink)
    {
        m_time = time;
        m_loop = loop;
        m_schedule = schedule;
        m_catchUp = catchUp;
        m_onSink = onSink;
    }

    /** @param isBehind whether nodes may have events before the current one from now on */
    static void SetBehind(bool isBehind)
    {
        m_isBehind = isBehind;
    }

    /** @return what was set */
    static bool IsBehind()
    {
        return m_isBehind;
    }

    /** Called by an event loop after it has run. */
    static void Reset()
    {
        m_time = nullptr;
        m_isBehind = false;
    }

  private:
    static inline const uint64_t* m_time{nullptr};
    static inline void* m_loop{nullptr};
    static inline Scheduling m_schedule{nullptr};
    static inline CatchingUp m_catchUp{nullptr};
    static inline Choosing m_onSink{nullptr};
    static inline bool m_isBehind{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAINING_EVENT_LOOP_H
