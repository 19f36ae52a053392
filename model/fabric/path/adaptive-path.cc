/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path-choice.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <utility>

namespace ns3::training
{

namespace
{

/**
 * Adaptive routing as in Spectrum and InfiniBand switches: each frame takes the port that will be
 * free first. A port whose peer has paused the class comes last. Among equal ports they take
 * turns.
 */
class AdaptivePath : public PathChoice
{
  public:
    explicit AdaptivePath(const PathContext& context)
        : m_context(context)
    {
    }

    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        const int64_t now = Simulator::Now().GetTimeStep();
        const std::size_t size = group.size();
        const std::size_t first = m_context.GetHashSeed() + m_turn++;
        uint16_t best = group[first % size];
        auto least = GetLoad(best, frame.priority, now);
        for (std::size_t i = 1; i < size; i++)
        {
            const uint16_t port = group[(first + i) % size];
            const auto load = GetLoad(port, frame.priority, now);
            if (load < least)
            {
                best = port;
                least = load;
            }
        }
        return best;
    }

  private:
    /** @return ports that are not down first, then not paused, then by the time they are free */
    std::pair<int, int64_t> GetLoad(uint16_t port, uint8_t priority, int64_t now) const
    {
        const int obstacle = m_context.IsUp(port) ? m_context.IsPaused(port, priority) : 2;
        return {obstacle, m_context.GetDrainTime(port, now)};
    }

    const PathContext& m_context;
    uint32_t m_turn{0};
};

std::unique_ptr<PathChoice>
Make(const KeyValues&, const PathContext& context)
{
    return std::make_unique<AdaptivePath>(context);
}

const Registry<PathChoiceEntry>::Entry g_adaptive(
    "adaptive",
    {"adaptive routing: each frame takes the port with the shortest queue", {}, &Make, true});

} // namespace

} // namespace ns3::training
