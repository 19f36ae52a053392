/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_CONGESTION_CONTROL_H
#define DISTRIBUTED_TRAINING_RDMA_CONGESTION_CONTROL_H

#include "ns3/data-rate.h"
#include "ns3/fabric-frame.h"
#include "ns3/object.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"
#include "ns3/training-key-values.h"
#include "ns3/training-network-part.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Sets the sending rate of one queue pair. An algorithm is one subclass in one pair of files,
 * registered by name (Registry<CongestionControlEntry>). It holds only its own state and learns of
 * events through the calls below. Times are picoseconds of simulated time, rates bit/s.
 *
 * Timers should be lazy: the algorithm replays expired timers when GetRate() is called, so a queue
 * pair costs no events.
 */
class RdmaCongestionControl : public Object, public NetworkPart
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Signals that an algorithm needs. */
    struct Needs
    {
        bool acks{true};          ///< OnAck() is called
        bool cnp{false};          ///< the receiver answers ECN-marked packets with CNPs
        bool ackPerPacket{false}; ///< every packet requests an acknowledgement
        bool sentBytes{false};    ///< OnSent() is called
        bool telemetry{false};    ///< packets collect in-band telemetry (INT)
    };

    /** The network path of a queue pair. */
    struct Path
    {
        double lineRate;   ///< line rate of the host's port, bit/s
        int64_t roundTrip; ///< of a full packet and its ACK, which waits for a packet a link, ps
        uint32_t mtu;      ///< payload of a full packet, bytes
        uint32_t hops;     ///< links on the longest path between hosts
    };

    /** An acknowledgement. PSNs count from 0 over the life of the queue pair. */
    struct Ack
    {
        int64_t now;              ///< simulated time, ps
        int64_t roundTrip;        ///< round-trip time of the acknowledged packet, ps
        uint64_t bytes;           ///< newly acknowledged payload
        uint64_t firstUnackedPsn; ///< all packets before this PSN are acknowledged
        uint64_t nextPsn;         ///< PSN of the next new packet
        bool ecnEcho; ///< an ECN mark on the acknowledged packet, or on one since the last ACK
        const TelemetryStack* telemetry; ///< telemetry of the acknowledged packet, or null
    };

    /** @param node id of the node whose queue pair it serves */
    void SetNodeId(uint32_t node)
    {
        m_nodeId = node;
    }

    // NetworkPart
    void CatchUp() const override
    {
        EventLoop::CatchUp(m_nodeId);
    }

    /** @return the required signals; the same for all queue pairs with the same attributes */
    virtual Needs GetNeeds() const
    {
        return {};
    }

    /**
     * Called once, before the first packet.
     * @param path the network path of the queue pair
     */
    virtual void Initialize(const Path& path) = 0;

    /**
     * @param now simulated time, ps
     * @return sending rate from now on, bit/s, more than 0
     */
    virtual double GetRate(int64_t now) = 0;

    /**
     * @return time until which the last result of GetRate() stays valid unless another event is
     *         reported, ps; 0: unknown, so GetRate() is called for each packet
     */
    virtual int64_t GetRateEnd() const
    {
        return 0;
    }

    /**
     * Called after GetRate(), which follows each of the calls below, and when a message is posted.
     * @return limit of unacknowledged payload, bytes; one packet is always allowed
     */
    virtual uint64_t GetWindow() const
    {
        return std::numeric_limits<uint64_t>::max();
    }

    /**
     * A positive acknowledgement has arrived.
     * @param ack the acknowledgement
     */
    virtual void OnAck([[maybe_unused]] const Ack& ack)
    {
    }

    /**
     * A congestion notification packet (CNP) has arrived.
     * @param now simulated time, ps
     */
    virtual void OnCnp([[maybe_unused]] int64_t now)
    {
    }

    /**
     * Called when GetByteQuota() is used up, and before each call of GetRate().
     * @param bytes sent on the line since the last call
     * @param now simulated time, ps
     */
    virtual void OnSent([[maybe_unused]] uint64_t bytes, [[maybe_unused]] int64_t now)
    {
    }

    /** @return bytes on the line after which the rate may change */
    virtual int64_t GetByteQuota() const
    {
        return std::numeric_limits<int64_t>::max();
    }

    /**
     * The receiver reports a lost packet.
     * @param now simulated time, ps
     */
    virtual void OnLoss([[maybe_unused]] int64_t now)
    {
    }

    /**
     * The retransmission timer has expired.
     * @param now simulated time, ps
     */
    virtual void OnTimeout([[maybe_unused]] int64_t now)
    {
    }

    /**
     * @return for warnings: the rule that keeps the rate down now, and the option against it;
     *         empty: unknown
     */
    virtual std::string DescribeLimit() const
    {
        return "";
    }

  private:
    uint32_t m_nodeId{Simulator::NO_CONTEXT};
};

/** Detects the end of a round trip: the ACK of a packet sent after the round trip began. */
class RoundTripMark
{
  public:
    /**
     * @param ack an acknowledgement
     * @return whether it ends a round trip; if so, the next round trip begins
     */
    bool IsReached(const RdmaCongestionControl::Ack& ack)
    {
        if (ack.firstUnackedPsn <= m_psn)
        {
            return false;
        }
        m_psn = ack.nextPsn;
        return true;
    }

  private:
    uint64_t m_psn{0}; // next PSN to send when the round trip began
};

/**
 * @param rate bit/s
 * @param time ps
 * @return bytes sent at that rate in that time
 */
inline double
GetBytesSent(double rate, int64_t time)
{
    return rate * static_cast<double>(time) / 8e12;
}

/**
 * @param minimum lowest rate that the user allows, bit/s
 * @param lineRate of the port, bit/s
 * @return the minimum rate: at most the line rate, and above 0 because a rate of 0 never recovers
 */
inline double
GetLowestRate(const DataRate& minimum, double lineRate)
{
    return std::min(std::max(static_cast<double>(minimum.GetBitRate()), 1.0), lineRate);
}

/**
 * The increase of a window in a round trip is published as one packet. On a longer path than that
 * of its source, windows would take more round trips to grow, and each is longer. Here the rate
 * grows as fast as there, but takes at least eight round trips from nothing to the line rate.
 * @param roundTrip of the source, without queues, ps
 * @param path of the queue pair
 * @return increase in a round trip, packets, at least 1
 */
double GetIncrease(int64_t roundTrip, const RdmaCongestionControl::Path& path);

/** Description of a congestion control. @ingroup distributed-training-rdma */
struct CongestionControlEntry
{
    static constexpr const char* KIND = "RDMA congestion control"; ///< for messages
    std::string help;                                              ///< one line
    TypeId (*getTypeId)();                                         ///< type of the subclass
    /// Queue length above which switches should mark every frame, and below which none, in bytes
    /// per Gbit/s of the port; 0: no recommendation.
    double ecnStepPerGbps{0};

    /** A published set of parameters. */
    struct Preset
    {
        std::string name; ///< value of the key `preset`
        std::string help; ///< source
        /// Full names and values of attributes: of the congestion control, NICs and switches.
        std::vector<std::pair<std::string, std::string>> attributes;
    };

    std::vector<Preset> presets{}; ///< the first one is the default
    /// Whether it draws no random numbers, so that an iteration can be like an earlier one.
    bool repeats{false};
};

/**
 * @param entry description of a congestion control
 * @return its keys: the attributes of its class, and `preset` if it has presets
 */
std::vector<Key> GetKeys(const CongestionControlEntry& entry);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_CONGESTION_CONTROL_H
