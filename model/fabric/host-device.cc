/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-device.h"

#include "endpoint-address.h"

#include "ns3/abort.h"
#include "ns3/ipv4-header.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingHostDevice");
NS_OBJECT_ENSURE_REGISTERED(HostDevice);

namespace
{

constexpr uint32_t IPV4_HEADER_BYTES = 20;

/** @return the 32 bits behind the IPv4 header: both port numbers of TCP and UDP */
uint32_t
PeekPorts(Ptr<const Packet> packet)
{
    uint8_t bytes[IPV4_HEADER_BYTES + 4] = {};
    packet->CopyData(bytes, sizeof(bytes));
    uint32_t ports = 0;
    std::copy(bytes + IPV4_HEADER_BYTES, bytes + sizeof(bytes), reinterpret_cast<uint8_t*>(&ports));
    return ports;
}

} // namespace

TypeId
HostDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::HostDevice")
            .SetParent<NetDevice>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<HostDevice>()
            .AddAttribute("Mtu",
                          "Largest IP packet, bytes",
                          UintegerValue(9000),
                          MakeUintegerAccessor(&HostDevice::SetMtu, &HostDevice::GetMtu),
                          MakeUintegerChecker<uint16_t>(68))
            .AddAttribute("IpPriority",
                          "Traffic class of packets of the IP stack; a lossy one",
                          UintegerValue(0),
                          MakeUintegerAccessor(&HostDevice::m_ipPriority),
                          MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute("IpQueueLimit",
                          "Bytes of the IP stack that may wait for the line; more are dropped",
                          UintegerValue(64 << 20),
                          MakeUintegerAccessor(&HostDevice::m_ipQueueLimit),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("StrictPriorities",
                          "Bit p set: priority p goes before all that are not strict",
                          UintegerValue(0xc0),
                          MakeUintegerAccessor(&HostDevice::SetStrictPriorities,
                                               &HostDevice::GetStrictPriorities),
                          MakeUintegerChecker<uint8_t>())
            .AddAttribute("Weights",
                          "Shares of priorities 0 to 7 where they are not strict (deficit round "
                          "robin): eight numbers from 1 to 1000",
                          StringValue("1 1 1 1 1 1 1 1"),
                          MakeStringAccessor(&HostDevice::SetWeights, &HostDevice::GetWeights),
                          MakeStringChecker())
            .AddAttribute("ReceiveRate",
                          "Rate at which the host takes in what it receives; 0: as it comes",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&HostDevice::m_receiveRate),
                          MakeDataRateChecker())
            .AddAttribute("ReceiveBuffer",
                          "Memory of a slow host for what it has not taken in, of lossless and of "
                          "lossy classes each, bytes; headroom of its link comes on top",
                          UintegerValue(256 << 10),
                          MakeUintegerAccessor(&HostDevice::m_receiveBuffer),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("LosslessClasses",
                          "Bit p set: a slow host pauses priority p instead of dropping it",
                          UintegerValue(1 << 3),
                          MakeUintegerAccessor(&HostDevice::m_losslessClasses),
                          MakeUintegerChecker<uint8_t>())
            .AddTraceSource("QueueLength",
                            "The length of a queue has changed",
                            MakeTraceSourceAccessor(&HostDevice::queueLengthTrace),
                            "ns3::training::FabricPortOwner::QueueLengthTracedCallback")
            .AddTraceSource("Pause",
                            "The switch has paused or resumed a priority, or its pause has expired",
                            MakeTraceSourceAccessor(&HostDevice::pauseTrace),
                            "ns3::training::FabricPortOwner::PauseTracedCallback");
    return tid;
}

HostDevice::HostDevice() = default;
HostDevice::~HostDevice() = default;

void
HostDevice::DoDispose()
{
    m_node = nullptr;
    m_channel = nullptr;
    SetRdmaReceiver(nullptr);
    m_aggregationReceivers.clear();
    m_aggregationServers.clear();
    if (m_program)
    {
        m_program->Dispose();
    }
    m_program = nullptr;
    m_receive.Nullify();
    m_promiscReceive.Nullify();
    if (m_port)
    {
        m_port->SetSource(nullptr);
    }
    NetDevice::DoDispose();
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
    m_port = Create<FabricPort>(*this, m_node->GetId(), static_cast<uint16_t>(m_interface));
}

uint32_t
HostDevice::GetEndpoint() const
{
    return m_endpoint;
}

FabricPort&
HostDevice::GetPort()
{
    return *m_port;
}

const FabricPort&
HostDevice::GetPort() const
{
    return *m_port;
}

void
HostDevice::SetChannel(Ptr<FabricChannel> channel)
{
    m_channel = channel;
    m_channel->AddDevice(this);
}

void
HostDevice::SetRdmaReceiver(std::function<void(Frame*)> receiver,
                            std::function<void(const Frame&, bool)> expect)
{
    m_rdmaReceiver = std::move(receiver);
    m_expectRdma = std::move(expect);
}

bool
HostDevice::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    NS_LOG_FUNCTION(this << packet << dest << protocolNumber);
    Ipv4Header header;
    if (protocolNumber != ETHERTYPE_IPV4 || packet->GetSize() > m_mtu ||
        !packet->PeekHeader(header) || header.GetDestination().Get() < FIRST_IPV4_ADDRESS)
    {
        m_port->counters.droppedFrames++;
        m_port->counters.droppedBytes += packet->GetSize();
        return false;
    }
    if (m_port->GetQueueBytes(m_ipPriority) + packet->GetSize() > m_ipQueueLimit)
    {
        m_port->counters.droppedFrames++;
        m_port->counters.droppedBytes += packet->GetSize();
        return false;
    }
    Frame* frame = Frame::Allocate(FrameKind::IP);
    frame->source = m_endpoint;
    frame->destination = header.GetDestination().Get() - FIRST_IPV4_ADDRESS;
    frame->flowHash = HashFlow(frame->source, frame->destination, PeekPorts(packet));
    frame->bytes =
        std::max(packet->GetSize() + Frame::ETHERNET_BYTES, uint32_t{Frame::MINIMUM_BYTES});
    frame->protocol = protocolNumber;
    frame->priority = m_ipPriority;
    frame->ecn = header.GetEcn() == Ipv4Header::ECN_NotECT ? Ecn::NOT_ECT : Ecn::ECT;
    frame->packet = packet;
    m_port->Send(frame);
    return true;
}

void
HostDevice::SetStrictPriorities(uint8_t priorities)
{
    scheduling.strict = priorities;
}

uint8_t
HostDevice::GetStrictPriorities() const
{
    return scheduling.strict;
}

void
HostDevice::SetWeights(std::string weights)
{
    scheduling.ReadWeights("HostDevice::Weights", weights);
}

std::string
HostDevice::GetWeights() const
{
    return scheduling.WriteWeights();
}

void
HostDevice::NotifyLinkChange()
{
    m_linkChange();
}

void
HostDevice::SetProgram(Ptr<NicProgram> program)
{
    NS_ABORT_MSG_IF(m_program, "a NIC runs one program");
    m_program = program;
    m_program->SetDevice(this);
    m_port->AddLatency(m_program->GetSendLatency());
}

void
HostDevice::SetReceiveRate(DataRate rate)
{
    NS_LOG_FUNCTION(this << rate);
    m_receiveRate = rate;
    if (rate.GetBitRate() == 0)
    {
        // All that has waited is taken in at once.
        Simulator::Cancel(m_takingIn);
        while (!m_received.empty())
        {
            EndTakeIn();
        }
    }
}

void
HostDevice::Expect(const Frame& frame)
{
    if (m_expectRdma && frame.kind != FrameKind::IP && !IsAggregation(frame.kind))
    {
        __builtin_prefetch(&frame.payloadBytes); // what switches do not look at
        __builtin_prefetch(&frame.sourceQp);
        m_expectRdma(frame, false);
    }
}

void
HostDevice::ExpectSoon(const Frame& frame)
{
    if (m_expectRdma && frame.kind != FrameKind::IP && !IsAggregation(frame.kind))
    {
        m_expectRdma(frame, true);
    }
}

void
HostDevice::Receive(Frame* frame, FabricPort&)
{
    if (m_program && !m_program->OnReceive(*frame))
    {
        return;
    }
    if (m_program && !m_program->GetReceiveLatency().IsZero())
    {
        Simulator::Schedule(m_program->GetReceiveLatency(), &HostDevice::TakeIn, this, frame);
        return;
    }
    TakeIn(frame);
}

void
HostDevice::TakeIn(Frame* frame)
{
    if (m_receiveRate.GetBitRate() == 0)
    {
        Deliver(frame);
        return;
    }
    const bool lossless = m_losslessClasses >> frame->priority & 1;
    uint64_t& held = lossless ? m_losslessBytes : m_lossyBytes;
    if (!lossless && held + frame->bytes > m_receiveBuffer)
    {
        m_port->counters.droppedFrames++;
        m_port->counters.droppedBytes += frame->bytes;
        m_port->counters.byPriority[frame->priority].droppedFrames++;
        Frame::Free(frame);
        return;
    }
    m_received.push_back(frame);
    held += frame->bytes;
    if (m_takingIn.IsExpired())
    {
        m_takingIn = Simulator::Schedule(m_receiveRate.CalculateBytesTxTime(frame->bytes),
                                         &HostDevice::EndTakeIn,
                                         this);
    }
    ControlSender();
}

void
HostDevice::EndTakeIn()
{
    Frame* frame = m_received.front();
    m_received.pop_front();
    (m_losslessClasses >> frame->priority & 1 ? m_losslessBytes : m_lossyBytes) -= frame->bytes;
    if (!m_received.empty() && m_receiveRate.GetBitRate() > 0)
    {
        m_takingIn =
            Simulator::Schedule(m_receiveRate.CalculateBytesTxTime(m_received.front()->bytes),
                                &HostDevice::EndTakeIn,
                                this);
    }
    ControlSender();
    Deliver(frame);
}

void
HostDevice::ControlSender()
{
    if (!m_pausing && m_losslessBytes > m_receiveBuffer / 2)
    {
        m_pausing = m_losslessClasses;
        if (m_pausing)
        {
            RenewPause();
        }
    }
    else if (m_pausing && m_losslessBytes <= m_receiveBuffer / 4)
    {
        m_port->SendPause(m_pausing, 0);
        m_pausing = 0;
        Simulator::Cancel(m_pauseRenewal);
    }
}

void
HostDevice::RenewPause()
{
    m_port->SendPause(m_pausing, LONGEST_PAUSE);
    const double length = LONGEST_PAUSE * 512.0 / static_cast<double>(m_port->GetRate());
    m_pauseRenewal = Simulator::Schedule(Seconds(length / 2), &HostDevice::RenewPause, this);
}

void
HostDevice::SetAggregationReceiver(uint8_t job, std::function<void(Frame*)> receiver)
{
    m_aggregationReceivers[job] = std::move(receiver);
}

void
HostDevice::SetAggregationServer(uint8_t job, std::function<void(Frame*)> receiver)
{
    m_aggregationServers[job] = std::move(receiver);
}

void
HostDevice::Deliver(Frame* frame)
{
    if (IsAggregation(frame->kind))
    {
        const bool isForServer = !m_aggregationServers.empty() &&
                                 frame->aggregation.type == AggregationHeader::Type::DATA &&
                                 m_aggregationServers.count(frame->aggregation.job) > 0;
        const auto& receivers = isForServer ? m_aggregationServers : m_aggregationReceivers;
        const auto found = receivers.find(frame->aggregation.job);
        if (found != receivers.end() && found->second)
        {
            found->second(frame);
        }
        else
        {
            Frame::Free(frame);
        }
        return;
    }
    if (frame->kind != FrameKind::IP)
    {
        if (m_rdmaReceiver)
        {
            m_rdmaReceiver(frame);
        }
        else
        {
            Frame::Free(frame);
        }
        return;
    }
    // The packet may still be in the sender's hands (a retransmission buffer): work on a copy.
    Ptr<Packet> packet = frame->packet->Copy();
    if (frame->ecn == Ecn::CE)
    {
        Ipv4Header header;
        packet->RemoveHeader(header);
        header.SetEcn(Ipv4Header::ECN_CE);
        if (Node::ChecksumEnabled())
        {
            header.EnableChecksum(); // over the header as changed
        }
        packet->AddHeader(header);
    }
    const uint16_t protocol = frame->protocol;
    const Mac48Address from = GetEndpointMacAddress(frame->source);
    Frame::Free(frame);
    if (!m_promiscReceive.IsNull())
    {
        m_promiscReceive(this, packet, protocol, from, GetAddress(), PACKET_HOST);
    }
    if (!m_receive.IsNull())
    {
        m_receive(this, packet, protocol, from);
    }
}

bool
HostDevice::BeginTransmit(Frame& frame, FabricPort&)
{
    return !m_program || m_program->OnSend(frame);
}

void
HostDevice::SetIfIndex(const uint32_t index)
{
    m_interface = index;
}

uint32_t
HostDevice::GetIfIndex() const
{
    return m_interface;
}

Ptr<Channel>
HostDevice::GetChannel() const
{
    return m_channel;
}

void
HostDevice::SetAddress(Address)
{
    NS_LOG_WARN("the address of a fabric endpoint follows from its number");
}

Address
HostDevice::GetAddress() const
{
    return GetEndpointMacAddress(m_endpoint);
}

bool
HostDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

uint16_t
HostDevice::GetMtu() const
{
    return m_mtu;
}

bool
HostDevice::IsLinkUp() const
{
    return m_channel && m_channel->IsUp();
}

void
HostDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChange.ConnectWithoutContext(callback);
}

bool
HostDevice::IsBroadcast() const
{
    return true;
}

Address
HostDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
HostDevice::IsMulticast() const
{
    return false;
}

Address
HostDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
HostDevice::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool
HostDevice::IsBridge() const
{
    return false;
}

bool
HostDevice::IsPointToPoint() const
{
    return false;
}

bool
HostDevice::SendFrom(Ptr<Packet> packet, const Address&, const Address& dest, uint16_t protocol)
{
    return Send(packet, dest, protocol);
}

Ptr<Node>
HostDevice::GetNode() const
{
    return m_node;
}

void
HostDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
HostDevice::NeedsArp() const
{
    return false;
}

void
HostDevice::SetReceiveCallback(ReceiveCallback callback)
{
    m_receive = callback;
}

void
HostDevice::SetPromiscReceiveCallback(PromiscReceiveCallback callback)
{
    m_promiscReceive = callback;
}

bool
HostDevice::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3::training
