/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_RECEIVER_H
#define DISTRIBUTED_TRAINING_UEC_RECEIVER_H

#include "rdma-queue-pair-counters.h"
#include "rdma-receiver.h"
#include "training-message.h"
#include "uec-port.h"
#include "uec-wire-format.h"

#include "ns3/fabric-frame.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Packets that have arrived ahead of a gap, as a ring of bits. It grows with the distance of the
 * farthest packet.
 */
class UecArrivals
{
  public:
    /**
     * @param psn a packet
     * @return whether it is in the set
     */
    bool Has(uint64_t psn) const
    {
        return m_words[psn / 64 & m_mask] >> psn % 64 & 1;
    }

    /**
     * @param psn packet to add, not in the set
     * @param expected lowest packet that may be in the set
     */
    void Add(uint64_t psn, uint64_t expected);

    /** @param psn packet to remove */
    void Remove(uint64_t psn)
    {
        m_words[psn / 64 & m_mask] &= ~(uint64_t{1} << psn % 64);
    }

    /**
     * @param psn a packet that is not before the lowest one of the set
     * @return bit i: packet `psn` + i is in the set
     */
    uint64_t GetBits(uint64_t psn) const
    {
        const uint64_t low = m_words[psn / 64 & m_mask] >> psn % 64;
        return psn % 64 == 0 ? low : low | m_words[(psn / 64 + 1) & m_mask] << (64 - psn % 64);
    }

    /**
     * @param psn a packet
     * @param expected lowest packet that may be in the set
     * @return whether Has() and GetBits() may be called for it
     */
    bool Covers(uint64_t psn, uint64_t expected) const
    {
        // Bits up to 63 packets later are read, too.
        return psn - expected + 2 * uint64_t{64} <= 64 * m_words.size();
    }

  private:
    std::vector<uint64_t> m_words = std::vector<uint64_t>(4);
    uint64_t m_mask{3};
};

/**
 * @ingroup distributed-training-rdma
 *
 * The receiving half of a connection of Ultra Ethernet: accepts packets in any order (reliable
 * unordered delivery, RUD), writes them to their place in the message, and reports messages when
 * complete, in posting order. It acknowledges at once the first packet, marked ones, those that ask
 * for it, all while a trimmed one is missing (which a NACK answers), and else every `ackBytes`.
 */
class UecReceiver : public UecCreditClient
{
  public:
    /** Called for each complete message. */
    using MessageHandler = std::function<void(const Message&)>;

    /**
     * @param port of its NIC
     * @param remote the remote side
     * @param grantsCredit whether packets of the remote side need credit
     * @param counters of the connection
     * @param ports pairs of ports that packets come by; none: its NIC's and the remote one
     */
    UecReceiver(UecPort& port,
                const RdmaRemote& remote,
                bool grantsCredit,
                QueuePairCounters& counters,
                const std::vector<UecPortPair>& ports);

    /** @param handler called for each received message */
    void SetMessageHandler(MessageHandler handler);

    /** Reports no messages from now on, and asks for no turns to grant credit. */
    void Close();

    /** @param frame a request; owned by the caller */
    void Receive(const Frame& frame);

    /** @param frame a probe, which is answered; owned by the caller */
    void ReceiveProbe(const Frame& frame);

    /** @param frame a request for credit; owned by the caller */
    void ReceiveCreditRequest(const Frame& frame);

    // UecCreditClient
    bool WantsCredit() const override;
    bool MayGetAdvance() const override;
    uint64_t GrantCredit(bool isAdvance) override;

  private:
    /** A message of which packets have arrived. */
    struct Partial : Message
    {
        bool isKnown{false};  ///< whether any packet has arrived
        uint64_t received{0}; ///< bytes
    };

    bool HasArrived(uint64_t psn) const;
    void ReceiveTrimmed(const Frame& frame, uint64_t psn);
    void Place(const Frame& frame, const UecHeader& header);
    void Deliver(const Message& message);
    void Acknowledge(const Frame& frame, uint64_t psn);
    void SendCredit();
    void RaiseWanted(uint32_t credit);
    uint64_t GetPacketQuanta() const;
    void Answer(const Frame& request, UecHeader header);
    UecPortPair FindPorts(const Frame& request) const;

    UecPort& m_port;
    const RdmaRemote m_remote;
    const std::vector<UecPortPair> m_ports;
    const bool m_grantsCredit;
    QueuePairCounters& m_counters;

    uint64_t m_expected{0}; // next packet in order
    uint64_t m_ahead{0};    // packets in m_arrivals
    UecArrivals m_arrivals;
    uint64_t m_receivedBytes{0};
    uint64_t m_unacknowledged{0}; // bytes since the last acknowledgement
    bool m_isAckRequested{false}; // and a packet before was missing
    uint64_t m_trimmedEnd{0};     // one past the last packet that arrived trimmed

    uint64_t m_firstMessage{0}; // number of the first message that is not complete
    std::deque<Partial> m_messages;
    MessageHandler m_onMessage;

    // Sums over the life of the connection, in quanta.
    uint64_t m_granted{0};
    uint64_t m_wanted{0};
    uint16_t m_creditEntropy{0};
    bool m_closed{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_RECEIVER_H
