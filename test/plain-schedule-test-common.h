/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PLAIN_SCHEDULE_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_PLAIN_SCHEDULE_TEST_COMMON_H

#include "ns3/collective-schedule.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training::tests
{

/** An action with its chunks one by one. */
struct PlainAction
{
    ScheduleAction::Kind kind;
    uint32_t peer;
    uint32_t step;
    uint32_t message;
    std::vector<uint32_t> chunks;

    bool operator==(const PlainAction& other) const
    {
        return std::tie(kind, peer, step, message, chunks) ==
               std::tie(other.kind, other.peer, other.step, other.message, other.chunks);
    }
};

/** The actions of all ranks. */
using PlainSchedule = std::vector<std::vector<PlainAction>>;

/** @return the actions of a rank of a schedule */
inline std::vector<PlainAction>
GetPlain(const CollectiveSchedule& schedule, uint32_t rank)
{
    std::vector<PlainAction> actions;
    for (uint32_t i = 0; i < schedule.GetActions(rank); i++)
    {
        const ScheduleAction action = schedule.Get(rank, i);
        actions.push_back({action.kind, action.peer, action.step, action.message, {}});
        action.ForEachChunk([&](uint32_t chunk) { actions.back().chunks.push_back(chunk); });
    }
    return actions;
}

/**
 * @return the earlier actions that each action of a rank must wait for: on each of its chunks the
 *         latest write and, if it writes itself, the reads since then; if stepwise, those of its
 *         previous step
 */
inline std::vector<std::set<uint32_t>>
GetPlainDependencies(const CollectiveSchedule& schedule, uint32_t rank)
{
    using Kind = ScheduleAction::Kind;
    const auto actions = GetPlain(schedule, rank);
    std::vector<std::set<uint32_t>> result(actions.size());
    const auto uses = [&](const PlainAction& action) {
        std::vector<std::pair<uint32_t, bool>> all; // chunk, whether it is written
        for (uint32_t chunk : action.chunks)
        {
            if (action.kind == Kind::COPY || action.kind == Kind::REDUCE)
            {
                all.emplace_back(chunk % schedule.chunks + action.peer * schedule.chunks, false);
            }
            all.emplace_back(chunk, action.kind != Kind::SEND);
        }
        return all;
    };
    for (uint32_t i = 0; i < actions.size(); i++)
    {
        for (const auto& [chunk, writes] : uses(actions[i]))
        {
            bool isWritten = false;
            for (uint32_t j = i; j-- > 0 && !isWritten;)
            {
                for (const auto& [other, wrote] : uses(actions[j]))
                {
                    if (other == chunk && (wrote || writes))
                    {
                        result[i].insert(j);
                    }
                    isWritten = isWritten || (other == chunk && wrote);
                }
            }
        }
        uint32_t previous = CollectiveSchedule::NONE;
        for (uint32_t j = 0; schedule.stepwise && j < i; j++)
        {
            const uint32_t step = actions[j].step;
            if (step < actions[i].step && (previous == CollectiveSchedule::NONE || step > previous))
            {
                previous = step;
            }
        }
        for (uint32_t j = 0; previous != CollectiveSchedule::NONE && j < i; j++)
        {
            if (actions[j].step == previous)
            {
                result[i].insert(j);
            }
        }
    }
    return result;
}

/** @return whether the dependencies of a schedule are those that follow from its chunks and steps
 */
inline bool
HasPlainDependencies(const CollectiveSchedule& schedule)
{
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        const auto expected = GetPlainDependencies(schedule, rank);
        std::vector<std::vector<uint32_t>> next(expected.size());
        for (uint32_t i = 0; i < expected.size(); i++)
        {
            const auto after = schedule.GetDependencies(rank, i);
            if (!std::equal(after.begin(), after.end(), expected[i].begin(), expected[i].end()))
            {
                return false;
            }
            for (uint32_t before : expected[i])
            {
                next[before].push_back(i);
            }
        }
        for (uint32_t i = 0; i < expected.size(); i++)
        {
            const auto later = schedule.GetNext(rank, i);
            if (!std::equal(later.begin(), later.end(), next[i].begin(), next[i].end()))
            {
                return false;
            }
        }
    }
    return true;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_PLAIN_SCHEDULE_TEST_COMMON_H
