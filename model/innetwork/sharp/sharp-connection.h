/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARP_CONNECTION_H
#define DISTRIBUTED_TRAINING_SHARP_CONNECTION_H

#include "sharp-wire-format.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/rdma-queue-pair.h"

#include <cstdint>
#include <deque>
#include <string>

namespace ns3::training
{

/** A single-packet message between neighbors in an aggregation tree. */
struct SharpMessage
{
    SharpHeader header;        ///< operation and fields
    uint32_t payloadBytes{0};  ///< size of the values
    Ptr<ByteBuffer> payload;   ///< the values, or null (virtual payload, or no values)
    uint64_t payloadOffset{0}; ///< offset of the values in `payload`
    uint16_t ingress{0};       ///< in a switch: ingress port of the frame that triggered it
    uint32_t bytes{0};         ///< size of its frame; 0: that of its headers and values
};

/**
 * @ingroup distributed-training-innetwork
 *
 * One end of a reliable connection between neighbors in an aggregation tree: a queue pair of RDMA
 * whose messages are single packets in SHARP's frames. Every message arrives once and in order even
 * if links drop, duplicate or reorder packets; otherwise the connection breaks.
 *
 * Each packet requests an acknowledgement, as each is a message. The responder coalesces them (IB
 * specification, volume 1, chapter 9.7.5.1): one for several packets, or after a time.
 *
 * The senders must limit the packets in flight.
 */
class SharpConnection : private RdmaPort, private RdmaCarrier
{
  public:
    /// Endpoint of a missing peer.
    static constexpr uint32_t NONE = UINT32_MAX;

    /** Parameters of a connection, the same at both ends. */
    struct Settings
    {
        uint32_t ackInterval{16}; ///< packets per acknowledgement
        Time ackDelay;            ///< maximum time from a packet to its acknowledgement
        Time timeout;             ///< time without progress until go-back-N; doubles each time.
                                  ///< Once packets were lost, 1/20 of it, as often as fit
        uint32_t retryLimit{7};   ///< timeouts without progress before it breaks
        uint8_t priority{3};      ///< traffic class
        uint32_t firstPsn{0};     ///< PSN of the first packet, 24 bits
        bool nvlink{false};       ///< frames have the size of NVLink's packets
    };

    /** The remote end. */
    struct Peer
    {
        uint32_t endpoint{NONE}; ///< of the neighbor
        uint32_t queuePair{0};   ///< connection number at the neighbor
    };

    /** The owner of a connection. */
    class Owner
    {
      public:
        virtual ~Owner() = default;

        /**
         * Sends a frame.
         * @param frame owned by the callee
         */
        virtual void Transmit(Frame* frame) = 0;

        /**
         * A new message has arrived, in order on its connection.
         * @param frame its packet
         */
        virtual void OnPacket(const Frame& frame) = 0;

        /** A packet is retransmitted. */
        virtual void OnResent() = 0;

        /** A duplicate packet has arrived. */
        virtual void OnDuplicate() = 0;

        /**
         * The neighbor no longer answers. The connection is closed.
         * @param connection the closed connection
         */
        virtual void OnBroken(const SharpConnection& connection) = 0;
    };

    /**
     * @param owner must outlive the connection
     * @param endpoint endpoint of the owner
     * @param peer the remote end
     * @param job number of its job
     * @param settings the same at both ends
     */
    SharpConnection(Owner& owner,
                    uint32_t endpoint,
                    const Peer& peer,
                    uint8_t job,
                    const Settings& settings);
    ~SharpConnection() override;
    SharpConnection(const SharpConnection&) = delete;
    SharpConnection& operator=(const SharpConnection&) = delete;

    /** @param message sent immediately, and retransmitted until acknowledged */
    void Send(const SharpMessage& message);

    /** @param message sent once as a datagram, outside the connection */
    void SendDatagram(const SharpMessage& message);

    /** @param frame received on this connection, no datagram; owned by it */
    void Receive(Frame* frame);

    /** Stops sending and receiving. */
    void Close();

    /** @return whether it is open */
    bool IsOpen() const
    {
        return m_open;
    }

    /** @return the remote end */
    const Peer& GetPeer() const
    {
        return m_peer;
    }

  private:
    // RdmaCarrier
    void Fill(Frame& frame, uint64_t psn) override;
    void Transmit(Frame* frame) override;
    void Accept(const Frame& frame) override;
    void OnProgress(uint64_t psn) override;

    static void Put(Frame& frame, const SharpMessage& message, uint8_t opcode);
    void RequestAck(Frame& frame);
    void ShortenTimeout();
    void OnAckTimer();
    void OnError();

    Owner& m_owner;
    const Peer m_peer;
    const uint8_t m_job;
    const Settings m_connection;
    const uint32_t m_flowHash;
    bool m_open{true};
    uint16_t m_ingress{0};               // ingress port of the last packet
    std::deque<SharpMessage> m_messages; // unacknowledged ones
    uint64_t m_oldest;                   // PSN of the first of them
    uint64_t m_next;                     // PSN of the first that has not been sent
    uint32_t m_expected;                 // PSN of the next packet to be accepted, 24 bits
    uint32_t m_unanswered{0};            // packets received since the last acknowledgement
    uint32_t m_written{0};               // bytes of values written in these, NVLink only
    EventId m_ackTimer;
    Ptr<RdmaQueuePair> m_queuePair;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_CONNECTION_H
