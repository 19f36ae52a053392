/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_LOSS_RECOVERY_H
#define DISTRIBUTED_TRAINING_RDMA_LOSS_RECOVERY_H

#include "ns3/fabric-frame.h"
#include "ns3/nstime.h"
#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Loss recovery of a queue pair: decides which packets the sender retransmits, and whether the
 * receiver keeps packets ahead of a gap. An algorithm is one subclass in one file, registered by
 * name (Registry<LossRecoveryEntry>). It is called only after a loss or reordering: packets that
 * arrive in order bypass it.
 *
 * PSNs are the 64-bit numbers of the queue pair.
 */
class RdmaLossRecovery
{
  public:
    virtual ~RdmaLossRecovery() = default;

    /** State of the sender. */
    struct Window
    {
        uint64_t unackedPsn{0}; ///< first unacknowledged packet
        uint64_t nextPsn{0};    ///< next packet in order; loss recovery may move it back
        uint64_t highestPsn{0}; ///< one past the last packet ever sent
    };

    /** What a NAK says, beside that packet `unackedPsn` is missing. */
    struct Nak
    {
        uint64_t missingPsn; ///< first packet of the gap that it names
        uint64_t arrivedPsn; ///< first packet behind that gap
        int64_t now;         ///< simulated time, ps
        int64_t roundTrip;   ///< measured round trip, ps; 0: not measured
    };

    /**
     * A NAK reports that packet `unackedPsn` is missing.
     * @param window of the sender, with all packets before the missing one acknowledged
     * @param nak the NAK
     * @return whether this is a new loss, to be reported to the congestion control
     */
    virtual bool OnNak(Window& window, const Nak& nak) = 0;

    /**
     * The retransmission timer has expired.
     * @param window of the sender
     */
    virtual void OnTimeout(Window& window) = 0;

    /**
     * An RNR NAK: the receiver was not ready for packet `unackedPsn`, which must be retransmitted.
     * @param window of the sender
     */
    virtual void OnRnrNak(Window& window) = 0;

    /**
     * More packets are acknowledged. Called only while IsRecovering().
     * @param window of the sender
     */
    virtual void OnProgress([[maybe_unused]] Window& window)
    {
    }

    /** @return whether the sender has packets to retransmit or knows of a gap */
    virtual bool IsRecovering() const
    {
        return false;
    }

    /** @return whether a packet before `nextPsn` must be retransmitted first */
    virtual bool HasResend() const
    {
        return false;
    }

    /**
     * @param now simulated time, ps
     * @return that packet; it is removed from the packets to retransmit
     */
    virtual uint64_t TakeResend([[maybe_unused]] int64_t now)
    {
        return 0;
    }

    /**
     * Offers a packet that arrived ahead of a gap.
     * @param distance from the expected packet, at least 0
     * @param frame the packet, owned by the callee if the result is true
     * @param now simulated time, ps
     * @return whether the receiver keeps it; false if it discards the packet or already has it
     */
    virtual bool Keep([[maybe_unused]] uint64_t distance,
                      [[maybe_unused]] Frame* frame,
                      [[maybe_unused]] int64_t now)
    {
        return false;
    }

    /** @return the expected packet if it is kept, otherwise null; owned by this object */
    virtual Frame* PeekKept() const
    {
        return nullptr;
    }

    /**
     * The expected packet is accepted; the receiver now expects the next one.
     * @return the accepted packet if it was kept, otherwise null; owned by the caller
     */
    virtual Frame* Advance()
    {
        return nullptr;
    }

    /** A gap in the packets received, when a packet ahead of it arrives. */
    struct Gap
    {
        uint64_t missing; ///< first missing packet
        uint64_t arrived; ///< the packet that has arrived
        bool isReported;  ///< whether a NAK has named this missing packet
    };

    /**
     * Decides whether a packet ahead of a gap triggers a NAK.
     * @param gap the gap
     * @return the arrived packet to be named in a NAK; empty: no NAK
     */
    virtual std::optional<uint64_t> Report(const Gap& gap) const
    {
        return gap.isReported ? std::nullopt : std::optional<uint64_t>(gap.arrived);
    }

    /** A gap that has lasted for too long. */
    struct Overdue
    {
        uint64_t missing; ///< distance of its first packet from the expected one
        uint64_t arrived; ///< that of the first packet behind it
        int64_t sentAt;   ///< when that packet left its sender, as if it had not waited here, ps
    };

    /** @return time that a gap may last before a NAK, ps; 0: NAKs answer arrivals only */
    virtual int64_t GetPatience() const
    {
        return 0;
    }

    /**
     * Looks for gaps that have lasted for GetPatience() since they were found or last reported.
     * @param now simulated time, ps
     * @param overdue receives them
     * @return when to look again, ps; 0: there is no gap
     */
    virtual int64_t Review([[maybe_unused]] int64_t now,
                           [[maybe_unused]] std::vector<Overdue>& overdue)
    {
        return 0;
    }

    /**
     * The expected packet has arrived, and packets behind it are kept.
     * @param now simulated time, ps
     */
    virtual void OnGapFilled([[maybe_unused]] int64_t now)
    {
    }

    /** @param roundTrip of the idle network, ps; called once, before the first packet */
    virtual void SetIdleRoundTrip([[maybe_unused]] int64_t roundTrip)
    {
    }

    /** @return whether the receiver keeps packets ahead of a gap, and a NAK names one of them */
    virtual bool IsSelective() const
    {
        return false;
    }

    /** @return whether IRN's limit of packets in flight applies, and its timeouts from the start */
    virtual bool IsIrn() const
    {
        return false;
    }
};

/** Description of a loss recovery algorithm. @ingroup distributed-training-rdma */
struct LossRecoveryEntry
{
    static constexpr const char* KIND = "loss recovery"; ///< for messages
    std::string help;                                    ///< one line
    std::vector<Key> keys;                               ///< its keys
    /// Creates the instance of one queue pair.
    std::unique_ptr<RdmaLossRecovery> (*make)(const KeyValues& values);
    bool takesReordering{false}; ///< whether it tells reordered packets from lost ones
};

/**
 * @ingroup distributed-training-rdma
 * @param recovery NAME or NAME:key=value,...
 * @return description of the loss recovery of that name
 * @throw ConfigurationError if there is none
 */
inline const LossRecoveryEntry&
GetLossRecovery(const std::string& recovery)
{
    return Registry<LossRecoveryEntry>::Find(KeyValues::Split(recovery).GetName());
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_LOSS_RECOVERY_H
