/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-port.h"

#include "attribute-choice.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <limits>
#include <sstream>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPort");

namespace
{

/// Bytes a class of weight 1 may send per round; at least a jumbo frame.
constexpr int64_t QUANTUM = 9216;
/// Bytes that a cut-through switch waits for: all headers.
constexpr uint32_t CUT_THROUGH_BYTES = Frame::MINIMUM_BYTES + Frame::PREAMBLE_BYTES;

/** @return the highest set bit */
uint8_t
HighestBit(uint8_t bits)
{
    return 31 - __builtin_clz(bits);
}

} // namespace

void
PortScheduling::ReadWeights(const std::string& attribute, const std::string& text)
{
    std::istringstream stream(text);
    const std::string allowed = "eight numbers from 1 to 1000";
    std::array<uint16_t, PRIORITIES> read{};
    for (uint16_t& weight : read)
    {
        int number = 0;
        if (!(stream >> number) || number < 1 || number > 1000)
        {
            RefuseAttribute(attribute, text, allowed);
        }
        weight = static_cast<uint16_t>(number);
    }
    if (!(stream >> std::ws).eof())
    {
        RefuseAttribute(attribute, text, allowed);
    }
    weights = read;
}

std::string
PortScheduling::WriteWeights() const
{
    std::string text;
    for (uint16_t weight : weights)
    {
        text += (text.empty() ? "" : " ") + std::to_string(weight);
    }
    return text;
}

PortCounters&
PortCounters::operator+=(const PortCounters& other)
{
    transmittedFrames += other.transmittedFrames;
    transmittedBytes += other.transmittedBytes;
    receivedFrames += other.receivedFrames;
    receivedBytes += other.receivedBytes;
    lostFrames += other.lostFrames;
    lostBytes += other.lostBytes;
    duplicatedFrames += other.duplicatedFrames;
    droppedFrames += other.droppedFrames;
    droppedBytes += other.droppedBytes;
    markedFrames += other.markedFrames;
    pausesSent += other.pausesSent;
    pausesReceived += other.pausesReceived;
    peakQueueBytes = std::max(peakQueueBytes, other.peakQueueBytes);
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        PriorityCounters& mine = byPriority[priority];
        const PriorityCounters& theirs = other.byPriority[priority];
        mine.transmittedFrames += theirs.transmittedFrames;
        mine.transmittedBytes += theirs.transmittedBytes;
        mine.droppedFrames += theirs.droppedFrames;
        mine.markedFrames += theirs.markedFrames;
        mine.peakQueueBytes = std::max(mine.peakQueueBytes, theirs.peakQueueBytes);
        mine.pausedTime += theirs.pausedTime;
    }
    return *this;
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
    m_down = m_down || impairment->IsDown();
    m_isImpaired = true;
    m_impairments.push_back(std::move(impairment));
}

void
FabricPort::RemoveImpairment(const std::shared_ptr<LinkImpairment>& impairment)
{
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
            Frame* frame = Pop(priority);
            counters.droppedFrames++;
            counters.droppedBytes += frame->bytes;
            counters.byPriority[priority].droppedFrames++;
            Frame::Free(frame);
        }
        SetPaused(priority, false, Simulator::Now().GetTimeStep());
    }
    while (m_pauses)
    {
        Frame* frame = m_pauses;
        m_pauses = frame->next;
        Frame::Free(frame);
    }
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
    Queue& queue = m_queues[frame->priority];
    frame->next = nullptr;
    if (queue.head)
    {
        queue.tail->next = frame;
    }
    else
    {
        queue.head = frame;
    }
    queue.tail = frame;
    queue.bytes += frame->bytes;
    m_queuedBytes += frame->bytes;
    counters.peakQueueBytes = std::max(counters.peakQueueBytes, m_queuedBytes);
    PriorityCounters& ofPriority = counters.byPriority[frame->priority];
    ofPriority.peakQueueBytes = std::max(ofPriority.peakQueueBytes, queue.bytes);
    m_owner.queueLengthTrace(m_index, frame->priority, queue.bytes);
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
    Ref(); // the simulator drops one after the event
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
        const uint8_t priority = Choose(eligible);
        // What waits in the port (answers, stock packets) goes ahead of what is made on demand.
        Frame* frame = m_waiting >> priority & 1 ? Pop(priority) : m_source->Pull(priority, now);
        m_queues[priority].deficit -= frame->bytes;
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
}

uint8_t
FabricPort::Choose(uint8_t eligible)
{
    if (!(eligible & (eligible - 1)))
    {
        const uint8_t only = HighestBit(eligible);
        m_queues[only].deficit = QUANTUM * m_owner.scheduling.weights[only];
        return only;
    }
    const PortScheduling& scheduling = m_owner.scheduling;
    if (eligible & scheduling.strict)
    {
        return HighestBit(eligible & scheduling.strict);
    }
    // A class sends while it has credit and pays afterwards, so sizes need not be known before.
    while (!(eligible >> m_current & 1) || m_queues[m_current].deficit <= 0)
    {
        m_current = (m_current + 1) % PRIORITIES;
        Queue& queue = m_queues[m_current];
        const int64_t quantum = QUANTUM * scheduling.weights[m_current];
        queue.deficit = eligible >> m_current & 1 ? std::min(queue.deficit + quantum, quantum) : 0;
    }
    return m_current;
}

Frame*
FabricPort::Pop(uint8_t priority)
{
    Queue& queue = m_queues[priority];
    Frame* frame = queue.head;
    queue.head = frame->next;
    queue.bytes -= frame->bytes;
    m_queuedBytes -= frame->bytes;
    if (!queue.head)
    {
        m_waiting &= ~(1 << priority);
    }
    else
    {
        __builtin_prefetch(queue.head); // it may have waited for long
    }
    m_owner.queueLengthTrace(m_index, priority, queue.bytes);
    return frame;
}

void
FabricPort::Transmit(Frame* frame, int64_t now)
{
    if (frame->telemetry && m_addsTelemetry && frame->kind == FrameKind::ROCE_DATA)
    {
        const uint64_t onLine =
            counters.transmittedBytes +
            counters.transmittedFrames * (Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
        frame->telemetry->push_back({now, onLine, m_queuedBytes, m_rate});
    }
    if (m_isTapped)
    {
        m_tap(*frame, true);
    }
    const int64_t lineTime = GetLineTime(frame->bytes);
    m_lineFree = now + lineTime;
    counters.transmittedFrames++;
    counters.transmittedBytes += frame->bytes;
    if (frame->kind != FrameKind::PAUSE)
    {
        PriorityCounters& ofPriority = counters.byPriority[frame->priority];
        ofPriority.transmittedFrames++;
        ofPriority.transmittedBytes += frame->bytes;
    }
    int64_t arrival = m_lineFree + m_reach;
    if (m_cutThrough)
    {
        arrival =
            now + static_cast<int64_t>(CUT_THROUGH_BYTES * m_picosecondsPerByte + 0.5) + m_delay;
    }
    if (m_isImpaired)
    {
        Impair(frame, now, arrival, 0);
    }
    else
    {
        Launch(frame, now, arrival);
    }
}

void
FabricPort::Impair(Frame* frame, int64_t now, int64_t arrival, std::size_t first)
{
    for (std::size_t i = first; i < m_impairments.size(); i++)
    {
        const LinkImpairment::Fate fate = m_impairments[i]->Decide(frame->bytes);
        if (fate.lost)
        {
            counters.lostFrames++;
            counters.lostBytes += frame->bytes;
            Frame::Free(frame);
            return;
        }
        if (fate.duplicated)
        {
            // The copy comes right behind, as if it had been sent twice.
            counters.duplicatedFrames++;
            const int64_t behind = arrival + fate.delay + GetLineTime(frame->bytes);
            Impair(frame->Clone(), now, behind, i + 1);
        }
        arrival += fate.delay;
    }
    Launch(frame, now, arrival);
}

void
FabricPort::Launch(Frame* frame, int64_t now, int64_t arrival)
{
    frame->port = m_peer;
    frame->ingress = m_peerIndex;
    if (m_isAtBorder)
    {
        m_border->Cross(frame, arrival);
        return;
    }
    frame->Ref(); // the simulator drops one after the event
    Simulator::ScheduleWithContext(m_peerNodeId, TimeStep(arrival - now), frame);
}

void
FabricPort::Arrive(Frame* frame)
{
    if (m_down)
    {
        // It was on the line when the line went down.
        counters.lostFrames++;
        counters.lostBytes += frame->bytes;
        Frame::Free(frame);
        return;
    }
    counters.receivedFrames++;
    counters.receivedBytes += frame->bytes;
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
    frame->bytes = Frame::MINIMUM_BYTES;
    frame->pauseClasses = classes;
    frame->pauseQuanta = quanta;
    frame->next = nullptr;
    counters.pausesSent++;
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
    m_paused ^= 1 << priority;
    if (paused)
    {
        m_pausedSince[priority] = now;
    }
    else
    {
        counters.byPriority[priority].pausedTime += now - m_pausedSince[priority];
    }
    m_owner.pauseTrace(m_index, priority, paused);
}

void
FabricPort::OnPause(const Frame& frame)
{
    counters.pausesReceived++;
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
