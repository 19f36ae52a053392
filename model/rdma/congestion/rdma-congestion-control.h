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
#include "ns3/training-key-values.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The sending rate of one queue pair. An algorithm is one subclass in one pair of files, registered
 * by name (Registry<CongestionControlEntry>). It holds only its own state and learns of events by
 * the calls below. Times are picoseconds of simulated time, rates bit/s.
 *
 * Timers should be lazy: the algorithm replays expired timers when it is asked for the rate, so a
 * queue pair costs no events.
 */
class RdmaCongestionControl : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Signals that an algorithm needs. */
    struct Needs
    {
        bool acks{true};          ///< OnAck() is called
        bool cnp{false};          ///< the receiver answers marked packets by CNPs
        bool ackPerPacket{false}; ///< every packet asks for an acknowledgement
        bool telemetry{false};    ///< packets gather in-band telemetry (INT)
    };

    /** The path a queue pair sends on. */
    struct Path
    {
        double lineRate;   ///< of the host's port, bit/s
        int64_t roundTrip; ///< of a full packet and its acknowledgement on the idle network, ps
        uint32_t mtu;      ///< payload of a full packet, bytes
        uint32_t hops;     ///< links on the longest path between hosts
    };

    /** Contents of an acknowledgement. Packets are counted from 0 for the life of a queue pair. */
    struct Ack
    {
        int64_t now;              ///< simulated time, ps
        int64_t roundTrip;        ///< since the packet it answers was sent, ps
        uint64_t bytes;           ///< payload that it acknowledges first
        uint64_t firstUnackedPsn; ///< all packets before this one are acknowledged
        uint64_t nextPsn;         ///< the packet that is sent next
        bool ecnEcho; ///< the packet it answers, or one since the last answer, was marked
        const TelemetryStack* telemetry; ///< of the packet it answers, or null
    };

    /** @return the signals it needs; the same for all queue pairs with the same attributes */
    virtual Needs GetNeeds() const
    {
        return {};
    }

    /**
     * Called once, before the first packet.
     * @param path the path it sends on
     */
    virtual void Initialize(const Path& path) = 0;

    /**
     * @param now simulated time, ps
     * @return sending rate from now on, bit/s, more than 0
     */
    virtual double GetRate(int64_t now) = 0;

    /**
     * @return time until which the last result of GetRate() holds unless another event is reported,
     *         ps; 0: unknown, GetRate() is called for each packet
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
     * A congestion notification packet has arrived.
     * @param now simulated time, ps
     */
    virtual void OnCnp([[maybe_unused]] int64_t now)
    {
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
};

/** Detects the end of a round trip: the packets sent at its start are acknowledged. */
class RoundTripMark
{
  public:
    /**
     * @param ack an acknowledgement
     * @return whether it ends a round trip; the next one then begins
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
    uint64_t m_psn{0}; // next to send when the round trip began
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
 * @param minimum rate that a user allows
 * @param lineRate of the port, bit/s
 * @return the lowest rate: at most that of the line, and more than 0, which would end all sending
 */
inline double
GetLowestRate(const DataRate& minimum, double lineRate)
{
    return std::min(std::max(static_cast<double>(minimum.GetBitRate()), 1.0), lineRate);
}

/** @ingroup distributed-training-rdma Description of a congestion control. */
struct CongestionControlEntry
{
    static constexpr const char* KIND = "RDMA congestion control"; ///< for messages
    std::string help;                                              ///< one line
    TypeId (*getTypeId)();                                         ///< its class
    /// Queue above which switches should mark every frame, and none below, bytes per Gbit/s of the
    /// port; 0: it needs no particular marking.
    double ecnStepPerGbps{0};
};

/** @return keys of a congestion control: the attributes of its class */
inline std::vector<Key>
GetKeys(const CongestionControlEntry& entry)
{
    return GetAttributeKeys(entry.getTypeId());
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_CONGESTION_CONTROL_H
