/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_RECEIVER_H
#define DISTRIBUTED_TRAINING_RDMA_RECEIVER_H

#include "rdma-loss-recovery.h"
#include "rdma-port.h"
#include "rdma-queue-pair-counters.h"
#include "training-message.h"

#include "ns3/event-id.h"
#include "ns3/fabric-frame.h"
#include "ns3/rdma-congestion-control.h"

#include <cstdint>
#include <functional>

namespace ns3::training
{

class StateVisitor;

/** The remote side of a queue pair. @ingroup distributed-training-rdma */
struct RdmaRemote
{
    uint32_t endpoint;    ///< endpoint of the remote side
    uint32_t queuePair;   ///< number of the remote queue pair
    uint32_t flowHash{0}; ///< of frames to it, for ECMP
};

/**
 * @ingroup distributed-training-rdma
 *
 * The receiving half of a reliable connected queue pair: accepts packets in order, acknowledges
 * them, and reassembles messages. Packets that loss recovery keeps ahead of a gap are accepted when
 * the gap is filled, so messages complete in posting order, whatever the order of arrival. Loss
 * recovery decides which of them trigger a NAK.
 *
 * If receives are counted, a SEND consumes one with its first packet and a WRITE with immediate
 * data with its last. A packet without a receive is refused (receiver not ready, RNR).
 */
class alignas(64) RdmaReceiver
{
  public:
    /** Called for each complete message. */
    using MessageHandler = std::function<void(const Message&)>;

    /**
     * @param port of its NIC
     * @param remote the remote side
     * @param congestionControl of the queue pair
     * @param recovery of the queue pair
     * @param counters of the queue pair
     */
    RdmaReceiver(RdmaPort& port,
                 const RdmaRemote& remote,
                 const RdmaCongestionControl& congestionControl,
                 RdmaLossRecovery& recovery,
                 QueuePairCounters& counters);

    /** @param handler called for each received message */
    void SetMessageHandler(MessageHandler handler);

    /** @param count number of posted receives; after the first call receives are counted */
    void PostReceive(uint64_t count);

    /** @param priority traffic class of its next ACKs and NAKs */
    void SetAckPriority(uint8_t priority)
    {
        m_ackPriority = priority;
    }

    /**
     * @param frame a data packet, owned by the caller unless the result is true
     * @return whether the receiver keeps it
     */
    bool Receive(Frame* frame);

    /** Acknowledges the packets accepted so far, without a request. */
    void SendAck();

    /** Reports nothing from now on. */
    void Close();

    /**
     * Visits its state.
     * @param visitor visits it
     */
    void Visit(StateVisitor& visitor);

    /** @return one past the last accepted packet; without firstPsn the number of accepted packets
     */
    uint64_t GetExpectedPsn() const
    {
        return m_expectedPsn;
    }

    /** @return whether a message has begun and not ended */
    bool IsReceiving() const
    {
        return m_offset > 0;
    }

    /** @return positive acknowledgements sent */
    uint64_t GetSentAcks() const
    {
        return m_sentAcks;
    }

    /// Leading cache lines of the object that an accepted packet needs.
    static constexpr std::size_t ACCEPT_LINES = 1;
    /// Leading cache lines of the object that an acknowledged packet needs.
    static constexpr std::size_t ANSWER_LINES = 2;

  private:
    /** What was sent about the expected packet. */
    enum class Complaint : uint8_t
    {
        NONE,
        NAK,    ///< it is missing
        RNR_NAK ///< there was no receive for it
    };

    bool ReceiveOutOfOrder(Frame* frame, uint64_t psn);
    void FillGap(Frame& frame);
    void CheckGaps();
    bool TakeReceive(uint8_t opcode);
    void Refuse(Frame& data);
    void Accept(const Frame& frame);
    void Deliver(const Message& message);
    void Answer(uint8_t syndrome, uint64_t psn, Frame& data, uint32_t selective = 0);
    Frame* MakeAnswer(uint8_t syndrome, uint64_t psn, uint32_t selective = 0);
    void SendCnp();
    Frame* MakeControl(FrameKind kind, uint32_t transportBytes, uint8_t priority) const;

    // Members needed by every packet come first.
    uint64_t m_expectedPsn;
    uint64_t m_kept{0};             // number of packets kept ahead of a gap
    uint64_t m_offset{0};           // accepted bytes of the current message
    uint32_t m_acceptedMessages{0}; // messages whose last packet is accepted: the MSN
    bool m_countsReceives{false};
    Complaint m_complaint{Complaint::NONE};
    bool m_marked{false};  // an ECN mark arrived since the last ACK
    uint8_t m_ackPriority; // of the queue pair, like that of its data
    RdmaPort& m_port;
    uint64_t m_sentAcks{0};
    uint64_t m_receives{0}; // posted and not consumed
    const RdmaRemote m_remote;
    int64_t m_nextCnp{0};
    QueuePairCounters& m_counters; // all other counters
    RdmaLossRecovery& m_recovery;
    const RdmaCongestionControl& m_congestionControl;
    uint64_t m_tag{0};         // of the current message
    Ptr<ByteBuffer> m_payload; // its contents so far, if they are real
    MessageHandler m_onMessage;
    EventId m_gapTimer; // next check for gaps that have lasted too long
};

/**
 * @ingroup distributed-training-rdma
 * @param psn PSN on the wire, 24 bits
 * @param reference a 64-bit PSN near it
 * @return the 64-bit PSN with these low 24 bits that is closest to the reference
 */
inline uint64_t
ExtendPsn(uint32_t psn, uint64_t reference)
{
    const auto distance = static_cast<int32_t>((psn - static_cast<uint32_t>(reference)) << 8) >> 8;
    return reference + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_RECEIVER_H
