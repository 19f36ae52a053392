/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TCP_TRANSPORT_H
#define DISTRIBUTED_TRAINING_TCP_TRANSPORT_H

#include "message-transport.h"

#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/socket.h"

#include <array>
#include <deque>
#include <map>

namespace ns3
{
class Node;
}

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * Messages over TCP sockets of ns-3's own stack, one connection per ordered pair of ranks, so that
 * data and acknowledgements never share a segment (NCCL's socket transport does the same). A
 * message is a 16-byte header (tag and size, big endian) and its contents. A connection is opened
 * by the first message and stays open.
 */
class TcpTransport : public MessageTransport
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    TcpTransport();
    ~TcpTransport() override;

    /// Size of a message header, bytes.
    static constexpr uint32_t HEADER_BYTES = 16;

    /** @param node this rank's host, with an internet stack; listens from now on */
    void SetNode(Ptr<Node> node);

    void Send(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload) override;

  private:
    /** A message on its way out. */
    struct Outgoing
    {
        uint64_t tag;
        uint64_t bytes;
        uint64_t sent; ///< header and contents, bytes handed to the socket
        Ptr<ByteBuffer> payload;
    };

    /** The connection to one peer. */
    struct Sender
    {
        Ptr<Socket> socket;
        std::deque<Outgoing> queue;
        bool connected{false};
    };

    /** The connection from one peer. */
    struct Receiver
    {
        uint32_t peer{0};
        std::array<uint8_t, HEADER_BYTES> header{};
        uint32_t headerBytes{0}; ///< of the header under way
        uint64_t tag{0};
        uint64_t bytes{0};
        uint64_t received{0}; ///< of the contents
        Ptr<ByteBuffer> payload;
    };

    void DoDispose() override;
    void Listen();
    void Open(uint32_t peer, Sender& sender);
    void OnConnected(Ptr<Socket> socket);
    void OnConnectFailed(Ptr<Socket> socket);
    void OnClosed(Ptr<Socket> socket);
    void OnBroken(Ptr<Socket> socket);
    void OnFailed(Ptr<Socket> socket, const std::string& reason);
    void OnWritable(Ptr<Socket> socket, uint32_t space);
    void OnAccept(Ptr<Socket> socket, const Address& from);
    void OnReadable(Ptr<Socket> socket);
    void Consume(Receiver& receiver, Ptr<Packet> packet);
    void Push(uint32_t peer);

    Ptr<Node> m_node;
    Ptr<Socket> m_listener;
    std::map<uint32_t, Sender> m_senders;
    std::map<Ptr<Socket>, uint32_t> m_peerOf; // sending sockets
    std::map<Ptr<Socket>, Receiver> m_receivers;
    uint16_t m_port;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TCP_TRANSPORT_H
