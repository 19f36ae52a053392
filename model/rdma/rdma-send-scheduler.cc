/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-send-scheduler.h"

#include "core/event-kinds.h"
#include "uec-wire-format.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/state-visitor.h"
#include "ns3/training-event-loop.h"
#include "ns3/training-prefetch.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaSendScheduler");

namespace
{

/** Prefetches a queue. */
void
PrefetchLines(const RdmaSendQueue* queue)
{
    PrefetchBytes(queue, 64 * RdmaSendQueue::SEND_LINES);
}

} // namespace

void
RdmaSendQueue::VisitTurn(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(RdmaSendQueue), 48),
                  "a new member: visit it unless it stays, then correct the size");
    visitor.Same(static_cast<uint64_t>(m_state));
    visitor.Time(m_nextSendTime);
}

bool
RdmaSendScheduler::Visit(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(RdmaSendScheduler), 240),
                  "a new member: visit it unless it stays, then correct the size");
    visitor.Same({m_ready, m_last ? m_last->GetNumber() : 0});
    visitor.Time(m_nextInjection);
    for (const Turns& turns : m_turns)
    {
        for (const RdmaSendQueue* queue = turns.first; queue; queue = queue->m_next)
        {
            visitor.Same(queue->GetNumber());
        }
    }
    return m_paced.empty(); // so wake times are not visited
}

void
RdmaSendScheduler::Attach(FabricPort* port, uint64_t injectionRate)
{
    NS_LOG_FUNCTION(this << port << injectionRate);
    m_port = port;
    m_picosecondsPerByte = injectionRate > 0 ? 8e12 / static_cast<double>(injectionRate) : 0;
    if (!port)
    {
        Simulator::Cancel(m_timer);
        m_turns = {};
        m_ready = 0;
        m_paced = {};
        m_last = nullptr;
    }
}

void
RdmaSendScheduler::Schedule(RdmaSendQueue& queue)
{
    using State = RdmaSendQueue::State;
    if (queue.m_state == State::READY || !queue.CanSend())
    {
        return;
    }
    const int64_t now = EventLoop::Now();
    if (queue.m_nextSendTime > now)
    {
        // A queue that was delayed meanwhile is rescheduled when its old time comes.
        if (queue.m_state == State::IDLE || queue.m_nextSendTime < queue.m_wakeTime)
        {
            Pace(queue, now);
            if (!m_ready)
            {
                SetTimer(queue.m_wakeTime);
            }
        }
        return;
    }
    Append(queue);
    m_port->Wake();
}

void
RdmaSendScheduler::Append(RdmaSendQueue& queue)
{
    queue.m_state = RdmaSendQueue::State::READY;
    queue.m_next = nullptr;
    Turns& turns = m_turns[queue.m_priority];
    (turns.first ? turns.last->m_next : turns.first) = &queue;
    turns.last = &queue;
    m_ready |= 1 << queue.m_priority;
}

RdmaSendQueue*
RdmaSendScheduler::TakeFirst(uint8_t priority)
{
    Turns& turns = m_turns[priority];
    RdmaSendQueue* queue = turns.first;
    turns.first = queue->m_next;
    queue->m_state = RdmaSendQueue::State::IDLE;
    if (!turns.first)
    {
        m_ready &= ~(1 << priority);
    }
    else if (turns.first->m_next && turns.first->m_next->m_next)
    {
        // With thousands of queues, the next ones were evicted from the cache since their last
        // turn.
        PrefetchLines(turns.first->m_next->m_next);
        turns.first->Prefetch();
    }
    return queue;
}

void
RdmaSendScheduler::Pace(RdmaSendQueue& queue, int64_t now)
{
    queue.m_state = RdmaSendQueue::State::PACED;
    // A rate that rises before the next packet brings it forward.
    queue.m_wakeTime = queue.m_rateEnd > now ? std::min(queue.m_nextSendTime, queue.m_rateEnd)
                                             : queue.m_nextSendTime;
    m_paced.push({queue.m_wakeTime, &queue});
}

void
RdmaSendScheduler::MovePacedToReady(int64_t now)
{
    while (!m_paced.empty() && m_paced.top().time <= now)
    {
        const Paced due = m_paced.top();
        m_paced.pop();
        if (due.queue->m_state != RdmaSendQueue::State::PACED || due.time != due.queue->m_wakeTime)
        {
            continue; // a stale entry: the queue got an earlier time since
        }
        if (due.queue->m_nextSendTime > now)
        {
            due.queue->Review(now);
        }
        if (due.queue->m_nextSendTime > now)
        {
            Pace(*due.queue, now);
        }
        else
        {
            Append(*due.queue);
        }
    }
}

void
RdmaSendScheduler::Prefetch() const
{
    if (m_ready)
    {
        PrefetchLines(m_turns[__builtin_ctz(m_ready)].first);
    }
    else if (!m_paced.empty())
    {
        PrefetchLines(m_paced.top().queue);
    }
}

uint8_t
RdmaSendScheduler::GetReady(int64_t now)
{
    if (now < m_nextInjection)
    {
        SetTimer(m_nextInjection);
        return 0;
    }
    MovePacedToReady(now);
    for (uint8_t left = m_ready; left; left &= left - 1)
    {
        // Since it was queued, its packets may have been acknowledged, or its rate or window cut.
        const auto priority = static_cast<uint8_t>(__builtin_ctz(left));
        const Turns& turns = m_turns[priority];
        while (turns.first && (!turns.first->CanSend() || turns.first->m_nextSendTime > now))
        {
            RdmaSendQueue* queue = TakeFirst(priority);
            if (queue->CanSend())
            {
                Pace(*queue, now);
            }
        }
    }
    if (!m_ready && !m_paced.empty())
    {
        PrefetchLines(m_paced.top().queue);
        SetTimer(m_paced.top().time);
    }
    return m_ready;
}

Frame*
RdmaSendScheduler::Pull(uint8_t priority, int64_t now)
{
    RdmaSendQueue* queue = TakeFirst(priority);
    m_last = queue;
    Frame* frame = queue->MakeFrame(now);
    if (m_picosecondsPerByte > 0)
    {
        m_nextInjection = now + GetInjectionTime(frame->bytes);
    }
    if (queue->CanSend())
    {
        ScheduleNext(*queue, *frame, now);
    }
    return frame;
}

int64_t
RdmaSendScheduler::GetInjectionTime(uint32_t bytes) const
{
    return static_cast<int64_t>(
        (bytes + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES) * m_picosecondsPerByte + 0.5);
}

inline void
RdmaSendScheduler::ScheduleNext(RdmaSendQueue& queue, const Frame& frame, int64_t now)
{
    if (queue.m_nextSendTime <= now + m_port->GetLineTime(frame.bytes))
    {
        Append(queue);
    }
    else
    {
        Pace(queue, now);
    }
}

bool
RdmaSendScheduler::IsOwn(const Frame& frame) const
{
    return IsRoce(frame.kind) || frame.Is<UecHeader>();
}

void
RdmaSendScheduler::OnResize(const Frame& frame, uint32_t before, int64_t now)
{
    if (!m_last)
    {
        return; // a frame of someone else
    }
    RdmaSendQueue& queue = *m_last;
    if (m_picosecondsPerByte > 0)
    {
        m_nextInjection = now + GetInjectionTime(frame.bytes);
    }
    queue.OnResize(frame, before, now);
    const bool isEarlier =
        queue.m_state == RdmaSendQueue::State::PACED && queue.m_nextSendTime < queue.m_wakeTime;
    if (isEarlier || (queue.m_state == RdmaSendQueue::State::IDLE && queue.CanSend()))
    {
        ScheduleNext(queue, frame, now);
    }
}

void
RdmaSendScheduler::SetTimer(int64_t time)
{
    if (m_timer.IsExpired() || m_timerTime > time)
    {
        Simulator::Cancel(m_timer);
        m_timerTime = time;
        const auto wake = Create<QuietCall<RdmaSendScheduler>>(&RdmaSendScheduler::OnTimer,
                                                               this,
                                                               m_port->GetNodeId());
        m_timer = Simulator::Schedule(TimeStep(time - EventLoop::Now()), Ptr<EventImpl>(wake));
    }
}

void
RdmaSendScheduler::OnTimer()
{
    EventLoop::CatchUp(m_port->GetNodeId());
    // The first queue may have been delayed, so check before waking the port.
    if (GetReady(EventLoop::Now()))
    {
        m_port->Wake();
    }
}

} // namespace ns3::training
