/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TCP_TRANSPORT_H
#define DISTRIBUTED_TRAINING_TCP_TRANSPORT_H

#include "multi-port-transport.h"

#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/socket.h"
#include "ns3/training-attribute-list.h"

#include <array>
#include <deque>
#include <map>
#include <utility>

namespace ns3
{
class Node;
}

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * Messages over TCP sockets of ns-3's own stack, one connection per port pair and direction, so
 * that data and acknowledgements never share a segment (NCCL's socket transport does the same). A
 * message, or a part of one, is a 16-byte header (tag; whether the contents are real, number of the
 * part, parts less one, size; big endian) and its contents. A connection is opened by the first
 * message and stays open.
 */
class TcpTransport : public MultiPortTransport
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    TcpTransport();
    ~TcpTransport() override;

    /// Size of a message header, bytes.
    static constexpr uint32_t HEADER_BYTES = 16;
    /// IPv4 and TCP headers of a packet, with the timestamp option.
    static constexpr uint32_t PACKET_HEADER_BYTES = 20 + 20 + 12;

    /**
     * @param attributes of the sockets that are created from now on, and of the objects in them;
     *        those that accept connections hand them on
     */
    void SetSocketAttributes(const AttributeList& attributes);

    /**
     * @param node this rank's host, with an internet stack, in which the device of rail i is device
     *        i and any way to an endpoint leaves by the right one; listens from now on
     */
    void SetNode(Ptr<Node> node);

  private:
    /** A peer and the number of one of its portPairs. */
    using Key = std::pair<uint32_t, uint32_t>;

    /** A message on its way out. */
    struct Outgoing
    {
        Part part;
        uint64_t sent{0}; ///< header and contents, bytes handed to the socket
    };

    /** The connection on one port pair. */
    struct Sender
    {
        Ptr<Socket> socket;
        std::deque<Outgoing> queue;
        bool connected{false};
    };

    /** A connection from one peer. */
    struct Receiver
    {
        uint32_t peer;
        std::array<uint8_t, HEADER_BYTES> header{};
        uint32_t headerBytes{0}; ///< of the header under way
        Part part{};             ///< under way
        uint64_t received{0};    ///< of the contents
    };

    void DoDispose() override;
    Ptr<Socket> CreateSocket() const;
    void Listen();
    void SendOn(uint32_t peer, uint32_t portPair, const Part& part) override;
    void Open(const Key& key, Sender& sender);
    void OnConnected(Ptr<Socket> socket);
    void OnConnectFailed(Ptr<Socket> socket);
    void OnClosed(Ptr<Socket> socket);
    void OnBroken(Ptr<Socket> socket);
    void OnFailed(Ptr<Socket> socket, const std::string& reason);
    void OnWritable(Ptr<Socket> socket, uint32_t space);
    void OnAccept(Ptr<Socket> socket, const Address& from);
    void OnReadable(Ptr<Socket> socket);
    void Consume(Receiver& receiver, Ptr<Packet> packet);
    static std::array<uint8_t, HEADER_BYTES> WriteHeader(const Part& part);
    static Part ReadHeader(const std::array<uint8_t, HEADER_BYTES>& header);
    void Push(const Key& key);

    Ptr<Node> m_node;
    AttributeList m_socketAttributes;
    Ptr<Socket> m_listener;
    std::map<Key, Sender> m_senders;
    std::map<Ptr<Socket>, Key> m_portPairOf; // sending sockets
    std::map<Ptr<Socket>, Receiver> m_receivers;
    uint16_t m_port;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TCP_TRANSPORT_H
