/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_LOSS_RECOVERY_H
#define DISTRIBUTED_TRAINING_RDMA_LOSS_RECOVERY_H

#include "ns3/fabric-frame.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Recovery of a queue pair from lost and reordered packets: which packets the sender retransmits,
 * and whether the receiver keeps packets ahead of a gap. An algorithm is one subclass in one file,
 * registered by name (Registry<LossRecoveryEntry>). It is called only after a loss or reordering; a
 * packet in order never gets here.
 *
 * Packet sequence numbers are those of the queue pair, 64 bit.
 */
class RdmaLossRecovery
{
  public:
    virtual ~RdmaLossRecovery() = default;

    /** State of the sender. */
    struct Window
    {
        uint64_t unackedPsn{0}; ///< first packet not acknowledged
        uint64_t nextPsn{0};    ///< next packet in order; recovery may put it back
        uint64_t highestPsn{0}; ///< one past the last packet ever sent
    };

    /**
     * A negative acknowledgement reports that packet `unackedPsn` is missing.
     * @param window of the sender, with all up to the missing packet acknowledged
     * @param arrivedPsn packet that caused the answer, which has arrived
     * @return whether this is a new loss, to be reported to the congestion control
     */
    virtual bool OnNak(Window& window, uint64_t arrivedPsn) = 0;

    /**
     * The retransmission timer has expired.
     * @param window of the sender
     */
    virtual void OnTimeout(Window& window) = 0;

    /**
     * The receiver was not ready for packet `unackedPsn`, which must be retransmitted.
     * @param window of the sender
     */
    virtual void OnRefusal(Window& window) = 0;

    /**
     * More packets have been acknowledged; called only while IsRecovering().
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

    /** @return that packet, removed from those to retransmit */
    virtual uint64_t TakeResend()
    {
        return 0;
    }

    /**
     * Keeps a packet that has arrived ahead of a gap.
     * @param distance from the packet expected, at least 0
     * @param frame the packet, owned by the callee if the result is true
     * @return whether it is kept; if not, the receiver discards it or has it already
     */
    virtual bool Keep([[maybe_unused]] uint64_t distance, [[maybe_unused]] Frame* frame)
    {
        return false;
    }

    /** @return the packet expected now if it is kept, otherwise null; owned by this object */
    virtual Frame* PeekKept() const
    {
        return nullptr;
    }

    /**
     * The expected packet has been accepted; the next one is expected now.
     * @return the packet that was expected if it is kept, otherwise null; owned by the caller
     */
    virtual Frame* Advance()
    {
        return nullptr;
    }

    /** @return whether the receiver keeps packets ahead of a gap, and answers each of them */
    virtual bool IsSelective() const
    {
        return false;
    }
};

/** @ingroup distributed-training-rdma Description of a loss recovery. */
struct LossRecoveryEntry
{
    static constexpr const char* KIND = "loss recovery"; ///< for messages
    std::string help;                                    ///< one line
    std::unique_ptr<RdmaLossRecovery> (*make)();         ///< makes the recovery of one queue pair
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_LOSS_RECOVERY_H
