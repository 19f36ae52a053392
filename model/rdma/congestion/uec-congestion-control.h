/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_CONGESTION_CONTROL_H
#define DISTRIBUTED_TRAINING_UEC_CONGESTION_CONTROL_H

#include "ns3/object.h"
#include "ns3/training-key-values.h"
#include "ns3/type-id.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Limits what a connection of Ultra Ethernet has in flight. An algorithm is one subclass in one
 * pair of files, registered by name (Registry<UecCongestionControlEntry>). Bytes are those of
 * frames, headers included; times are picoseconds of simulated time.
 */
class UecCongestionControl : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** The network path of a connection. */
    struct Path
    {
        double lineRate;   ///< line rate of the host's port, bit/s
        int64_t roundTrip; ///< longest round trip on the idle network, ps
        uint32_t payload;  ///< payload of a full packet, bytes
        uint32_t packet;   ///< size of a full packet, bytes
        bool isTrimming;   ///< whether switches trim packets
    };

    /** What an acknowledgement or a NACK tells. */
    struct Feedback
    {
        int64_t now;       ///< simulated time, ps
        int64_t roundTrip; ///< round-trip time of the packet, ps; 0: unknown
        uint64_t bytes;    ///< ACK: bytes that newly arrived; NACK: bytes of the trimmed packet
        uint64_t inFlight; ///< bytes in flight, after the ACK or before the NACK
        bool isMarked;     ///< whether the packet was ECN-marked
        bool isLastHop;    ///< NACK: trimmed at the link to its destination
        bool isShort;      ///< whether the packet is shorter than a full one
    };

    /**
     * Called once, before the first packet.
     * @param path the network path of the connection
     */
    virtual void Initialize(const Path& path) = 0;

    /** @return whether packets need credit of the receiver */
    virtual bool NeedsCredit() const
    {
        return false;
    }

    /** @return limit of bytes in flight; one packet is always allowed */
    virtual uint64_t GetWindow() const
    {
        return std::numeric_limits<uint64_t>::max();
    }

    /** @param feedback an acknowledgement */
    virtual void OnAck([[maybe_unused]] const Feedback& feedback)
    {
    }

    /** @param feedback a NACK of a trimmed packet */
    virtual void OnNack([[maybe_unused]] const Feedback& feedback)
    {
    }

    /** @param bytes size of a packet whose timer has expired */
    virtual void OnTimeout([[maybe_unused]] uint64_t bytes)
    {
    }
};

/** Description of a congestion control. @ingroup distributed-training-rdma */
struct UecCongestionControlEntry
{
    static constexpr const char* KIND = "UEC congestion control"; ///< for messages
    std::string help;                                             ///< one line
    TypeId (*getTypeId)();                                        ///< type of the subclass
};

/** @return keys of a congestion control: the attributes of its class */
inline std::vector<Key>
GetKeys(const UecCongestionControlEntry& entry)
{
    return GetAttributeKeys(entry.getTypeId());
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_CONGESTION_CONTROL_H
