/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-device.h"

#include "configuration-error.h"
#include "quantity.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitch");
NS_OBJECT_ENSURE_REGISTERED(SwitchDevice);

namespace
{

/// Packet memory unless more is needed, bytes.
constexpr uint64_t USUAL_BUFFER = 32 << 20;

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
                          "Packet memory shared by all ports, bytes; 0: 32 MiB, or twice what "
                          "guarantees and headroom take if that is more",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SwitchDevice::m_bufferSize),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Guaranteed",
                          "Own memory of each ingress port and lossless priority, bytes",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&SwitchDevice::m_guaranteed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("ResumeOffset",
                          "A paused sender resumes when its use is this far below the threshold, "
                          "bytes",
                          UintegerValue(3072),
                          MakeUintegerAccessor(&SwitchDevice::m_resumeOffset),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("LargestFrame",
                          "Largest frame that PFC headroom allows for, bytes",
                          UintegerValue(9216),
                          MakeUintegerAccessor(&SwitchDevice::m_largestFrame),
                          MakeUintegerChecker<uint32_t>(64))
            .AddAttribute("HeadroomScale",
                          "Part of the PFC headroom that 802.1Qbb asks for that is reserved; below "
                          "1, overload can drop lossless frames",
                          DoubleValue(1),
                          MakeDoubleAccessor(&SwitchDevice::m_headroomScale),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("LosslessAlpha",
                          "Dynamic threshold factor of lossless classes, of the free pool",
                          DoubleValue(0.125),
                          MakeDoubleAccessor(&SwitchDevice::m_losslessAlpha),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("LossyAlpha",
                          "Dynamic threshold factor of lossy classes, of the free pool",
                          DoubleValue(1),
                          MakeDoubleAccessor(&SwitchDevice::m_lossyAlpha),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("LosslessClasses",
                          "Bit p set: priority p is lossless (802.1Qbb)",
                          UintegerValue(1 << 3),
                          MakeUintegerAccessor(&SwitchDevice::m_losslessClasses),
                          MakeUintegerChecker<uint8_t>())
            .AddAttribute("EcnKminPerGbps",
                          "Queue above which frames are marked with rising probability, bytes per "
                          "Gbit/s of the port (HPCC's simulator: 100 KB at 25 Gbit/s)",
                          DoubleValue(4000),
                          MakeDoubleAccessor(&SwitchDevice::m_kminPerGbps),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("EcnKmaxPerGbps",
                          "Queue above which every frame is marked, bytes per Gbit/s of the port "
                          "(HPCC's simulator: 400 KB at 25 Gbit/s)",
                          DoubleValue(16000),
                          MakeDoubleAccessor(&SwitchDevice::m_kmaxPerGbps),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("EcnPmax",
                          "Marking probability at Kmax",
                          DoubleValue(0.2),
                          MakeDoubleAccessor(&SwitchDevice::m_pmax),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("WredKminPerGbps",
                          "Queue of a lossy class above which frames that cannot be marked are "
                          "dropped with rising probability, bytes per Gbit/s of the port",
                          DoubleValue(4000),
                          MakeDoubleAccessor(&SwitchDevice::m_wredKminPerGbps),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("WredKmaxPerGbps",
                          "Queue of a lossy class above which every such frame is dropped, unless "
                          "WredPmax is 0, bytes per Gbit/s of the port",
                          DoubleValue(16000),
                          MakeDoubleAccessor(&SwitchDevice::m_wredKmaxPerGbps),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("WredPmax",
                          "Drop probability at WredKmaxPerGbps; 0: no early drops",
                          DoubleValue(0),
                          MakeDoubleAccessor(&SwitchDevice::m_wredPmax),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("StrictPriorities",
                          "Bit p set: priority p goes before all that are not strict",
                          UintegerValue(0xc0),
                          MakeUintegerAccessor(&SwitchDevice::SetStrictPriorities,
                                               &SwitchDevice::GetStrictPriorities),
                          MakeUintegerChecker<uint8_t>())
            .AddAttribute("Weights",
                          "Shares of priorities 0 to 7 where they are not strict (deficit round "
                          "robin): eight numbers from 1 to 1000",
                          StringValue("1 1 1 1 1 1 1 1"),
                          MakeStringAccessor(&SwitchDevice::SetWeights, &SwitchDevice::GetWeights),
                          MakeStringChecker())
            .AddAttribute("Path",
                          "How a port is chosen among equally good ones: ecmp (by flow), flowlet "
                          "(at random whenever a flow has paused), spray (in turn, by frame), "
                          "source-mod or destination-mod (by the place of an endpoint), schedule "
                          "(as Pin() says, or else by flow)",
                          StringValue("ecmp"),
                          MakeStringAccessor(&SwitchDevice::SetPath, &SwitchDevice::GetPath),
                          MakeStringChecker())
            .AddAttribute(
                "FlowletGap",
                "Pause of a flow after which its next frame may take another port "
                "(LetFlow, NSDI 2017)",
                TimeValue(MicroSeconds(50)),
                MakeTimeAccessor(&SwitchDevice::SetFlowletGap, &SwitchDevice::GetFlowletGap),
                MakeTimeChecker(Time(0)))
            .AddAttribute("CutThrough",
                          "Whether a frame goes on when its headers are there; one from a line "
                          "slower than another port's is stored first",
                          BooleanValue(false),
                          MakeBooleanAccessor(&SwitchDevice::m_cutThrough),
                          MakeBooleanChecker())
            .AddAttribute("Stages",
                          "Match-action stages that programs may use (Tofino: 12)",
                          UintegerValue(12),
                          MakeUintegerAccessor(&SwitchDevice::m_stages),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("RegisterMemory",
                          "Stateful memory that programs may use, bytes",
                          UintegerValue(15 << 20),
                          MakeUintegerAccessor(&SwitchDevice::m_registerBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("RecirculationRate",
                          "Rate of each recirculation port, by which frames go through the "
                          "pipeline again",
                          DataRateValue(DataRate("100Gbps")),
                          MakeDataRateAccessor(&SwitchDevice::m_recirculationRate),
                          MakeDataRateChecker())
            .AddAttribute("RecirculationPorts",
                          "Recirculation ports that programs may use (Tofino with 4 pipes: 8, and "
                          "the 48 ports of 3 pipes looped back)",
                          UintegerValue(56),
                          MakeUintegerAccessor(&SwitchDevice::m_recirculationPorts),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("FloatAdders",
                          "Float32 adders that programs may use: none in a switch chip; as an "
                          "FPGA, half the 3600 DSP slices of NetFPGA-SUME's XC7VX690T",
                          UintegerValue(1800),
                          MakeUintegerAccessor(&SwitchDevice::m_floatAdders),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ExternalMemory",
                          "Memory beside the chip that programs may use, bytes (NetFPGA-SUME: 8 "
                          "GiB)",
                          UintegerValue(8ULL << 30),
                          MakeUintegerAccessor(&SwitchDevice::m_externalBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("PipelineDelay",
                          "From a frame's arrival to when it can leave",
                          TimeValue(TimeStep(0)),
                          MakeTimeAccessor(&SwitchDevice::m_pipelineDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("PauseResponse",
                          "Longest time a sender takes to obey a pause, for sizing the headroom",
                          TimeValue(TimeStep(0)),
                          MakeTimeAccessor(&SwitchDevice::m_pauseResponse),
                          MakeTimeChecker(Time(0)))
            .AddTraceSource("QueueLength",
                            "The length of a queue has changed",
                            MakeTraceSourceAccessor(&SwitchDevice::queueLengthTrace),
                            "ns3::training::FabricPortOwner::QueueLengthTracedCallback")
            .AddTraceSource("Pause",
                            "A peer has paused or resumed a priority, or its pause has expired",
                            MakeTraceSourceAccessor(&SwitchDevice::pauseTrace),
                            "ns3::training::FabricPortOwner::PauseTracedCallback")
            .AddTraceSource("Mark",
                            "A frame has been marked congestion experienced",
                            MakeTraceSourceAccessor(&SwitchDevice::m_markTrace),
                            "ns3::training::SwitchDevice::MarkTracedCallback")
            .AddTraceSource("Drop",
                            "A frame found no space in the buffer or no route",
                            MakeTraceSourceAccessor(&SwitchDevice::m_dropTrace),
                            "ns3::training::SwitchDevice::DropTracedCallback");
    return tid;
}

SwitchDevice::SwitchDevice()
    : m_random(CreateObject<UniformRandomVariable>()),
      m_paths(m_ports, m_random)
{
}

SwitchDevice::~SwitchDevice() = default;

void
SwitchDevice::DoDispose()
{
    for (const auto& program : m_programs)
    {
        program->Dispose();
    }
    m_programs.clear();
    m_random = nullptr;
    Object::DoDispose();
}

void
SwitchDevice::SetNodeId(uint32_t nodeId)
{
    m_nodeId = nodeId;
    m_paths.SetHashSeed(HashFlow(nodeId, 0, 0));
}

FabricPort&
SwitchDevice::AddPort()
{
    m_ports.push_back(Create<FabricPort>(*this, m_nodeId, static_cast<uint16_t>(m_ports.size())));
    m_ports.back()->EnableTelemetry();
    m_renewing.push_back(false);
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
SwitchDevice::SetPlace(uint16_t index, uint8_t dimension, bool dateline)
{
    m_places.resize(m_ports.size());
    m_places.at(index) = {dimension, dateline};
}

ForwardingTable&
SwitchDevice::GetTable()
{
    return m_table;
}

const SharedBuffer&
SwitchDevice::GetBuffer() const
{
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

void
SwitchDevice::SetFlowletGap(Time gap)
{
    m_paths.SetFlowletGap(gap);
}

Time
SwitchDevice::GetFlowletGap() const
{
    return m_paths.GetFlowletGap();
}

PathChooser&
SwitchDevice::GetPaths()
{
    return m_paths;
}

void
SwitchDevice::SetStrictPriorities(uint8_t priorities)
{
    scheduling.strict = priorities;
}

uint8_t
SwitchDevice::GetStrictPriorities() const
{
    return scheduling.strict;
}

void
SwitchDevice::SetWeights(std::string weights)
{
    scheduling.ReadWeights("SwitchDevice::Weights", weights);
}

std::string
SwitchDevice::GetWeights() const
{
    return scheduling.WriteWeights();
}

void
SwitchDevice::Configure()
{
    for (const auto& [kmin, kmax, name] :
         {std::tuple(m_kminPerGbps, m_kmaxPerGbps, "Ecn"),
          std::tuple(m_wredKminPerGbps, m_wredKmaxPerGbps, "Wred")})
    {
        if (kmin > kmax)
        {
            throw ConfigurationError(std::string("ns3::training::SwitchDevice::") + name +
                                     "KminPerGbps=" + FormatDouble(kmin) + " (allowed: up to " +
                                     name + "KmaxPerGbps=" + FormatDouble(kmax) + ")");
        }
    }
    if (!m_places.empty())
    {
        m_secondClasses = static_cast<uint8_t>(m_losslessClasses << 1);
        if (m_losslessClasses & (m_secondClasses | 1 << (PRIORITIES - 1)))
        {
            throw ConfigurationError(
                "ns3::training::SwitchDevice::LosslessClasses=" +
                std::to_string(m_losslessClasses) +
                " in a topology with datelines (allowed: classes 0 to 6 of which no two are "
                "neighbors, as the next one is the second class of each)");
        }
    }
    uint64_t fastest = 0;
    for (const auto& port : m_ports)
    {
        fastest = std::max(fastest, port->GetRate());
    }
    std::vector<uint64_t> headroom;
    for (const auto& port : m_ports)
    {
        // A faster line would run dry in the middle of a frame.
        if (m_cutThrough && port->GetRate() == fastest)
        {
            port->GetPeer()->EnableCutThrough();
        }
        // What arrives from the frame that crosses the threshold on: this frame itself, a round
        // trip of the link, the frame that keeps the pause waiting, the frame the sender cannot
        // stop, and its response (802.1Qbb, annex O).
        const double roundTrip = port->GetPeer()->GetDelay().GetSeconds() +
                                 port->GetDelay().GetSeconds() + m_pauseResponse.GetSeconds();
        const double bytes =
            m_headroomScale * (roundTrip * static_cast<double>(port->GetRate()) / 8 +
                               3.0 * m_largestFrame + 2 * Frame::MINIMUM_BYTES);
        // What does not fit 64 bits is refused below.
        headroom.push_back(static_cast<uint64_t>(std::min(bytes, std::ldexp(1.0, 63))));
    }
    SharedBuffer::Configuration configuration;
    configuration.guaranteed = m_guaranteed;
    configuration.losslessAlpha = m_losslessAlpha;
    configuration.lossyAlpha = m_lossyAlpha;
    configuration.losslessClasses = m_losslessClasses | m_secondClasses;
    configuration.resumeOffset = m_resumeOffset;
    configuration.size =
        m_bufferSize > 0
            ? m_bufferSize
            : std::max(USUAL_BUFFER, 2 * SharedBuffer::GetReserved(configuration, headroom));
    m_buffer.Configure(configuration, std::move(headroom));
}

void
SwitchDevice::AddProgram(Ptr<SwitchProgram> program)
{
    NS_LOG_FUNCTION(this << program->GetName());
    SwitchProgram::Resources sum = program->GetResources();
    for (const auto& other : m_programs)
    {
        sum.stages += other->GetResources().stages;
        sum.registerBytes += other->GetResources().registerBytes;
        sum.recirculationPorts += other->GetResources().recirculationPorts;
        sum.floatAdders += other->GetResources().floatAdders;
        sum.externalBytes += other->GetResources().externalBytes;
    }
    const auto refuse = [&](const std::string& needs, const std::string& allowed) {
        return ConfigurationError("program " + program->GetName() + " needs " + needs +
                                  " of a switch, with what is there (allowed: " + allowed + ")");
    };
    if (sum.stages > m_stages)
    {
        throw refuse(std::to_string(sum.stages) + " stages", std::to_string(m_stages));
    }
    if (sum.registerBytes > m_registerBytes)
    {
        throw refuse(FormatBytes(sum.registerBytes) + " of register memory",
                     FormatBytes(m_registerBytes));
    }
    if (sum.recirculationPorts > m_recirculationPorts)
    {
        throw refuse(std::to_string(sum.recirculationPorts) + " recirculation ports",
                     std::to_string(m_recirculationPorts));
    }
    if (sum.floatAdders > m_floatAdders)
    {
        throw refuse(std::to_string(sum.floatAdders) + " float adders",
                     std::to_string(m_floatAdders));
    }
    if (sum.externalBytes > m_externalBytes)
    {
        throw refuse(FormatBytes(sum.externalBytes) + " of external memory",
                     FormatBytes(m_externalBytes));
    }
    program->SetSwitch(this);
    m_programs.push_back(program);
}

Ptr<SwitchProgram>
SwitchDevice::GetProgram(uint32_t index) const
{
    return index < m_programs.size() ? m_programs[index] : nullptr;
}

void
SwitchDevice::Emit(Frame* frame, uint16_t port, Time latency)
{
    frame->ingressPriority = frame->priority;
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
    frame->ingressPriority = frame->priority;
    const int64_t now = Simulator::Now().GetTimeStep();
    Simulator::Schedule(TimeStep(ReserveRecirculation(0, frame->bytes, now) - now),
                        &SwitchDevice::EndRecirculation,
                        this,
                        frame);
}

int64_t
SwitchDevice::ReserveRecirculation(uint32_t port, uint32_t bytes, int64_t ready)
{
    if (m_recirculationFree.empty())
    {
        m_recirculationFree.resize(m_recirculationPorts, 0);
    }
    const double bits = 8.0 * (bytes + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
    int64_t& free = m_recirculationFree.at(port);
    free =
        std::max(ready, free) +
        static_cast<int64_t>(bits * 1e12 / static_cast<double>(m_recirculationRate.GetBitRate()));
    m_recirculatedBytes += bytes;
    return free;
}

void
SwitchDevice::EndRecirculation(Frame* frame)
{
    if (!OfferToPrograms(frame))
    {
        Forward(frame);
    }
}

uint64_t
SwitchDevice::GetRecirculatedBytes() const
{
    return m_recirculatedBytes;
}

void
SwitchDevice::Restart()
{
    NS_LOG_FUNCTION(this);
    for (const auto& port : m_ports)
    {
        port->Flush();
    }
    Configure();
    m_paths.Clear();
    for (const auto& program : m_programs)
    {
        program->Restart();
    }
}

bool
SwitchDevice::OfferToPrograms(Frame* frame)
{
    return std::any_of(m_programs.begin(), m_programs.end(), [frame](const auto& program) {
        return program->Receive(frame);
    });
}

void
SwitchDevice::Expect(const Frame& frame)
{
    m_table.Prefetch(frame.destination);
    m_buffer.Prefetch(frame.ingress, frame.priority);
}

void
SwitchDevice::ExpectSoon(const Frame& frame)
{
    const uint16_t port = m_paths.Foresee(frame, m_table.Get(frame.destination));
    if (port != PathChooser::NONE)
    {
        m_ports[port]->PrefetchSend(frame.priority);
    }
}

void
SwitchDevice::Receive(Frame* frame, FabricPort&)
{
    frame->ingressPriority = frame->priority;
    if (m_programs.empty() || !OfferToPrograms(frame))
    {
        Forward(frame);
    }
}

void
SwitchDevice::Forward(Frame* frame)
{
    const uint16_t port = m_paths.Choose(*frame, m_table.Get(frame->destination));
    if (port == PathChooser::NONE)
    {
        NS_LOG_LOGIC("no route to endpoint " << frame->destination);
        Drop(frame, *m_ports[frame->ingress]);
        return;
    }
    SendFrom(frame, port);
}

void
SwitchDevice::SendFrom(Frame* frame, uint16_t port)
{
    if (m_secondClasses)
    {
        ChangeClass(*frame, port);
    }
    FabricPort& egress = *m_ports[port];
    if (egress.SendIfIdle(frame))
    {
        return;
    }
    if ((m_wredPmax > 0 && DropsEarly(*frame, egress)) ||
        !m_buffer.Admit(*frame, egress.GetQueueBytes(frame->priority)))
    {
        Drop(frame, egress);
        return;
    }
    const uint16_t ingress = frame->ingress;
    const uint8_t priority = frame->ingressPriority;
    egress.Send(frame);
    ActOn(ingress, priority);
}

void
SwitchDevice::ChangeClass(Frame& frame, uint16_t egress) const
{
    const uint8_t arrived = frame.ingressPriority;
    const bool isSecond = m_secondClasses >> arrived & 1;
    if (!isSecond && !(m_losslessClasses >> arrived & 1))
    {
        return;
    }
    const Place& in = m_places[frame.ingress];
    const bool stays = in.dimension == m_places[egress].dimension;
    frame.priority = arrived - isSecond + (stays && (isSecond || in.dateline));
}

bool
SwitchDevice::BeginTransmit(Frame& frame, FabricPort& port)
{
    m_buffer.Release(frame);
    if (frame.ecn == Ecn::ECT)
    {
        Mark(frame, port);
    }
    ActOn(frame.ingress, frame.ingressPriority);
    return true;
}

void
SwitchDevice::ActOn(uint16_t ingress, uint8_t priority)
{
    switch (m_buffer.Decide(ingress, priority))
    {
    case SharedBuffer::Action::NONE:
        break;
    case SharedBuffer::Action::PAUSE:
        NS_LOG_LOGIC("pause port " << ingress << " priority " << +priority);
        m_ports[ingress]->SendPause(1 << priority, LONGEST_PAUSE);
        if (!m_renewing[ingress])
        {
            m_renewing[ingress] = true;
            ScheduleRenewal(ingress);
        }
        break;
    case SharedBuffer::Action::RESUME:
        m_ports[ingress]->SendPause(1 << priority, 0);
        break;
    }
}

void
SwitchDevice::ScheduleRenewal(uint16_t ingress)
{
    const double pause = LONGEST_PAUSE * 512.0 / static_cast<double>(m_ports[ingress]->GetRate());
    Simulator::Schedule(Seconds(pause / 2), &SwitchDevice::RenewPauses, this, ingress);
}

void
SwitchDevice::RenewPauses(uint16_t ingress)
{
    uint8_t classes = 0;
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        classes |= m_buffer.IsPausing(ingress, priority) << priority;
    }
    m_renewing[ingress] = classes != 0;
    if (classes)
    {
        NS_LOG_LOGIC("renew pauses of port " << ingress);
        m_ports[ingress]->SendPause(classes, LONGEST_PAUSE);
        ScheduleRenewal(ingress);
    }
}

double
SwitchDevice::GetProbability(const FabricPort& port,
                             uint8_t priority,
                             double kminPerGbps,
                             double kmaxPerGbps,
                             double pmax)
{
    const double gbps = static_cast<double>(port.GetRate()) * 1e-9;
    const auto queue = static_cast<double>(port.GetQueueBytes(priority));
    const double kmin = kminPerGbps * gbps;
    const double kmax = kmaxPerGbps * gbps;
    return queue > kmax ? 1 : queue > kmin ? pmax * (queue - kmin) / (kmax - kmin) : 0;
}

void
SwitchDevice::Mark(Frame& frame, FabricPort& port)
{
    const double probability =
        GetProbability(port, frame.priority, m_kminPerGbps, m_kmaxPerGbps, m_pmax);
    if (probability == 1 || (probability > 0 && m_random->GetValue() < probability))
    {
        frame.ecn = Ecn::CE;
        port.counters.markedFrames++;
        port.counters.byPriority[frame.priority].markedFrames++;
        m_markTrace(frame, port.GetIndex());
    }
}

bool
SwitchDevice::DropsEarly(const Frame& frame, const FabricPort& port)
{
    if (frame.ecn != Ecn::NOT_ECT || (m_losslessClasses | m_secondClasses) >> frame.priority & 1)
    {
        return false;
    }
    const double probability =
        GetProbability(port, frame.priority, m_wredKminPerGbps, m_wredKmaxPerGbps, m_wredPmax);
    return probability > 0 && m_random->GetValue() < probability;
}

void
SwitchDevice::Drop(Frame* frame, FabricPort& port)
{
    port.counters.droppedFrames++;
    port.counters.droppedBytes += frame->bytes;
    port.counters.byPriority[frame->priority].droppedFrames++;
    m_dropTrace(*frame, port.GetIndex());
    Frame::Free(frame);
}

} // namespace ns3::training
