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

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** A message of one packet between neighbors in an aggregation tree. */
struct SharpMessage
{
    SharpHeader header;        ///< what it is
    uint32_t payloadBytes{0};  ///< of values
    Ptr<ByteBuffer> payload;   ///< the values, or null (virtual payload, or there are none)
    uint64_t payloadOffset{0}; ///< where they begin
    uint16_t ingress{0};       ///< in a switch: port whose frame caused it
};

/**
 * @ingroup distributed-training-innetwork
 *
 * One end of a reliable connection between neighbors in an aggregation tree: InfiniBand's reliable
 * connection with messages of one packet, 24-bit packet sequence numbers, cumulative
 * acknowledgements, a negative one when a packet is missing, and go-back-N (IB specification,
 * volume 1, chapter 9.7). So every message arrives once and in order, whatever the links lose,
 * double or reorder; or the connection breaks.
 *
 * How much is in flight is for those to bound who send.
 */
class SharpConnection
{
  public:
    /// Instead of an endpoint.
    static constexpr uint32_t NONE = UINT32_MAX;

    /** How a connection behaves, the same at both ends. */
    struct Settings
    {
        uint32_t ackInterval{16}; ///< packets for each acknowledgement
        Time ackDelay;            ///< from a packet to its acknowledgement at most
        Time timeout;             ///< without progress until all is sent again; doubles
        uint32_t retryLimit{7};   ///< timeouts without progress before it breaks
        uint8_t priority{3};      ///< traffic class
        uint32_t firstPsn{0};     ///< sequence number of the first packet, 24 bit
    };

    /** The end at the neighbor. */
    struct Peer
    {
        uint32_t endpoint{NONE}; ///< of the neighbor
        uint32_t queuePair{0};   ///< number of the connection there
    };

    /** Who has the connection. */
    class Owner
    {
      public:
        virtual ~Owner() = default;

        /**
         * Sends a frame.
         * @param frame owned by the callee
         */
        virtual void Transmit(Frame* frame) = 0;

        /** @param packets that have been sent again */
        virtual void OnResent(uint64_t packets) = 0;

        /** A packet has come that had come before. */
        virtual void OnDuplicate() = 0;

        /**
         * The neighbor does not answer any more. The connection is closed.
         * @param connection this one
         */
        virtual void OnBroken(const SharpConnection& connection) = 0;
    };

    /**
     * @param owner must outlive it
     * @param endpoint of the owner
     * @param peer the other end
     * @param job whose it is
     * @param settings the same at the other end
     */
    SharpConnection(Owner& owner,
                    uint32_t endpoint,
                    const Peer& peer,
                    uint8_t job,
                    const Settings& settings);
    ~SharpConnection();
    SharpConnection(const SharpConnection&) = delete;
    SharpConnection& operator=(const SharpConnection&) = delete;

    /** @param message sent at once, and again until it is acknowledged */
    void Send(const SharpMessage& message);

    /** @param message sent once, outside the connection, as a datagram */
    void SendDatagram(const SharpMessage& message);

    /**
     * @param frame that has come by this connection, of either kind
     * @return whether it is a message that is new and in order
     */
    bool Receive(const Frame& frame);

    /** Nothing is sent or received any more. */
    void Close();

    /** @return whether it is not closed */
    bool IsOpen() const;

    /** @return the other end */
    const Peer& GetPeer() const;

  private:
    void Transmit(const SharpMessage& message, uint8_t opcode, uint32_t psn);
    void SendAgain();
    void Acknowledge(bool missing);
    void OnAcknowledgement(const Frame& frame);
    void NoteReceived();
    void SetTimer();
    void OnTimer();
    void OnAckTimer();
    SharpMessage& At(uint32_t index);

    Owner& m_owner;
    const uint32_t m_endpoint;
    const Peer m_peer;
    const uint8_t m_job;
    const Settings m_settings;
    const uint32_t m_flowHash;
    bool m_open{true};
    // Sending: messages that are not acknowledged, in a ring whose size is a power of two.
    std::vector<SharpMessage> m_ring;
    uint32_t m_first{0};  // place of the oldest
    uint32_t m_count{0};  // how many
    uint32_t m_oldest{0}; // its PSN
    uint32_t m_timeouts{0};
    int64_t m_expiry{0}; // ps
    EventId m_timer;
    // Receiving.
    uint32_t m_expected{0}; // PSN
    uint32_t m_unanswered{0};
    bool m_complained{false}; // about the one that is expected
    uint16_t m_ingress{0};    // port of the latest
    EventId m_ackTimer;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_CONNECTION_H
