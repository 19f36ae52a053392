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

#include "ns3/fabric-frame.h"
#include "ns3/ptr.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/training-byte-buffer.h"

#include <cstdint>
#include <functional>

namespace ns3::training
{

/** @ingroup distributed-training-rdma A message as the receiver gets it. */
struct RdmaMessage
{
    uint64_t address{0};      ///< WRITE: remote address the sender named
    uint64_t bytes{0};        ///< size
    uint32_t immediate{0};    ///< immediate data, if any
    bool hasImmediate{false}; ///< whether the last packet carried immediate data
    bool isSend{false};       ///< whether it came by SEND, not by WRITE
    Ptr<ByteBuffer> payload;  ///< contents, or null (virtual payload)
};

/** @ingroup distributed-training-rdma Destination of the packets of a queue pair. */
struct RdmaRemote
{
    uint32_t endpoint;    ///< of the other side
    uint32_t queuePair;   ///< number of the queue pair there
    uint32_t flowHash{0}; ///< for ECMP
};

/**
 * @ingroup distributed-training-rdma
 *
 * The receiving half of a reliable connected queue pair: accepts packets in order, answers them,
 * and assembles messages. Packets that loss recovery keeps ahead of a gap are accepted once the gap
 * is filled, so messages complete in the order of posting, whatever the order of arrival.
 *
 * If receives are counted, a SEND consumes one with its first packet and a WRITE with immediate
 * data with its last. A packet that finds none is refused (receiver not ready, RNR).
 */
class alignas(64) RdmaReceiver
{
  public:
    /** Called with each complete message. */
    using MessageHandler = std::function<void(const RdmaMessage&)>;

    /**
     * @param port of its NIC
     * @param remote the other side
     * @param congestionControl of the queue pair
     * @param recovery of the queue pair
     * @param counters of the queue pair
     */
    RdmaReceiver(RdmaPort& port,
                 const RdmaRemote& remote,
                 const RdmaCongestionControl& congestionControl,
                 RdmaLossRecovery& recovery,
                 QueuePairCounters& counters);

    /** @param handler of messages received */
    void SetMessageHandler(MessageHandler handler);

    /** @param count number of receives posted; from the first call on they are counted */
    void PostReceive(uint64_t count);

    /**
     * @param frame a data packet, owned by the caller unless the result is true
     * @return whether it is kept
     */
    bool Receive(Frame* frame);

    /** @return one past the last packet accepted, which is how many have been */
    uint64_t GetExpectedPsn() const
    {
        return m_expectedPsn;
    }

    /** @return positive acknowledgements sent */
    uint64_t GetSentAcks() const
    {
        return m_sentAcks;
    }

    /// Cache lines of the object, from its beginning, that a packet needs which is accepted...
    static constexpr std::size_t ACCEPT_LINES = 1;
    /// ... and one that is answered.
    static constexpr std::size_t ANSWER_LINES = 2;

  private:
    bool ReceiveOutOfOrder(Frame* frame, uint64_t psn);
    void FillGap(Frame& frame);
    bool TakeReceive(uint8_t opcode);
    void Refuse(Frame& data);
    void Accept(const Frame& frame);
    void Deliver(const RdmaMessage& message);
    void Answer(uint8_t syndrome, uint64_t psn, Frame& data);
    void SendCnp();
    Frame* MakeControl(FrameKind kind, uint32_t transportBytes) const;

    // The members that each packet needs come first.
    uint64_t m_expectedPsn{0};
    uint64_t m_kept{0};             // packets ahead of a gap
    uint64_t m_offset{0};           // bytes of the message under way that have been accepted
    uint32_t m_acceptedMessages{0}; // whose last packet has been accepted: the MSN
    bool m_countsReceives{false};
    bool m_silent{false}; // a packet ahead of the expected one has been answered
    bool m_marked{false}; // a packet since the last answer was marked
    RdmaPort& m_port;
    uint64_t m_sentAcks{0};
    uint64_t m_receives{0}; // posted and not taken
    const RdmaRemote m_remote;
    int64_t m_nextCnp{0};
    QueuePairCounters& m_counters; // of all else
    RdmaLossRecovery& m_recovery;
    const RdmaCongestionControl& m_congestionControl;
    RdmaMessage m_message; // under way
    MessageHandler m_onMessage;
};

/**
 * @ingroup distributed-training-rdma
 * @param psn number on the wire, 24 bit
 * @param reference a packet sequence number near it
 * @return the number closest to the reference that has these low 24 bits
 */
inline uint64_t
ExtendPsn(uint32_t psn, uint64_t reference)
{
    const auto distance = static_cast<int32_t>((psn - static_cast<uint32_t>(reference)) << 8) >> 8;
    return reference + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_RECEIVER_H
