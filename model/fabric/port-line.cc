/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "port-line.h"

#include "ns3/assert.h"
#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPort");

PortLine::PortLine(FabricPortOwner& owner, uint32_t nodeId, uint16_t index)
    : PortQueues(owner, nodeId, index),
      m_lineFreePending(false),
      m_down(false),
      m_isHooked(false),
      m_isImpaired(false),
      m_isAtBorder(false),
      m_cutThrough(false),
      m_addsTelemetry(false)
{
}

void
PortLine::ConnectTo(FabricPort& peer,
                    uint32_t peerNodeId,
                    uint16_t peerIndex,
                    uint64_t bitsPerSecond,
                    Time delay)
{
    NS_ASSERT_MSG(Time::GetResolution() == Time::PS, "the fabric counts in picoseconds");
    m_peer = &peer;
    m_peerNodeId = peerNodeId;
    m_peerIndex = peerIndex;
    m_rate = bitsPerSecond;
    m_picosecondsPerByte = 8e12 / static_cast<double>(bitsPerSecond);
    m_reach = delay.GetTimeStep() - GetGapTime();
}

void
PortLine::AddLatency(Time latency)
{
    EventLoop::CatchUp(m_nodeId);
    m_reach += latency.GetTimeStep();
}

void
PortLine::AddImpairment(std::shared_ptr<LinkImpairment> impairment)
{
    EventLoop::CatchUp(m_nodeId);
    NS_LOG_INFO("node " << m_nodeId << " port " << m_index << ": an impairment begins");
    m_down = m_down || impairment->IsDown();
    m_isImpaired = true;
    m_impairments.push_back(std::move(impairment));
}

void
PortLine::RemoveImpairment(const std::shared_ptr<LinkImpairment>& impairment)
{
    EventLoop::CatchUp(m_nodeId);
    NS_LOG_INFO("node " << m_nodeId << " port " << m_index << ": an impairment ends");
    auto& all = m_impairments;
    all.erase(std::find(all.begin(), all.end(), impairment));
    m_isImpaired = !all.empty();
    m_down = std::any_of(all.begin(), all.end(), [](const auto& other) { return other->IsDown(); });
}

void
PortLine::SetBorder(FrameBorder* border)
{
    m_border = border;
    m_isAtBorder = border != nullptr;
}

void
PortLine::SetTap(Tap tap)
{
    EventLoop::CatchUp(m_nodeId);
    EventLoop::OnSink();
    m_tap = tap ? std::make_unique<Tap>(std::move(tap)) : nullptr;
    m_isHooked = true;
}

PortCounters
PortLine::GetCounters() const
{
    EventLoop::CatchUp(m_nodeId);
    PortCounters counters;
    static_cast<LineCounters&>(counters) = m_counters;
    if (m_classes)
    {
        static_cast<PortTotals&>(counters) = m_classes->totals;
        counters.byPriority = m_classes->counters;
    }
    return counters;
}

void
PortLine::SetCounters(const PortCounters& counters)
{
    m_counters = counters;
    Use().totals = counters;
    Use().counters = counters.byPriority;
}

void
PortLine::CountLoss(Frame* frame, DropReason reason)
{
    NS_LOG_LOGIC("node " << m_nodeId << " port " << m_index << " loses a frame from endpoint "
                         << frame->source << " to " << frame->destination << ": " << reason);
    Use().totals.lostFrames++;
    Use().totals.lostBytes += frame->bytes;
    m_owner.NotifyDrop(*frame, m_index, reason);
    Frame::Free(frame);
}

} // namespace ns3::training
