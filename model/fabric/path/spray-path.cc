/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path-choice.h"

#include <unordered_map>

namespace ns3::training
{

namespace
{

/** Packet spraying: uses the ports in round-robin order. */
class SprayPath : public PathChoice
{
  public:
    /** @param byPair whether each pair of endpoints has its own round-robin counter */
    explicit SprayPath(bool byPair)
        : m_byPair(byPair)
    {
    }

    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        uint32_t& turn =
            m_byPair ? m_turns[uint64_t{frame.source} << 32 | frame.destination] : m_turn;
        return group[turn++ % group.size()];
    }

    void Clear() override
    {
        m_turns.clear();
    }

  private:
    bool m_byPair;
    uint32_t m_turn{0};                             // shared counter of all frames
    std::unordered_map<uint64_t, uint32_t> m_turns; // counters by source and destination
};

std::unique_ptr<PathChoice>
Make(const KeyValues& values, const PathContext&)
{
    return std::make_unique<SprayPath>(values.GetText("by") == "pair");
}

const Registry<PathChoiceEntry>::Entry g_spray(
    "spray",
    {"packet spraying: ports in round-robin order",
     {Key::Word("by",
                "packet",
                {"packet", "pair"},
                "packet: one counter for all frames; pair: one counter per pair of endpoints, so "
                "that flows that mix in step still use all ports")},
     &Make,
     true});

} // namespace

} // namespace ns3::training
