/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_SETTINGS_H
#define DISTRIBUTED_TRAINING_RDMA_SETTINGS_H

#include "ns3/fabric-traffic-class.h"
#include "ns3/nstime.h"

#include <algorithm>
#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Settings shared by all queue pairs of a NIC. They are attributes of RdmaNic, which documents them
 * and sets their defaults.
 */
struct RdmaSettings
{
    uint32_t mtu;             ///< payload of a full packet, bytes
    uint32_t ackInterval;     ///< packets per requested acknowledgement
    uint32_t pathHops;        ///< links on the longest path between hosts
    uint8_t dataPriority;     ///< traffic class of data
    uint8_t losslessClasses;  ///< bit p: the network pauses class p and drops nothing of it
    uint8_t datagramPriority; ///< traffic class of datagrams
    uint8_t ackPriority;      ///< traffic class of ACKs and NAKs; PRIORITIES: that of data
    uint8_t cnpPriority;      ///< traffic class of CNPs
    uint8_t minRnrTimer;      ///< RNR timer code sent in an RNR NAK, 5 bits
    uint32_t pacingBurst;     ///< packets of unused sending time that pacing keeps
    uint32_t retryLimit;      ///< timeouts without progress before a queue pair fails
    uint32_t rnrRetryLimit;   ///< refusals without progress before it fails; 7: unlimited
    uint64_t inFlightLimit;   ///< limit of payload in flight, bytes; 0: set by loss recovery
    Time baseRoundTrip;       ///< of a full packet and its acknowledgement without queues
    Time timeout;             ///< first retransmission timeout
    Time timeoutLow;          ///< selective repeat: first timeout with few packets in flight
    Time timeoutHigh;         ///< selective repeat: first timeout with more packets in flight
    Time cnpInterval;         ///< minimum time between two CNPs of a queue pair
    Time doorbellLatency;     ///< from posting a message until the NIC sees its work request
    Time dmaReadLatency;      ///< from the doorbell until the NIC has the first bytes
    Time completionLatency;   ///< from the last packet of a message until the host is notified
    uint32_t firstPsn;        ///< PSN of the first packet in each direction, 24 bits; of a NIC 0

    /** @return whether a loss is no sign of a full queue */
    bool IsLossless() const
    {
        return (losslessClasses >> dataPriority & 1) != 0;
    }

    /** @return traffic class of ACKs and NAKs */
    uint8_t GetAckPriority() const
    {
        return ackPriority < PRIORITIES ? ackPriority : dataPriority;
    }

    /// Limit of timeout doublings: each expiry doubles the timeout.
    static constexpr uint32_t MAX_DOUBLINGS = 7;

    /**
     * @return time without progress until a queue pair fails: retryLimit + 1 timeouts that double,
     *         ps. Shorter timeouts are more of them, so that random losses do not add up to it.
     */
    int64_t GetRetryTime() const
    {
        const uint32_t doubled = std::min(retryLimit, MAX_DOUBLINGS);
        const int64_t timeouts =
            (int64_t{2} << doubled) - 1 + (int64_t{retryLimit - doubled} << MAX_DOUBLINGS);
        return timeouts * timeout.GetTimeStep();
    }

    /** @return time from posting a message until its first packet can be sent */
    Time GetPostLatency() const
    {
        return doorbellLatency + dmaReadLatency;
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_SETTINGS_H
