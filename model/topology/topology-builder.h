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
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/** Parameters of a topology to build. */
class TopologyRequest
{
  public:
    DataRate rate;  ///< rate of a link, unless overridden by a key
    Time delay;     ///< propagation delay of a link, unless overridden by a key
    KeyValues keys; ///< the user's choice, checked, including defaults

    /**
     * @param hosts number of hosts in use
     * @param linkRate rate of a link
     * @param linkDelay propagation delay of a link
     * @param values the user's choice
     */
    TopologyRequest(uint32_t hosts, DataRate linkRate, Time linkDelay, KeyValues values)
        : rate(linkRate),
          delay(linkDelay),
          keys(std::move(values)),
          m_ranks(hosts)
    {
    }

    /** @return number of hosts in use */
    uint32_t GetRanks() const
    {
        m_followsRanks = true;
        return m_ranks;
    }

    /** @return whether GetRanks() was called: another number may make another topology */
    bool FollowsRanks() const
    {
        return m_followsRanks;
    }

    /**
     * @param key name of a COUNT key
     * @param initial fallback if the user gave no value and the key has no default
     * @return the value
     */
    uint32_t GetCount(const std::string& key, uint64_t initial) const;

    /**
     * @param key name of a COUNT key with a default
     * @return the value
     */
    uint32_t GetCount(const std::string& key) const;

    /**
     * @param key name of a COUNT key
     * @param parts number of parts
     * @return the value; by default GetShare(parts)
     */
    uint32_t GetCountOrShare(const std::string& key, uint32_t parts) const;

    /** @return the sides given as leading value, such as 4x4; empty if not given */
    std::vector<uint32_t> GetSides() const;

    /**
     * @param parts number of parts
     * @return hosts per part such that every rank has a host
     */
    uint32_t GetShare(uint32_t parts) const
    {
        return (GetRanks() + parts - 1) / parts;
    }

  private:
    uint32_t m_ranks;
    mutable bool m_followsRanks{false};
};

/**
 * @ingroup distributed-training-helper
 *
 * A topology family, registered by name in Registry<TopologyBuilder>. Its build function adds
 * hosts, switches and links to an empty graph and sets the properties of its shape.
 */
struct TopologyBuilder
{
    static constexpr const char* KIND = "topology";                      ///< for messages
    std::string help;                                                    ///< one line
    std::vector<Key> keys;                                               ///< its keys
    void (*build)(const TopologyRequest& request, TopologyGraph& graph); ///< build function
    std::optional<FirstValue> first{};                                   ///< leading value, if any
};

/**
 * @ingroup distributed-training-helper
 * @param builder a registered topology
 * @return description of its leading value, if any
 */
std::optional<FirstValue> GetFirstValue(const TopologyBuilder& builder);

/**
 * @ingroup distributed-training-helper
 * @param help one line
 * @return description of a leading value that gives the lengths of the sides, such as 4x4; see
 *         TopologyRequest::GetSides()
 */
FirstValue MakeSidesValue(const std::string& help);

/**
 * @ingroup distributed-training-helper
 * @param name key name
 * @param help one line, with the default
 * @param max maximum
 * @param min minimum
 * @return integer key whose default depends on the number of ranks or on other keys
 */
Key MakeCountKey(const std::string& name,
                 const std::string& help,
                 uint64_t max = 1024,
                 uint64_t min = 1);

/**
 * @ingroup distributed-training-helper
 * @param name key name
 * @param initial default; empty: no default, see the help text
 * @param help one line
 * @return key of a link rate within LINK_RATES
 */
Key MakeRateKey(const std::string& name, const std::string& initial, const std::string& help);

/**
 * @ingroup distributed-training-helper
 * @param name key name
 * @param initial default; empty: no default, see the help text
 * @param help one line
 * @return key of a link propagation delay within LINK_DELAYS
 */
Key MakeDelayKey(const std::string& name, const std::string& initial, const std::string& help);

/** Range of link rates, for messages. */
inline constexpr const char* LINK_RATES = "from 1Mbps up to 100Tbps";
/** Range of link propagation delays, for messages. */
inline constexpr const char* LINK_DELAYS = "up to 100s";

/**
 * @param text a rate with a unit, such as 100Gbps
 * @return the rate, if it is within LINK_RATES
 */
std::optional<DataRate> ParseLinkRate(const std::string& text);

/**
 * @param text a time with a unit, such as 500ns
 * @return the time, if it is within LINK_DELAYS
 */
std::optional<Time> ParseLinkDelay(const std::string& text);

/**
 * @ingroup distributed-training-helper
 * @param spec `NAME`, `NAME:key=value,key=value`, `NAME:4x4,key=value` or `NAME:PATH`
 * @param ranks number of hosts in use
 * @param rate rate of each link, unless overridden by a key
 * @param delay propagation delay of each link, unless overridden by a key
 * @return the topology, with at least `ranks` hosts
 * @throw ConfigurationError if the text is malformed, a value is out of range, or there are too few
 *        hosts
 */
TopologyGraph BuildTopology(const std::string& spec, uint32_t ranks, DataRate rate, Time delay);

/**
 * @ingroup distributed-training-helper
 *
 * A topology that is built when it is first asked for, and again only for other parameters, or if
 * its file has changed. Copies made afterwards share it, so a run builds it once and reads its file
 * once. Parameters and errors are those of BuildTopology().
 */
class BuiltTopology
{
  public:
    /**
     * @param spec text of the topology
     * @param ranks number of hosts in use
     * @param rate rate of each link
     * @param delay propagation delay of each link
     * @return the topology
     */
    std::shared_ptr<const TopologyGraph> Get(const std::string& spec,
                                             uint32_t ranks,
                                             DataRate rate,
                                             Time delay);

    /**
     * @param spec text of the topology
     * @param ranks number of hosts in use, if they determine it
     * @param rate rate of each link
     * @param delay propagation delay of each link
     * @return number of its hosts, if its text fixes it; otherwise none
     */
    std::optional<uint32_t> FindHosts(const std::string& spec,
                                      uint32_t ranks,
                                      DataRate rate,
                                      Time delay);

  private:
    void Prepare(const std::string& spec, uint32_t ranks, DataRate rate, Time delay);

    std::shared_ptr<const TopologyGraph> m_graph; // null: not built
    uint32_t m_ranks{0};
    DataRate m_rate;
    Time m_delay;
    std::optional<int64_t> m_changed; // when its file did; none: it has no file
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TOPOLOGY_BUILDER_H
