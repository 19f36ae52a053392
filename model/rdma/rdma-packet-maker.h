/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_PACKET_MAKER_H
#define DISTRIBUTED_TRAINING_RDMA_PACKET_MAKER_H

#include "rdma-loss-recovery.h"
#include "rdma-pacing.h"
#include "rdma-port.h"
#include "rdma-queue-pair-counters.h"
#include "rdma-receiver.h"
#include "rdma-retransmission-timer.h"
#include "rdma-send-queue.h"
#include "rdma-window-limit.h"
#include "rdma-work-requests.h"

#include "ns3/rdma-congestion-control.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The send queue of a reliable connected queue pair: makes packets of its work requests, at the
 * rate and within the window of its congestion control. RdmaSender takes the answers.
 */
class alignas(64) RdmaPacketMaker : public RdmaSendQueue
{
  public:
    /**
     * @param port of its NIC
     * @param number of the queue pair
     * @param remote the remote side
     * @param path to the remote side
     * @param congestionControl sets its rate
     * @param recovery selects the packets to retransmit
     * @param counters of the queue pair
     */
    RdmaPacketMaker(RdmaPort& port,
                    uint32_t number,
                    const RdmaRemote& remote,
                    const RdmaCongestionControl::Path& path,
                    RdmaCongestionControl& congestionControl,
                    RdmaLossRecovery& recovery,
                    QueuePairCounters& counters);

    // RdmaSendQueue
    bool CanSend() const override;
    Frame* MakeFrame(int64_t now) override;
    void OnResize(const Frame& frame, uint32_t before, int64_t now) override;
    void Prefetch() const override;
    void Review(int64_t now) override;

    /** @return the remote side */
    const RdmaRemote& GetRemote() const
    {
        return m_remote;
    }

  protected:
    /** Watches the timer, which an acknowledgement request has started. */
    virtual void WatchTimer() = 0;

    /**
     * Asks the congestion control for its rate and window.
     * @param now simulated time, ps
     */
    void UpdateRate(int64_t now);
    /** Asks the congestion control for its window. */
    void UpdateWindow();
    /** Retransmits what loss recovery has selected. */
    void UpdateResends();
    /** Sends nothing from now on. */
    void Stop();

    /** @return whether a packet must be retransmitted before the next new one */
    bool IsResending() const
    {
        return m_resends;
    }

    /**
     * Visits its state.
     * @param visitor visits it
     * @param repeats whether all else of the queue pair is the same with each packet
     * @return whether the state may repeat
     */
    bool VisitPackets(StateVisitor& visitor, bool repeats);

    // With thousands of queue pairs, each cache line that a packet touches is a cache miss. The
    // first SEND_LINES hold everything needed to send a packet in the middle of a message (see
    // Prefetch()). PSNs are 64 bit inside; the wire carries the low 24 bits.
  private:
    bool m_resends{false}; // see IsResending()

  protected:
    RdmaCongestionControl::Needs m_needs; ///< of the congestion control
    RdmaLossRecovery::Window m_window;    ///< first unacknowledged, next, and highest packet
    uint64_t m_doorbellPsn; ///< one past the last packet whose doorbell the NIC has seen
    RdmaPacing m_pacing;    ///< at the last rate of the congestion control
    RdmaPort& m_port;       ///< of the NIC

  private:
    uint32_t m_limit{0}; // of unacknowledged packets, see RdmaWindowLimit
    const RdmaRemote m_remote;

  protected:
    RdmaWorkRequests m_requests; ///< posted and not acknowledged

    // An acknowledgement needs the following, too.
    RdmaRetransmissionTimer m_timer;            ///< of the oldest packet
    RdmaCongestionControl& m_congestionControl; ///< sets rate and window
    RdmaLossRecovery& m_recovery;               ///< selects the packets to retransmit
    const bool m_isSelective;                   ///< loss recovery keeps packets ahead of a gap
    const bool m_takesReordering;               ///< so does it, and a gap is no loss yet
    QueuePairCounters& m_counters;              ///< without those derived from PSNs
    RdmaWindowLimit m_windowLimit;              ///< makes packets of the window

  private:
    bool Fill(Frame& frame, uint64_t psn);
    bool IsWindowOpen(uint64_t inFlight) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_PACKET_MAKER_H
