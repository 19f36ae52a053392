/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H
#define DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H

#include "rdma-congestion-control.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simple-ref-count.h"

#include <deque>
#include <functional>

namespace ns3::training
{

class RdmaNic;

/** Counts of one queue pair. */
struct QueuePairCounters
{
    uint64_t sentPackets{0};          ///< data packets sent, retransmissions included
    uint64_t retransmittedPackets{0}; ///< of these, sent before
    uint64_t receivedPackets{0};      ///< data packets accepted in order
    uint64_t duplicatePackets{0};     ///< data packets that had been accepted before
    uint64_t outOfOrderPackets{0};    ///< data packets ahead of the expected one, discarded
    uint64_t sentAcks{0};             ///< positive acknowledgements sent
    uint64_t sentNaks{0};             ///< negative acknowledgements sent
    uint64_t sentCnps{0};             ///< congestion notification packets sent
    uint64_t receivedCnps{0};         ///< congestion notification packets received
    uint64_t timeouts{0};             ///< expiries of the retransmission timer
};

/** A message as the receiver gets it. */
struct RdmaMessage
{
    uint64_t address{0};      ///< remote address the sender named
    uint64_t bytes{0};        ///< size
    uint32_t immediate{0};    ///< immediate data, if any
    bool hasImmediate{false}; ///< whether the last packet carried immediate data
    Ptr<ByteBuffer> payload;  ///< contents, or null (virtual payload)
};

/**
 * @ingroup distributed-training-rdma
 *
 * A reliable connected queue pair (IB specification volume 1, chapter 9), both directions of it:
 * messages are RDMA WRITEs cut into packets of one MTU, numbered by packet sequence number modulo
 * 2^24 on the wire. The receiver acknowledges on request (every n packets and at a message's end),
 * answers the first packet behind a gap by one NAK and discards until the gap is filled; the sender
 * goes back to the first missing packet (go-back-N), on a NAK or when its timer expires. After too
 * many expiries without progress the queue pair reports an error and stops.
 *
 * A message is complete at the receiver when its last packet has been accepted.
 */
class RdmaQueuePair : public SimpleRefCount<RdmaQueuePair>
{
  public:
    /** Called with each complete message. */
    using MessageHandler = std::function<void(const RdmaMessage&)>;
    /** Called once, when the queue pair gives up. */
    using ErrorHandler = std::function<void(const std::string&)>;

    /**
     * @param nic the NIC it belongs to
     * @param number its number
     * @param remoteEndpoint endpoint of the other side
     * @param remoteNumber number of the queue pair there
     * @param congestionControl decides its rate
     */
    RdmaQueuePair(RdmaNic& nic,
                  uint32_t number,
                  uint32_t remoteEndpoint,
                  uint32_t remoteNumber,
                  Ptr<RdmaCongestionControl> congestionControl);

    /** @param handler of messages received */
    void SetMessageHandler(MessageHandler handler);
    /** @param handler of the end of this queue pair */
    void SetErrorHandler(ErrorHandler handler);

    /**
     * Posts an RDMA WRITE to the send queue.
     * @param address remote address, at the receiver's disposal
     * @param bytes size, 0 to LONGEST_REQUEST
     * @param payload contents, or null
     * @param payloadOffset first byte of the message in `payload`
     * @param immediate data for the receiver with the last packet
     * @param withImmediate whether there is any
     */
    void Write(uint64_t address,
               uint64_t bytes,
               Ptr<ByteBuffer> payload,
               uint64_t payloadOffset,
               uint32_t immediate,
               bool withImmediate);

    /**
     * @param frame a frame for this queue pair; freed by it
     */
    void Receive(Frame* frame);

    /** @return whether there is a packet that may be sent, its time aside */
    bool CanSend() const;

    /** @return earliest time of the next packet, ps */
    int64_t GetNextSendTime() const;

    /**
     * @param now simulated time, ps
     * @return the next packet; CanSend() must be true
     */
    Frame* MakeFrame(int64_t now);

    /** @return what went through */
    const QueuePairCounters& GetCounters() const;

    /** @return the algorithm that decides its rate */
    Ptr<RdmaCongestionControl> GetCongestionControl() const;

    /** @return number of this queue pair */
    uint32_t GetNumber() const;

    bool scheduled{false}; ///< for the NIC: whether it waits for its turn or its time

  private:
    /** A posted WRITE, until its last packet is acknowledged. */
    struct Request
    {
        uint64_t address;
        uint64_t bytes;
        Ptr<ByteBuffer> payload;
        uint64_t payloadOffset;
        uint64_t firstPsn;
        uint64_t packets;
        uint32_t immediate;
        bool withImmediate;
    };

    void ReceiveData(Frame* frame);
    void Accept(const Frame& frame);
    void ReceiveAck(const Frame& frame);
    void Rewind(uint64_t psn);
    void OnTimer();
    void StartTimer(int64_t now);
    int64_t GetTimeout() const;
    bool IsWindowOpen(uint64_t inFlight) const;
    void Answer(uint8_t syndrome, uint64_t psn, Frame& data);
    void SendCnp();
    Frame* MakeControl(FrameKind kind, uint32_t transportBytes) const;
    uint64_t Extend(uint32_t psn, uint64_t reference) const;

    RdmaNic& m_nic;
    uint32_t m_number;
    uint32_t m_remoteEndpoint;
    uint32_t m_remoteNumber;
    uint32_t m_flowHash;
    Ptr<RdmaCongestionControl> m_congestionControl;
    RdmaCongestionControl::Needs m_needs;
    MessageHandler m_onMessage;
    ErrorHandler m_onError;
    QueuePairCounters m_counters;

    // Sender. Packet sequence numbers are 64 bit inside; the wire carries the low 24.
    std::deque<Request> m_requests; // the oldest unacknowledged first
    std::size_t m_cursor{0};        // request of the next packet
    uint64_t m_postedPsn{0};        // one past the last packet posted
    uint64_t m_nextPsn{0};          // next packet to send
    uint64_t m_highestPsn{0};       // one past the last packet ever sent
    uint64_t m_unackedPsn{0};       // first packet not acknowledged
    uint64_t m_awaitedPsn{0};       // one past the last packet sent that asked for an answer
    uint64_t m_ackedBytes{0};       // acknowledged since the congestion control was told
    int64_t m_nextSendTime{0};
    int64_t m_progress{0};  // when the timer started, or the last answer came, ps
    uint32_t m_expiries{0}; // without progress since
    EventId m_timer;
    bool m_failed{false};

    // Receiver
    uint64_t m_expectedPsn{0};
    uint64_t m_offset{0};  // bytes of the message under way that have been accepted
    bool m_nakSent{false}; // for the expected packet
    bool m_marked{false};  // a packet since the last answer was
    int64_t m_nextCnp{0};
    RdmaMessage m_message;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H
