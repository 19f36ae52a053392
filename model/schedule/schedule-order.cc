/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule/schedule-order.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;

/** Topological sort of one schedule. */
class Ordering
{
  public:
    explicit Ordering(const CollectiveSchedule& schedule)
        : m_schedule(schedule),
          m_missing(schedule.GetStoredRanks()),
          m_arrived(schedule.GetStoredRanks())
    {
    }

    ScheduleOrder Get()
    {
        for (uint32_t rank = 0; rank < m_schedule.GetStoredRanks() && m_order.fault.empty(); rank++)
        {
            Prepare(rank);
        }
        auto& entries = m_order.entries;
        // The list doubles as the work queue: entries before `done` have been executed.
        for (std::size_t done = 0; done < entries.size() && m_order.fault.empty(); done++)
        {
            CarryOut(entries[done]);
        }
        if (m_order.fault.empty())
        {
            m_order.fault = FindStuck();
        }
        return std::move(m_order);
    }

  private:
    void Prepare(uint32_t rank)
    {
        const uint32_t count = m_schedule.GetStoredActions(rank);
        m_missing[rank].resize(count);
        m_arrived[rank].resize(count);
        for (uint32_t i = 0; i < count; i++)
        {
            const ScheduleAction action = m_schedule.Get(rank, i);
            if (!Exists(rank, action))
            {
                m_order.fault = DescribeAction(rank, action) + ", which does not exist";
                return;
            }
            const auto after = m_schedule.GetDependencies(rank, i);
            for (uint32_t before : after)
            {
                if (before >= i)
                {
                    m_order.fault =
                        DescribeAction(rank, action) + ", after an action that is not before it";
                    return;
                }
            }
            if (action.IsReceive() &&
                m_schedule.FindReceive(rank, action.peer, action.step, action.message) != i)
            {
                m_order.fault = DescribeAction(rank, action) + " twice";
                return;
            }
            m_missing[rank][i] =
                static_cast<uint32_t>(after.last - after.first) + (action.IsReceive() ? 1 : 0);
            if (m_missing[rank][i] == 0)
            {
                m_order.entries.push_back({rank, i, CollectiveSchedule::NONE});
            }
        }
    }

    bool Exists(uint32_t rank, const ScheduleAction& action) const
    {
        const uint32_t chunks = m_schedule.chunks;
        for (const ChunkRun* run = action.first; run != action.last; run++)
        {
            if (run->count == 0 || run->count > chunks)
            {
                return false;
            }
        }
        if (action.kind == Kind::COPY || action.kind == Kind::REDUCE)
        {
            bool other = true;
            action.ForEachChunk([&](uint32_t chunk) { other &= chunk / chunks != action.peer; });
            return other && action.first != action.last;
        }
        return action.peer < m_schedule.GetSize() && action.peer != rank &&
               action.first != action.last;
    }

    void CarryOut(ScheduleOrder::Entry& entry)
    {
        const auto [rank, index, none] = entry;
        const ScheduleAction action = m_schedule.Get(rank, index);
        if (action.kind == Kind::SEND)
        {
            const uint32_t other =
                m_schedule.FindReceive(action.peer, rank, action.step, action.message);
            if (other == CollectiveSchedule::NONE)
            {
                m_order.fault = DescribeAction(rank, action) + ", which is never received";
                return;
            }
            entry.other = other;
            const ScheduleAction receive = m_schedule.Get(action.peer, other);
            if (!HaveSameChunks(action, receive))
            {
                m_order.fault =
                    DescribeAction(rank, action) + ", but " + DescribeAction(action.peer, receive);
                return;
            }
            const uint32_t stored = m_schedule.GetStoredRanks() == 1 ? 0 : action.peer;
            if (m_arrived[stored][other])
            {
                m_order.fault = DescribeAction(rank, action) + " twice";
                return;
            }
            m_arrived[stored][other] = true;
            Release(stored, other);
        }
        for (uint32_t next : m_schedule.GetNext(rank, index))
        {
            Release(rank, next);
        }
    }

    /** @return whether a send and its receive have the same chunks, ignoring copy numbers */
    bool HaveSameChunks(const ScheduleAction& send, const ScheduleAction& receive)
    {
        m_sent.clear();
        send.ForEachChunk([&](uint32_t chunk) { m_sent.push_back(chunk % send.chunks); });
        std::size_t i = 0;
        bool same = true;
        receive.ForEachChunk([&](uint32_t chunk) {
            same &= i < m_sent.size() && m_sent[i] == chunk % send.chunks;
            i++;
        });
        return same && i == m_sent.size();
    }

    void Release(uint32_t rank, uint32_t index)
    {
        if (--m_missing[rank][index] == 0)
        {
            m_order.entries.push_back({rank, index, CollectiveSchedule::NONE});
        }
    }

    /** @return why some actions could not be executed */
    std::string FindStuck() const
    {
        // A receive may be blocked only because its sender is blocked: find the root cause.
        std::string circle;
        for (uint32_t rank = 0; rank < m_schedule.GetStoredRanks(); rank++)
        {
            for (uint32_t i = 0; i < m_missing[rank].size(); i++)
            {
                const ScheduleAction action = m_schedule.Get(rank, i);
                if (!action.IsReceive() || m_arrived[rank][i])
                {
                    continue;
                }
                if (!IsSent(rank, action))
                {
                    return DescribeAction(rank, action) + ", which is never sent";
                }
                if (circle.empty() && m_missing[rank][i] == 1)
                {
                    circle = DescribeAction(rank, action) + ", whose sending waits for this";
                }
            }
        }
        return circle;
    }

    bool IsSent(uint32_t rank, const ScheduleAction& wanted) const
    {
        for (uint32_t i = 0; i < m_schedule.GetStoredActions(wanted.peer); i++)
        {
            const ScheduleAction action = m_schedule.Get(wanted.peer, i);
            if (action.kind == Kind::SEND && action.peer == rank && action.step == wanted.step &&
                action.message == wanted.message)
            {
                return true;
            }
        }
        return false;
    }

    const CollectiveSchedule& m_schedule;
    std::vector<std::vector<uint32_t>> m_missing; // unmet dependencies of each action
    std::vector<std::vector<bool>> m_arrived;     // per receive, whether its message has been sent
    std::vector<uint32_t> m_sent;                 // chunks of one message
    ScheduleOrder m_order;
};

} // namespace

std::string
DescribeAction(uint32_t rank, const ScheduleAction& action)
{
    static const char* const verbs[] = {"sends to",
                                        "receives from",
                                        "receives and adds from",
                                        "copies from",
                                        "adds from"};
    const bool local = action.kind == Kind::COPY || action.kind == Kind::REDUCE;
    return "rank " + std::to_string(rank) + ", step " + std::to_string(action.step) + ": " +
           verbs[static_cast<uint8_t>(action.kind)] + (local ? " copy " : " rank ") +
           std::to_string(action.peer) + " " + action.DescribeChunks();
}

ScheduleOrder
OrderSchedule(const CollectiveSchedule& schedule)
{
    return Ordering(schedule).Get();
}

} // namespace ns3::training
