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
#include "rdma-round-trip.h"
#include "rdma-send-queue.h"
#include "rdma-work-requests.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/simple-ref-count.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * A reliable connected queue pair (RC; IB specification volume 1, chapter 9): this class is the
 * sender, RdmaReceiver the receiver. Messages are SENDs and RDMA WRITEs, segmented into packets of
 * one MTU and numbered by PSN modulo 2^24 on the wire. The sender requests an acknowledgement every
 * n packets and at the end of a message. On a NAK or a timeout, an RdmaLossRecovery selects the
 * packets to retransmit. After too many timeouts or refusals without progress, the queue pair
 * reports an error and stops.
 *
 * A message is complete at the receiver when its last packet and all earlier packets are accepted,
 * at the sender when its last packet is acknowledged; both in posting order.
 */
class alignas(64) RdmaQueuePair : public SimpleRefCount<RdmaQueuePair>, public RdmaSendQueue
{
  public:
    /** Called for each complete message. */
    using MessageHandler = RdmaReceiver::MessageHandler;
    /** Called for each completed signaled work request, with its number. */
    using CompletionHandler = std::function<void(uint64_t)>;
    /** Called once, when the queue pair fails. */
    using ErrorHandler = std::function<void(const std::string&)>;

    /**
     * @param port of its NIC; must outlive the queue pair
     * @param number its queue pair number
     * @param remote the remote side
     * @param path to the remote side
     * @param congestionControl sets its rate
     * @param recovery recovers lost packets
     */
    RdmaQueuePair(RdmaPort& port,
                  uint32_t number,
                  const RdmaRemote& remote,
                  const RdmaCongestionControl::Path& path,
                  Ptr<RdmaCongestionControl> congestionControl,
                  std::unique_ptr<RdmaLossRecovery> recovery);

    /** @param handler called for each received message */
    void SetMessageHandler(MessageHandler handler);
    /** @param handler called for each completed work request */
    void SetCompletionHandler(CompletionHandler handler);
    /** @param handler called when the queue pair fails */
    void SetErrorHandler(ErrorHandler handler);

    /**
     * Posts receives. After the first call, each SEND and each WRITE with immediate data consumes
     * one, and is refused if none is left. Before the first call, receives are unlimited.
     * @param count number of receives
     */
    void PostReceive(uint64_t count);

    /**
     * Posts an RDMA WRITE to the send queue.
     * @param request the message, up to MAX_REQUEST
     * @return number of the work request: 0, 1, ... in posting order
     */
    uint64_t Write(Message request);

    /**
     * Posts a SEND to the send queue.
     * @param request the message, up to MAX_REQUEST; its tag is ignored
     * @return number of the work request, as for Write()
     */
    uint64_t Send(Message request);

    /** The carrier has one more packet to send (RdmaCarrier). */
    void SendPacket()
    {
        if (!m_failed)
        {
            m_doorbellPsn++;
            m_port.Schedule(*this);
        }
    }

    /** Acknowledges what has arrived, without a request. */
    void SendAck()
    {
        m_receiver.SendAck();
    }

    /**
     * @param frame a frame for this queue pair; freed by it
     */
    void Receive(Frame* frame)
    {
        Receive(frame, frame->kind);
    }

    /**
     * Takes a packet that came in a frame of another kind, see RdmaCarrier.
     * @param frame a frame for this queue pair; freed by it
     * @param kind of packet
     */
    void Receive(Frame* frame, FrameKind kind);

    /**
     * Takes the traffic classes that the NIC gives new queue pairs. Both ends do so when all
     * messages have arrived; one that has packets to send keeps its classes.
     */
    void RenewPriorities();

    /**
     * Drops all that is posted, and sends and reports nothing from now on. Its counters stay. Call
     * RdmaNic::Close(), which also refuses frames for it.
     */
    void Close();

    /** @return whether Close() was called */
    bool IsClosed() const
    {
        return m_closed;
    }

    /**
     * Prefetches the cache lines that Receive() will touch.
     * @param frame a frame that arrives at this queue pair soon
     */
    void Prefetch(const Frame& frame) const;

    // RdmaSendQueue
    bool CanSend() const override;
    Frame* MakeFrame(int64_t now) override;
    void OnResize(const Frame& frame, uint32_t before, int64_t now) override;
    void Prefetch() const override;
    void Review(int64_t now) override;
    bool CheckTimer(int64_t now, int64_t next) override;
    void PrefetchTimer() const override;

    /** @return whether so many packets of its messages are left to send that it is worth a watch */
    bool IsLong() const;

    /** @param reports whether each acknowledgement calls SteadyWatch::OnPeriod() */
    void ReportPeriods(bool reports)
    {
        m_reportsPeriods = reports;
    }

    /**
     * Visits its state.
     * @param visitor visits it
     */
    void Visit(StateVisitor& visitor);

    /**
     * @param ack a positive acknowledgement that arrives later
     * @return whether its arrival calls nobody: it ends no message
     */
    bool IsQuiet(const Frame& ack) const;

    /** @return a snapshot of its counters */
    QueuePairCounters GetCounters() const;

    /** @return the algorithm that sets its rate */
    Ptr<RdmaCongestionControl> GetCongestionControl() const;

    /** @return the remote side */
    const RdmaRemote& GetRemote() const
    {
        return m_remote;
    }

  private:
    uint64_t Post(Message request);
    void OnDoorbell(uint64_t packets);
    void ReceiveAck(const Frame& frame);
    std::vector<uint64_t> Acknowledge(uint64_t psn, int64_t now);
    void OnNak(const Frame& frame, uint64_t psn, int64_t now);
    void OnRnrNak(uint8_t timer, uint64_t psn, int64_t now);
    void UpdateRecoveryState();
    void UpdateRate(int64_t now);
    void Pace();
    int64_t GetPaceTime() const;
    void OnTimer();
    void StartTimer(int64_t now);
    void SetTimer(int64_t now, int64_t next);
    int64_t GetTimeout() const;
    int64_t GetShortestTimeout() const;
    int64_t GetDoubled(const Time& timeout) const;
    bool IsTimed() const;
    bool HasShortTimeouts() const;

    bool TakesReordering() const
    {
        return m_selective && !m_irn;
    }

    bool IsWindowOpen(uint64_t inFlight) const;
    void SetWindow(uint64_t bytes);
    void SetMostInFlight();
    void SetAhead(uint64_t packets);
    bool Fill(Frame& frame, uint64_t psn);
    void Fail(const std::string& reason);

    // With thousands of queue pairs, each cache line that a packet touches is a cache miss. The
    // first SEND_LINES hold everything needed to send a packet in the middle of a message (see
    // Prefetch()). PSNs are 64 bit inside; the wire carries the low 24 bits.
    bool m_resends{false}; // a packet must be retransmitted before the next new one
    RdmaCongestionControl::Needs m_needs;
    uint32_t m_limit{0}; // limit of unacknowledged packets, by congestion control, NIC and m_ahead
    RdmaLossRecovery::Window m_window;
    uint64_t m_doorbellPsn{0};     // one past the last packet whose doorbell the NIC has seen
    uint64_t m_ackRequestedPsn{0}; // one past the last packet sent that requests an ACK
    double m_picosecondsPerByte;   // of the last rate of the congestion control
    int64_t m_paceStart{0};        // start of the time that pacing charges to the last packet, ps
    int64_t m_byteQuota{0};        // bytes until the congestion control must be asked again
    int64_t m_holdUntil{0};        // RNR wait: nothing is sent before this time, ps
    RdmaPort& m_port;
    uint32_t m_lastBytes{0}; // size of the last packet on the line
    const RdmaRemote m_remote;
    RdmaWorkRequests m_requests;

    // An ACK in the middle of a message needs one more line.
    static constexpr std::size_t ACK_LINES = SEND_LINES + 1;
    alignas(64) uint64_t m_oldestEnd{0}; // one past the oldest incomplete request
    uint64_t m_ackedBytes{0};            // acknowledged since the last OnAck()
    uint64_t m_receivedAcks{0};
    uint32_t m_refusals{0};       // RNR NAKs without progress since
    uint32_t m_expiries{0};       // timer expiries without progress since
    int64_t m_progress{0};        // start of the timer or arrival of the last ACK, ps
    int64_t m_byteGrant{0};       // bytes of the last quota
    double m_rate;                // last rate of the congestion control, bit/s
    bool m_recovering{false};     // loss recovery must be told of progress
    bool m_isWatched{false};      // RdmaTimerWatch checks its timer
    bool m_reportsPeriods{false}; // see SteadyWatch
    bool m_selective;             // loss recovery keeps packets ahead of a gap
    bool m_irn;                   // IRN's limit in flight applies
    bool m_awaitsResend{false};   // a timer has expired, and what it resends is not sent yet
    bool m_failed{false};
    uint64_t m_postedPsn{0};  // one past the last packet posted
    uint32_t m_mostInFlight;  // limit of packets in flight by the NIC
    uint32_t m_linePayload;   // of a full packet: the MTU, or what a program of the NIC makes of it
    uint64_t m_inFlightLimit; // by the NIC, bytes of payload on the line
    int64_t m_stalledSince{
        0};              // start of the first timer that has expired without progress since, ps
    uint64_t m_ahead{0}; // packets that have arrived behind a gap, as acknowledgements say

    RdmaReceiver m_receiver;
    QueuePairCounters m_counters; // without those derived from PSNs
    RdmaRoundTrip m_roundTrip;    // measured, see ReceiveAck()

    Ptr<RdmaCongestionControl> m_congestionControl;
    std::unique_ptr<RdmaLossRecovery> m_recovery;
    EventId m_timer; // scheduled only if it may expire before the next periodic check
    CompletionHandler m_onCompletion;
    ErrorHandler m_onError;
    bool m_closed{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H
