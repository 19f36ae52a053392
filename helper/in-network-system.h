/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IN_NETWORK_SYSTEM_H
#define DISTRIBUTED_TRAINING_IN_NETWORK_SYSTEM_H

#include "fabric-helper.h"

#include "ns3/in-network-communicator.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"
#include "ns3/uinteger.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/// Numbers of jobs have 8 bits.
inline constexpr uint32_t MAX_JOBS = 256;

/** A job that asks for aggregation in the network. */
struct InNetworkRequest
{
    Fabric& fabric;                                ///< whose switches add
    std::vector<uint32_t> endpoints;               ///< of each rank
    std::vector<Ptr<ScheduledCommunicator>> hosts; ///< collectives of the ranks among themselves
    const KeyValues& values;                       ///< keys of the system, as the user gave them
    AttributeList attributes;                      ///< of the objects to be made
};

/**
 * @ingroup distributed-training-helper
 *
 * A system that aggregates in the network, by the name that takes a collective algorithm's place:
 * `NAME:key=value,...`. It installs programs in switches and gives each rank its communicator.
 */
struct InNetworkSystem
{
    static constexpr const char* KIND = "in-network aggregation"; ///< for messages
    std::string help;                                             ///< one line
    /// Installs it; throws ConfigurationError if that is not possible.
    std::vector<Ptr<InNetworkCommunicator>> (*install)(const InNetworkRequest& request);
    /// Describes its keys, with the defaults of the moment; null: it has none.
    std::vector<Key> (*getKeys)();
    std::string operations{"all-reduce"}; ///< collectives that it offloads; all others by a ring
};

/** @return descriptions of the keys of a system */
inline std::vector<Key>
GetKeys(const InNetworkSystem& system)
{
    return system.getKeys ? system.getKeys() : std::vector<Key>();
}

/** @return the operations of a system */
inline std::vector<std::string>
GetNotes(const InNetworkSystem& system)
{
    return {"for " + system.operations + "; all other operations by a ring"};
}

/**
 * @ingroup distributed-training-helper
 * @param algorithm NAME or NAME:key=value,...
 * @return whether it is an InNetworkSystem, not an algorithm of the hosts
 */
inline bool
IsInNetwork(const std::string& algorithm)
{
    return Registry<InNetworkSystem>::All().count(KeyValues::Split(algorithm).GetName()) > 0;
}

/**
 * @ingroup distributed-training-helper
 * @param attributes of objects to be made
 * @param type of a program
 * @param attribute a whole number, such as Slots
 * @return its value in the programs
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
 * @param slots that the programs of the job have
 * @return the window of a worker, as many packets as slots if the user has not given the key
 */
inline uint32_t
GetWindow(const KeyValues& values, uint32_t slots)
{
    return values.IsGiven("window") ? static_cast<uint32_t>(values.GetCount("window")) : slots;
}

/**
 * @ingroup distributed-training-helper
 * @param most largest window
 * @return description of the key "window", which has no default
 */
inline Key
MakeWindowKey(uint32_t most)
{
    Key key = Key::Count("window",
                         1,
                         1,
                         most,
                         "packets in flight of a worker; as many as slots if not given");
    key.initial.clear();
    return key;
}

/**
 * @ingroup distributed-training-helper
 *
 * @param system for messages
 * @param job number of a job of it, from 0
 * @return the number, as packets have it
 * @throw ConfigurationError if it has more than 8 bits
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
 * @return the host of each
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
