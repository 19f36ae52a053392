/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tcp-transport.h"

#include "ns3/host-device.h"
#include "ns3/inet-socket-address.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTcpTransport");
NS_OBJECT_ENSURE_REGISTERED(TcpTransport);

namespace
{

/// Set in the size field of a header: the contents are real bytes.
constexpr uint64_t REAL_CONTENTS = uint64_t{1} << 63;

/// Most bytes handed to a socket in one call, so that no packet object grows without bound.
constexpr uint64_t LARGEST_WRITE = 1 << 20;

void
WriteBigEndian(uint64_t value, uint8_t* bytes)
{
    for (int i = 7; i >= 0; i--, value >>= 8)
    {
        bytes[i] = static_cast<uint8_t>(value);
    }
}

uint64_t
ReadBigEndian(const uint8_t* bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
    {
        value = value << 8 | bytes[i];
    }
    return value;
}

} // namespace

TypeId
TcpTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::TcpTransport")
                            .SetParent<MessageTransport>()
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
    m_senders.clear();
    m_peerOf.clear();
    m_receivers.clear();
    MessageTransport::DoDispose();
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
    m_listener = Socket::CreateSocket(m_node, TcpSocketFactory::GetTypeId());
    m_listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), m_port));
    m_listener->Listen();
    m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  MakeCallback(&TcpTransport::OnAccept, this));
}

void
TcpTransport::Open(uint32_t peer, Sender& sender)
{
    sender.socket = Socket::CreateSocket(m_node, TcpSocketFactory::GetTypeId());
    sender.socket->Bind();
    m_peerOf.emplace(sender.socket, peer);
    sender.socket->SetConnectCallback(MakeCallback(&TcpTransport::OnConnected, this),
                                      MakeCallback(&TcpTransport::OnConnectFailed, this));
    sender.socket->SetCloseCallbacks(MakeCallback(&TcpTransport::OnClosed, this),
                                     MakeCallback(&TcpTransport::OnBroken, this));
    sender.socket->SetSendCallback(MakeCallback(&TcpTransport::OnWritable, this));
    sender.socket->Connect(
        InetSocketAddress(HostDevice::GetIpv4Address(m_endpoints.at(peer)), m_port));
}

void
TcpTransport::OnConnected(Ptr<Socket> socket)
{
    const uint32_t peer = m_peerOf.at(socket);
    NS_LOG_FUNCTION(this << peer);
    m_senders.at(peer).connected = true;
    Push(peer);
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
    const uint32_t peer = m_peerOf.at(socket);
    m_senders.at(peer).connected = false;
    Fail(peer, reason);
}

void
TcpTransport::OnWritable(Ptr<Socket> socket, uint32_t)
{
    Push(m_peerOf.at(socket));
}

void
TcpTransport::Send(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload)
{
    NS_LOG_FUNCTION(this << peer << tag << bytes);
    Sender& sender = m_senders[peer];
    sender.queue.push_back({tag, bytes, 0, std::move(payload)});
    if (!sender.socket)
    {
        Open(peer, sender);
    }
    Push(peer);
}

void
TcpTransport::Push(uint32_t peer)
{
    Sender& sender = m_senders.at(peer);
    while (sender.connected && !sender.queue.empty())
    {
        const uint64_t space = std::min<uint64_t>(sender.socket->GetTxAvailable(), LARGEST_WRITE);
        Outgoing& message = sender.queue.front();
        Ptr<Packet> packet = Create<Packet>();
        uint64_t sent = message.sent;
        if (sent < HEADER_BYTES)
        {
            std::array<uint8_t, HEADER_BYTES> header;
            WriteBigEndian(message.tag, header.data());
            WriteBigEndian(message.bytes | (message.payload ? REAL_CONTENTS : 0),
                           header.data() + 8);
            const uint64_t length = std::min<uint64_t>(space, HEADER_BYTES - sent);
            packet = Create<Packet>(header.data() + sent, static_cast<uint32_t>(length));
            sent += length;
        }
        if (sent >= HEADER_BYTES)
        {
            const uint64_t offset = sent - HEADER_BYTES;
            const uint64_t length = std::min(space - packet->GetSize(), message.bytes - offset);
            if (length > 0)
            {
                packet->AddAtEnd(message.payload
                                     ? Create<Packet>(message.payload->bytes.data() + offset,
                                                      static_cast<uint32_t>(length))
                                     : Create<Packet>(static_cast<uint32_t>(length)));
                sent += length;
            }
        }
        if (packet->GetSize() == 0 || sender.socket->Send(packet) < 0)
        {
            return; // the socket calls back when it has space
        }
        message.sent = sent;
        if (sent == HEADER_BYTES + message.bytes)
        {
            sender.queue.pop_front();
        }
    }
}

void
TcpTransport::OnAccept(Ptr<Socket> socket, const Address& from)
{
    const Ipv4Address address = InetSocketAddress::ConvertFrom(from).GetIpv4();
    Receiver receiver;
    while (receiver.peer < m_endpoints.size() &&
           HostDevice::GetIpv4Address(m_endpoints[receiver.peer]) != address)
    {
        receiver.peer++;
    }
    if (receiver.peer == m_endpoints.size())
    {
        NS_LOG_WARN("connection from " << address << ", which is no rank of the group");
        socket->Close();
        return;
    }
    m_receivers.emplace(socket, receiver);
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
        Consume(receiver, packet);
    }
}

void
TcpTransport::Consume(Receiver& receiver, Ptr<Packet> packet)
{
    while (packet->GetSize() > 0)
    {
        const uint32_t size = packet->GetSize();
        uint32_t taken = 0;
        if (receiver.headerBytes < HEADER_BYTES)
        {
            taken = std::min(size, HEADER_BYTES - receiver.headerBytes);
            packet->CopyData(receiver.header.data() + receiver.headerBytes, taken);
            receiver.headerBytes += taken;
            if (receiver.headerBytes == HEADER_BYTES)
            {
                receiver.tag = ReadBigEndian(receiver.header.data());
                const uint64_t length = ReadBigEndian(receiver.header.data() + 8);
                receiver.bytes = length & ~REAL_CONTENTS;
                receiver.received = 0;
                if (length & REAL_CONTENTS)
                {
                    receiver.payload = Create<ByteBuffer>();
                    receiver.payload->bytes.resize(receiver.bytes);
                }
            }
        }
        else
        {
            taken =
                static_cast<uint32_t>(std::min<uint64_t>(size, receiver.bytes - receiver.received));
            if (receiver.payload)
            {
                packet->CopyData(receiver.payload->bytes.data() + receiver.received, taken);
            }
            receiver.received += taken;
        }
        if (taken == size)
        {
            packet = Create<Packet>();
        }
        else
        {
            packet->RemoveAtStart(taken);
        }
        if (receiver.headerBytes == HEADER_BYTES && receiver.received == receiver.bytes)
        {
            receiver.headerBytes = 0;
            Ptr<ByteBuffer> payload = receiver.payload;
            receiver.payload = nullptr;
            Deliver(receiver.peer, receiver.tag, receiver.bytes, payload);
        }
    }
}

} // namespace ns3::training
