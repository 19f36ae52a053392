/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-device.h"

#include "core/field-accessor.h"
#include "fabric/endpoint-address.h"
#include "fabric/ip-frame.h"
#include "state-visitor.h"

#include "ns3/abort.h"
#include "ns3/ipv4-header.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-event-loop.h"
#include "ns3/training-prefetch.h"
#include "ns3/uinteger.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingHostDevice");
NS_OBJECT_ENSURE_REGISTERED(HostDevice);

TypeId
HostDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::HostDevice")
            .SetParent<FabricNetDevice>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<HostDevice>()
            .AddAttribute("Mtu",
                          "Largest IP packet, bytes",
                          UintegerValue(9000),
                          InOrder(MakeUintegerAccessor(&HostDevice::SetMtu, &HostDevice::GetMtu)),
                          MakeUintegerChecker<uint16_t>(68))
            .AddAttribute("IpPriority",
                          "Traffic class of packets of the IP stack; a lossy one",
                          UintegerValue(0),
                          InOrder(MakeUintegerAccessor(&HostDevice::m_ipPriority)),
                          MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute("IpQueueLimit",
                          "Size of the IP transmit queue, bytes; packets beyond it are dropped",
                          UintegerValue(64 << 20),
                          InOrder(MakeUintegerAccessor(&HostDevice::m_ipQueueLimit)),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute(
                "StrictPriorities",
                "Bit p set: priority p is served strictly before all non-strict priorities",
                UintegerValue(0xc0),
                MakeFieldAccessor<UintegerValue>(&HostDevice::m_scheduling,
                                                 &PortScheduling::strict),
                MakeUintegerChecker<uint8_t>())
            .AddAttribute(
                "Weights",
                "Deficit round-robin weights of the non-strict priorities 0 to 7: eight "
                "numbers from 1 to 1000",
                StringValue("1 1 1 1 1 1 1 1"),
                InOrder(MakeStringAccessor(&HostDevice::SetWeights, &HostDevice::GetWeights)),
                MakeStringChecker())
            .AddAttribute("ReceiveRate",
                          "Rate at which the host processes received frames; 0: unlimited",
                          DataRateValue(DataRate(0)),
                          MakeFieldAccessor<DataRateValue>(&HostDevice::m_receiving,
                                                           &HostReceiveBuffer::Settings::rate),
                          MakeDataRateChecker())
            .AddAttribute("ReceiveBuffer",
                          "Receive buffer of a slow host, separate for lossless and lossy classes, "
                          "bytes; the link headroom is additional",
                          UintegerValue(256 << 10),
                          MakeFieldAccessor<UintegerValue>(&HostDevice::m_receiving,
                                                           &HostReceiveBuffer::Settings::bytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute(
                "LosslessClasses",
                "Bit p set: a slow host pauses priority p instead of dropping it",
                UintegerValue(1 << 3),
                MakeFieldAccessor<UintegerValue>(&HostDevice::m_receiving,
                                                 &HostReceiveBuffer::Settings::losslessClasses),
                MakeUintegerChecker<uint8_t>())
            .AddAttribute("PauseResponse",
                          "Time from the arrival of a pause until the port obeys it; negative: the "
                          "maximum of IEEE 802.3, 31B.3.7",
                          TimeValue(NanoSeconds(-1)),
                          InOrder(MakeTimeAccessor(&HostDevice::m_pauseResponse)),
                          MakeTimeChecker())
            .AddAttribute("Program",
                          "The program of the NIC, or null",
                          TypeId::ATTR_GET,
                          PointerValue(),
                          InOrder(MakePointerAccessor(&HostDevice::m_program)),
                          MakePointerChecker<NicProgram>())
            .AddTraceSource("QueueLength",
                            "The length of a queue has changed",
                            InOrder(MakeTraceSourceAccessor(&HostDevice::m_queueLengthTrace)),
                            "ns3::training::FabricPortOwner::QueueLengthTracedCallback")
            .AddTraceSource("Pause",
                            "The switch has paused or resumed a priority, or its pause has expired",
                            MakeTraceSourceAccessor(&HostDevice::m_pauseTrace),
                            "ns3::training::FabricPortOwner::PauseTracedCallback")
            .AddTraceSource("Drop",
                            "A frame has been dropped, or lost on the link, for a reason",
                            InOrder(MakeTraceSourceAccessor(&HostDevice::m_dropTrace)),
                            "ns3::training::FabricPortOwner::DropTracedCallback")
            .AddTraceSource("MacTx",
                            "A packet of the IP stack has arrived for transmission",
                            MakeTraceSourceAccessor(&HostDevice::m_macTxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacTxDrop",
                            "A packet of the IP stack has been dropped before transmission",
                            MakeTraceSourceAccessor(&HostDevice::m_macTxDropTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacRx",
                            "A packet has been received and is passed up to the IP stack",
                            MakeTraceSourceAccessor(&HostDevice::m_macRxTrace),
                            "ns3::Packet::TracedCallback");
    return tid;
}

HostDevice::HostDevice()
    : m_receiver(m_receiving, [this](Frame* frame) { Deliver(frame); })
{
}

HostDevice::~HostDevice() = default;

void
HostDevice::DoDispose()
{
    SetRdmaEngine(nullptr);
    m_programReceivers.Clear();
    if (m_program)
    {
        m_program->Dispose();
    }
    m_program = nullptr;
    if (m_neighbors)
    {
        m_neighbors->Remove(m_endpoint);
        m_neighbors = nullptr;
    }
    if (m_port)
    {
        m_port->SetSource(nullptr);
    }
    FabricNetDevice::DoDispose();
}

Ipv4Address
HostDevice::GetIpv4Address(uint32_t endpoint)
{
    return GetEndpointIpv4Address(endpoint);
}

void
HostDevice::SetEndpoint(uint32_t endpoint)
{
    m_endpoint = endpoint;
    m_port = Create<FabricPort>(*this, GetNode()->GetId(), static_cast<uint16_t>(GetIfIndex()));
    m_receiver.SetPort(*m_port);
}

void
HostDevice::CatchUp() const
{
    if (const Ptr<Node> node = GetNode())
    {
        EventLoop::CatchUp(node->GetId());
    }
}

bool
HostDevice::IsUnobserved() const
{
    return m_rdmaEngine && !m_rdmaEngine->IsObserved() && !m_program && !m_port->HasTap() &&
           !HasSinks();
}

bool
HostDevice::IsQuiet(int64_t duration) const
{
    return m_port->IsPlain() && !m_program && m_receiver.IsUnlimited() && m_receiver.IsEmpty() &&
           m_rdmaEngine && m_rdmaEngine->IsQuiet(duration);
}

bool
HostDevice::IsQuiet(const Frame& frame) const
{
    return m_rdmaEngine->IsQuiet(frame);
}

bool
HostDevice::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    NS_LOG_FUNCTION(this << packet << dest << protocolNumber);
    m_macTxTrace(packet);
    Ipv4Header header;
    if (protocolNumber != ETHERTYPE_IPV4 || !packet->PeekHeader(header))
    {
        return DropPacket(packet, DropReason::UNKNOWN_PROTOCOL);
    }
    if (packet->GetSize() > GetMtu())
    {
        return DropPacket(packet, DropReason::TOO_LONG);
    }
    const uint32_t destination = IpNeighbors::Resolve(m_neighbors.get(), *this, header, dest);
    if (destination == IpNeighbors::NONE)
    {
        return DropPacket(packet, DropReason::NO_ROUTE);
    }
    if (m_port->GetQueueBytes(m_ipPriority) + packet->GetSize() > m_ipQueueLimit)
    {
        return DropPacket(packet, DropReason::QUEUE_LIMIT);
    }
    Frame* frame = MakeIpFrame(packet, header, m_endpoint, destination);
    frame->priority = m_ipPriority;
    m_port->Send(frame);
    return true;
}

bool
HostDevice::DropPacket(Ptr<Packet> packet, DropReason reason)
{
    m_macTxDropTrace(packet);
    Frame* frame = Frame::Allocate(FrameKind::IP);
    frame->source = m_endpoint;
    frame->destination = m_endpoint; // the packet never left this endpoint
    frame->priority = m_ipPriority;
    frame->bytes = packet->GetSize();
    frame->packet = packet;
    m_port->Drop(frame, reason);
    return false;
}

Time
HostDevice::GetPauseResponse(uint64_t bitsPerSecond) const
{
    return ResolvePauseResponse(m_pauseResponse, bitsPerSecond);
}

void
HostDevice::SetProgram(Ptr<NicProgram> program)
{
    CatchUp();
    NS_LOG_INFO("endpoint " << m_endpoint << " loads a NIC program");
    NS_ABORT_MSG_IF(m_program, "a NIC runs one program");
    m_program = program;
    m_program->SetDevice(this);
    m_port->AddLatency(m_program->GetSendLatency());
}

void
HostDevice::SetReceiveRate(DataRate rate)
{
    CatchUp();
    NS_LOG_INFO("endpoint " << m_endpoint << " processes received frames at " << rate);
    m_receiving.rate = rate;
    m_receiver.OnRate();
}

void
HostDevice::Visit(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(HostDevice) - sizeof(FabricNetDevice), 360),
                  "a new member: visit it unless it stays, then correct the size");
    bool repeats = m_rdmaEngine && m_rdmaEngine->Visit(visitor, m_port->IsIdle(visitor.GetTime()));
    repeats =
        repeats && !m_program && m_receiver.IsUnlimited() && !HasSinks() && m_pauseTrace.IsEmpty();
    m_port->Visit(visitor, repeats);
}

void
HostDevice::PrefetchTurn(uint32_t stage) const
{
    switch (stage)
    {
    case 0:
        PrefetchBytes(&m_endpoint, sizeof(m_endpoint));
        PrefetchBytes(&m_port, sizeof(m_port) + sizeof(m_rdmaEngine));
        PrefetchBytes(&m_program, sizeof(m_program) + sizeof(m_receiving));
        break;
    case 1:
        m_port->PrefetchSelf();
        PrefetchBytes(m_rdmaEngine, sizeof(*m_rdmaEngine));
        break;
    default:
        if (m_rdmaEngine)
        {
            m_rdmaEngine->PrefetchTurn(stage + 1 == TURN_STAGES);
        }
    }
}

void
HostDevice::Prefetch(const Frame& frame)
{
    if (m_rdmaEngine && IsRoce(frame.kind))
    {
        __builtin_prefetch(&frame.payloadBytes); // fields not read by switches, so not cached
        m_rdmaEngine->Prefetch(frame, false);
    }
}

const FabricPort*
HostDevice::PrefetchSoon(const Frame& frame)
{
    if (m_rdmaEngine && IsRoce(frame.kind))
    {
        m_rdmaEngine->Prefetch(frame, true);
    }
    return nullptr;
}

void
HostDevice::Receive(Frame* frame, FabricPort&)
{
    if (frame->destination != m_endpoint)
    {
        m_port->Drop(frame, DropReason::OTHER_HOST);
        return;
    }
    if (m_program)
    {
        ReceiveByProgram(frame);
        return;
    }
    if (m_receiver.IsUnlimited())
    {
        Deliver(frame);
    }
    else
    {
        m_receiver.Receive(frame, Time(0));
    }
}

void
HostDevice::ReceiveByProgram(Frame* frame)
{
    if (!m_program->OnReceive(*frame))
    {
        return;
    }
    const Time service = m_program->GetReceiveTime(*frame);
    if (m_program->GetReceiveLatency().IsZero())
    {
        m_receiver.Receive(frame, service);
        return;
    }
    Simulator::Schedule(m_program->GetReceiveLatency(),
                        &HostReceiver::Receive,
                        &m_receiver,
                        frame,
                        service);
}

void
HostDevice::SetProgramReceiver(uint16_t protocol,
                               uint32_t key,
                               std::function<void(Frame*)> receiver)
{
    NS_LOG_FUNCTION(this << protocol << key);
    m_programReceivers.Set(protocol, key, std::move(receiver));
}

void
HostDevice::Deliver(Frame* frame)
{
    bool isTaken = true;
    if (frame->kind == FrameKind::PROGRAM)
    {
        isTaken = m_programReceivers.Deliver(frame);
    }
    else if (frame->kind == FrameKind::IP)
    {
        const Ptr<Packet> packet = GetIpPacket(*frame);
        m_macRxTrace(packet);
        isTaken = PassUp(packet, frame->protocol, GetEndpointMacAddress(frame->source));
        if (isTaken)
        {
            Frame::Free(frame);
        }
    }
    else if (m_rdmaEngine)
    {
        m_rdmaEngine->Receive(frame);
    }
    else
    {
        isTaken = false;
    }
    if (!isTaken)
    {
        m_port->Drop(frame, DropReason::NO_RECEIVER);
    }
}

bool
HostDevice::BeginTransmit(Frame& frame, FabricPort&)
{
    return !m_program || m_program->Send(frame, *m_port);
}

} // namespace ns3::training
