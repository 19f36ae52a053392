/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_LOSS_RECOVERY_H
#define DISTRIBUTED_TRAINING_RDMA_LOSS_RECOVERY_H

#include "ns3/fabric-frame.h"
#include "ns3/registry.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * What a queue pair does about packets that do not arrive, or not in order: which ones its sender
 * sends again, and what its receiver does with those ahead of a gap. An algorithm is one subclass
 * in one file, registered by name (Registry<LossRecoveryEntry>). It is asked only when something
 * has gone wrong; a packet in order never gets here.
 *
 * Packet sequence numbers are those of the queue pair, 64 bit.
 */
class RdmaLossRecovery
{
  public:
    virtual ~RdmaLossRecovery() = default;

    /** What the sender has sent. */
    struct Window
    {
        uint64_t unackedPsn{0}; ///< first packet not acknowledged
        uint64_t nextPsn{0};    ///< next packet in order; recovery may put it back
        uint64_t highestPsn{0}; ///< one past the last packet ever sent
    };

    /**
     * The receiver misses packet `unackedPsn`: a negative acknowledgement says so.
     * @param window of the sender, with all up to the missing packet acknowledged
     * @param arrivedPsn packet that caused the answer, which has arrived
     * @return whether this is a new loss, as the congestion control is to see it
     */
    virtual bool OnNak(Window& window, uint64_t arrivedPsn) = 0;

    /**
     * Nothing has been heard for too long.
     * @param window of the sender
     */
    virtual void OnTimeout(Window& window) = 0;

    /**
     * The receiver was not ready for packet `unackedPsn`, which is to be sent again.
     * @param window of the sender
     */
    virtual void OnRefusal(Window& window) = 0;

    /**
     * More has been acknowledged; called only while the sender holds packets back to be sent again
     * or knows of a gap (IsRecovering()).
     * @param window of the sender
     */
    virtual void OnProgress([[maybe_unused]] Window& window)
    {
    }

    /** @return whether OnProgress() is to be called */
    virtual bool IsRecovering() const
    {
        return false;
    }

    /** @return whether a packet before `nextPsn` is to be sent, ahead of it */
    virtual bool HasResend() const
    {
        return false;
    }

    /** @return that packet, taken to be sent */
    virtual uint64_t TakeResend()
    {
        return 0;
    }

    /**
     * Keeps a packet that has arrived ahead of a gap.
     * @param distance from the packet expected, at least 0
     * @param frame the packet, owned by the callee if the result is true
     * @return whether it is kept; if not, it is discarded or has been kept before
     */
    virtual bool Keep([[maybe_unused]] uint64_t distance, [[maybe_unused]] Frame* frame)
    {
        return false;
    }

    /** @return the packet that is expected now, if it is kept; still owned by this */
    virtual Frame* PeekKept() const
    {
        return nullptr;
    }

    /**
     * The packet expected has been accepted: the next one is expected now.
     * @return the packet that was expected, if it is kept, now owned by the caller
     */
    virtual Frame* Advance()
    {
        return nullptr;
    }

    /** @return whether the receiver keeps packets, and so answers each one ahead of a gap */
    virtual bool IsSelective() const
    {
        return false;
    }
};

/** What is known of a loss recovery by name. */
struct LossRecoveryEntry
{
    static constexpr const char* KIND = "loss recovery"; ///< for messages
    std::string help;                                    ///< one line
    std::unique_ptr<RdmaLossRecovery> (*make)();         ///< makes that of a queue pair
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_LOSS_RECOVERY_H
