/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-timer-watch.h"

#include "core/event-kinds.h"

#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"

#include <algorithm>

namespace ns3::training
{

void
RdmaTimerWatch::Attach(const Time& shortest)
{
    m_shortest = &shortest;
}

void
RdmaTimerWatch::Stop()
{
    Simulator::Cancel(m_event);
    m_queues.clear();
}

void
RdmaTimerWatch::Add(RdmaSendQueue& queue)
{
    m_queues.push_back(&queue);
    if (m_event.IsExpired())
    {
        Schedule();
    }
}

void
RdmaTimerWatch::Schedule()
{
    const int64_t period = GetPeriod();
    m_nextCheck = EventLoop::Now() + period;
    // No packet that comes in time depends on the check, so a steady state goes on beside it.
    const auto check = Create<BystanderCall<RdmaTimerWatch>>(&RdmaTimerWatch::Check, this);
    m_event = Simulator::Schedule(TimeStep(period), Ptr<EventImpl>(check));
}

void
RdmaTimerWatch::Check()
{
    const int64_t now = m_nextCheck;
    Schedule();
    std::vector<RdmaSendQueue*> queues;
    queues.swap(m_queues);
    constexpr std::size_t AHEAD = 4; // prefetch distance; the queue pairs are no longer cached
    for (std::size_t i = 0; i < queues.size(); i++)
    {
        if (i + AHEAD < queues.size())
        {
            queues[i + AHEAD]->PrefetchTimer();
        }
        if (queues[i]->CheckTimer(now, m_nextCheck))
        {
            m_queues.push_back(queues[i]);
        }
    }
    if (m_queues.empty())
    {
        Simulator::Remove(m_event);
    }
}

} // namespace ns3::training
