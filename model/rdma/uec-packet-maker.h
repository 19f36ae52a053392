/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_PACKET_MAKER_H
#define DISTRIBUTED_TRAINING_UEC_PACKET_MAKER_H

#include "rdma-queue-pair-counters.h"
#include "rdma-receiver.h"
#include "rdma-send-queue.h"
#include "uec-credit.h"
#include "uec-messages.h"
#include "uec-paths.h"
#include "uec-port.h"
#include "uec-sent-packets.h"
#include "uec-wire-format.h"

#include "ns3/uec-congestion-control.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The send queue of a connection of Ultra Ethernet: makes packets of its messages, each with its
 * own path (UecPaths), and asks for the credit that they need. UecSender takes the answers.
 */
class UecPacketMaker : public RdmaSendQueue
{
  public:
    /**
     * @param port of its NIC
     * @param number of the connection
     * @param remote the remote side
     * @param congestionControl limits what it has in flight; initialized
     * @param counters of the connection
     */
    UecPacketMaker(UecPort& port,
                   uint32_t number,
                   const RdmaRemote& remote,
                   UecCongestionControl& congestionControl,
                   QueuePairCounters& counters);

    // RdmaSendQueue
    bool CanSend() const override;
    Frame* MakeFrame(int64_t now) override;
    void OnResize(const Frame& frame, uint32_t before, int64_t now) override;

    /** @return the remote side */
    const RdmaRemote& GetRemote() const
    {
        return m_remote;
    }

    /** @return bytes in flight */
    uint64_t GetInFlight() const
    {
        return m_sent.GetInFlight();
    }

  protected:
    /** Watches the timer, which a packet or a request has started. */
    virtual void Watch() = 0;

    /** @return whether a packet waits for credit */
    bool NeedsCreditNow() const;

    /**
     * Asks for credit.
     * @param now simulated time, ps
     */
    void RequestCredit(int64_t now);

    /**
     * @param packet a packet that was sent
     * @return whether it is shorter than a full one
     */
    bool IsShort(const UecSentPackets::Packet& packet) const;

    UecPort& m_port;               ///< of its NIC
    const RdmaRemote m_remote;     ///< the remote side
    bool m_failed{false};          ///< sends nothing any more
    uint32_t m_overhead;           ///< headers of a frame, bytes
    uint64_t m_window;             ///< limit of bytes in flight
    uint64_t m_doorbellPsn{0};     ///< one past the last packet that the NIC may send
    uint64_t m_unsentBytes{0};     ///< frames of new packets up to m_doorbellPsn, before coding
    UecSentPackets m_sent;         ///< packets that are not acknowledged
    UecMessages m_messages;        ///< messages that are not acknowledged
    UecCredit m_credit;            ///< granted by the receiver
    QueuePairCounters& m_counters; ///< of the connection
    UecPaths m_paths;              ///< of its packets

  private:
    bool HasWork() const;
    uint32_t GetNextBytes() const;
    uint32_t GetWantedCredit() const;

    uint32_t m_linePacket; // expected size of the frame of a full packet on the line, bytes
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_PACKET_MAKER_H
