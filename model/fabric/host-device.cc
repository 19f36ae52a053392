/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-device.h"

#include "endpoint-address.h"

#include "ns3/ipv4-header.h"
#include "ns3/log.h"
#include "ns3/node.h"
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
                          MakeUintegerChecker<uint64_t>());
    return tid;
}

HostDevice::HostDevice() = default;
HostDevice::~HostDevice() = default;

void
HostDevice::DoDispose()
{
    m_node = nullptr;
    m_channel = nullptr;
    m_rdmaReceiver = nullptr;
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
    m_port = std::make_unique<FabricPort>(*this, m_node->GetId(), 0);
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
HostDevice::SetRdmaReceiver(std::function<void(Frame*)> receiver)
{
    m_rdmaReceiver = std::move(receiver);
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
HostDevice::Receive(Frame* frame, FabricPort&)
{
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

void
HostDevice::BeginTransmit(Frame&, FabricPort&)
{
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
    return m_channel != nullptr;
}

void
HostDevice::AddLinkChangeCallback(Callback<void>)
{
    // A link of the fabric does not change between up and down.
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
