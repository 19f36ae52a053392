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
#include <memory>
#include <vector>

namespace ns3::training
{

class UecPacketMaker;

/**
 * @ingroup distributed-training-rdma
 *
 * The packets of a connection on one of several ports, its planes: a send queue of this port.
 * Whichever port is free takes the next packet of the connection, with a path of its own plane.
 */
class UecLane : public RdmaSendQueue
{
  public:
    /**
     * @param maker of the packets, which owns this
     * @param ports its port, and the remote one
     * @param plane its number among the lanes
     */
    UecLane(UecPacketMaker& maker, const UecPortPair& ports, uint32_t plane);

    /** The connection may have a packet to send. */
    void Schedule()
    {
        m_ports.port->Schedule(*this);
    }

    /** @return its port, and the remote one */
    const UecPortPair& GetPorts() const
    {
        return m_ports;
    }

    // RdmaSendQueue
    bool CanSend() const override;
    Frame* MakeFrame(int64_t now) override;
    void OnResize(const Frame& frame, uint32_t before, int64_t now) override;

  private:
    UecPacketMaker& m_maker;
    const UecPortPair m_ports;
    const uint32_t m_plane;
};

/**
 * @ingroup distributed-training-rdma
 *
 * The send queue of a connection of Ultra Ethernet: makes packets of its messages, each with its
 * own path (UecPaths), and asks for the credit that they need. UecSender takes the answers. With
 * several ports, its lanes are the send queues.
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
     * @param ports pairs of ports over which it sprays; none: its NIC's and the remote one
     */
    UecPacketMaker(UecPort& port,
                   uint32_t number,
                   const RdmaRemote& remote,
                   UecCongestionControl& congestionControl,
                   QueuePairCounters& counters,
                   const std::vector<UecPortPair>& ports);

    /**
     * @param plane number of a lane
     * @return whether a packet may be sent there: both ports are up as far as is known, and a path
     *         has not failed, or all have in all planes
     */
    bool CanSendIn(uint32_t plane) const;

    /**
     * @param plane number of a lane
     * @param now simulated time, ps
     * @return the next packet, for that lane
     */
    Frame* MakeFrameIn(uint32_t plane, int64_t now);

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

    /** Packets may be sent: tells the ports, another one first each time. */
    void ScheduleSend();

    /**
     * @param entropy value of a packet
     * @return the paths of its plane
     */
    UecPaths& GetPaths(uint16_t entropy)
    {
        return *m_paths[m_lanes.empty() ? 0 : entropy >> (UEC_ENTROPY_BITS - m_planeBits)];
    }

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
    std::vector<std::unique_ptr<UecPaths>> m_paths; ///< by plane, of its packets
    std::vector<std::unique_ptr<UecLane>> m_lanes;  ///< by plane; empty: one port
    uint32_t m_remoteDown{0}; ///< bit p: the remote port of plane p is down, as it has said

    /** @return whether a packet is to be sent, now or later */
    bool HasWork() const;

  private:
    Frame* MakeFrameOf(UecPaths& paths, int64_t now);
    bool IsUsable(uint32_t plane) const;
    bool IsAnyUsable() const;
    uint32_t GetNextBytes() const;
    uint32_t GetWantedCredit() const;

    uint32_t m_planeBits;  // of entropy values
    uint32_t m_turn{0};    // lane that is told first
    uint32_t m_linePacket; // expected size of the frame of a full packet on the line, bytes
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_PACKET_MAKER_H
