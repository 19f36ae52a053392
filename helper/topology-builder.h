/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TOPOLOGY_BUILDER_H
#define DISTRIBUTED_TRAINING_TOPOLOGY_BUILDER_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/registry.h"
#include "ns3/topology-graph.h"

#include <map>
#include <string>

namespace ns3::training
{

/** What a topology is built from. */
struct TopologyRequest
{
    uint32_t ranks{1};                    ///< hosts that will be used
    DataRate rate;                        ///< of each link
    Time delay;                           ///< propagation on each link
    std::map<std::string, uint64_t> keys; ///< the user's key=value pairs

    /**
     * @param key name
     * @param initial value if the user gave none
     * @return the value
     */
    uint64_t Get(const std::string& key, uint64_t initial) const;
};

/**
 * @ingroup distributed-training-helper
 * A kind of topology by name. Its function adds nodes and links to an empty graph.
 */
struct TopologyBuilder
{
    static constexpr const char* KIND = "topology"; ///< for messages
    std::string help;                               ///< one line
    /// Keys it knows, with smallest and largest value.
    std::map<std::string, std::pair<uint64_t, uint64_t>> keys;
    void (*build)(const TopologyRequest& request, TopologyGraph& graph); ///< makes it
};

/**
 * @ingroup distributed-training-helper
 * @param spec `NAME` or `NAME:key=value,key=value`
 * @param ranks hosts that will be used
 * @param rate of each link
 * @param delay propagation on each link
 * @return the topology, with at least `ranks` hosts that all reach each other
 * @throw ConfigurationError if the text is malformed, a value out of range, or hosts are too few
 */
TopologyGraph BuildTopology(const std::string& spec, uint32_t ranks, DataRate rate, Time delay);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TOPOLOGY_BUILDER_H
