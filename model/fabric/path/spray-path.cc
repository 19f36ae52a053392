/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path-choice.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

namespace
{

/**
 * Packet spraying: each frame takes the port that has been given the fewest bytes of its traffic
 * class so far, among the ports to its destination. With frames of one size that is round robin.
 * With frames of several sizes, such as data and acknowledgements that alternate, a round robin of
 * frames would give all data to one port.
 */
class SprayPath : public PathChoice
{
  public:
    explicit SprayPath(const PathContext& context)
        : m_context(context)
    {
    }

    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        Counters& counters = m_counters[{group[0], group.size(), frame.priority}];
        if (counters.empty())
        {
            // Switches that start together must not all begin with their first port.
            counters.resize(group.size());
            counters[m_context.GetHashSeed() % group.size()] = -1;
        }
        const auto least = std::min_element(counters.begin(), counters.end());
        *least = std::max<int64_t>(*least, 0) + frame.bytes;
        return group[static_cast<std::size_t>(least - counters.begin())];
    }

    void Clear() override
    {
        m_counters.clear();
    }

  private:
    using Counters = std::vector<int64_t>; // bytes given to each port of a group

    const PathContext& m_context;
    /// By first port of the group, its size, and traffic class.
    std::map<std::tuple<uint16_t, std::size_t, uint8_t>, Counters> m_counters;
};

/** Packet spraying in round-robin order, with a counter per pair of endpoints. */
class SprayByPairPath : public PathChoice
{
  public:
    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        return group[m_turns[uint64_t{frame.source} << 32 | frame.destination]++ % group.size()];
    }

    void Clear() override
    {
        m_turns.clear();
    }

  private:
    std::unordered_map<uint64_t, uint32_t> m_turns; // by source and destination
};

std::unique_ptr<PathChoice>
Make(const KeyValues& values, const PathContext& context)
{
    if (values.GetText("by") == "pair")
    {
        return std::make_unique<SprayByPairPath>();
    }
    return std::make_unique<SprayPath>(context);
}

const Registry<PathChoiceEntry>::Entry g_spray(
    "spray",
    {"packet spraying: every port gets the same number of bytes",
     {Key::Word("by",
                "group",
                {"group", "pair"},
                "group: bytes are counted by traffic class and group of ports; pair: round robin "
                "of frames by pair of endpoints")},
     &Make,
     true});

} // namespace

} // namespace ns3::training
