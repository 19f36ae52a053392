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
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/** What a key of a topology may be. */
struct TopologyKey
{
    /** What its value is. */
    enum class Kind
    {
        NUMBER, ///< a whole number
        RATE,   ///< with a unit, such as 100Gbps
        TIME    ///< with a unit, such as 500ns
    };

    uint64_t least{1};       ///< smallest number
    uint64_t most{1024};     ///< largest number
    Kind kind{Kind::NUMBER}; ///< what it is
};

/// A key whose value is a rate.
inline constexpr TopologyKey RATE_KEY{0, 0, TopologyKey::Kind::RATE};
/// A key whose value is a time.
inline constexpr TopologyKey TIME_KEY{0, 0, TopologyKey::Kind::TIME};

/** What a topology is built from. */
struct TopologyRequest
{
    uint32_t ranks{1};                       ///< hosts that will be used
    DataRate rate;                           ///< of a link, unless a key says otherwise
    Time delay;                              ///< propagation on a link, likewise
    std::string spec;                        ///< what the user wrote, for messages
    std::string path;                        ///< of a file, for those that take one
    std::vector<uint32_t> sides;             ///< such as 4x4, for those that take some; may be none
    std::map<std::string, std::string> keys; ///< the user's key=value pairs, well formed

    /**
     * @param key name of a number
     * @param initial value if the user gave none
     * @return the value
     */
    uint32_t Get(const std::string& key, uint64_t initial) const;

    /**
     * @param key name of a rate
     * @param initial value if the user gave none
     * @return the value
     */
    DataRate GetRate(const std::string& key, const DataRate& initial) const;

    /**
     * @param key name of a time
     * @param initial value if the user gave none
     * @return the value
     */
    Time GetTime(const std::string& key, const Time& initial) const;

    /**
     * @param a number of parts
     * @return how many hosts each part needs so that there is one for every rank
     */
    uint32_t GetShare(uint32_t parts) const
    {
        return (ranks + parts - 1) / parts;
    }
};

/**
 * @ingroup distributed-training-helper
 * A kind of topology by name. Its function adds nodes and links to an empty graph.
 */
struct TopologyBuilder
{
    /** What may come first, before any key. */
    enum class First
    {
        NOTHING, ///< only keys
        SIDES,   ///< lengths of sides, such as 4x4
        PATH     ///< a file; there are no keys then
    };

    static constexpr const char* KIND = "topology";                      ///< for messages
    std::string help;                                                    ///< one line
    std::map<std::string, TopologyKey> keys;                             ///< keys it knows
    void (*build)(const TopologyRequest& request, TopologyGraph& graph); ///< makes it
    First first{First::NOTHING};                                         ///< what comes first
};

/** The rates of links, for messages. */
inline constexpr const char* LINK_RATES = "from 1Mbps up to 100Tbps";
/** The propagation delays of links, for messages. */
inline constexpr const char* LINK_DELAYS = "up to 100s";

/**
 * @param text a rate with a unit, such as 100Gbps
 * @return the rate, if it is one of LINK_RATES
 */
std::optional<DataRate> ParseLinkRate(const std::string& text);

/**
 * @param text a time with a unit, such as 500ns
 * @return the time, if it is one of LINK_DELAYS
 */
std::optional<Time> ParseLinkDelay(const std::string& text);

/**
 * @ingroup distributed-training-helper
 * @param spec `NAME`, `NAME:key=value,key=value`, `NAME:4x4,key=value` or `NAME:PATH`
 * @param ranks hosts that will be used
 * @param rate of each link, unless a key says otherwise
 * @param delay propagation on each link, unless a key says otherwise
 * @return the topology, with at least `ranks` hosts
 * @throw ConfigurationError if the text is malformed, a value out of range, or hosts are too few
 */
TopologyGraph BuildTopology(const std::string& spec, uint32_t ranks, DataRate rate, Time delay);

/**
 * @ingroup distributed-training-helper
 * @return all topologies with what they are, each followed by its keys, for help
 */
std::vector<std::pair<std::string, std::string>> DescribeTopologies();

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TOPOLOGY_BUILDER_H
