/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TCP_TRANSPORT_H
#define DISTRIBUTED_TRAINING_TCP_TRANSPORT_H

#include "multi-port-transport.h"
#include "tcp-message-stream.h"

#include "ns3/nstime.h"
#include "ns3/socket.h"
#include "ns3/tcp-tx-buffer.h"
#include "ns3/training-attribute-list.h"

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
 * message, or one part of it, is a 16-byte header and the contents. The header holds the tag, a
 * flag for real payload, the index of the part, the number of parts minus one, and the size; big
 * endian. The first message opens a connection, which stays open.
 */
class TcpTransport : public MultiPortTransport
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    TcpTransport();
    ~TcpTransport() override;

    /// IPv4 and TCP headers of a packet, without options.
    static constexpr uint32_t PACKET_HEADER_BYTES = 20 + 20;

    /** Time over all connections of a rank, a subset of the other. */
    struct Waiting
    {
        Time socket; ///< messages waited for space in a connected socket
        Time buffer; ///< all that the socket's buffer held was in flight: no window, but the
                     ///< buffer's size limited the rate
    };

    /** @return bytes of all messages that were sent, with their headers */
    uint64_t GetSentBytes() const
    {
        return m_sentBytes;
    }

    /** @return bytes of messages that have arrived, with their headers */
    uint64_t GetReceivedBytes() const
    {
        return m_receivedBytes;
    }

    /**
     * Lets sockets send what they hold, which their peers throw away, and listens on another port.
     * @param numbers added to the number of the port
     */
    void Restart(uint32_t numbers) override;

    /** @return how long messages have waited for sockets */
    const Waiting& GetWaiting() const;

    /** The congestion window of a sending connection. */
    struct Window
    {
        uint32_t number{
            0};           ///< of the connection, from 1 in the order in which this rank opened them
        uint32_t rail{0}; ///< its local port
        uint32_t bytes{0};        ///< congestion window, bytes
        uint32_t remote{0};       ///< endpoint of the other side
        bool isOpen{false};       ///< whether it has something to send
        uint64_t acknowledged{0}; ///< bytes of messages
    };

    /** Keeps the congestion windows from now on, for GetWindows(). */
    void WatchWindows();

    /** @return the windows of all connections that this rank has opened, by number */
    std::vector<Window> GetWindows() const;

    /**
     * @param attributes of sockets created from now on and of the objects inside; a listening
     *        socket passes them to accepted connections
     */
    void SetSocketAttributes(const AttributeList& attributes);

    /** @return size of the send buffer of a socket, bytes */
    uint64_t GetSendBuffer() const;

    /**
     * @param node this rank's host, with an internet stack whose device i is rail i and whose
     *        routes use the right rail for each endpoint; listens from now on
     */
    void SetNode(Ptr<Node> node);

  private:
    /** A peer and the index of a port pair to it. */
    using Key = std::pair<uint32_t, uint32_t>;

    /** The sending connection of one port pair. */
    struct Sender
    {
        Ptr<Socket> socket;
        Ptr<TcpTxBuffer> buffer; ///< of the socket
        TcpMessageWriter messages;
        /// A full segment: the socket sends each smaller write as a segment of its own, and such
        /// segments would never grow together again.
        uint64_t unit{1};
        bool connected{false};
        bool waiting{false}; ///< for space in the socket
        Time since;          ///< start of this wait, or when it was last counted
        uint64_t written{0}; ///< bytes, to the socket
        Window window;       ///< if windows are watched
    };

    /** An accepted connection from one peer. */
    struct Receiver
    {
        uint32_t peer{0};
        TcpMessageReader messages;
    };

    void DoDispose() override;
    Ptr<Socket> CreateSocket() const;
    void Listen();
    void SendOn(uint32_t peer, uint32_t portPair, Message part) override;
    void Open(const Key& key, Sender& sender);
    void OnConnected(Ptr<Socket> socket);
    void OnConnectFailed(Ptr<Socket> socket);
    void OnClosed(Ptr<Socket> socket);
    void OnBroken(Ptr<Socket> socket);
    void OnFailed(Ptr<Socket> socket, const std::string& reason);
    void OnWritable(Ptr<Socket> socket, uint32_t space);
    void OnAccept(Ptr<Socket> socket, const Address& from);
    void OnReadable(Ptr<Socket> socket);
    static void Discard(Ptr<Socket> socket);
    static void Ignore(Ptr<Socket> socket);
    static void IgnoreSpace(Ptr<Socket> socket, uint32_t space);
    void Push(const Key& key);
    void Write(Sender& sender) const;
    void CountWaiting(Sender& sender);
    static void OnWindow(Sender* sender, uint32_t old, uint32_t bytes);

    Ptr<Node> m_node;
    AttributeList m_socketAttributes;
    Ptr<Socket> m_listener;
    std::map<Key, Sender> m_senders;
    std::map<Ptr<Socket>, Key> m_portPairOf; // by sending socket
    std::map<Ptr<Socket>, Receiver> m_receivers;
    uint16_t m_port;
    Waiting m_waiting;
    bool m_watchesWindows{false};
    uint64_t m_sentBytes{0};
    uint64_t m_receivedBytes{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TCP_TRANSPORT_H
