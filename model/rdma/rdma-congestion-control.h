/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_CONGESTION_CONTROL_H
#define DISTRIBUTED_TRAINING_RDMA_CONGESTION_CONTROL_H

#include "ns3/object.h"
#include "ns3/registry.h"
#include "ns3/type-id.h"

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

    /**
     * Called once, before the first packet.
     * @param lineRate of the host's port, bit/s
     */
    virtual void Initialize(double lineRate) = 0;

    /**
     * @param now simulated time, ps
     * @return rate to send at from now on, bit/s, more than 0
     */
    virtual double GetRate(int64_t now) = 0;

    /** @return most bytes that may be unacknowledged */
    virtual uint64_t GetWindow() const
    {
        return std::numeric_limits<uint64_t>::max();
    }

    /** @return whether the receiver is to answer marked packets by CNPs */
    virtual bool WantsCnp() const
    {
        return false;
    }

    /**
     * A congestion notification packet has arrived.
     * @param now simulated time, ps
     */
    virtual void OnCnp([[maybe_unused]] int64_t now)
    {
    }
};

/** What is known of a congestion control by name. */
struct CongestionControlEntry
{
    static constexpr const char* KIND = "RDMA congestion control"; ///< for messages
    std::string help;                                              ///< one line
    TypeId (*getTypeId)();                                         ///< its class
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_CONGESTION_CONTROL_H
