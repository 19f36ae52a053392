/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H
#define DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H

#include "rdma-loss-recovery.h"
#include "rdma-port.h"
#include "rdma-queue-pair-counters.h"
#include "rdma-receiver.h"
#include "rdma-send-queue.h"
#include "rdma-work-request.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/simple-ref-count.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * A reliable connected queue pair (IB specification volume 1, chapter 9): this class is its sending
 * half, RdmaReceiver the other. Messages are SENDs and RDMA WRITEs cut into packets of one MTU,
 * numbered by packet sequence number modulo 2^24 on the wire. Every n packets and at the end of a
 * message the sender requests an acknowledgement. On a negative acknowledgement or a timeout, an
 * RdmaLossRecovery decides which packets are retransmitted. After too many timeouts or refusals
 * without progress, the queue pair reports an error and stops.
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
     * @param port of its NIC; must outlive the queue pair
     * @param number its number
     * @param remote the other side; its flow hash is ignored
     * @param path to the other side
     * @param congestionControl decides its rate
     * @param recovery from losses
     */
    RdmaQueuePair(RdmaPort& port,
                  uint32_t number,
                  const RdmaRemote& remote,
                  const RdmaCongestionControl::Path& path,
                  Ptr<RdmaCongestionControl> congestionControl,
                  std::unique_ptr<RdmaLossRecovery> recovery);

    /** @param handler of messages received */
    void SetMessageHandler(MessageHandler handler);
    /** @param handler of work requests that are complete */
    void SetCompletionHandler(CompletionHandler handler);
    /** @param handler of the end of this queue pair */
    void SetErrorHandler(ErrorHandler handler);

    /**
     * Posts receives. From the first call on, each SEND and each WRITE with immediate data consumes
     * one, and is refused while there is none. Before, receives are unlimited.
     * @param count number of receives
     */
    void PostReceive(uint64_t count);

    /**
     * Posts an RDMA WRITE to the send queue.
     * @param request the message
     * @return number of the work request: 0, 1, ... in the order of posting
     */
    uint64_t Write(WorkRequest request);

    /**
     * Posts a SEND to the send queue.
     * @param request the message; its address is ignored
     * @return number of the work request, as for Write()
     */
    uint64_t Send(WorkRequest request);

    /**
     * @param frame a frame for this queue pair; freed by it
     */
    void Receive(Frame* frame);

    /**
     * Brings into the cache the lines that Receive() is going to need.
     * @param frame a frame for this queue pair, soon
     */
    void Expect(const Frame& frame) const;

    // RdmaSendQueue
    bool CanSend() const override;
    Frame* MakeFrame(int64_t now) override;
    void Prefetch() const override;
    bool CheckTimer(int64_t now, int64_t next) override;
    void PrefetchTimer() const override;

    /** @return its counts until now */
    QueuePairCounters GetCounters() const;

    /** @return the algorithm that decides its rate */
    Ptr<RdmaCongestionControl> GetCongestionControl() const;

  private:
    /** A posted work request, until its last packet is acknowledged. */
    struct PostedRequest : WorkRequest
    {
        bool isSend;
        uint64_t firstPsn;
        uint64_t packets;
    };

    uint64_t Post(WorkRequest request, bool isSend);
    void OnDoorbell(uint64_t packets);
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
    bool m_resends{false};       // a packet must be retransmitted before the next new one
    bool m_recovering{false};    // loss recovery must be told of progress
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
    RdmaPort& m_port;
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
    uint32_t m_expiries{0};  // of the timer, without progress since
    int64_t m_progress{0};   // when the timer started, or the last answer came, ps
    uint64_t m_postedPsn{0}; // one past the last packet posted
    uint32_t m_mostInFlight; // packets, as the NIC allows

    RdmaReceiver m_receiver;
    std::deque<PostedRequest> m_requests; // the oldest unacknowledged first
    QueuePairCounters m_counters;         // except those that follow from sequence numbers

    Ptr<RdmaCongestionControl> m_congestionControl;
    std::unique_ptr<RdmaLossRecovery> m_recovery;
    EventId m_timer; // pending only if it may expire before the NIC looks again
    CompletionHandler m_onCompletion;
    ErrorHandler m_onError;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H
