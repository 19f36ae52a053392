/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_CONGESTION_CONTROL_H
#define DISTRIBUTED_TRAINING_RDMA_CONGESTION_CONTROL_H

#include "ns3/data-rate.h"
#include "ns3/fabric-frame.h"
#include "ns3/object.h"
#include "ns3/registry.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The sending rate of one queue pair. An algorithm is one subclass in one pair of files, registered
 * by name (Registry<CongestionControlEntry>); it holds only its own state and learns everything by
 * the calls below. Times are picoseconds of simulated time, rates bit/s.
 *
 * Timers are to be lazy: what a timer would have done is worked out when the rate is next asked
 * for, so a queue pair costs no events.
 */
class RdmaCongestionControl : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** What an algorithm needs beyond acknowledgements. */
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

    /** What an acknowledgement tells. Packets are counted from 0 for the life of a queue pair. */
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

    /** @return what it needs; the same for every queue pair of a class and its attributes */
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
     * @return rate to send at from now on, bit/s, more than 0
     */
    virtual double GetRate(int64_t now) = 0;

    /**
     * @return until when the rate that GetRate() has returned last holds if nothing is heard in the
     *         meantime, ps; 0, if that is not known, to be asked for each packet
     */
    virtual int64_t GetRateEnd() const
    {
        return 0;
    }

    /**
     * Asked for after GetRate(), which follows each of the calls below, and when a message is
     * posted.
     * @return most payload bytes that may be unacknowledged; one packet always may be
     */
    virtual uint64_t GetWindow() const
    {
        return std::numeric_limits<uint64_t>::max();
    }

    /**
     * A positive acknowledgement has arrived.
     * @param ack what it tells
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
     * A packet was lost: the receiver says so.
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

/** Tells an algorithm when a round trip has gone by: what was sent at its start is acknowledged. */
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
 * @return the lowest rate: not above that of the line, and not 0, which would end all sending
 */
inline double
GetLowestRate(const DataRate& minimum, double lineRate)
{
    return std::min(std::max(static_cast<double>(minimum.GetBitRate()), 1.0), lineRate);
}

/** What is known of a congestion control by name. */
struct CongestionControlEntry
{
    static constexpr const char* KIND = "RDMA congestion control"; ///< for messages
    std::string help;                                              ///< one line
    TypeId (*getTypeId)();                                         ///< its class
    /// Queue above which switches are to mark every frame, and none below, bytes per Gbit/s of the
    /// port; 0: it does not mind.
    double ecnStepPerGbps{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_CONGESTION_CONTROL_H
