/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * Single-path routing: all frames to a destination use the same port, as in a network without load
 * balancing.
 */

#include "ns3/path-choice.h"

namespace
{

using namespace ns3::training;

/** Uses the same port for all frames to a destination. */
class SinglePath : public PathChoice
{
  public:
    explicit SinglePath(uint64_t index)
        : m_index(index)
    {
    }

    uint16_t Choose(const Frame&, const ForwardingTable::Ports& group) override
    {
        return group[m_index % group.size()];
    }

  private:
    uint64_t m_index;
};

std::unique_ptr<PathChoice>
Make(const KeyValues& values, const PathContext&)
{
    return std::make_unique<SinglePath>(values.GetCount("index"));
}

const Registry<PathChoiceEntry>::Entry g_single(
    "single",
    {"the same port for all frames to a destination",
     {Key::Count("index",
                 0,
                 0,
                 1023,
                 "which of the ports that lead there equally well, modulo their number")},
     &Make});

} // namespace
