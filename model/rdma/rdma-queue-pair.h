/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H
#define DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H

#include "rdma-congestion-control.h"
#include "rdma-loss-recovery.h"
#include "rdma-queue-pair-counters.h"
#include "rdma-receiver.h"
#include "rdma-send-queue.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simple-ref-count.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

class RdmaNic;

/**
 * @ingroup distributed-training-rdma
 *
 * A reliable connected queue pair (IB specification volume 1, chapter 9): this class is its sending
 * half, RdmaReceiver the other. Messages are SENDs and RDMA WRITEs cut into packets of one MTU,
 * numbered by packet sequence number modulo 2^24 on the wire. Every n packets and at a message's
 * end the sender asks for an acknowledgement. What happens about lost packets is up to an
 * RdmaLossRecovery, on a negative acknowledgement or when the timer expires. After too many
 * expiries without progress, or refusals, the queue pair reports an error and stops.
 *
 * A message is complete at the receiver when its last packet and all before have been accepted, at
 * the sender when the acknowledgement that covers its last packet has arrived; both in the order of
 * posting.
 */
class alignas(64) RdmaQueuePair : public SimpleRefCount<RdmaQueuePair>, public RdmaSendQueue
{
  public:
    /** Called with each complete message. */
    using MessageHandler = RdmaReceiver::MessageHandler;
    /** Called with the number of each signaled work request that is complete. */
    using CompletionHandler = std::function<void(uint64_t)>;
    /** Called once, when the queue pair gives up. */
    using ErrorHandler = std::function<void(const std::string&)>;

    /**
     * @param nic the NIC it belongs to
     * @param number its number
     * @param remote the other side; its flow hash is ignored
     * @param rate of the slowest link on the way, bit/s
     * @param congestionControl decides its rate
     * @param recovery from losses
     */
    RdmaQueuePair(RdmaNic& nic,
                  uint32_t number,
                  const RdmaRemote& remote,
                  uint64_t rate,
                  Ptr<RdmaCongestionControl> congestionControl,
                  std::unique_ptr<RdmaLossRecovery> recovery);

    /** @param handler of messages received */
    void SetMessageHandler(MessageHandler handler);
    /** @param handler of work requests that are complete */
    void SetCompletionHandler(CompletionHandler handler);
    /** @param handler of the end of this queue pair */
    void SetErrorHandler(ErrorHandler handler);

    /**
     * Posts receives. From the first call on each SEND and each WRITE with immediate data takes
     * one, and is refused while there is none; before, there is no end of them.
     * @param count of receives more
     */
    void PostReceive(uint64_t count);

    /**
     * Posts an RDMA WRITE to the send queue.
     * @param address remote address, at the receiver's disposal
     * @param bytes size, 0 to LONGEST_REQUEST
     * @param payload contents, or null
     * @param payloadOffset first byte of the message in `payload`
     * @param immediate data for the receiver with the last packet
     * @param withImmediate whether there is any
     * @param signaled whether the completion handler is to be told
     * @return number of the work request: 0, 1, ... in the order of posting
     */
    uint64_t Write(uint64_t address,
                   uint64_t bytes,
                   Ptr<ByteBuffer> payload,
                   uint64_t payloadOffset,
                   uint32_t immediate,
                   bool withImmediate,
                   bool signaled = true);

    /**
     * Posts a SEND to the send queue. For the parameters, see Write().
     * @param bytes size
     * @param payload contents, or null
     * @param payloadOffset first byte of the message in `payload`
     * @param immediate data
     * @param withImmediate whether there is any
     * @param signaled whether the completion handler is to be told
     * @return number of the work request
     */
    uint64_t Send(uint64_t bytes,
                  Ptr<ByteBuffer> payload,
                  uint64_t payloadOffset,
                  uint32_t immediate,
                  bool withImmediate,
                  bool signaled = true);

    /**
     * @param frame a frame for this queue pair; freed by it
     */
    void Receive(Frame* frame);

    /**
     * Brings into the cache what Receive() is going to need.
     * @param frame a frame for this queue pair, soon
     */
    void Expect(const Frame& frame) const;

    /**
     * Called from time to time, from RdmaNic::Watch() on: one event that looks at all queue pairs
     * of a NIC is cheaper than one for each, or one that is moved with each acknowledgement.
     * @param now simulated time, ps
     * @param next when it is called again, ps
     * @return whether it is to be called again; an acknowledgement is awaited
     */
    bool Watch(int64_t now, int64_t next);

    /** Brings into the cache what Watch() is going to need. */
    void PrefetchTimer() const
    {
        __builtin_prefetch(&m_window);
        __builtin_prefetch(&m_failed);
        __builtin_prefetch(&m_progress, 1);
    }

    // RdmaSendQueue
    bool CanSend() const override;
    Frame* MakeFrame(int64_t now) override;
    void Prefetch() const override;

    /** @return what went through until now */
    QueuePairCounters GetCounters() const;

    /** @return the algorithm that decides its rate */
    Ptr<RdmaCongestionControl> GetCongestionControl() const;

  private:
    /** A posted work request, until its last packet is acknowledged. */
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
        bool isSend;
        bool signaled;
    };

    uint64_t Post(Request request);
    void Ring(uint64_t packets);
    std::size_t FindRequest(uint64_t psn) const;
    void ReceiveAck(const Frame& frame);
    std::vector<uint64_t> Acknowledge(uint64_t psn, int64_t now);
    void OnNak(const Frame& frame, uint64_t psn, int64_t now);
    void OnRefusal(uint8_t timer, uint64_t psn, int64_t now);
    void TakeUpRecovery();
    void UpdateRate(int64_t now);
    void Pace();
    void OnTimer();
    void StartTimer(int64_t now);
    void SetTimer(int64_t now, int64_t next);
    int64_t GetTimeout() const;
    int64_t GetShortestTimeout() const;
    bool IsWindowOpen(uint64_t inFlight) const;
    void SetWindow(uint64_t bytes);
    bool IsInside(uint64_t psn) const;
    bool Fill(Frame& frame, uint64_t psn);
    void Fail(const std::string& reason);

    // With thousands of queue pairs, each line of the object that a packet needs is a cache miss.
    // So all that a packet needs to be sent, but for the first and the last of a message, comes
    // first: it takes SEND_LINES (see Prefetch()). Packet sequence numbers are 64 bit inside; the
    // wire carries the low 24.
    bool m_resends{false};       // a packet is to be sent again, ahead of the next
    bool m_recovering{false};    // loss recovery is to be told of progress
    bool m_isWatched{false};     // for the timer
    bool m_requestIsSend{false}; // the request of m_requestFirst
    RdmaLossRecovery::Window m_window;
    uint64_t m_readyPsn{0};     // one past the last packet that the NIC knows of
    uint64_t m_awaitedPsn{0};   // one past the last packet sent that asked for an answer
    uint64_t m_requestFirst{0}; // first packet of the request that was sent from last
    uint64_t m_requestEnd{0};   // one past its last packet; 0 if each packet has to look at it
    uint32_t m_limit{0};        // packets in flight, as congestion control and NIC allow
    uint32_t m_lastBytes{0};    // of the last packet sent, on the line
    double m_rate;              // bit/s, as last told by the congestion control
    int64_t m_rateEnd{0};       // until then it holds, ps
    int64_t m_lastSendTime{0};  // of the last packet, ps
    int64_t m_holdUntil{0};     // nothing is sent before, after a refusal, ps
    RdmaNic& m_nic;
    const RdmaRemote m_remote;
    RdmaCongestionControl::Needs m_needs;
    bool m_selective;
    bool m_failed{false};

    // An acknowledgement within a message needs one line more.
    static constexpr std::size_t ACK_LINES = SEND_LINES + 1;
    alignas(64) uint64_t m_oldestEnd{0}; // one past the oldest request that is not complete
    uint64_t m_ackedBytes{0};            // acknowledged since the congestion control was told
    uint64_t m_receivedAcks{0};
    uint32_t m_refusals{0};  // without progress since
    uint32_t m_expiries{0};  // of the timer, likewise
    int64_t m_progress{0};   // when the timer started, or the last answer came, ps
    uint64_t m_postedPsn{0}; // one past the last packet posted
    uint32_t m_mostInFlight; // packets, as the NIC allows

    RdmaReceiver m_receiver;
    std::deque<Request> m_requests; // the oldest unacknowledged first
    QueuePairCounters m_counters;   // but for what follows from sequence numbers

    Ptr<RdmaCongestionControl> m_congestionControl;
    std::unique_ptr<RdmaLossRecovery> m_recovery;
    EventId m_timer; // pending only if it may expire before the NIC looks again
    CompletionHandler m_onCompletion;
    ErrorHandler m_onError;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H
