/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "port-queues.h"

#include "state-visitor.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPortQueues");

PortQueues::PortQueues(FabricPortOwner& owner, uint32_t nodeId, uint16_t index)
    : m_owner(owner),
      m_nodeId(nodeId),
      m_index(index)
{
}

void
PortQueues::MakeClasses()
{
    m_classes = std::make_unique<Classes>();
}

void
PortQueues::SendPause(uint8_t classes, uint16_t quanta)
{
    Frame* frame = Frame::Allocate(FrameKind::PAUSE);
    frame->bytes = Frame::MIN_BYTES;
    frame->pauseClasses = classes;
    frame->pauseQuanta = quanta;
    frame->next = nullptr;
    Use().totals.pausesSent++;
    m_hasPauses = true;
    Frame** last = &Use().pauses;
    while (*last)
    {
        last = &(*last)->next;
    }
    *last = frame;
    Wake();
}

void
PortQueues::SetPaused(uint8_t priority, bool paused, int64_t now)
{
    m_paused ^= 1 << priority;
    Classes& classes = Use();
    if (paused)
    {
        classes.pausedSince[priority] = now;
    }
    else
    {
        classes.counters[priority].pausedTime += now - classes.pausedSince[priority];
    }
    m_owner.NotifyPause(m_index, priority, paused);
}

void
PortQueues::OnResize(const Frame& frame, uint32_t before)
{
    Use().queues[frame.priority].credit += int64_t{before} - frame.bytes;
    if (m_source && (frame.kind == FrameKind::ROCE_DATA || frame.kind == FrameKind::PROGRAM))
    {
        m_source->OnResize(frame, before, EventLoop::Now());
    }
}

void
PortQueues::Drop(Frame* frame, DropReason reason)
{
    NS_LOG_LOGIC("node " << m_nodeId << " port " << m_index << " drops a frame from endpoint "
                         << frame->source << " to " << frame->destination << ": " << reason);
    Classes& classes = Use();
    classes.totals.droppedFrames++;
    classes.totals.droppedBytes += frame->bytes;
    classes.counters[frame->priority].droppedFrames++;
    m_owner.NotifyDrop(*frame, m_index, reason);
    Frame::Free(frame);
}

Frame*
PortQueues::PopPause()
{
    Frame* frame = m_classes->pauses;
    m_classes->pauses = frame->next;
    m_hasPauses = frame->next != nullptr;
    return frame;
}

/**
 * @return the next frame of a priority of which both the queue and the source have frames: both get
 *         the same bytes, but what the source itself has queued goes first
 */
Frame*
PortQueues::TakeShared(uint8_t priority, int64_t now)
{
    if (m_source->IsOwn(*m_classes->queues[priority].GetHead()))
    {
        return Pop(priority);
    }
    int32_t& lead = m_classes->lead[priority];
    const bool isBehind = lead <= 0;
    Frame* frame = isBehind ? Pop(priority) : m_source->Pull(priority, now);
    const auto bytes = static_cast<int32_t>(frame->bytes);
    lead += isBehind ? bytes : -bytes;
    return frame;
}

void
PortQueues::VisitClasses(StateVisitor& visitor, bool repeats)
{
    static_assert(StateVisitor::IsSize(sizeof(FrameQueue), 32),
                  "a new member: visit it unless it stays, then correct the size");
    if (!m_classes)
    {
        return;
    }
    m_classes->totals.Visit(visitor);
    for (PriorityCounters& counters : m_classes->counters)
    {
        counters.Visit(visitor, repeats);
    }
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        if (m_classes->pausedSince[priority] > 0)
        {
            visitor.Time(m_classes->pausedSince[priority]);
        }
    }
    for (const int32_t lead : m_classes->lead)
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

} // namespace ns3::training
