/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * The end of the construction of a CollectiveSchedule: limits, dependencies, grants.
 */

#include "collective-schedule.h"
#include "schedule/chunk-dependencies.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ns3::training
{

void
CollectiveSchedule::CheckLimits()
{
    m_copies = 1;
    m_lanes = 1;
    uint64_t steps = 0;
    uint64_t messages = 0;
    const auto countCopies = [&](const ChunkRun& run) {
        m_copies = std::max(m_copies, run.first / chunks + 1);
    };
    for (const List& list : m_lists)
    {
        for (const Stored& action : list.actions)
        {
            steps = std::max<uint64_t>(steps, uint64_t{action.step} + segments);
            m_lanes = std::max(m_lanes, uint32_t{action.message} + 1);
            messages = std::max(messages, uint64_t{m_lanes} * segments);
            const bool local = action.kind == Kind::COPY || action.kind == Kind::REDUCE;
            m_copies = std::max(m_copies, local ? action.peer + 1 : 1);
            if (action.place == static_cast<uint8_t>(Place::ACTION))
            {
                countCopies(action.run);
            }
        }
        std::for_each(list.runs.begin(), list.runs.end(), countCopies);
    }
    for (const auto& list : m_shared)
    {
        std::for_each(list.begin(), list.end(), countCopies);
    }
    const uint32_t limit = std::min(MAX_COPIES, NONE / chunks);
    if (m_copies > limit)
    {
        throw ConfigurationError(algorithm + ": copy " + std::to_string(m_copies - 1) + " of " +
                                 std::to_string(chunks) + " chunks (allowed: 0 to " +
                                 std::to_string(limit - 1) + ")");
    }
    if (steps > MAX_STEPS || messages > MAX_MESSAGES || segments == 0)
    {
        throw ConfigurationError(
            algorithm + ": " + std::to_string(segments) + " segments, " + std::to_string(steps) +
            " steps with up to " + std::to_string(messages) +
            " messages between two ranks (allowed: 1 segment and more, up to " +
            std::to_string(MAX_STEPS) + " steps and " + std::to_string(MAX_MESSAGES) +
            " messages)");
    }
}

void
CollectiveSchedule::UseChunks(const List& list,
                              uint32_t index,
                              ChunkDependencies& dependencies) const
{
    const Stored& stored = list.actions[index];
    const bool local = stored.kind == Kind::COPY || stored.kind == Kind::REDUCE;
    const bool write = stored.kind != Kind::SEND;
    const auto [first, last] = GetRuns(list, stored);
    for (const ChunkRun* run = first; local && run != last; run++)
    {
        const ChunkRun other{run->first % chunks + stored.peer * chunks, run->count};
        dependencies.UseRun(index, other, false);
    }
    if (stored.place == static_cast<uint8_t>(Place::SHARED))
    {
        dependencies.UseList(index, stored.run.first, write);
        return;
    }
    for (const ChunkRun* run = first; run != last; run++)
    {
        dependencies.UseRun(index, *run, write);
    }
}

void
CollectiveSchedule::Close(bool derive)
{
    CheckLimits();
    m_sharedNumbers = {};
    m_shared.shrink_to_fit();
    const ChunkOrder order(derive ? m_shared : std::vector<std::vector<ChunkRun>>(),
                           chunks,
                           m_copies);
    ChunkDependencies dependencies(order, chunks);
    for (List& list : m_lists)
    {
        std::map<uint32_t, std::vector<uint32_t>> taken; // earlier actions by step, if stepwise
        std::vector<uint32_t> all;
        std::vector<uint32_t> after;
        std::vector<uint32_t> waiting(list.actions.size() +
                                      1); // per action, number of dependent actions
        list.roots.clear();
        list.receives.clear();
        dependencies.Clear();
        for (uint32_t i = 0; derive && i < list.actions.size(); i++)
        {
            UseChunks(list, i, dependencies);
        }
        dependencies.Prepare();
        for (uint32_t i = 0; i < list.actions.size(); i++)
        {
            Stored& stored = list.actions[i];
            const std::size_t end =
                i + 1 < list.actions.size() ? list.actions[i + 1].after : list.after.size();
            after.assign(list.after.begin() + stored.after, list.after.begin() + end);
            stored.after = static_cast<uint32_t>(all.size());
            if (derive)
            {
                dependencies.Append(i, after);
            }
            if (derive && stepwise)
            {
                const auto step = taken.try_emplace(stored.step).first;
                if (step != taken.begin())
                {
                    const auto& previous = std::prev(step)->second;
                    after.insert(after.end(), previous.begin(), previous.end());
                }
                step->second.push_back(i);
            }
            std::sort(after.begin(), after.end());
            after.erase(std::unique(after.begin(), after.end()), after.end());
            for (uint32_t before : after)
            {
                if (before < list.actions.size()) // otherwise a fault; the verifier reports it
                {
                    waiting[before]++;
                }
            }
            if (after.empty())
            {
                list.roots.push_back(i);
            }
            if (stored.kind == Kind::RECEIVE || stored.kind == Kind::RECEIVE_REDUCE)
            {
                list.receives.push_back(i);
            }
            all.insert(all.end(), after.begin(), after.end());
        }
        list.after = std::move(all);
        list.after.shrink_to_fit();
        list.actions.shrink_to_fit();
        list.runs.shrink_to_fit();
        list.roots.shrink_to_fit();
        list.receives.shrink_to_fit();

        uint32_t total = 0;
        for (uint32_t i = 0; i < list.actions.size(); i++)
        {
            list.actions[i].next = total;
            total += waiting[i];
            waiting[i] = list.actions[i].next;
        }
        list.next.assign(total, 0);
        for (uint32_t i = 0; i < list.actions.size(); i++)
        {
            for (uint32_t before : Find(list.after, list, &Stored::after, i))
            {
                if (before < list.actions.size())
                {
                    list.next[waiting[before]++] = i;
                }
            }
        }
        std::sort(list.receives.begin(), list.receives.end(), [&](uint32_t a, uint32_t b) {
            const Stored& x = list.actions[a];
            const Stored& y = list.actions[b];
            return std::tie(x.peer, x.step, x.message, a) < std::tie(y.peer, y.step, y.message, b);
        });
    }
    if (stepwise && m_symmetry == Symmetry::NONE) // with symmetry, all ranks are equally far
    {
        MarkGranted();
    }
}

void
CollectiveSchedule::MarkGranted()
{
    std::map<uint32_t, std::vector<std::pair<uint32_t, uint32_t>>> sends; // by step: rank, action
    for (uint32_t rank = 0; rank < m_size; rank++)
    {
        for (uint32_t i = 0; i < m_lists[rank].actions.size(); i++)
        {
            if (m_lists[rank].actions[i].kind == Kind::SEND)
            {
                sends[m_lists[rank].actions[i].step].emplace_back(rank, i);
            }
        }
    }
    std::vector<uint32_t> ready(m_size); // messages in a chain before the step
    for (const auto& [step, messages] : sends)
    {
        auto next = ready;
        for (const auto& [rank, index] : messages)
        {
            Stored& send = m_lists[rank].actions[index];
            const uint32_t receive =
                send.peer < m_size
                    ? FindReceive(send.peer, rank, step, uint32_t{send.message} * segments)
                    : NONE;
            if (receive == NONE)
            {
                continue; // a fault; the verifier reports it
            }
            send.isGranted = ready[rank] < ready[send.peer];
            m_lists[send.peer].actions[receive].isGranted = send.isGranted;
            const uint32_t end = std::max(ready[rank], ready[send.peer]) + 1;
            next[rank] = std::max(next[rank], end);
            next[send.peer] = std::max(next[send.peer], end);
        }
        ready = std::move(next);
    }
}

} // namespace ns3::training
