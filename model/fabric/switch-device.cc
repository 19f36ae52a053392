/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-device.h"

#include "core/field-accessor.h"
#include "state-visitor.h"

#include "ns3/log.h"
#include "ns3/object-vector.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-event-loop.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitch");
NS_OBJECT_ENSURE_REGISTERED(SwitchDevice);

TypeId
SwitchDevice::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::training::SwitchDevice")
                          .SetParent<Object>()
                          .SetGroupName("DistributedTraining")
                          .AddConstructor<SwitchDevice>())
            .AddAttribute(
                "StrictPriorities",
                "Bit p set: priority p is served strictly before all non-strict priorities",
                UintegerValue(0xc0),
                MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_scheduling,
                                                 &PortScheduling::strict),
                MakeUintegerChecker<uint8_t>())
            .AddAttribute(
                "Weights",
                "Deficit round-robin weights of the non-strict priorities 0 to 7: eight "
                "numbers from 1 to 1000",
                StringValue("1 1 1 1 1 1 1 1"),
                InOrder(MakeStringAccessor(&SwitchDevice::SetWeights, &SwitchDevice::GetWeights)),
                MakeStringChecker())
            .AddAttribute(
                "Path",
                "Load balancing among equal-cost ports: NAME or NAME:key=value,... of a "
                "PathChoiceEntry",
                StringValue("ecmp"),
                InOrder(MakeStringAccessor(&SwitchDevice::SetPath, &SwitchDevice::GetPath)),
                MakeStringChecker())
            .AddAttribute("Programs",
                          "The programs of the switch, in loading order",
                          TypeId::ATTR_GET,
                          ObjectVectorValue(),
                          InOrder(MakeObjectVectorAccessor(&SwitchDevice::GetProgram,
                                                           &SwitchDevice::GetNPrograms)),
                          MakeObjectVectorChecker<SwitchProgram>())
            .AddTraceSource("QueueLength",
                            "The length of a queue has changed",
                            InOrder(MakeTraceSourceAccessor(&SwitchDevice::m_queueLengthTrace)),
                            "ns3::training::FabricPortOwner::QueueLengthTracedCallback")
            .AddTraceSource("Pause",
                            "A peer has paused or resumed a priority, or its pause has expired",
                            InOrder(MakeTraceSourceAccessor(&SwitchDevice::m_pauseTrace)),
                            "ns3::training::FabricPortOwner::PauseTracedCallback")
            .AddTraceSource("Mark",
                            "A frame has been marked congestion experienced",
                            InOrder(MakeTraceSourceAccessor(&SwitchDevice::m_markTrace)),
                            "ns3::training::SwitchDevice::MarkTracedCallback")
            .AddTraceSource("Trim",
                            "A frame has been cut to its header",
                            InOrder(MakeTraceSourceAccessor(&SwitchDevice::m_trimTrace)),
                            "ns3::training::SwitchDevice::TrimTracedCallback")
            .AddTraceSource("Drop",
                            "A frame has been dropped, or lost on a link, for a reason",
                            InOrder(MakeTraceSourceAccessor(&SwitchDevice::m_dropTrace)),
                            "ns3::training::FabricPortOwner::DropTracedCallback");
    return tid;
}

SwitchDevice::SwitchDevice()
    : m_paths(m_ports, m_random),
      m_pipeline(m_capacity)
{
}

SwitchDevice::~SwitchDevice() = default;

void
SwitchDevice::DoDispose()
{
    m_pipeline.Dispose();
    m_random = nullptr;
    Object::DoDispose();
}

void
SwitchDevice::SetNodeId(uint32_t nodeId)
{
    m_nodeId = nodeId;
    // Both count from 1, ns-3's defaults.
    const uint64_t run = RngSeedManager::GetRun() - 1;
    const uint32_t seed = RngSeedManager::GetSeed() - 1;
    m_paths.GetContext().SetHashSeed(
        HashFlow(nodeId, static_cast<uint32_t>(run), seed ^ static_cast<uint32_t>(run >> 32)));
}

void
SwitchDevice::SetPath(std::string name)
{
    m_paths.SetPath(name);
}

std::string
SwitchDevice::GetPath() const
{
    return m_paths.GetPath();
}

void
SwitchDevice::Configure()
{
    if (ConfigureQueues())
    {
        TraceConnectWithoutContext(
            "QueueLength",
            MakeCallback(&SwitchFlowControl::NotifyQueueLength, &m_flowControl));
    }
}

void
SwitchDevice::Emit(Frame* frame, uint16_t port, Time latency)
{
    frame->ingressPriority = frame->priority & 7;
    frame->isEmitted = 1;
    if (m_isMulticast)
    {
        m_buffer.Join(*frame, m_multicast);
    }
    if (latency.IsZero())
    {
        port == BY_ROUTE ? Forward(frame) : SendFrom(frame, port);
    }
    else if (port == BY_ROUTE)
    {
        Simulator::Schedule(latency, &SwitchDevice::Forward, this, frame);
    }
    else
    {
        Simulator::Schedule(latency, &SwitchDevice::SendFrom, this, frame, port);
    }
}

void
SwitchDevice::Recirculate(Frame* frame)
{
    frame->ingressPriority = frame->priority & 7;
    const int64_t now = Simulator::Now().GetTimeStep();
    Simulator::Schedule(TimeStep(ReserveRecirculation(0, frame->bytes, now) - now),
                        &SwitchDevice::EndRecirculation,
                        this,
                        frame);
}

void
SwitchDevice::EndRecirculation(Frame* frame)
{
    if (!m_pipeline.Offer(frame))
    {
        Forward(frame);
    }
}

bool
SwitchDevice::IsUnobserved() const
{
    return m_pipeline.IsEmpty() && !HasSinks() &&
           std::none_of(m_ports.begin(), m_ports.end(), [](const auto& port) {
               return port->HasTap();
           });
}

void
SwitchDevice::Restart()
{
    EventLoop::CatchUp(m_nodeId);
    NS_LOG_INFO("the switch of node " << m_nodeId << " restarts");
    RestartQueues();
    m_paths.Clear();
    m_pipeline.Restart();
}

void
SwitchDevice::Visit(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(SwitchDevice) - sizeof(Object), 1416),
                  "a new member: visit it unless it stays, then correct the size");
    visitor.Same(m_paths.GetChoices());
    VisitQueues(visitor, m_pipeline.IsEmpty() && m_paths.IsFixed() && !HasSinks());
}

void
SwitchDevice::Prefetch(const Frame& frame)
{
    m_table.Prefetch(frame.destination);
    m_buffer.Prefetch(frame.ingress, frame.priority);
}

const FabricPort*
SwitchDevice::PrefetchSoon(const Frame& frame)
{
    const uint16_t port = m_paths.PredictPort(frame, m_table.Get(frame.destination));
    if (port == PathContext::NONE)
    {
        return nullptr;
    }
    m_ports[port]->PrefetchSelf();
    return m_ports[port].operator->();
}

void
SwitchDevice::Receive(Frame* frame, FabricPort&)
{
    frame->ingressPriority = frame->priority & 7; // 7: says that it fits
    frame->isEmitted = 0;
    if (m_pipeline.IsEmpty() || !m_pipeline.Offer(frame))
    {
        Forward(frame);
    }
}

void
SwitchDevice::Readdress(uint32_t endpoint, uint32_t other)
{
    GetTable().SetStatic(endpoint, {});
    m_readdressed[endpoint] = other;
}

void
SwitchDevice::Forward(Frame* frame)
{
    const uint16_t port = m_paths.Choose(*frame, m_table.Get(frame->destination));
    if (port == PathContext::NONE)
    {
        const auto other = m_readdressed.find(frame->destination);
        if (other != m_readdressed.end())
        {
            frame->destination = other->second;
            Forward(frame);
            return;
        }
        DropFrom(frame, *m_ports[frame->ingress], DropReason::NO_ROUTE);
        return;
    }
    SendFrom(frame, port);
}

} // namespace ns3::training
