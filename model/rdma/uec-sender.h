/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_SENDER_H
#define DISTRIBUTED_TRAINING_UEC_SENDER_H

#include "rdma-round-trip.h"
#include "uec-packet-maker.h"

#include "ns3/event-id.h"

#include <cstdint>
#include <functional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The sending half of a connection of Ultra Ethernet: takes messages, and the answers to their
 * packets. A packet is sent again after a NACK, because it was trimmed, when packets sent 1.5 round
 * trips later have arrived, or when it is not acknowledged in time. If nothing arrives for the time
 * of too many timeouts, the connection reports an error and stops. The rules are those of the
 * reference simulator (ultraethernet/uet-htsim, htsim/sim/uec.cpp), which has no limit.
 */
class UecSender : public UecPacketMaker
{
  public:
    /** Called once, when the connection fails. */
    using ErrorHandler = std::function<void(const std::string&)>;

    /**
     * @param port of its NIC
     * @param number of the connection
     * @param remote the remote side
     * @param congestionControl limits what it has in flight; initialized
     * @param counters of the connection
     * @param ports pairs of ports over which it sprays; none: its NIC's and the remote one
     */
    UecSender(UecPort& port,
              uint32_t number,
              const RdmaRemote& remote,
              UecCongestionControl& congestionControl,
              QueuePairCounters& counters,
              const std::vector<UecPortPair>& ports)
        : UecPacketMaker(port, number, remote, congestionControl, counters, ports),
          m_congestionControl(congestionControl)
    {
    }

    /** @param handler called when it fails */
    void SetErrorHandler(ErrorHandler handler)
    {
        m_onError = std::move(handler);
    }

    /**
     * Posts a message.
     * @param message the message, up to UEC_MAX_MESSAGE
     */
    void Send(Message message);

    /** @param frame an ACK */
    void ReceiveAck(const Frame& frame);
    /** @param frame a NACK */
    void ReceiveNack(const Frame& frame);
    /** @param frame a grant of credit */
    void ReceiveCredit(const Frame& frame);

    /** @param frame tells which remote ports are down */
    void ReceivePortStatus(const Frame& frame);

    /** The link of a port of the host has gone up or down: MRC tells the remote side. */
    void OnPortChange();

    /** Sends and reports nothing from now on. */
    void Close();

    // RdmaSendQueue
    bool CheckTimer(int64_t now, int64_t next) override;

  private:
    void Watch() override;
    void OnDoorbell(uint64_t packets, uint64_t bytes);
    void CompleteMessages();
    void OnProgress(int64_t now);
    void FindLosses(int64_t sentAt, int64_t now);
    void OnLoss(uint64_t psn);
    int64_t GetTimeout() const;
    int64_t GetDeadline();
    void SetTimer(int64_t now, int64_t next);
    void OnTimer();
    void OnExpiry(uint64_t psn);
    void Fail(const std::string& reason);
    void WatchPaths();
    void SendProbes();
    void ReceiveProbeAnswer(const UecHeader& header);
    void SendOn(uint32_t plane, UecHeader header);

    bool m_isWatched{false};   // RdmaTimerWatch checks its timer
    uint32_t m_backoff{0};     // expiries without progress, of packets sent after the one before
    int64_t m_backoffTime{0};  // of the last of them, ps
    int64_t m_stalledSince{0}; // when the first of them was sent, ps
    RdmaRoundTrip m_roundTrip; // measured
    EventId m_timer;           // scheduled only if it may expire before the next periodic check
    EventId m_probeTimer;      // of paths that are taken out, while packets are to be sent
    UecCongestionControl& m_congestionControl;
    ErrorHandler m_onError;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_SENDER_H
