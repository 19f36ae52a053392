/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rank-actions.h"

#include "schedule/chunk-dependencies.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ns3::training
{

uint32_t
RankActions::Append(Action action, const std::vector<uint32_t>& after)
{
    action.after = static_cast<uint32_t>(m_after.size());
    m_actions.push_back(action);
    m_after.insert(m_after.end(), after.begin(), after.end());
    return static_cast<uint32_t>(m_actions.size() - 1);
}

void
RankActions::AppendRuns(const std::vector<ChunkRun>& runs)
{
    m_runs.insert(m_runs.end(), runs.begin(), runs.end());
}

void
RankActions::UseChunks(uint32_t index,
                       ChunkDependencies& dependencies,
                       const SharedChunkLists& shared,
                       uint32_t chunks) const
{
    const Action& stored = m_actions[index];
    const bool write = stored.kind != ScheduleAction::Kind::SEND;
    const auto [first, last] = GetRuns(stored, shared);
    for (const ChunkRun* run = first; stored.IsLocal() && run != last; run++)
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
RankActions::Close(ChunkDependencies* dependencies,
                   const SharedChunkLists& shared,
                   uint32_t chunks,
                   bool stepwise)
{
    std::map<uint32_t, std::vector<uint32_t>> taken; // earlier actions by step, if stepwise
    std::vector<uint32_t> all;
    std::vector<uint32_t> after;
    std::vector<uint32_t> waiting(m_actions.size() + 1); // per action, number of dependent actions
    m_roots.clear();
    m_receives.clear();
    if (dependencies)
    {
        dependencies->Clear();
        for (uint32_t i = 0; i < m_actions.size(); i++)
        {
            UseChunks(i, *dependencies, shared, chunks);
        }
        dependencies->Prepare();
    }
    for (uint32_t i = 0; i < m_actions.size(); i++)
    {
        Action& stored = m_actions[i];
        const std::size_t end = i + 1 < m_actions.size() ? m_actions[i + 1].after : m_after.size();
        after.assign(m_after.begin() + stored.after, m_after.begin() + end);
        stored.after = static_cast<uint32_t>(all.size());
        if (dependencies)
        {
            dependencies->Append(i, after);
        }
        if (dependencies && stepwise)
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
            if (before < m_actions.size()) // otherwise a fault; the verifier reports it
            {
                waiting[before]++;
            }
        }
        if (after.empty())
        {
            m_roots.push_back(i);
        }
        if (stored.kind == ScheduleAction::Kind::RECEIVE ||
            stored.kind == ScheduleAction::Kind::RECEIVE_REDUCE)
        {
            m_receives.push_back(i);
        }
        all.insert(all.end(), after.begin(), after.end());
    }
    m_after = std::move(all);
    m_after.shrink_to_fit();
    m_actions.shrink_to_fit();
    m_runs.shrink_to_fit();
    m_roots.shrink_to_fit();
    m_receives.shrink_to_fit();

    FindNext(waiting);
    std::sort(m_receives.begin(), m_receives.end(), [&](uint32_t a, uint32_t b) {
        const Action& x = m_actions[a];
        const Action& y = m_actions[b];
        return std::tie(x.peer, x.step, x.message, a) < std::tie(y.peer, y.step, y.message, b);
    });
}

/** @param waiting per action, number of dependent actions */
void
RankActions::FindNext(std::vector<uint32_t>& waiting)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < m_actions.size(); i++)
    {
        m_actions[i].next = total;
        total += waiting[i];
        waiting[i] = m_actions[i].next;
    }
    m_next.assign(total, 0);
    for (uint32_t i = 0; i < m_actions.size(); i++)
    {
        for (uint32_t before : GetDependencies(i))
        {
            if (before < m_actions.size())
            {
                m_next[waiting[before]++] = i;
            }
        }
    }
}

uint32_t
RankActions::FindReceive(uint32_t peer, uint32_t step, uint32_t message) const
{
    const auto wanted = std::make_tuple(peer, step, message);
    const auto keyOf = [&](uint32_t index) {
        const Action& action = m_actions[index];
        return std::make_tuple(action.peer, action.step, uint32_t{action.message});
    };
    const auto found =
        std::lower_bound(m_receives.begin(),
                         m_receives.end(),
                         wanted,
                         [&](uint32_t index, const auto& key) { return keyOf(index) < key; });
    if (found == m_receives.end() || keyOf(*found) != wanted)
    {
        return NONE;
    }
    return *found;
}

uint64_t
RankActions::GetMemory() const
{
    return m_actions.capacity() * sizeof(Action) + m_runs.capacity() * sizeof(ChunkRun) +
           (m_after.capacity() + m_next.capacity() + m_roots.capacity() + m_receives.capacity()) *
               sizeof(uint32_t);
}

} // namespace ns3::training
