/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IN_NETWORK_SYSTEM_H
#define DISTRIBUTED_TRAINING_IN_NETWORK_SYSTEM_H

#include "in-network-controller.h"

#include "ns3/in-network-communicator.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-fabric.h"
#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"
#include "ns3/uinteger.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/// Maximum number of jobs: job numbers have 8 bits.
inline constexpr uint32_t MAX_JOBS = 256;

/** A job that requests in-network aggregation. */
struct InNetworkRequest
{
    Fabric& fabric; ///< its switches aggregate; other hosts than ranks need RouteTo()
    std::vector<uint32_t> endpoints;               ///< by rank
    std::vector<Ptr<ScheduledCommunicator>> hosts; ///< for collectives on hosts, by rank
    std::shared_ptr<const HostModel> hostModel;    ///< of the ranks; null: hosts add no time
    const KeyValues& values;                       ///< keys of the system, as the user gave them
    AttributeList attributes;                      ///< of the objects to create
    std::vector<std::string>& notes; ///< receives what a reader of the results must know, by line
    uint32_t largestJob{0};          ///< jobs that share the switches: most ranks of one
};

/** A group of ranks of a job that may sum in switches, beside other groups. */
struct InNetworkGroup
{
    std::vector<uint32_t> endpoints;               ///< by rank in the group
    std::vector<Ptr<ScheduledCommunicator>> hosts; ///< for collectives on hosts, by rank in it
    std::shared_ptr<const HostModel> hostModel;    ///< of its ranks; null: hosts add no time
};

/** Where values meet that the network adds. */
enum class SumPlace : uint8_t
{
    SERVER, ///< in the switches of servers, which read them
    ROOT,   ///< in one switch
    LEAVES, ///< in all switches that have ranks, and then in one
    TREE    ///< wherever paths to one switch merge
};

/** What sums in the network cost the simulator, about. */
struct InNetworkWork
{
    double packetBytes{256};          ///< values of a packet, by default
    double cost{1};                   ///< of a packet-hop, in those between hosts
    SumPlace place{SumPlace::LEAVES}; ///< for the links that packets cross
};

/**
 * @ingroup distributed-training-helper
 *
 * An in-network aggregation system, named `NAME:key=value,...` in place of a collective algorithm.
 * It installs programs in switches and creates the communicator of each rank.
 */
struct InNetworkSystem
{
    static constexpr const char* KIND = "in-network aggregation"; ///< for messages
    std::string help;                                             ///< one line
    /// Installs the system; throws ConfigurationError if that is impossible.
    std::vector<Ptr<InNetworkCommunicator>> (*install)(const InNetworkRequest& request);
    /// Describes its keys, with the current defaults; null: no keys.
    std::vector<Key> (*getKeys)();
    std::string operations{"all-reduce"}; ///< offloaded collectives; all others use a ring
    /// Queue length above which switches should ECN-mark every frame, and below which none, in
    /// bytes per Gbit/s of the port; 0: no recommendation.
    double ecnStepPerGbps{0};
    /// Makes the controller of jobs that share the switches; the request has all hosts that jobs
    /// may use, and no communicators. Throws ConfigurationError if that is impossible; null: jobs
    /// cannot share the switches.
    std::unique_ptr<InNetworkController> (*control)(const InNetworkRequest& request){nullptr};
    /// Whether equal collectives take the same time whenever they come.
    bool repeats{false};
    /// Makes the communicators of all groups of a job, which divide the switches, by group and rank
    /// in it; none for a group that no switch can serve. The request has no ranks. Throws
    /// ConfigurationError if the keys do not fit; null: groups of ranks use hosts.
    std::vector<std::vector<Ptr<InNetworkCommunicator>>> (*divide)(
        const InNetworkRequest& request,
        const std::vector<InNetworkGroup>& groups){nullptr};
    InNetworkWork work{}; ///< for estimates
};

/** @return names of the systems whose switches several jobs can share, separated by commas */
inline std::string
GetSharedSystems()
{
    std::string names;
    for (const auto& [name, system] : Registry<InNetworkSystem>::All())
    {
        names += !system.control ? "" : (names.empty() ? "" : ", ") + name;
    }
    return names;
}

/** @return descriptions of the keys of a system */
inline std::vector<Key>
GetKeys(const InNetworkSystem& system)
{
    return system.getKeys ? system.getKeys() : std::vector<Key>();
}

/** @return the offloaded operations of a system */
inline std::vector<std::string>
GetNotes(const InNetworkSystem& system)
{
    return {"for " + system.operations + "; all other operations by a ring"};
}

/**
 * @ingroup distributed-training-helper
 * @param algorithm NAME or NAME:key=value,...
 * @return whether it is an InNetworkSystem, not a collective algorithm
 */
inline bool
IsInNetwork(const std::string& algorithm)
{
    return Registry<InNetworkSystem>::All().count(KeyValues::Split(algorithm).GetName()) > 0;
}

/**
 * @ingroup distributed-training-helper
 * @param attributes of objects to create
 * @param type of a program
 * @param attribute a whole number, such as Slots
 * @return its value in new programs
 */
inline uint32_t
GetNumber(const AttributeList& attributes, TypeId type, const std::string& attribute)
{
    const auto value = DynamicCast<const UintegerValue>(attributes.Get(type, attribute));
    return static_cast<uint32_t>(value->Get());
}

/**
 * @ingroup distributed-training-helper
 * @param values keys of a system
 * @param slots slots of the job's programs
 * @return window of a worker; without the key, one packet per slot
 */
inline uint32_t
GetWindow(const KeyValues& values, uint32_t slots)
{
    return values.IsGiven("window") ? static_cast<uint32_t>(values.GetCount("window")) : slots;
}

/**
 * @ingroup distributed-training-helper
 * @param most maximum window
 * @return description of the key "window", which has no default
 */
inline Key
MakeWindowKey(uint32_t most)
{
    return Key::OptionalCount("window",
                              1,
                              most,
                              "packets in flight per worker; default: number of slots");
}

/**
 * @ingroup distributed-training-helper
 *
 * @param system for messages
 * @param job number of a job of the system, from 0
 * @return the number as in packets
 * @throw ConfigurationError if it needs more than 8 bits
 */
inline uint8_t
CheckJobNumber(const std::string& system, std::size_t job)
{
    if (job >= MAX_JOBS)
    {
        throw ConfigurationError(system + " job " + std::to_string(job) + " (allowed: up to " +
                                 std::to_string(MAX_JOBS - 1) + ")");
    }
    return static_cast<uint8_t>(job);
}

/**
 * @ingroup distributed-training-helper
 *
 * @param fabric of the endpoints
 * @param endpoints of hosts
 * @return the host of each endpoint
 */
inline std::vector<uint32_t>
GetHosts(const Fabric& fabric, const std::vector<uint32_t>& endpoints)
{
    std::vector<uint32_t> hosts;
    for (uint32_t endpoint : endpoints)
    {
        hosts.push_back(fabric.hostOfEndpoint[endpoint]);
    }
    return hosts;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IN_NETWORK_SYSTEM_H
