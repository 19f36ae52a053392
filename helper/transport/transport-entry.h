/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRANSPORT_ENTRY_H
#define DISTRIBUTED_TRAINING_TRANSPORT_ENTRY_H

#include "ns3/training-registry.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace ns3::training
{

class AttributeList;
struct ClusterOptions;
class HostTransport;

/**
 * @ingroup distributed-training-helper
 * A transport. Registry name: value of the option `transport`.
 */
struct TransportEntry
{
    static constexpr const char* KIND = "transport"; ///< for messages

    std::string help;              ///< one line
    std::string congestionControl; ///< in place of auto
    uint32_t mtu{4096};            ///< in place of 0, bytes
    /// Creates it.
    std::unique_ptr<HostTransport> (*make)(const ClusterOptions&, const AttributeList&);
    /// Attributes that it sets itself, by full name, and the field of ClusterOptions that
    /// determines each; empty: several fields.
    std::map<std::string, std::string> ownAttributes{};
    /// Messages travel on queue pairs of RdmaNic: several for two ports, with a loss recovery.
    bool hasQueuePairs{false};
    bool hasPriorities{false}; ///< SetPriority() takes effect
    /// All its state is visited (StateVisitor) and nothing in it is random: steady states,
    /// collectives and iterations repeat.
    bool repeats{false};
    bool forgets{false}; ///< a collective leaves nothing behind that changes the next one
    bool countsPackets{
        false};           ///< HostTransport::ListConnections() counts packets sent and repeated
    bool isStream{false}; ///< segments do not end where messages end, so engines see parts of both
    /** Whether one connection sends the packets of a message by several ports. */
    enum class Sprays
    {
        NEVER,
        CAN,   ///< --port-pairs=spray
        ALWAYS ///< unless the user says otherwise
    };

    Sprays sprays{Sprays::NEVER}; ///< @see Sprays
    double hopsPerSecond{0};      ///< packet-hops simulated in a second; 0: by the number of ranks
    /// Full name of a congestion control; null: it is as given.
    std::string (*getControl)(const std::string&){nullptr};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRANSPORT_ENTRY_H
