/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "traffic-manager.h"

#include "fabric-wire-format.h"
#include "state-visitor.h"

#include "ns3/log.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/training-processes.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTrafficManager");

namespace
{

/** @return whether the link of a port leads to a host */
bool
IsLastHop(const FabricPort& port)
{
    return !dynamic_cast<const TrafficManager*>(&port.GetPeer()->GetOwner());
}

} // namespace

TrafficManager::TrafficManager()
    : SwitchSettings(m_ports),
      m_random(CreateObject<UniformRandomVariable>())
{
}

FabricPort&
TrafficManager::AddPort()
{
    m_ports.push_back(Create<FabricPort>(*this, m_nodeId, static_cast<uint16_t>(m_ports.size())));
    m_ports.back()->EnableTelemetry();
    m_pauses.emplace_back(*m_ports.back());
    return *m_ports.back();
}

const std::vector<FabricPort*>&
TrafficManager::ListActivePorts()
{
    if (!m_activePorts)
    {
        m_activePorts.emplace();
        for (const auto& port : m_ports)
        {
            const auto peer = NodeList::GetNode(port->GetPeer()->GetNodeId());
            if (peer->GetSystemId() == Processes::GetId())
            {
                m_activePorts->push_back(PeekPointer(port));
            }
        }
    }
    return *m_activePorts;
}

bool
TrafficManager::ConfigureQueues()
{
    m_ecn.Check("Ecn");
    m_wred.Check("Wred");
    m_trim.Check(m_flowControl.GetLosslessClasses());
    m_datelines.Configure(m_ports.size(), m_flowControl.GetLosslessClasses());
    uint64_t fastest = 0;
    for (const auto& port : m_ports)
    {
        fastest = std::max(fastest, port->GetRate());
    }
    for (const auto& port : m_ports)
    {
        // Cut-through from a slower to a faster link would underrun in the middle of a frame.
        if (m_cutThrough && port->GetRate() == fastest)
        {
            port->GetPeer()->EnableCutThrough();
        }
        if (const auto neighbor = dynamic_cast<const TrafficManager*>(&port->GetPeer()->GetOwner()))
        {
            m_flowControl.CheckNeighbor(neighbor->m_flowControl.Get());
        }
    }
    const bool hasWatchdogs = m_flowControl.ConfigurePorts(GetLosslessClasses(), IsLastHop);
    m_flowControl.ConfigureMemory(GetLosslessClasses(), m_buffer);
    return hasWatchdogs;
}

void
TrafficManager::RestartQueues()
{
    for (const auto& port : m_ports)
    {
        port->Flush();
    }
    for (PauseSender& pauses : m_pauses)
    {
        pauses.Forget();
    }
    m_flowControl.ConfigureMemory(GetLosslessClasses(), m_buffer);
    for (const auto& port : m_ports)
    {
        for (uint8_t priority = 0; priority < PRIORITIES; priority++)
        {
            if (port->ReceivesWithCredits(priority))
            {
                port->GrantCredits(priority);
            }
        }
    }
}

void
TrafficManager::VisitQueues(StateVisitor& visitor, bool repeats)
{
    visitor.Same(m_randomChoices);
    m_buffer.Visit(visitor);
    for (FabricPort* port : ListActivePorts())
    {
        m_buffer.VisitPort(visitor, port->GetIndex());
        visitor.Same(m_pauses[port->GetIndex()].GetPaused());
        port->Visit(visitor, repeats);
    }
}

uint8_t
TrafficManager::GetLosslessClasses() const
{
    return m_flowControl.Get() == FlowControl::NONE
               ? 0
               : m_flowControl.GetLosslessClasses() | m_datelines.GetSecondClasses();
}

void
TrafficManager::SendFrom(Frame* frame, uint16_t port)
{
    if (m_datelines.GetSecondClasses())
    {
        frame->priority = m_datelines.GetClass(*frame, port);
    }
    FabricPort& egress = *m_ports[port];
    if (frame->isCopy ? SendCopyIfIdle(frame, egress) : egress.SendIfIdle(frame))
    {
        return;
    }
    if (m_wred.pmax > 0 && IsDroppedEarly(*frame, egress))
    {
        DropFrom(frame, egress, DropReason::EARLY_DROP);
        return;
    }
    if (m_trim.IsAbove(*frame, egress) && !Trim(*frame, egress))
    {
        DropFrom(frame, egress, DropReason::NO_BUFFER);
        return;
    }
    if (!m_buffer.Admit(*frame, egress.GetQueueBytes(frame->priority)))
    {
        if (m_buffer.IsLossless(frame->ingressPriority))
        {
            egress.CountLosslessDrop(frame->ingressPriority);
        }
        DropFrom(frame, egress, DropReason::NO_BUFFER);
        return;
    }
    const uint16_t ingress = frame->ingress;
    const uint8_t priority = frame->ingressPriority;
    egress.Send(frame);
    UpdatePause(ingress, priority);
}

bool
TrafficManager::SendCopyIfIdle(Frame* frame, FabricPort& egress)
{
    // The port that it is sent to takes the place of the multicast in the frame.
    const uint64_t multicast = frame->multicast;
    frame->isCopy = 0;
    if (egress.SendIfIdle(frame))
    {
        m_buffer.Leave(multicast);
        return true;
    }
    frame->isCopy = m_buffer.IsCurrent(multicast);
    return false;
}

void
TrafficManager::DropFrom(Frame* frame, FabricPort& port, DropReason reason)
{
    if (frame->isCopy)
    {
        m_buffer.Release(*frame);
    }
    port.Drop(frame, reason);
}

bool
TrafficManager::Trim(Frame& frame, FabricPort& port)
{
    const auto trim =
        frame.kind == FrameKind::PROGRAM ? WireFormat::Find(frame.protocol).trim : nullptr;
    // A copy of a multicast shares its memory with the others, so it stays as it is.
    if (!trim || frame.isCopy || !trim(frame, IsLastHop(port)))
    {
        return false;
    }
    NS_LOG_LOGIC("node " << m_nodeId << " port " << port.GetIndex()
                         << " trims a frame from endpoint " << frame.source << " to "
                         << frame.destination);
    frame.priority = m_trim.priority;
    port.CountTrim();
    m_trimTrace(frame, port.GetIndex());
    return true;
}

bool
TrafficManager::BeginTransmit(Frame& frame, FabricPort& port)
{
    m_buffer.Release(frame);
    if (frame.ecn == Ecn::ECT)
    {
        Mark(frame, port);
    }
    UpdatePause(frame.ingress, frame.ingressPriority);
    return true;
}

void
TrafficManager::UpdatePause(uint16_t ingress, uint8_t priority)
{
    switch (m_buffer.Decide(ingress, priority))
    {
    case SharedBuffer::Action::NONE:
        break;
    case SharedBuffer::Action::PAUSE:
        m_pauses[ingress].Pause(1 << priority);
        break;
    case SharedBuffer::Action::RESUME:
        m_pauses[ingress].Resume(1 << priority);
        break;
    case SharedBuffer::Action::GRANT:
        m_ports[ingress]->GrantCredits(priority);
        break;
    }
}

void
TrafficManager::Mark(Frame& frame, FabricPort& port)
{
    const double probability = m_ecn.GetProbability(port, frame.priority);
    if (probability > 0 && !m_marksLastHop && IsLastHop(port))
    {
        return;
    }
    if (probability == 1 || Happens(probability))
    {
        NS_LOG_LOGIC("node " << m_nodeId << " port " << port.GetIndex()
                             << " marks a frame from endpoint " << frame.source << " to "
                             << frame.destination << ", queue of "
                             << port.GetQueueBytes(frame.priority) << " bytes");
        frame.ecn = Ecn::CE;
        port.CountMark(frame.priority);
        m_markTrace(frame, port.GetIndex());
    }
}

bool
TrafficManager::Happens(double probability)
{
    if (probability <= 0)
    {
        return false;
    }
    m_randomChoices++;
    return m_random->GetValue() < probability;
}

bool
TrafficManager::IsDroppedEarly(const Frame& frame, const FabricPort& port)
{
    if (frame.ecn != Ecn::NOT_ECT || m_buffer.IsLossless(frame.priority))
    {
        return false;
    }
    return Happens(m_wred.GetProbability(port, frame.priority));
}

} // namespace ns3::training
