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

    /** Schedules an event. (event loop, node, time in time steps, event) */
    using Scheduling = void (*)(void* loop, uint32_t context, uint64_t time, EventImpl* event);

    /**
     * Called by an event loop before it runs.
     * @param time current time, time steps; must stay valid until Reset()
     * @param loop the event loop
     * @param schedule schedules an event there
     */
    static void Set(const uint64_t* time, void* loop, Scheduling schedule)
    {
        m_time = time;
        m_loop = loop;
        m_schedule = schedule;
    }

    /** Called by an event loop after it has run. */
    static void Reset()
    {
        m_time = nullptr;
    }

  private:
    static inline const uint64_t* m_time{nullptr};
    static inline void* m_loop{nullptr};
    static inline Scheduling m_schedule{nullptr};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAINING_EVENT_LOOP_H
