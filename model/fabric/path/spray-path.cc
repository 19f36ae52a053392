/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/path/sprayed-bytes.h"

#include "ns3/path-choice.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace ns3::training
{

namespace
{

/**
 * Packet spraying: each frame takes the port that has been given the fewest bytes to its
 * destination. With frames of one size that is round robin by destination.
 */
class SprayPath : public PathChoice
{
  public:
    explicit SprayPath(const PathContext& context)
        : m_bytes(context)
    {
    }

    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        auto& bytes = m_bytes.Get(frame, group);
        const auto least = std::min_element(bytes.begin(), bytes.end());
        *least = std::max<int64_t>(*least, 0) + frame.bytes;
        return group[static_cast<std::size_t>(least - bytes.begin())];
    }

    void Clear() override
    {
        m_bytes.Clear();
    }

  private:
    SprayedBytes m_bytes;
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
MakeSprayPath(const KeyValues& values, const PathContext& context)
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
                "destination",
                {"destination", "pair"},
                "destination: bytes are counted by destination and traffic class; pair: round "
                "robin of frames by pair of endpoints")},
     &MakeSprayPath,
     true});

} // namespace

} // namespace ns3::training
