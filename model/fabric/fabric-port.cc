/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-port.h"

#include "state-visitor.h"

#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"

#include <algorithm>

namespace ns3::training
{

void
Frame::Notify() // defined here, because frames do not depend on ports
{
    port->Arrive(this);
}

void
FabricPort::Notify()
{
    m_lineFreePending = false;
    SendNext(EventLoop::Now());
}

void
FabricPort::Flush()
{
    EventLoop::CatchUp(m_nodeId);
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        while (m_waiting >> priority & 1)
        {
            Drop(Pop(priority), DropReason::RESTART);
        }
        if (IsPaused(priority) &&
            (!SendsWithCredits(priority) || m_credits->GetBalance(priority) > 0))
        {
            GetPauses().Forget(priority);
        }
    }
    while (m_hasPauses)
    {
        Frame* frame = PopPause();
        Use().totals.pausesSent--; // it was never sent
        Frame::Free(frame);
    }
}

LinkCredits&
FabricPort::MakeCredits()
{
    if (!m_credits)
    {
        m_credits = std::make_unique<LinkCredits>();
        m_isHooked = true;
    }
    return *m_credits;
}

void
FabricPort::ReceiveWithCredits(uint8_t classes, uint64_t bytes)
{
    MakeCredits().SetReceiving(classes, bytes);
    m_peer->MakeCredits().SetSending(classes, bytes);
}

void
FabricPort::GrantCredits(uint8_t priority)
{
    const uint64_t bytes = m_credits->Grant(priority, m_owner.GetHeldBytes(m_index, priority));
    if (bytes == 0)
    {
        return;
    }
    Frame* frame = Frame::Allocate(FrameKind::CREDIT);
    frame->priority = priority;
    frame->messageBytes = bytes;
    const int64_t now = EventLoop::Now();
    ScheduleArrival(frame, now, now + GetDelay().GetTimeStep());
}

void
FabricPort::AddCredits(uint8_t priority, int64_t bytes)
{
    const bool mayBegin = m_credits->Add(priority, bytes);
    if (mayBegin == IsPaused(priority))
    {
        GetPauses().Override(priority, !mayBegin);
    }
}

void
FabricPort::Purge(uint8_t priority)
{
    EventLoop::CatchUp(m_nodeId);
    while (m_waiting >> priority & 1)
    {
        Frame* frame = Pop(priority);
        if (m_owner.BeginTransmit(*frame, *this)) // releases its space
        {
            Drop(frame, DropReason::PAUSE_STORM);
        }
    }
}

bool
FabricPort::SendIfIdle(Frame* frame)
{
    if (m_lineFreePending || m_storesAll || m_waiting || m_paused >> frame->priority & 1)
    {
        return false;
    }
    const int64_t now = EventLoop::Now();
    if (now < m_lineFree)
    {
        return false;
    }
    Transmit(frame, now);
    return true;
}

void
FabricPort::Send(Frame* frame)
{
    Push(frame);
    Wake();
}

void
FabricPort::Occupy(Time duration)
{
    m_occupiedUntil = (Simulator::Now() + duration).GetTimeStep();
    m_isHooked = true;
}

void
FabricPort::Wake()
{
    if (m_lineFreePending)
    {
        return;
    }
    const int64_t now = EventLoop::Now();
    if (now >= m_lineFree)
    {
        SendNext(now);
    }
    else
    {
        ScheduleLineFree(now);
    }
}

void
FabricPort::ScheduleLineFree(int64_t now)
{
    m_lineFreePending = true;
    Ref(); // the simulator releases one reference after the event
    EventLoop::Schedule(m_nodeId, now, m_lineFree, this);
}

void
FabricPort::SendNext(int64_t now)
{
    if (m_hasPauses)
    {
        Transmit(PopPause(), now);
    }
    else
    {
        const uint8_t ready = GetReady(now);
        if (!((m_waiting | ready) & ~m_paused))
        {
            return;
        }
        m_lineFreePending = true; // what the owner sends now, such as a pause, waits its turn
        Frame* frame = TakeNext(ready, now);
        if (m_owner.BeginTransmit(*frame, *this))
        {
            Transmit(frame, now);
        }
        else
        {
            m_lineFree = std::max(m_lineFree, now);
        }
    }
    if (m_hasPauses || (m_waiting & ~m_paused) || (GetReady(m_lineFree) & ~m_paused))
    {
        ScheduleLineFree(now);
    }
    else
    {
        m_lineFreePending = false;
    }
}

void
FabricPort::Transmit(Frame* frame, int64_t now)
{
    const int64_t arrival = Begin(*frame, now);
    if (frame->kind != FrameKind::PAUSE)
    {
        CountSent(*frame);
    }
    if (m_isHooked)
    {
        OnTransmit(*frame);
    }
    if (m_isImpaired)
    {
        ApplyImpairments(frame, now, arrival, 0);
    }
    else
    {
        ScheduleArrival(frame, now, arrival);
    }
}

void
FabricPort::OnTransmit(const Frame& frame)
{
    if (m_tap)
    {
        (*m_tap)(frame, true);
    }
    m_lineFree = std::max(m_lineFree, m_occupiedUntil);
    if (frame.kind != FrameKind::PAUSE && SendsWithCredits(frame.priority))
    {
        AddCredits(frame.priority, -int64_t{frame.bytes});
    }
}

void
FabricPort::ApplyImpairments(Frame* frame, int64_t now, int64_t arrival, std::size_t first)
{
    for (std::size_t i = first; i < m_impairments.size(); i++)
    {
        LinkImpairment::Fate fate = m_impairments[i]->Decide(frame->bytes);
        for (uint32_t tries = 0; fate.retry >= 0 && tries < MAX_RETRIES; tries++)
        {
            arrival += Retry(*frame, fate.retry);
            fate = m_impairments[i]->Decide(frame->bytes);
        }
        const bool needsCredits =
            frame->kind != FrameKind::PAUSE && SendsWithCredits(frame->priority);
        if (fate.lost)
        {
            if (needsCredits)
            {
                // The next frame tells the receiver that this one is missing.
                Frame* credit = Frame::Allocate(FrameKind::CREDIT);
                credit->priority = frame->priority;
                credit->messageBytes = frame->bytes;
                credit->port = this;
                credit->Ref(); // the simulator releases one reference after the event
                Simulator::ScheduleWithContext(m_nodeId,
                                               TimeStep(arrival - now) + m_peer->GetDelay(),
                                               credit);
            }
            CountLoss(frame, fate.reason);
            return;
        }
        if (fate.duplicated)
        {
            // The copy follows back to back, as if the frame had been sent twice.
            Use().totals.duplicatedFrames++;
            if (needsCredits)
            {
                AddCredits(frame->priority, -int64_t{frame->bytes});
            }
            const int64_t behind = arrival + fate.delay + GetLineTime(frame->bytes);
            ApplyImpairments(frame->Clone(), now, behind, i + 1);
        }
        arrival += fate.delay;
    }
    ScheduleArrival(frame, now, arrival);
}

int64_t
FabricPort::Retry(const Frame& frame, int64_t response)
{
    // The peer takes no frame behind the lost one, so that all are sent again after its request.
    const int64_t time = 2 * GetDelay().GetTimeStep() + response + GetLineTime(frame.bytes);
    m_lineFree += time;
    m_counters.transmittedFrames++;
    m_counters.transmittedBytes += frame.bytes;
    Use().totals.lostFrames++;
    Use().totals.lostBytes += frame.bytes;
    return time;
}

void
FabricPort::Arrive(Frame* frame)
{
    if (m_down || m_isHooked)
    {
        ArriveSpecially(frame);
        return;
    }
    Take(frame);
}

void
FabricPort::ArriveSpecially(Frame* frame)
{
    const uint8_t priority = frame->priority;
    if (frame->kind == FrameKind::CREDIT)
    {
        AddCredits(priority, static_cast<int64_t>(frame->messageBytes));
        Frame::Free(frame);
        return;
    }
    const bool tookCredits = frame->kind != FrameKind::PAUSE && ReceivesWithCredits(priority);
    if (tookCredits)
    {
        m_credits->NoteReceived(priority, frame->bytes);
    }
    if (m_down)
    {
        CountLoss(frame, DropReason::LINK_DOWN); // in flight when the link went down
    }
    else
    {
        if (m_tap)
        {
            (*m_tap)(*frame, false);
        }
        Take(frame);
    }
    if (tookCredits)
    {
        GrantCredits(priority);
    }
}

inline void
FabricPort::Take(Frame* frame)
{
    m_counters.receivedFrames++;
    m_counters.receivedBytes += frame->bytes;
    if (frame->kind == FrameKind::PAUSE)
    {
        OnPause(*frame);
        Frame::Free(frame);
        return;
    }
    m_owner.Receive(frame, *this);
}

void
FabricPort::OnPause(const Frame& frame)
{
    Use().totals.pausesReceived++;
    uint8_t classes = frame.pauseClasses;
    if (m_credits)
    {
        classes &= ~m_credits->GetSendingClasses();
    }
    const auto length = static_cast<int64_t>(frame.pauseQuanta * 64 * m_picosecondsPerByte);
    GetPauses().Receive(classes, length, GetPauseResponse());
}

bool
FabricPort::IsIdle(int64_t now) const
{
    constexpr int64_t LONG = 20000000; // ps
    return std::max(m_lineFree, m_peer ? m_peer->m_lineFree : 0) < now - LONG && m_queuedBytes == 0;
}

/** @return whether nothing but credits makes it differ from a plain port */
bool
FabricPort::IsCredited() const
{
    return m_credits && !m_tap && m_occupiedUntil == 0 && !m_down && !m_isImpaired;
}

/** @return whether pauses end by time, or somebody watches how long they are */
bool
FabricPort::HasTimedPauses()
{
    const uint8_t untilCredits = m_credits ? m_credits->GetSendingClasses() : 0;
    return m_paused & ~untilCredits || (m_paused && GetPauses().HasFilter());
}

void
FabricPort::Visit(StateVisitor& visitor, bool repeats)
{
    static_assert(StateVisitor::IsSize(sizeof(FabricPort), 256),
                  "a new member: visit it unless it stays, then correct the size");
    if (visitor.PassesOver(IsIdle(visitor.GetTime())))
    {
        visitor.Same({m_counters.transmittedFrames, m_counters.receivedFrames, m_paused});
        return;
    }
    repeats = repeats && !m_hasPauses && !m_isAtBorder && !HasTimedPauses() &&
              (IsPlain() || IsCredited());
    visitor.Same({repeats, m_waiting, m_current, m_paused, m_lineFreePending, m_queuedBytes});
    visitor.Time(m_lineFree);
    m_counters.Visit(visitor, repeats);
    VisitClasses(visitor, repeats);
    if (m_credits)
    {
        m_credits->Visit(visitor);
    }
}

} // namespace ns3::training
