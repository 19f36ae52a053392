/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_SENDER_H
#define DISTRIBUTED_TRAINING_RDMA_SENDER_H

#include "rdma-packet-maker.h"

#include "ns3/event-id.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The sending half of a reliable connected queue pair: takes work requests, and the answers to the
 * packets that RdmaPacketMaker makes of them. On a NAK or a timeout, an RdmaLossRecovery selects
 * the packets to retransmit.
 */
class RdmaSender : public RdmaPacketMaker
{
  public:
    /** Called for each completed signaled work request, with its number. */
    using CompletionHandler = std::function<void(uint64_t)>;
    /** Called once, when the queue pair fails. */
    using ErrorHandler = std::function<void(const std::string&)>;

    using RdmaPacketMaker::RdmaPacketMaker;

    /** @param handler called for each completed work request */
    void SetCompletionHandler(CompletionHandler handler);
    /** @param handler called when it fails */
    void SetErrorHandler(ErrorHandler handler);

    /**
     * Adds a work request behind the others.
     * @param request SEND or WRITE
     * @return number of the work request: 0, 1, ... in posting order
     */
    uint64_t Post(Message request);

    /** The carrier has one more packet to send (RdmaCarrier). */
    void SendPacket()
    {
        if (!m_failed)
        {
            m_doorbellPsn++;
            m_port.Schedule(*this);
        }
    }

    /** @param frame an ACK or NAK */
    void ReceiveAck(const Frame& frame);

    /** A congestion notification has arrived. */
    void ReceiveCnp();

    using RdmaSendQueue::SetPriority;

    /** Drops all that is posted, and sends and reports nothing from now on. */
    void Close();

    // RdmaSendQueue
    bool CheckTimer(int64_t now, int64_t next) override;
    void PrefetchTimer() const override;

    /** @return packets to be sent before the last one of the oldest message; NONE: there is none */
    uint64_t GetPacketsToEnd() const;

    /** @return whether so many packets of its messages are left to send that it is worth a watch */
    bool IsLong() const;

    /** @param reports whether each acknowledgement calls SteadyWatch::OnPeriod() */
    void ReportPeriods(bool reports)
    {
        m_reportsPeriods = reports;
    }

    /** @return whether nothing is sent, and nothing waits for an acknowledgement */
    bool IsIdle() const
    {
        return m_window.unackedPsn == m_doorbellPsn && !IsResending();
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

    /** @return one past the last packet posted */
    uint64_t GetPostedPsn() const
    {
        return m_postedPsn;
    }

    /** @param counters receive the numbers of packets sent and of acknowledgements */
    void AddTo(QueuePairCounters& counters) const;

    /// Leading cache lines of the object that an acknowledgement needs.
    static constexpr std::size_t ACK_LINES = SEND_LINES + 3;

  private:
    void WatchTimer() override;
    void OnDoorbell(uint64_t packets);
    std::vector<uint64_t> Acknowledge(uint64_t psn, int64_t now);
    void OnNak(const Frame& frame, uint64_t psn, int64_t now);
    void OnRnrNak(uint8_t timer, uint64_t psn, int64_t now);
    void UpdateRecoveryState();
    void SetTimer(int64_t now, int64_t next);
    void OnTimer();
    void Fail(const std::string& reason);

    uint64_t m_postedPsn{m_doorbellPsn}; // one past the last packet posted
    uint64_t m_oldestEnd{m_doorbellPsn}; // one past the oldest incomplete request
    uint64_t m_ackedBytes{0};            // acknowledged since the last OnAck()
    uint64_t m_receivedAcks{0};
    uint32_t m_refusals{0};       // RNR NAKs without progress since
    bool m_recovering{false};     // loss recovery must be told of progress
    bool m_isWatched{false};      // RdmaTimerWatch checks its timer
    bool m_reportsPeriods{false}; // see SteadyWatch
    bool m_failed{false};
    EventId m_expiry; // scheduled only if it may come before the next periodic check
    CompletionHandler m_onCompletion;
    ErrorHandler m_onError;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_SENDER_H
