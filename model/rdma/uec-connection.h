/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_CONNECTION_H
#define DISTRIBUTED_TRAINING_UEC_CONNECTION_H

#include "rdma-queue-pair-counters.h"
#include "rdma-receiver.h"
#include "rdma-round-trip.h"
#include "rdma-send-queue.h"
#include "training-message.h"
#include "uec-paths.h"
#include "uec-port.h"
#include "uec-receiver.h"
#include "uec-sent-packets.h"
#include "uec-wire-format.h"

#include "ns3/event-id.h"
#include "ns3/simple-ref-count.h"
#include "ns3/uec-congestion-control.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * A connection of Ultra Ethernet (a packet delivery context, PDC; reliable unordered delivery):
 * this class is the sender, UecReceiver the receiver. Each packet takes its own path (UecPaths). A
 * packet is sent again after a NACK, because it was trimmed, when packets sent 1.5 round trips
 * later have arrived, or when it is not acknowledged in time. If nothing arrives for the time of
 * too many timeouts, the connection reports an error and stops. The rules are those of the
 * reference simulator (ultraethernet/uet-htsim, htsim/sim/uec.cpp), which has no limit.
 *
 * Messages complete in posting order, at the receiver as soon as all their packets have arrived.
 */
class UecConnection : public SimpleRefCount<UecConnection>, public RdmaSendQueue
{
  public:
    /** Called for each complete message. */
    using MessageHandler = UecReceiver::MessageHandler;
    /** Called once, when the connection fails. */
    using ErrorHandler = std::function<void(const std::string&)>;

    /**
     * @param port of its NIC; must outlive the connection
     * @param number of the connection
     * @param remote the remote side; its flow hash is ignored
     * @param path to the remote side
     * @param congestionControl limits what it has in flight
     */
    UecConnection(UecPort& port,
                  uint32_t number,
                  const RdmaRemote& remote,
                  const UecCongestionControl::Path& path,
                  Ptr<UecCongestionControl> congestionControl);

    /** @param handler called for each received message */
    void SetMessageHandler(MessageHandler handler);
    /** @param handler called when the connection fails */
    void SetErrorHandler(ErrorHandler handler);

    /**
     * Posts a message.
     * @param message the message, up to UEC_MAX_MESSAGE
     */
    void Send(Message message);

    /** @param frame a frame for this connection; freed by it */
    void Receive(Frame* frame);

    /**
     * Drops all that is posted, and sends and reports nothing from now on. Its counters stay. Call
     * UecNic::Close(), which also refuses frames for it.
     */
    void Close();

    /** @return whether Close() was called */
    bool IsClosed() const
    {
        return m_closed;
    }

    // RdmaSendQueue
    bool CanSend() const override;
    Frame* MakeFrame(int64_t now) override;
    void OnResize(const Frame& frame, uint32_t before, int64_t now) override;
    bool CheckTimer(int64_t now, int64_t next) override;

    /** @return a snapshot of its counters; the NAKs are those for trimmed packets */
    QueuePairCounters GetCounters() const;

    /** @return the algorithm that limits what it has in flight */
    Ptr<UecCongestionControl> GetCongestionControl() const;

    /** @return the remote side */
    const RdmaRemote& GetRemote() const
    {
        return m_remote;
    }

    /** @return bytes in flight */
    uint64_t GetInFlight() const;

  private:
    /** A posted message, until all its packets are acknowledged. */
    struct Posted : Message
    {
        uint64_t firstPsn;
        uint64_t packets;
    };

    void OnDoorbell(uint64_t packets, uint64_t bytes);
    const Posted& FindMessage(uint64_t psn, uint64_t& number) const;
    uint32_t GetNextBytes() const;
    bool HasWork() const;
    bool IsShort(const UecSentPackets::Packet& packet) const;
    uint32_t GetWantedCredit() const;
    bool NeedsCreditNow() const;
    void RequestCredit(int64_t now);
    void ReceiveAck(const Frame& frame);
    void ReceiveNack(const Frame& frame);
    void ReceiveCredit(const Frame& frame);
    void StopSpeculating();
    void CompleteMessages();
    void OnProgress(int64_t now);
    void FindLosses(int64_t sentAt, int64_t now);
    void OnLoss(uint64_t psn);
    int64_t GetTimeout() const;
    void Watch();
    int64_t GetDeadline();
    void SetTimer(int64_t now, int64_t next);
    void OnTimer();
    void OnExpiry(uint64_t psn);
    void Fail(const std::string& reason);

    UecPort& m_port;
    const RdmaRemote m_remote;
    const bool m_needsCredit;
    bool m_failed{false};
    bool m_closed{false};
    bool m_isWatched{false};    // RdmaTimerWatch checks its timer
    bool m_isSpeculating{true}; // sends by the initial credit, before any answer
    uint32_t m_overhead;        // headers of a frame, bytes
    uint32_t m_linePacket;      // expected size of the frame of a full packet on the line, bytes
    uint64_t m_window{0};       // limit of bytes in flight
    uint64_t m_doorbellPsn{0};  // one past the last packet that the NIC may send
    uint64_t m_postedPsn{0};    // one past the last packet posted
    uint64_t m_unsentBytes{0};  // frames of new packets up to m_doorbellPsn, before coding
    UecSentPackets m_sent;

    uint64_t m_firstMessage{0}; // number of the first message in m_messages
    uint64_t m_current{0};      // number of the message of the next new packet
    std::deque<Posted> m_messages;

    int64_t m_credit;         // bytes
    uint64_t m_granted{0};    // sum, quanta
    int64_t m_creditEvent{0}; // last time that credit was spent, asked for or granted, ps

    uint32_t m_backoff{0};     // expiries without progress, of packets sent after the one before
    int64_t m_backoffTime{0};  // of the last of them, ps
    int64_t m_stalledSince{0}; // when the first of them was sent, ps
    RdmaRoundTrip m_roundTrip; // measured
    EventId m_timer;           // scheduled only if it may expire before the next periodic check

    Ptr<UecCongestionControl> m_congestionControl;
    UecPaths m_paths;
    QueuePairCounters m_counters;
    UecReceiver m_receiver;
    ErrorHandler m_onError;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_CONNECTION_H
