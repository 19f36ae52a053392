/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-device.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitch");
NS_OBJECT_ENSURE_REGISTERED(SwitchDevice);

namespace
{

/// A pause lasts this long unless renewed or resumed, 512 bit times each (the longest there is).
constexpr uint16_t PAUSE_QUANTA = 65535;

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
                          "Packet memory shared by all ports, bytes",
                          UintegerValue(32 << 20),
                          MakeUintegerAccessor(&SwitchDevice::m_bufferSize),
                          MakeUintegerChecker<uint64_t>(1))
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
            .AddTraceSource("Drop",
                            "A frame found no space in the buffer or no route",
                            MakeTraceSourceAccessor(&SwitchDevice::m_dropTrace),
                            "ns3::training::SwitchDevice::DropTracedCallback");
    return tid;
}

SwitchDevice::SwitchDevice()
    : m_random(CreateObject<UniformRandomVariable>())
{
}

SwitchDevice::~SwitchDevice() = default;

void
SwitchDevice::DoDispose()
{
    m_random = nullptr;
    Object::DoDispose();
}

void
SwitchDevice::SetNodeId(uint32_t nodeId)
{
    m_nodeId = nodeId;
    m_hashSeed = HashFlow(nodeId, 0, 0);
}

FabricPort&
SwitchDevice::AddPort()
{
    m_ports.emplace_back(*this, m_nodeId, static_cast<uint16_t>(m_ports.size()));
    m_ports.back().EnableTelemetry();
    m_renewing.push_back(false);
    return m_ports.back();
}

FabricPort&
SwitchDevice::GetPort(uint16_t index)
{
    return m_ports.at(index);
}

uint16_t
SwitchDevice::GetNPorts() const
{
    return static_cast<uint16_t>(m_ports.size());
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

uint64_t
SwitchDevice::ConfigureBuffer()
{
    std::vector<uint64_t> headroom;
    for (const FabricPort& port : m_ports)
    {
        // What arrives from the frame that crosses the threshold on: this frame itself, a round
        // trip of the link, the frame that keeps the pause waiting, the frame the sender cannot
        // stop, and its response (802.1Qbb, annex O).
        const double roundTrip = port.GetPeer()->GetDelay().GetSeconds() +
                                 port.GetDelay().GetSeconds() + m_pauseResponse.GetSeconds();
        headroom.push_back(static_cast<uint64_t>(roundTrip * port.GetRate() / 8) +
                           3 * m_largestFrame + 2 * Frame::MINIMUM_BYTES);
    }
    SharedBuffer::Configuration configuration;
    configuration.size = m_bufferSize;
    configuration.guaranteed = m_guaranteed;
    configuration.losslessAlpha = m_losslessAlpha;
    configuration.lossyAlpha = m_lossyAlpha;
    configuration.losslessClasses = m_losslessClasses;
    configuration.resumeOffset = m_resumeOffset;
    return m_buffer.Configure(configuration, std::move(headroom));
}

void
SwitchDevice::Receive(Frame* frame, FabricPort& port)
{
    const ForwardingTable::Group& group = m_table.Get(frame->destination);
    if (group.empty())
    {
        NS_LOG_LOGIC("no route to endpoint " << frame->destination);
        Drop(frame, port);
        return;
    }
    const uint32_t choice =
        group.size() == 1 ? 0
                          : uint64_t{HashFlow(frame->flowHash, m_hashSeed, 0)} * group.size() >> 32;
    FabricPort& egress = m_ports[group[choice]];
    if (egress.SendIfIdle(frame))
    {
        return;
    }
    frame->ingress = port.GetIndex();
    if (!m_buffer.Admit(*frame, egress.GetQueueBytes(frame->priority)))
    {
        Drop(frame, egress);
        return;
    }
    const uint8_t priority = frame->priority;
    egress.Send(frame);
    ActOn(port.GetIndex(), priority);
}

void
SwitchDevice::BeginTransmit(Frame& frame, FabricPort& port)
{
    m_buffer.Release(frame);
    if (frame.ecn == Ecn::ECT)
    {
        Mark(frame, port);
    }
    ActOn(frame.ingress, frame.priority);
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
        m_ports[ingress].SendPause(1 << priority, PAUSE_QUANTA);
        if (!m_renewing[ingress])
        {
            m_renewing[ingress] = true;
            ScheduleRenewal(ingress);
        }
        break;
    case SharedBuffer::Action::RESUME:
        m_ports[ingress].SendPause(1 << priority, 0);
        break;
    }
}

void
SwitchDevice::ScheduleRenewal(uint16_t ingress)
{
    const double pause = PAUSE_QUANTA * 512.0 / static_cast<double>(m_ports[ingress].GetRate());
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
        m_ports[ingress].SendPause(classes, PAUSE_QUANTA);
        ScheduleRenewal(ingress);
    }
}

void
SwitchDevice::Mark(Frame& frame, FabricPort& port)
{
    const double gbps = static_cast<double>(port.GetRate()) * 1e-9;
    const auto queue = static_cast<double>(port.GetQueueBytes(frame.priority));
    const double kmin = m_kminPerGbps * gbps;
    const double kmax = m_kmaxPerGbps * gbps;
    if (queue > kmax ||
        (queue > kmin && m_random->GetValue() < m_pmax * (queue - kmin) / (kmax - kmin)))
    {
        frame.ecn = Ecn::CE;
        port.counters.markedFrames++;
    }
}

void
SwitchDevice::Drop(Frame* frame, FabricPort& port)
{
    port.counters.droppedFrames++;
    port.counters.droppedBytes += frame->bytes;
    m_dropTrace(*frame, port.GetIndex());
    Frame::Free(frame);
}

} // namespace ns3::training
