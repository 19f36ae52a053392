/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IN_NETWORK_SYSTEM_H
#define DISTRIBUTED_TRAINING_IN_NETWORK_SYSTEM_H

#include "ns3/configuration-error.h"
#include "ns3/fabric-helper.h"
#include "ns3/in-network-communicator.h"
#include "ns3/registry.h"
#include "ns3/uinteger.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/// Numbers of jobs have 8 bits.
inline constexpr uint32_t MOST_JOBS = 256;

/** What a job asks of a system that adds in the network. */
struct InNetworkOptions
{
    uint64_t elementsPerPacket{0}; ///< values in a packet; 0: as the system has it
    uint64_t slots{0};             ///< sums a switch holds at a time, of all jobs; 0: likewise
    uint64_t window{0};            ///< packets in flight of a worker; 0: likewise
    std::string framing{"udp"};    ///< udp or rdma
    uint64_t messagePackets{4};    ///< RDMA framing: packets in a message
};

/** What a system adds for. */
struct InNetworkRequest
{
    Fabric& fabric;                                ///< whose switches add
    std::vector<uint32_t> endpoints;               ///< of each rank
    std::vector<Ptr<ScheduledCommunicator>> hosts; ///< what the ranks do among themselves
    InNetworkOptions options;                      ///< what the user wants
};

/**
 * @ingroup distributed-training-helper
 *
 * A system that adds in the network, by the name that takes a collective algorithm's place. Its
 * function installs programs in switches and gives each rank its communicator; it throws
 * ConfigurationError if that is not possible.
 */
struct InNetworkSystem
{
    static constexpr const char* KIND = "in-network aggregation"; ///< for messages
    std::string help;                                             ///< one line
    std::vector<Ptr<InNetworkCommunicator>> (*install)(
        const InNetworkRequest& request); ///< does it
    std::string operations{"all-reduce"}; ///< what it makes; all others by a ring
};

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
    if (job >= MOST_JOBS)
    {
        throw ConfigurationError(system + " job " + std::to_string(job) + " (allowed: up to " +
                                 std::to_string(MOST_JOBS - 1) + ")");
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

/**
 * @ingroup distributed-training-helper
 *
 * @tparam Program of switches
 * @param asked what an option says; 0: nothing
 * @param attribute of the program
 * @return what the option says, or else what the attribute is by default, which a user may have set
 */
template <typename Program>
uint32_t
GetAsked(uint64_t asked, const std::string& attribute)
{
    UintegerValue usual(asked);
    if (asked == 0)
    {
        CreateObject<Program>()->GetAttribute(attribute, usual);
    }
    return static_cast<uint32_t>(usual.Get());
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IN_NETWORK_SYSTEM_H
