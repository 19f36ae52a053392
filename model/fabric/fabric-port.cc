/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-port.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

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
      m_nodeId(nodeId),
      m_index(index),
      m_lineFreePending(false),
      m_down(false),
      m_cutThrough(false),
      m_addsTelemetry(false),
      m_isTapped(false),
      m_isImpaired(false),
      m_isAtBorder(false)
{
}

void
FabricPort::Notify()
{
    m_lineFreePending = false;
    SendNext(Simulator::Now().GetTimeStep());
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
    m_delay += latency.GetTimeStep();
    m_reach += latency.GetTimeStep();
}

void
FabricPort::AddImpairment(std::shared_ptr<LinkImpairment> impairment)
{
    NS_LOG_INFO("node " << m_nodeId << " port " << m_index << ": an impairment begins");
    m_down = m_down || impairment->IsDown();
    m_isImpaired = true;
    m_impairments.push_back(std::move(impairment));
}

void
FabricPort::RemoveImpairment(const std::shared_ptr<LinkImpairment>& impairment)
{
    NS_LOG_INFO("node " << m_nodeId << " port " << m_index << ": an impairment ends");
    m_impairments.erase(std::find(m_impairments.begin(), m_impairments.end(), impairment));
    m_isImpaired = !m_impairments.empty();
    m_down = std::any_of(m_impairments.begin(), m_impairments.end(), [](const auto& other) {
        return other->IsDown();
    });
}

void
FabricPort::Flush()
{
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        while (m_waiting >> priority & 1)
        {
            Drop(Pop(priority), DropReason::RESTART);
        }
        SetPaused(priority, false, Simulator::Now().GetTimeStep());
    }
    while (m_pauses)
    {
        Frame* frame = m_pauses;
        m_pauses = frame->next;
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
    m_counters.byPriority[frame->priority].droppedFrames++;
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
    m_tap = std::move(tap);
    m_isTapped = true;
}

void
FabricPort::SetSource(FrameSource* source)
{
    m_source = source;
}

bool
FabricPort::SendIfIdle(Frame* frame)
{
    if (m_lineFreePending || m_waiting || m_paused >> frame->priority & 1)
    {
        return false;
    }
    const int64_t now = Simulator::Now().GetTimeStep();
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
    FrameQueue& queue = m_queues[frame->priority];
    queue.Push(frame);
    m_queuedBytes += frame->bytes;
    m_counters.peakQueueBytes = std::max(m_counters.peakQueueBytes, m_queuedBytes);
    PriorityCounters& ofPriority = m_counters.byPriority[frame->priority];
    ofPriority.peakQueueBytes = std::max(ofPriority.peakQueueBytes, queue.GetBytes());
    m_owner.NotifyQueueLength(m_index, frame->priority, queue.GetBytes());
    m_waiting |= 1 << frame->priority;
    Wake();
}

void
FabricPort::Wake()
{
    if (m_lineFreePending)
    {
        return;
    }
    const int64_t now = Simulator::Now().GetTimeStep();
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
    Simulator::ScheduleWithContext(m_nodeId, TimeStep(m_lineFree - now), this);
}

void
FabricPort::SendNext(int64_t now)
{
    if (m_pauses)
    {
        Frame* frame = m_pauses;
        m_pauses = frame->next;
        Transmit(frame, now);
    }
    else
    {
        const uint8_t ready = m_source ? m_source->GetReady(now) : 0;
        const uint8_t eligible = (m_waiting | ready) & ~m_paused;
        if (!eligible)
        {
            return;
        }
        const uint8_t priority = m_owner.GetScheduling().Choose(eligible, m_current, m_queues);
        m_lineFreePending = true; // what the owner sends now, such as a pause, waits its turn
        // Frames queued in the port (control, packets of the IP stack) precede frames of the
        // source.
        Frame* frame = m_waiting >> priority & 1 ? Pop(priority) : m_source->Pull(priority, now);
        m_queues[priority].credit -= frame->bytes;
        if (m_owner.BeginTransmit(*frame, *this))
        {
            Transmit(frame, now);
        }
        else
        {
            m_lineFree = std::max(m_lineFree, now);
        }
    }
    if (m_pauses || (m_waiting & ~m_paused) ||
        (m_source && m_source->GetReady(m_lineFree) & ~m_paused))
    {
        ScheduleLineFree(now);
    }
    else
    {
        m_lineFreePending = false;
    }
}

Frame*
FabricPort::Pop(uint8_t priority)
{
    FrameQueue& queue = m_queues[priority];
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
    if (frame->telemetry && m_addsTelemetry && frame->kind == FrameKind::ROCE_DATA)
    {
        const uint64_t onLine =
            m_counters.transmittedBytes +
            m_counters.transmittedFrames * (Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
        frame->telemetry->push_back({now, onLine, m_queuedBytes, m_rate});
    }
    if (m_isTapped)
    {
        m_tap(*frame, true);
    }
    const int64_t lineTime = GetLineTime(frame->bytes);
    m_lineFree = now + lineTime;
    m_counters.transmittedFrames++;
    m_counters.transmittedBytes += frame->bytes;
    if (frame->kind != FrameKind::PAUSE)
    {
        PriorityCounters& ofPriority = m_counters.byPriority[frame->priority];
        ofPriority.transmittedFrames++;
        ofPriority.transmittedBytes += frame->bytes;
    }
    if (frame->kind == FrameKind::ROCE_ACK || frame->kind == FrameKind::ROCE_CNP)
    {
        m_counters.answerFrames++;
    }
    int64_t arrival = m_lineFree + m_reach;
    if (m_cutThrough)
    {
        arrival =
            now + static_cast<int64_t>(CUT_THROUGH_BYTES * m_picosecondsPerByte + 0.5) + m_delay;
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
FabricPort::ApplyImpairments(Frame* frame, int64_t now, int64_t arrival, std::size_t first)
{
    for (std::size_t i = first; i < m_impairments.size(); i++)
    {
        const LinkImpairment::Fate fate = m_impairments[i]->Decide(frame->bytes);
        if (fate.lost)
        {
            CountLoss(frame, fate.reason);
            return;
        }
        if (fate.duplicated)
        {
            // The copy follows back to back, as if the frame had been sent twice.
            m_counters.duplicatedFrames++;
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
    Simulator::ScheduleWithContext(m_peerNodeId, TimeStep(arrival - now), frame);
}

void
FabricPort::Arrive(Frame* frame)
{
    if (m_down)
    {
        CountLoss(frame, DropReason::LINK_DOWN); // in flight when the link went down
        return;
    }
    m_counters.receivedFrames++;
    m_counters.receivedBytes += frame->bytes;
    if (m_isTapped)
    {
        m_tap(*frame, false);
    }
    if (frame->kind == FrameKind::PAUSE)
    {
        OnPause(*frame);
        Frame::Free(frame);
        return;
    }
    m_owner.Receive(frame, *this);
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
    Frame** last = &m_pauses;
    while (*last)
    {
        last = &(*last)->next;
    }
    *last = frame;
    Wake();
}

void
FabricPort::SetPaused(uint8_t priority, bool paused, int64_t now)
{
    if (paused == IsPaused(priority))
    {
        return;
    }
    NS_LOG_LOGIC("node " << m_nodeId << " port " << m_index << " priority " << +priority
                         << (paused ? " is paused" : " is resumed"));
    m_paused ^= 1 << priority;
    if (paused)
    {
        m_pausedSince[priority] = now;
    }
    else
    {
        m_counters.byPriority[priority].pausedTime += now - m_pausedSince[priority];
    }
    m_owner.NotifyPause(m_index, priority, paused);
}

void
FabricPort::OnPause(const Frame& frame)
{
    m_counters.pausesReceived++;
    const int64_t now = Simulator::Now().GetTimeStep();
    const auto length = static_cast<int64_t>(frame.pauseQuanta * 64 * m_picosecondsPerByte);
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        if (frame.pauseClasses >> priority & 1)
        {
            m_pausedUntil[priority] = now + length;
            SetPaused(priority, length > 0, now);
        }
    }
    OnPauseExpired();
    if (!length)
    {
        Wake();
    }
}

void
FabricPort::OnPauseExpired()
{
    Simulator::Cancel(m_pauseExpiry);
    const int64_t now = Simulator::Now().GetTimeStep();
    int64_t first = std::numeric_limits<int64_t>::max();
    const uint8_t before = m_paused;
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        if (m_paused >> priority & 1)
        {
            if (m_pausedUntil[priority] <= now)
            {
                SetPaused(priority, false, now);
            }
            else
            {
                first = std::min(first, m_pausedUntil[priority]);
            }
        }
    }
    if (m_paused)
    {
        m_pauseExpiry =
            Simulator::Schedule(TimeStep(first - now), &FabricPort::OnPauseExpired, this);
    }
    if (before != m_paused)
    {
        Wake();
    }
}

} // namespace ns3::training
