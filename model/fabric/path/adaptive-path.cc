/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/path/sprayed-bytes.h"

#include "ns3/path-choice.h"
#include "ns3/training-event-loop.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace ns3::training
{

namespace
{

/// Length of a grade of queue lengths, ps: queues of one grade count as equal.
constexpr int64_t GRADE = 1000000;

/**
 * Adaptive routing as in Spectrum and InfiniBand switches: each frame takes a port with the
 * shortest queue, in grades of a microsecond of the line. A port whose peer has paused the class
 * comes last. Among equal ports it takes the one that has been given the fewest bytes to its
 * destination.
 */
class AdaptivePath : public PathChoice
{
  public:
    explicit AdaptivePath(const PathContext& context)
        : m_context(context),
          m_bytes(context)
    {
    }

    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        const int64_t now = EventLoop::Now();
        auto& bytes = m_bytes.Get(frame, group);
        std::size_t best = 0;
        auto least = GetLoad(group[0], frame.priority, now, bytes[0]);
        for (std::size_t i = 1; i < group.size(); i++)
        {
            const auto load = GetLoad(group[i], frame.priority, now, bytes[i]);
            if (load < least)
            {
                best = i;
                least = load;
            }
        }
        bytes[best] = std::max<int64_t>(bytes[best], 0) + frame.bytes;
        return group[best];
    }

    void Clear() override
    {
        m_bytes.Clear();
    }

  private:
    /** @return order of the ports: those that are up, not paused, by grade, by bytes given */
    std::tuple<int, int64_t, int64_t> GetLoad(uint16_t port,
                                              uint8_t priority,
                                              int64_t now,
                                              int64_t bytes) const
    {
        const int obstacle = m_context.IsUp(port) ? m_context.IsPaused(port, priority) : 2;
        return {obstacle, (m_context.GetDrainTime(port, now) - now) / GRADE, bytes};
    }

    const PathContext& m_context;
    SprayedBytes m_bytes;
};

std::unique_ptr<PathChoice>
MakeAdaptivePath(const KeyValues&, const PathContext& context)
{
    return std::make_unique<AdaptivePath>(context);
}

const Registry<PathChoiceEntry>::Entry g_adaptive(
    "adaptive",
    {"adaptive routing: each frame takes the port with the shortest queue",
     {},
     &MakeAdaptivePath,
     true});

} // namespace

} // namespace ns3::training
