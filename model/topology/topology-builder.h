/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TOPOLOGY_BUILDER_H
#define DISTRIBUTED_TRAINING_TOPOLOGY_BUILDER_H

#include "topology-graph.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/** A topology to be built. */
struct TopologyRequest
{
    uint32_t ranks{1}; ///< hosts that will be used
    DataRate rate;     ///< rate of a link, unless a key says otherwise
    Time delay;        ///< propagation delay of a link, unless a key says otherwise
    KeyValues keys;    ///< the text of the user, checked and with defaults

    /**
     * @param key of type COUNT
     * @param initial value if the user gave none and the key has no default
     * @return the value
     */
    uint32_t GetCount(const std::string& key, uint64_t initial) const;

    /**
     * @param key of type COUNT with a default
     * @return the value
     */
    uint32_t GetCount(const std::string& key) const;

    /** @return the sides that come first, such as 4x4; empty: none are given */
    std::vector<uint32_t> GetSides() const;

    /**
     * @param parts number of parts
     * @return hosts that each part needs for all ranks to have one
     */
    uint32_t GetShare(uint32_t parts) const
    {
        return (ranks + parts - 1) / parts;
    }
};

/**
 * @ingroup distributed-training-helper
 *
 * A kind of topology by name, in Registry<TopologyBuilder>. Its function adds hosts, switches and
 * links to an empty graph and sets the properties of its shape.
 */
struct TopologyBuilder
{
    static constexpr const char* KIND = "topology";                      ///< for messages
    std::string help;                                                    ///< one line
    std::vector<Key> keys;                                               ///< its keys
    void (*build)(const TopologyRequest& request, TopologyGraph& graph); ///< builds it
    std::optional<FirstValue> first{};                                   ///< value before the keys
};

/**
 * @ingroup distributed-training-helper
 * @param builder a registered topology
 * @return description of its value before the keys
 */
std::optional<FirstValue> GetFirstValue(const TopologyBuilder& builder);

/**
 * @ingroup distributed-training-helper
 * @param help one line
 * @return a value before the keys that is lengths of sides, such as 4x4; see
 *         TopologyRequest::GetSides()
 */
FirstValue MakeSidesValue(const std::string& help);

/**
 * @ingroup distributed-training-helper
 * @param name of the key
 * @param help one line, with the default
 * @param max largest value
 * @param min least value
 * @return key of a number whose default follows from the ranks or other keys
 */
Key MakeCountKey(const std::string& name,
                 const std::string& help,
                 uint64_t max = 1024,
                 uint64_t min = 1);

/**
 * @ingroup distributed-training-helper
 * @param name of the key
 * @param initial default; empty: the help says what follows
 * @param help one line
 * @return key of the rate of links, within LINK_RATES
 */
Key MakeRateKey(const std::string& name, const std::string& initial, const std::string& help);

/**
 * @ingroup distributed-training-helper
 * @param name of the key
 * @param initial default; empty: the help says what follows
 * @param help one line
 * @return key of the propagation delay of links, within LINK_DELAYS
 */
Key MakeDelayKey(const std::string& name, const std::string& initial, const std::string& help);

/** Rates that links may have, for messages. */
inline constexpr const char* LINK_RATES = "from 1Mbps up to 100Tbps";
/** Propagation delays that links may have, for messages. */
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
 * @param alternatives of a kind
 * @return names and help, each followed by notes and keys
 */
std::vector<std::pair<std::string, std::string>> MakeHelpRows(
    const std::vector<AlternativeDescription>& alternatives);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TOPOLOGY_BUILDER_H
