/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tcp-transport.h"

#include "fabric/endpoint-address.h"
#include "transport/tcp-sender-socket.h"

#include "ns3/host-device.h"
#include "ns3/inet-socket-address.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTcpTransport");
NS_OBJECT_ENSURE_REGISTERED(TcpTransport);

namespace
{

/// Maximum bytes passed to a socket in one call; bounds the size of packet objects.
constexpr uint64_t MAX_WRITE = 1 << 20;

/// Copies of a SYN that an accepted connection survives: ns-3 counts each as a failed attempt of
/// its own. More would overflow the time of an attempt, which doubles each time.
constexpr uint32_t MAX_SYN_COPIES = 30;

} // namespace

TypeId
TcpTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::TcpTransport")
                            .SetParent<MultiPortTransport>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<TcpTransport>()
                            .AddAttribute("Port",
                                          "TCP port that every rank listens on",
                                          UintegerValue(5000),
                                          MakeUintegerAccessor(&TcpTransport::m_port),
                                          MakeUintegerChecker<uint16_t>(1));
    return tid;
}

TcpTransport::TcpTransport() = default;
TcpTransport::~TcpTransport() = default;

void
TcpTransport::DoDispose()
{
    m_node = nullptr;
    m_listener = nullptr;
    for (auto& [key, sender] : m_senders)
    {
        if (m_watchesWindows && sender.socket)
        {
            sender.socket->TraceDisconnectWithoutContext(
                "CongestionWindow",
                MakeBoundCallback(&TcpTransport::OnWindow, &sender));
        }
    }
    m_senders.clear();
    m_portPairOf.clear();
    m_receivers.clear();
    MultiPortTransport::DoDispose();
}

void
TcpTransport::Restart(uint32_t numbers)
{
    NS_LOG_FUNCTION(this << numbers);
    const auto ignore = MakeCallback(&TcpTransport::Ignore);
    for (auto& [key, sender] : m_senders)
    {
        if (sender.socket)
        {
            CountWaiting(sender);
            sender.socket->SetConnectCallback(ignore, ignore);
            sender.socket->SetCloseCallbacks(ignore, ignore);
            sender.socket->SetSendCallback(MakeCallback(&TcpTransport::IgnoreSpace));
        }
    }
    m_senders.clear();
    m_portPairOf.clear();
    for (auto& [socket, receiver] : m_receivers)
    {
        socket->SetRecvCallback(MakeCallback(&TcpTransport::Discard));
        Discard(socket);
    }
    m_receivers.clear();
    m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  MakeNullCallback<void, Ptr<Socket>, const Address&>());
    m_listener->Close();
    m_port = static_cast<uint16_t>(m_port + numbers);
    MultiPortTransport::Restart(numbers);
    Listen();
}

void
TcpTransport::Discard(Ptr<Socket> socket)
{
    Ptr<Packet> packet = socket->Recv();
    while (packet && packet->GetSize() > 0)
    {
        packet = socket->Recv();
    }
}

void
TcpTransport::Ignore(Ptr<Socket>)
{
}

void
TcpTransport::IgnoreSpace(Ptr<Socket>, uint32_t)
{
}

void
TcpTransport::SetSocketAttributes(const AttributeList& attributes)
{
    m_socketAttributes = attributes;
}

uint64_t
TcpTransport::GetSendBuffer() const
{
    const auto bytes = m_socketAttributes.Get(TcpSocketBase::GetTypeId(), "SndBufSize");
    return DynamicCast<const UintegerValue>(bytes)->Get();
}

Ptr<Socket>
TcpTransport::CreateSocket() const
{
    // ns-3 creates the objects inside a socket from default attributes.
    const AttributeDefaults defaults(m_socketAttributes);
    return Socket::CreateSocket(m_node, TcpSocketFactory::GetTypeId());
}

void
TcpTransport::SetNode(Ptr<Node> node)
{
    m_node = node;
    Listen();
}

void
TcpTransport::Listen()
{
    m_listener = CreateSocket();
    m_listener->SetAttribute("ConnCount", UintegerValue(MAX_SYN_COPIES));
    m_listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), m_port));
    m_listener->Listen();
    m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  MakeCallback(&TcpTransport::OnAccept, this));
}

void
TcpTransport::Open(const Key& key, Sender& sender)
{
    const PortPair& portPair = GetConnections(key.first)[key.second];
    {
        const AttributeDefaults defaults(m_socketAttributes); // as CreateSocket()
        const auto socket = TcpSenderSocket::Create(m_node);
        sender.socket = socket;
        sender.buffer = socket->GetTxBuffer();
    }
    UintegerValue segment;
    sender.socket->GetAttribute("SegmentSize", segment);
    sender.unit = std::min<uint64_t>(segment.Get(), sender.buffer->MaxBufferSize());
    sender.socket->Bind();
    if (portPair.rail > 0 || GetConnections(key.first).size() > 1)
    {
        sender.socket->BindToNetDevice(m_node->GetDevice(portPair.rail));
    }
    m_portPairOf.emplace(sender.socket, key);
    sender.window.number = static_cast<uint32_t>(m_portPairOf.size());
    sender.window.rail = portPair.rail;
    sender.window.remote = portPair.remoteEndpoint;
    if (m_watchesWindows)
    {
        sender.socket->TraceConnectWithoutContext(
            "CongestionWindow",
            MakeBoundCallback(&TcpTransport::OnWindow, &sender));
    }
    sender.socket->SetConnectCallback(MakeCallback(&TcpTransport::OnConnected, this),
                                      MakeCallback(&TcpTransport::OnConnectFailed, this));
    sender.socket->SetCloseCallbacks(MakeCallback(&TcpTransport::OnClosed, this),
                                     MakeCallback(&TcpTransport::OnBroken, this));
    sender.socket->SetSendCallback(MakeCallback(&TcpTransport::OnWritable, this));
    NS_LOG_LOGIC("rank " << m_rank << " connects to rank " << key.first << ", port pair "
                         << key.second);
    sender.socket->Connect(
        InetSocketAddress(HostDevice::GetIpv4Address(portPair.remoteEndpoint), m_port));
}

void
TcpTransport::OnConnected(Ptr<Socket> socket)
{
    const Key& key = m_portPairOf.at(socket);
    NS_LOG_FUNCTION(this << key.first << key.second);
    m_senders.at(key).connected = true;
    Push(key);
}

void
TcpTransport::OnConnectFailed(Ptr<Socket> socket)
{
    OnFailed(socket, "no answer to TCP connection requests");
}

void
TcpTransport::OnClosed(Ptr<Socket> socket)
{
    OnFailed(socket, "TCP connection closed");
}

void
TcpTransport::OnBroken(Ptr<Socket> socket)
{
    OnFailed(socket, "TCP connection broken: retransmissions are not acknowledged");
}

void
TcpTransport::OnFailed(Ptr<Socket> socket, const std::string& reason)
{
    const Key& key = m_portPairOf.at(socket);
    m_senders.at(key).connected = false;
    Fail(key.first, reason);
}

void
TcpTransport::OnWritable(Ptr<Socket> socket, uint32_t)
{
    Push(m_portPairOf.at(socket));
}

void
TcpTransport::SendOn(uint32_t peer, uint32_t portPair, Message part)
{
    const Key key{peer, portPair};
    Sender& sender = m_senders[key];
    m_sentBytes += TCP_MESSAGE_HEADER_BYTES + part.bytes;
    sender.messages.Add(std::move(part));
    if (!sender.socket)
    {
        Open(key, sender);
    }
    Push(key);
}

void
TcpTransport::Push(const Key& key)
{
    Sender& sender = m_senders.at(key);
    CountWaiting(sender);
    Write(sender);
    sender.waiting = sender.connected && !sender.messages.IsEmpty();
}

const TcpTransport::Waiting&
TcpTransport::GetWaiting() const
{
    return m_waiting;
}

void
TcpTransport::WatchWindows()
{
    if (std::exchange(m_watchesWindows, true))
    {
        return;
    }
    for (auto& [key, sender] : m_senders)
    {
        if (sender.socket)
        {
            sender.socket->TraceConnectWithoutContext(
                "CongestionWindow",
                MakeBoundCallback(&TcpTransport::OnWindow, &sender));
        }
    }
}

std::vector<TcpTransport::Window>
TcpTransport::GetWindows() const
{
    std::vector<Window> windows;
    for (const auto& [key, sender] : m_senders)
    {
        if (sender.socket)
        {
            windows.push_back(sender.window);
            windows.back().isOpen = sender.buffer->Size() > 0 || !sender.messages.IsEmpty();
            windows.back().acknowledged = sender.written - sender.buffer->Size();
        }
    }
    std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
        return a.number < b.number;
    });
    return windows;
}

void
TcpTransport::OnWindow(Sender* sender, uint32_t, uint32_t bytes)
{
    sender->window.bytes = bytes;
}

void
TcpTransport::CountWaiting(Sender& sender)
{
    const Time now = Simulator::Now();
    if (sender.waiting && now > sender.since)
    {
        const TcpTxBuffer& buffer = *sender.buffer;
        const uint32_t sent = buffer.BytesInFlight() + buffer.GetSacked() + buffer.GetLost() -
                              buffer.GetRetransmitsCount();
        m_waiting.socket += now - sender.since;
        m_waiting.buffer += sent == buffer.Size() ? now - sender.since : Time(0);
    }
    sender.since = now;
}

void
TcpTransport::Write(Sender& sender) const
{
    while (sender.connected && !sender.messages.IsEmpty())
    {
        const uint64_t space = std::min<uint64_t>(sender.socket->GetTxAvailable(), MAX_WRITE);
        const Ptr<Packet> packet = sender.messages.Make(space, sender.unit);
        const uint32_t bytes = packet ? packet->GetSize() : 0;
        if (!packet || sender.socket->Send(packet) < 0)
        {
            return; // the socket calls back when it has space again
        }
        sender.written += bytes;
        sender.messages.Pass();
    }
}

void
TcpTransport::OnAccept(Ptr<Socket> socket, const Address& from)
{
    const Ipv4Address address = InetSocketAddress::ConvertFrom(from).GetIpv4();
    const uint32_t peer = m_portPairs->GetRank(address.Get() - FIRST_IPV4_ADDRESS);
    if (peer == m_portPairs->GetRanks())
    {
        NS_LOG_WARN("connection from " << address << ", which is no rank of the group");
        socket->Close();
        return;
    }
    NS_LOG_LOGIC("rank " << m_rank << " accepts a connection of rank " << peer);
    m_receivers[socket].peer = peer;
    socket->SetRecvCallback(MakeCallback(&TcpTransport::OnReadable, this));
}

void
TcpTransport::OnReadable(Ptr<Socket> socket)
{
    Receiver& receiver = m_receivers.at(socket);
    while (Ptr<Packet> packet = socket->Recv())
    {
        if (packet->GetSize() == 0)
        {
            return; // end of stream
        }
        m_receivedBytes += packet->GetSize();
        while (receiver.messages.Take(packet))
        {
            DeliverPart(receiver.peer, receiver.messages.GetPart());
        }
    }
}

} // namespace ns3::training
