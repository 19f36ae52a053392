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

    /**
     * A NAK reports that packet `unackedPsn` is missing.
     * @param window of the sender, with all packets before the missing one acknowledged
     * @param arrivedPsn packet that the NAK names; it has arrived
     * @return whether this is a new loss, to be reported to the congestion control
     */
    virtual bool OnNak(Window& window, uint64_t arrivedPsn) = 0;

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

    /** @return that packet; it is removed from the packets to retransmit */
    virtual uint64_t TakeResend()
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
        int64_t age;      ///< time since the gap was found, or since it was reported, ps
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

    /** The first of the gaps that remain after a gap has been filled. */
    struct NextGap
    {
        uint64_t missing; ///< first missing packet
        bool isReported;  ///< whether it was part of the gap reported last
        int64_t now;      ///< simulated time, ps
    };

    /**
     * Decides whether the filling of a gap triggers a NAK for the next one. Packets behind that one
     * are kept.
     * @param gap the next gap
     * @param since when the filled gap was found or reported, ps; becomes that of the next one
     * @return as Report()
     */
    virtual std::optional<uint64_t> ReportNext([[maybe_unused]] const NextGap& gap,
                                               [[maybe_unused]] int64_t& since) const
    {
        return std::nullopt;
    }

    /** @return whether the receiver keeps packets ahead of a gap, and a NAK names one of them */
    virtual bool IsSelective() const
    {
        return false;
    }

    /** @return whether IRN's timeouts and its limit of packets in flight apply */
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
