/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-port.h"

#include "state-visitor.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPort");

namespace
{

/// Bytes that a cut-through switch receives before forwarding: all headers.
constexpr uint32_t CUT_THROUGH_BYTES = Frame::MIN_BYTES + Frame::PREAMBLE_BYTES;

} // namespace

void
Frame::Notify() // defined here, because frames do not depend on ports
{
    port->Arrive(this);
}

FabricPort::FabricPort(FabricPortOwner& owner, uint32_t nodeId, uint16_t index)
    : m_owner(owner),
      m_index(index),
      m_nodeId(nodeId),
      m_lineFreePending(false),
      m_hasPauses(false),
      m_storesAll(false),
      m_down(false),
      m_isHooked(false),
      m_cutThrough(false),
      m_addsTelemetry(false),
      m_isImpaired(false),
      m_isAtBorder(false)
{
}

void
FabricPort::MakeClasses()
{
    m_classes = std::make_unique<Classes>();
}

PortCounters
FabricPort::GetCounters() const
{
    EventLoop::CatchUp(m_nodeId);
    PortCounters counters;
    static_cast<PortTotals&>(counters) = m_counters;
    if (m_classes)
    {
        counters.byPriority = m_classes->counters;
    }
    return counters;
}

void
FabricPort::SetCounters(const PortCounters& counters)
{
    m_counters = counters;
    Use().counters = counters.byPriority;
}

void
FabricPort::Notify()
{
    m_lineFreePending = false;
    SendNext(EventLoop::Now());
}

void
FabricPort::Connect(FabricPort& peer, uint64_t bitsPerSecond, Time delay)
{
    NS_ASSERT_MSG(Time::GetResolution() == Time::PS, "the fabric counts in picoseconds");
    m_peer = &peer;
    m_peerNodeId = peer.m_nodeId;
    m_peerIndex = peer.m_index;
    m_rate = bitsPerSecond;
    m_picosecondsPerByte = 8e12 / static_cast<double>(bitsPerSecond);
    m_delay = delay.GetTimeStep();
    m_reach = m_delay - static_cast<int64_t>(Frame::GAP_BYTES * m_picosecondsPerByte + 0.5);
}

void
FabricPort::EnableCutThrough()
{
    m_cutThrough = true;
}

void
FabricPort::AddLatency(Time latency)
{
    EventLoop::CatchUp(m_nodeId);
    m_delay += latency.GetTimeStep();
    m_reach += latency.GetTimeStep();
}

void
FabricPort::AddImpairment(std::shared_ptr<LinkImpairment> impairment)
{
    EventLoop::CatchUp(m_nodeId);
    NS_LOG_INFO("node " << m_nodeId << " port " << m_index << ": an impairment begins");
    m_down = m_down || impairment->IsDown();
    m_isImpaired = true;
    if (!m_impairments)
    {
        m_impairments = std::make_unique<std::vector<std::shared_ptr<LinkImpairment>>>();
    }
    m_impairments->push_back(std::move(impairment));
}

void
FabricPort::RemoveImpairment(const std::shared_ptr<LinkImpairment>& impairment)
{
    EventLoop::CatchUp(m_nodeId);
    NS_LOG_INFO("node " << m_nodeId << " port " << m_index << ": an impairment ends");
    auto& all = *m_impairments;
    all.erase(std::find(all.begin(), all.end(), impairment));
    m_isImpaired = !all.empty();
    m_down = std::any_of(all.begin(), all.end(), [](const auto& other) { return other->IsDown(); });
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
        if (!SendsWithCredits(priority) || m_credits->GetBalance(priority) > 0)
        {
            SetPaused(priority, false, EventLoop::Now());
        }
    }
    while (m_hasPauses)
    {
        Frame* frame = PopPause();
        m_counters.pausesSent--; // it was never sent
        Frame::Free(frame);
    }
}

void
FabricPort::Drop(Frame* frame, DropReason reason)
{
    NS_LOG_LOGIC("node " << m_nodeId << " port " << m_index << " drops a frame from endpoint "
                         << frame->source << " to " << frame->destination << ": " << reason);
    m_counters.droppedFrames++;
    m_counters.droppedBytes += frame->bytes;
    Use().counters[frame->priority].droppedFrames++;
    m_owner.NotifyDrop(*frame, m_index, reason);
    Frame::Free(frame);
}

void
FabricPort::CountLoss(Frame* frame, DropReason reason)
{
    NS_LOG_LOGIC("node " << m_nodeId << " port " << m_index << " loses a frame from endpoint "
                         << frame->source << " to " << frame->destination << ": " << reason);
    m_counters.lostFrames++;
    m_counters.lostBytes += frame->bytes;
    m_owner.NotifyDrop(*frame, m_index, reason);
    Frame::Free(frame);
}

void
FabricPort::EnableTelemetry()
{
    m_addsTelemetry = true;
}

void
FabricPort::SetBorder(FrameBorder* border)
{
    m_border = border;
    m_isAtBorder = border != nullptr;
}

void
FabricPort::SetTap(Tap tap)
{
    EventLoop::CatchUp(m_nodeId);
    EventLoop::OnSink();
    m_tap = tap ? std::make_unique<Tap>(std::move(tap)) : nullptr;
    m_isHooked = true;
}

void
FabricPort::SetFlowControl(FlowControl flowControl)
{
    m_flowControl = flowControl;
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
    ScheduleArrival(frame, now, now + m_delay);
}

void
FabricPort::AddCredits(uint8_t priority, int64_t bytes, int64_t now)
{
    const bool mayBegin = m_credits->Add(priority, bytes);
    if (mayBegin == IsPaused(priority))
    {
        Use().pausedUntil[priority] = std::numeric_limits<int64_t>::max();
        SetPaused(priority, !mayBegin, now);
        if (mayBegin)
        {
            Wake();
        }
    }
}

void
FabricPort::StoreAll()
{
    m_storesAll = true;
}

void
FabricPort::SetWatchdog(PauseWatchdog* watchdog)
{
    m_watchdog = watchdog;
}

void
FabricPort::SetSource(FrameSource* source)
{
    m_source = source;
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
    Classes& classes = Use();
    FrameQueue& queue = classes.queues[frame->priority];
    queue.Push(frame);
    m_queuedBytes += frame->bytes;
    m_counters.peakQueueBytes = std::max(m_counters.peakQueueBytes, m_queuedBytes);
    PriorityCounters& ofPriority = classes.counters[frame->priority];
    ofPriority.peakQueueBytes = std::max(ofPriority.peakQueueBytes, queue.GetBytes());
    m_owner.NotifyQueueLength(m_index, frame->priority, queue.GetBytes());
    m_waiting |= 1 << frame->priority;
    Wake();
}

void
FabricPort::OnResize(const Frame& frame, uint32_t before)
{
    Use().queues[frame.priority].credit += int64_t{before} - frame.bytes;
    if (m_source && (frame.kind == FrameKind::ROCE_DATA || frame.kind == FrameKind::PROGRAM))
    {
        m_source->OnResize(frame, before, EventLoop::Now());
    }
}

void
FabricPort::Occupy(Time duration)
{
    Use().occupiedUntil = (Simulator::Now() + duration).GetTimeStep();
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
        const uint8_t ready = m_source ? m_source->GetReady(now) : 0;
        const uint8_t eligible = (m_waiting | ready) & ~m_paused;
        if (!eligible)
        {
            return;
        }
        Classes& classes = Use();
        const uint8_t priority =
            m_owner.GetScheduling().Choose(eligible, m_current, classes.queues);
        m_lineFreePending = true; // what the owner sends now, such as a pause, waits its turn
        const uint32_t bit = 1 << priority;
        Frame* frame = !(m_waiting & bit) ? m_source->Pull(priority, now)
                       : ready & bit      ? TakeShared(priority, now)
                                          : Pop(priority);
        classes.queues[priority].credit -= frame->bytes;
        if (m_owner.BeginTransmit(*frame, *this))
        {
            Transmit(frame, now);
        }
        else
        {
            m_lineFree = std::max(m_lineFree, now);
        }
    }
    if (m_hasPauses || (m_waiting & ~m_paused) ||
        (m_source && m_source->GetReady(m_lineFree) & ~m_paused))
    {
        ScheduleLineFree(now);
    }
    else
    {
        m_lineFreePending = false;
    }
}

/**
 * @return the next frame of a priority of which both the queue and the source have frames: both get
 *         the same bytes, but what the source itself has queued goes first
 */
Frame*
FabricPort::TakeShared(uint8_t priority, int64_t now)
{
    if (m_source->IsOwn(*m_classes->queues[priority].GetHead()))
    {
        return Pop(priority);
    }
    int64_t& lead = m_classes->lead[priority];
    const bool isBehind = lead <= 0;
    Frame* frame = isBehind ? Pop(priority) : m_source->Pull(priority, now);
    lead += isBehind ? int64_t{frame->bytes} : -int64_t{frame->bytes};
    return frame;
}

/** @return the first queued pause frame */
Frame*
FabricPort::PopPause()
{
    Frame* frame = m_classes->pauses;
    m_classes->pauses = frame->next;
    m_hasPauses = frame->next != nullptr;
    return frame;
}

Frame*
FabricPort::Pop(uint8_t priority)
{
    FrameQueue& queue = m_classes->queues[priority];
    Frame* frame = queue.Pop();
    m_queuedBytes -= frame->bytes;
    if (queue.IsEmpty())
    {
        m_waiting &= ~(1 << priority);
    }
    else
    {
        __builtin_prefetch(queue.GetHead()); // a long-queued frame is likely no longer cached
    }
    m_owner.NotifyQueueLength(m_index, priority, queue.GetBytes());
    return frame;
}

void
FabricPort::Transmit(Frame* frame, int64_t now)
{
    if (frame->hasTelemetry && m_addsTelemetry && frame->kind == FrameKind::ROCE_DATA)
    {
        frame->AddTelemetry({now, GetLineBytes(), m_queuedBytes, m_rate});
    }
    const int64_t lineTime = GetLineTime(frame->bytes);
    m_lineFree = now + lineTime;
    m_counters.transmittedFrames++;
    m_counters.transmittedBytes += frame->bytes;
    if (frame->kind != FrameKind::PAUSE)
    {
        PriorityCounters& ofPriority = Use().counters[frame->priority];
        ofPriority.transmittedFrames++;
        ofPriority.transmittedBytes += frame->bytes;
        ofPriority.answerFrames +=
            frame->kind == FrameKind::ROCE_ACK || frame->kind == FrameKind::ROCE_CNP;
    }
    int64_t arrival = m_lineFree + m_reach;
    if (m_cutThrough)
    {
        arrival =
            now + static_cast<int64_t>(CUT_THROUGH_BYTES * m_picosecondsPerByte + 0.5) + m_delay;
    }
    if (m_isHooked)
    {
        OnTransmit(*frame, now);
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
FabricPort::OnTransmit(const Frame& frame, int64_t now)
{
    if (m_tap)
    {
        (*m_tap)(frame, true);
    }
    m_lineFree = std::max(m_lineFree, Use().occupiedUntil);
    if (frame.kind != FrameKind::PAUSE && SendsWithCredits(frame.priority))
    {
        AddCredits(frame.priority, -static_cast<int64_t>(frame.bytes), now);
    }
}

void
FabricPort::ApplyImpairments(Frame* frame, int64_t now, int64_t arrival, std::size_t first)
{
    for (std::size_t i = first; i < m_impairments->size(); i++)
    {
        const LinkImpairment::Fate fate = (*m_impairments)[i]->Decide(frame->bytes);
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
            m_counters.duplicatedFrames++;
            if (needsCredits)
            {
                AddCredits(frame->priority, -static_cast<int64_t>(frame->bytes), now);
            }
            const int64_t behind = arrival + fate.delay + GetLineTime(frame->bytes);
            ApplyImpairments(frame->Clone(), now, behind, i + 1);
        }
        arrival += fate.delay;
    }
    ScheduleArrival(frame, now, arrival);
}

void
FabricPort::ScheduleArrival(Frame* frame, int64_t now, int64_t arrival)
{
    frame->port = m_peer;
    frame->ingress = m_peerIndex;
    if (m_isAtBorder)
    {
        m_border->Cross(frame, arrival);
        return;
    }
    frame->Ref(); // the simulator releases one reference after the event
    EventLoop::Schedule(m_peerNodeId, now, arrival, frame);
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
        AddCredits(priority, static_cast<int64_t>(frame->messageBytes), EventLoop::Now());
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

bool
FabricPort::IsIdle(int64_t now) const
{
    constexpr int64_t LONG = 20000000; // ps
    return std::max(m_lineFree, m_peer ? m_peer->m_lineFree : 0) < now - LONG && m_queuedBytes == 0;
}

void
FabricPort::Visit(StateVisitor& visitor, bool repeats)
{
    static_assert(StateVisitor::IsSize(sizeof(FabricPort), 320),
                  "a new member: visit it unless it stays, then correct the size");
    static_assert(StateVisitor::IsSize(sizeof(FrameQueue), 32),
                  "a new member: visit it unless it stays, then correct the size");
    if (visitor.PassesOver(IsIdle(visitor.GetTime())))
    {
        visitor.Same({m_counters.transmittedFrames, m_counters.receivedFrames, m_paused});
        return;
    }
    repeats = repeats && !m_hasPauses && !m_paused && !m_down && !m_isHooked && !m_isImpaired &&
              !m_isAtBorder;
    visitor.Same({repeats, m_waiting, m_current, m_paused, m_lineFreePending, m_queuedBytes});
    visitor.Time(m_lineFree);
    m_counters.Visit(visitor, repeats);
    if (!m_classes)
    {
        return;
    }
    for (PriorityCounters& counters : m_classes->counters)
    {
        counters.Visit(visitor, repeats);
    }
    for (const int64_t lead : m_classes->lead)
    {
        visitor.Same(static_cast<uint64_t>(lead));
    }
    for (FrameQueue& queue : m_classes->queues)
    {
        visitor.Same(static_cast<uint64_t>(queue.credit));
        for (Frame* frame = queue.GetHead(); frame; frame = frame->next)
        {
            frame->Visit(visitor);
        }
    }
}

void
FabricPort::SendPause(uint8_t classes, uint16_t quanta)
{
    Frame* frame = Frame::Allocate(FrameKind::PAUSE);
    frame->bytes = Frame::MIN_BYTES;
    frame->pauseClasses = classes;
    frame->pauseQuanta = quanta;
    frame->next = nullptr;
    m_counters.pausesSent++;
    m_hasPauses = true;
    Frame** last = &Use().pauses;
    while (*last)
    {
        last = &(*last)->next;
    }
    *last = frame;
    Wake();
}

} // namespace ns3::training
