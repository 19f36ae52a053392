/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-device.h"

#include "fabric-wire-format.h"
#include "state-visitor.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/object-vector.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-event-loop.h"
#include "ns3/training-field-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitch");
NS_OBJECT_ENSURE_REGISTERED(SwitchDevice);

namespace
{

/** @return whether the link of a port leads to a host */
bool
IsLastHop(const FabricPort& port)
{
    return !dynamic_cast<const SwitchDevice*>(&port.GetPeer()->GetOwner());
}

} // namespace

TypeId
SwitchDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::SwitchDevice")
            .SetParent<Object>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<SwitchDevice>()
            .AddAttribute("BufferSize",
                          "Packet memory shared by all ports, bytes; 0: 32 MiB, or twice the "
                          "guarantees and headroom if that is more",
                          UintegerValue(0),
                          MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_memory,
                                                           &SharedBuffer::Configuration::size),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute(
                "Guaranteed",
                "Guaranteed memory per ingress port and lossless priority, bytes",
                UintegerValue(4096),
                MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_memory,
                                                 &SharedBuffer::Configuration::guaranteed),
                MakeUintegerChecker<uint64_t>())
            .AddAttribute(
                "ResumeOffset",
                "A paused sender is resumed when its buffer use is this far below the threshold, "
                "bytes: two of the largest frames, or it is paused again by the next one",
                UintegerValue(18432),
                MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_memory,
                                                 &SharedBuffer::Configuration::resumeOffset),
                MakeUintegerChecker<uint64_t>())
            .AddAttribute("LargestFrame",
                          "Maximum frame size assumed for the PFC headroom, bytes",
                          UintegerValue(9216),
                          MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_headroom,
                                                           &SharedBuffer::Headroom::largestFrame),
                          MakeUintegerChecker<uint32_t>(64))
            .AddAttribute("HeadroomScale",
                          "Fraction of the 802.1Qbb PFC headroom to reserve; below 1, lossless "
                          "frames may be dropped under overload",
                          DoubleValue(1),
                          MakeFieldAccessor<DoubleValue>(&SwitchDevice::m_headroom,
                                                         &SharedBuffer::Headroom::scale),
                          MakeDoubleChecker<double>(0))
            .AddAttribute(
                "LosslessAlpha",
                "Dynamic threshold alpha of lossless classes: the threshold is alpha times the "
                "free pool",
                DoubleValue(0.125),
                MakeFieldAccessor<DoubleValue>(&SwitchDevice::m_memory,
                                               &SharedBuffer::Configuration::losslessAlpha),
                MakeDoubleChecker<double>(0))
            .AddAttribute("LossyAlpha",
                          "Dynamic threshold alpha of lossy classes: the threshold is alpha times "
                          "the free pool",
                          DoubleValue(1),
                          MakeFieldAccessor<DoubleValue>(&SwitchDevice::m_memory,
                                                         &SharedBuffer::Configuration::lossyAlpha),
                          MakeDoubleChecker<double>(0))
            .AddAttribute(
                "LosslessClasses",
                "Bit p set: priority p is lossless (802.1Qbb)",
                UintegerValue(1 << 3),
                MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_memory,
                                                 &SharedBuffer::Configuration::losslessClasses),
                MakeUintegerChecker<uint8_t>())
            .AddAttribute(
                "EcnKminPerGbps",
                "Kmin: queue length above which frames are ECN-marked with rising probability, "
                "bytes per Gbit/s of the port (HPCC's simulator: 100 KB at 25 Gbit/s)",
                DoubleValue(4000),
                MakeFieldAccessor<DoubleValue>(&SwitchDevice::m_ecn, &RedCurve::kminPerGbps),
                MakeDoubleChecker<double>(0))
            .AddAttribute(
                "EcnKmaxPerGbps",
                "Kmax: queue length above which every frame is ECN-marked, bytes per Gbit/s of the "
                "port (HPCC's simulator: 400 KB at 25 Gbit/s)",
                DoubleValue(16000),
                MakeFieldAccessor<DoubleValue>(&SwitchDevice::m_ecn, &RedCurve::kmaxPerGbps),
                MakeDoubleChecker<double>(0))
            .AddAttribute("EcnPmax",
                          "Marking probability at Kmax",
                          DoubleValue(0.2),
                          MakeFieldAccessor<DoubleValue>(&SwitchDevice::m_ecn, &RedCurve::pmax),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("EcnLastHop",
                          "Whether frames are ECN-marked on links to hosts too",
                          BooleanValue(true),
                          InOrder(MakeBooleanAccessor(&SwitchDevice::m_marksLastHop)),
                          MakeBooleanChecker())
            .AddAttribute(
                "TrimClasses",
                "Bit p set: a frame of priority p, a lossy one, that finds its queue full is cut "
                "to its header (packet trimming); other protocols than Ultra Ethernet drop it",
                UintegerValue(0),
                MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_trim, &TrimRule::classes),
                MakeUintegerChecker<uint8_t>())
            .AddAttribute(
                "TrimPerGbps",
                "Queue length up to which frames of TrimClasses stay whole, bytes per Gbit/s of "
                "the port (htsim: a bandwidth-delay product, here of 12 us)",
                DoubleValue(1500),
                MakeFieldAccessor<DoubleValue>(&SwitchDevice::m_trim, &TrimRule::perGbps),
                MakeDoubleChecker<double>(0))
            .AddAttribute(
                "TrimmedPriority",
                "Traffic class of frames that were cut to their headers; a strict one",
                UintegerValue(6),
                MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_trim, &TrimRule::priority),
                MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute(
                "WredKminPerGbps",
                "Queue length of a lossy class above which frames that are not ECN-capable are "
                "dropped with rising probability, bytes per Gbit/s of the port",
                DoubleValue(4000),
                MakeFieldAccessor<DoubleValue>(&SwitchDevice::m_wred, &RedCurve::kminPerGbps),
                MakeDoubleChecker<double>(0))
            .AddAttribute(
                "WredKmaxPerGbps",
                "Queue length of a lossy class above which every such frame is dropped, unless "
                "WredPmax is 0, bytes per Gbit/s of the port",
                DoubleValue(16000),
                MakeFieldAccessor<DoubleValue>(&SwitchDevice::m_wred, &RedCurve::kmaxPerGbps),
                MakeDoubleChecker<double>(0))
            .AddAttribute("WredPmax",
                          "Drop probability at WredKmaxPerGbps; 0: no early drops",
                          DoubleValue(0),
                          MakeFieldAccessor<DoubleValue>(&SwitchDevice::m_wred, &RedCurve::pmax),
                          MakeDoubleChecker<double>(0, 1))
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
            .AddAttribute("CutThrough",
                          "Cut-through: forward a frame once its headers have arrived; frames from "
                          "ports below the highest port rate are stored and forwarded",
                          BooleanValue(false),
                          InOrder(MakeBooleanAccessor(&SwitchDevice::m_cutThrough)),
                          MakeBooleanChecker())
            .AddAttribute("Stages",
                          "Match-action stages available to programs (Tofino: 12)",
                          UintegerValue(12),
                          MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_capacity,
                                                           &ProgramPipeline::Capacity::stages),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "RegisterMemory",
                "Stateful memory available to programs, bytes",
                UintegerValue(15 << 20),
                MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_capacity,
                                                 &ProgramPipeline::Capacity::registerBytes),
                MakeUintegerChecker<uint64_t>())
            .AddAttribute(
                "RecirculationRate",
                "Rate of each recirculation port",
                DataRateValue(DataRate("100Gbps")),
                MakeFieldAccessor<DataRateValue>(&SwitchDevice::m_capacity,
                                                 &ProgramPipeline::Capacity::recirculationRate),
                MakeDataRateChecker())
            .AddAttribute(
                "RecirculationPorts",
                "Recirculation ports available to programs (Tofino with 4 pipes: 8, and the 48 "
                "ports of 3 pipes looped back)",
                UintegerValue(56),
                MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_capacity,
                                                 &ProgramPipeline::Capacity::recirculationPorts),
                MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("FloatAdders",
                          "Float32 adders available to programs: none in a switch chip; as an "
                          "FPGA, half the 3600 DSP slices of NetFPGA-SUME's XC7VX690T",
                          UintegerValue(1800),
                          MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_capacity,
                                                           &ProgramPipeline::Capacity::floatAdders),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "ExternalMemory",
                "External memory available to programs, bytes (NetFPGA-SUME: 8 GiB)",
                UintegerValue(8ULL << 30),
                MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_capacity,
                                                 &ProgramPipeline::Capacity::externalBytes),
                MakeUintegerChecker<uint64_t>())
            .AddAttribute("PipelineDelay",
                          "Delay from the arrival of a frame to its earliest departure",
                          TimeValue(TimeStep(0)),
                          InOrder(MakeTimeAccessor(&SwitchDevice::m_pipelineDelay)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("PauseResponse",
                          "Time from the arrival of a pause until a port obeys it, for which the "
                          "headroom of its peer provides; negative: the maximum of IEEE 802.3, "
                          "31B.3.7",
                          TimeValue(NanoSeconds(-1)),
                          InOrder(MakeTimeAccessor(&SwitchDevice::m_pauseResponse)),
                          MakeTimeChecker())
            .AddAttribute("FlowControl",
                          "How lossless classes are kept from overrunning a buffer: pfc, credit, "
                          "none, or auto: credit for NVSwitches, otherwise pfc",
                          StringValue("auto"),
                          InOrder(MakeStringAccessor(&SwitchDevice::SetFlowControl,
                                                     &SwitchDevice::GetFlowControlName)),
                          MakeStringChecker())
            .AddAttribute(
                "CreditBuffer",
                "Receive buffer of each port and lossless class with credits, bytes; 0: an "
                "equal part of half the packet memory, at least the round trip of the "
                "link and two of the largest frames",
                UintegerValue(0),
                MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_flowControl,
                                                 &SwitchFlowControl::creditBuffer),
                MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute(
                "CellSize",
                "Frames take whole cells of the packet memory, bytes (Broadcom Trident and "
                "Tomahawk: 208, Tomahawk 3: 254); 1: just their bytes",
                UintegerValue(1),
                MakeFieldAccessor<UintegerValue>(&SwitchDevice::m_memory,
                                                 &SharedBuffer::Configuration::cellSize),
                MakeUintegerChecker<uint32_t>(1, 1 << 16))
            .AddAttribute(
                "WatchdogDetection",
                "A class of a port that is paused for so long is in a pause storm (SONiC: "
                "200 ms); 0: no watchdog",
                TimeValue(TimeStep(0)),
                MakeFieldAccessor<TimeValue>(&SwitchDevice::m_watchdog,
                                             &PauseWatchdog::Settings::detection),
                MakeTimeChecker(Time(0)))
            .AddAttribute("WatchdogRestoration",
                          "A pause storm is over when no pause has come for so long (SONiC: "
                          "200 ms)",
                          TimeValue(MilliSeconds(200)),
                          MakeFieldAccessor<TimeValue>(&SwitchDevice::m_watchdog,
                                                       &PauseWatchdog::Settings::restoration),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("WatchdogAction",
                          "What happens to frames of a class in a pause storm: drop or forward",
                          StringValue("drop"),
                          InOrder(MakeStringAccessor(&SwitchDevice::SetWatchdogAction,
                                                     &SwitchDevice::GetWatchdogAction)),
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
    : m_random(CreateObject<UniformRandomVariable>()),
      m_paths(m_ports, m_random),
      m_pipeline(m_capacity),
      m_flowControl(m_memory, m_headroom, m_watchdog, m_ports)
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

FabricPort&
SwitchDevice::AddPort()
{
    m_ports.push_back(Create<FabricPort>(*this, m_nodeId, static_cast<uint16_t>(m_ports.size())));
    m_ports.back()->EnableTelemetry();
    m_pauses.emplace_back(*m_ports.back());
    return *m_ports.back();
}

FabricPort&
SwitchDevice::GetPort(uint16_t index)
{
    return *m_ports.at(index);
}

uint16_t
SwitchDevice::GetNPorts() const
{
    return static_cast<uint16_t>(m_ports.size());
}

void
SwitchDevice::SetDimension(uint16_t index, uint8_t dimension, bool dateline)
{
    m_datelines.SetPort(index, dimension, dateline);
}

ForwardingTable&
SwitchDevice::GetTable()
{
    EventLoop::CatchUp(m_nodeId);
    return m_table;
}

const SharedBuffer&
SwitchDevice::GetBuffer() const
{
    EventLoop::CatchUp(m_nodeId);
    return m_buffer;
}

Time
SwitchDevice::GetPipelineDelay() const
{
    return m_pipelineDelay;
}

int64_t
SwitchDevice::AssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
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

PathContext&
SwitchDevice::GetPathContext()
{
    EventLoop::CatchUp(m_nodeId);
    return m_paths.GetContext();
}

void
SwitchDevice::SetWeights(std::string weights)
{
    m_scheduling.ReadWeights("SwitchDevice::Weights", weights);
}

std::string
SwitchDevice::GetWeights() const
{
    return m_scheduling.WriteWeights();
}

void
SwitchDevice::SetFlowControl(std::string name)
{
    m_flowControl.Choose(name);
}

std::string
SwitchDevice::GetFlowControlName() const
{
    return m_flowControl.GetChoice();
}

FlowControl
SwitchDevice::GetFlowControl() const
{
    return m_flowControl.Get();
}

void
SwitchDevice::SetScaleUp()
{
    m_flowControl.SetScaleUp();
}

void
SwitchDevice::SetWatchdogAction(std::string name)
{
    m_flowControl.SetWatchdogAction(name);
}

std::string
SwitchDevice::GetWatchdogAction() const
{
    return m_flowControl.GetWatchdogAction();
}

void
SwitchDevice::Configure()
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
        if (const auto neighbor = dynamic_cast<const SwitchDevice*>(&port->GetPeer()->GetOwner()))
        {
            m_flowControl.CheckNeighbor(neighbor->GetFlowControl());
        }
    }
    if (m_flowControl.ConfigurePorts(GetLosslessClasses(), IsLastHop))
    {
        TraceConnectWithoutContext(
            "QueueLength",
            MakeCallback(&SwitchFlowControl::NotifyQueueLength, &m_flowControl));
    }
    m_flowControl.ConfigureMemory(GetLosslessClasses(), m_buffer);
}

uint8_t
SwitchDevice::GetLosslessClasses() const
{
    return m_flowControl.Get() == FlowControl::NONE
               ? 0
               : m_flowControl.GetLosslessClasses() | m_datelines.GetSecondClasses();
}

void
SwitchDevice::AddProgram(Ptr<SwitchProgram> program)
{
    EventLoop::CatchUp(m_nodeId);
    m_pipeline.Add(program, *this);
}

uint32_t
SwitchDevice::GetNPrograms() const
{
    return m_pipeline.GetN();
}

Ptr<SwitchProgram>
SwitchDevice::GetProgram(uint32_t index) const
{
    return m_pipeline.Get(index);
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
SwitchDevice::BeginMulticast()
{
    m_multicast = m_buffer.BeginMulticast();
    m_isMulticast = true;
}

void
SwitchDevice::EndMulticast()
{
    m_buffer.Leave(m_multicast);
    m_isMulticast = false;
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

int64_t
SwitchDevice::ReserveRecirculation(uint32_t port, uint32_t bytes, int64_t ready)
{
    return m_pipeline.Reserve(port, bytes, ready);
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

uint64_t
SwitchDevice::GetRecirculatedBytes() const
{
    EventLoop::CatchUp(m_nodeId);
    return m_pipeline.GetRecirculatedBytes();
}

void
SwitchDevice::Restart()
{
    EventLoop::CatchUp(m_nodeId);
    NS_LOG_INFO("the switch of node " << m_nodeId << " restarts");
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
    m_paths.Clear();
    m_pipeline.Restart();
}

void
SwitchDevice::Visit(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(SwitchDevice) - sizeof(Object), 1328),
                  "a new member: visit it unless it stays, then correct the size");
    const bool repeats = m_pipeline.IsEmpty() && m_paths.IsByHash() && !HasSinks();
    visitor.Same(m_randomChoices);
    m_buffer.Visit(visitor);
    for (const PauseSender& pauses : m_pauses)
    {
        visitor.Same(pauses.GetPaused());
    }
    for (const auto& port : m_ports)
    {
        port->Visit(visitor, repeats);
    }
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
SwitchDevice::Forward(Frame* frame)
{
    const uint16_t port = m_paths.Choose(*frame, m_table.Get(frame->destination));
    if (port == PathContext::NONE)
    {
        DropFrom(frame, *m_ports[frame->ingress], DropReason::NO_ROUTE);
        return;
    }
    SendFrom(frame, port);
}

void
SwitchDevice::SendFrom(Frame* frame, uint16_t port)
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
SwitchDevice::SendCopyIfIdle(Frame* frame, FabricPort& egress)
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
SwitchDevice::DropFrom(Frame* frame, FabricPort& port, DropReason reason)
{
    if (frame->isCopy)
    {
        m_buffer.Release(*frame);
    }
    port.Drop(frame, reason);
}

bool
SwitchDevice::Trim(Frame& frame, FabricPort& port)
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
SwitchDevice::BeginTransmit(Frame& frame, FabricPort& port)
{
    m_buffer.Release(frame);
    if (frame.ecn == Ecn::ECT)
    {
        Mark(frame, port);
    }
    UpdatePause(frame.ingress, frame.ingressPriority);
    return true;
}

Time
SwitchDevice::GetPauseResponse(uint64_t bitsPerSecond) const
{
    return ResolvePauseResponse(m_pauseResponse, bitsPerSecond);
}

uint64_t
SwitchDevice::GetHeldBytes(uint16_t port, uint8_t priority) const
{
    return m_buffer.GetHeld(port, priority);
}

void
SwitchDevice::UpdatePause(uint16_t ingress, uint8_t priority)
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
SwitchDevice::Mark(Frame& frame, FabricPort& port)
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
SwitchDevice::Happens(double probability)
{
    if (probability <= 0)
    {
        return false;
    }
    m_randomChoices++;
    return m_random->GetValue() < probability;
}

bool
SwitchDevice::IsDroppedEarly(const Frame& frame, const FabricPort& port)
{
    if (frame.ecn != Ecn::NOT_ECT || m_buffer.IsLossless(frame.priority))
    {
        return false;
    }
    return Happens(m_wred.GetProbability(port, frame.priority));
}

} // namespace ns3::training
