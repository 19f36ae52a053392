/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/task-sorter.h"

#include <algorithm>
#include <queue>

namespace ns3::training
{

std::size_t
TaskSorter::Add(GraphTask task)
{
    m_tasks.push_back(std::move(task));
    m_earlier.emplace_back();
    return m_tasks.size() - 1;
}

void
TaskSorter::Require(std::size_t place, std::size_t earlier)
{
    m_earlier.at(place).push_back(earlier);
}

/**
 * Goes from each task to those it waits for, depth first.
 * @param tell is called with each cycle; the walk ends if it returns false, otherwise the cycle is
 *        broken
 */
void
TaskSorter::Walk(const std::function<bool(const Cycle&)>& tell)
{
    enum class State : uint8_t
    {
        NEW,
        OPEN,
        DONE
    };
    std::vector<State> states(m_tasks.size());
    std::vector<std::pair<std::size_t, std::size_t>> path; // place, next of its dependencies
    for (std::size_t first = 0; first < m_tasks.size(); first++)
    {
        if (states[first] != State::NEW)
        {
            continue;
        }
        path.emplace_back(first, 0);
        states[first] = State::OPEN;
        while (!path.empty())
        {
            auto& [place, next] = path.back();
            if (next == m_earlier[place].size())
            {
                states[place] = State::DONE;
                path.pop_back();
                continue;
            }
            const std::size_t earlier = m_earlier[place][next++];
            if (states[earlier] == State::NEW)
            {
                states[earlier] = State::OPEN;
                path.emplace_back(earlier, 0);
            }
            else if (states[earlier] == State::OPEN)
            {
                const auto begin =
                    std::find_if(path.rbegin(),
                                 path.rend(),
                                 [earlier](const auto& step) { return step.first == earlier; })
                        .base() -
                    1;
                Cycle cycle;
                auto youngest = begin;
                for (auto step = begin; step != path.end(); ++step)
                {
                    cycle.push_back(step->first);
                    youngest = step->first > youngest->first ? step : youngest;
                }
                if (!tell(cycle))
                {
                    return;
                }
                // The path goes on from the youngest task, whose wait for the next one ends.
                for (auto step = youngest + 1; step != path.end(); ++step)
                {
                    states[step->first] = State::NEW;
                }
                path.erase(youngest + 1, path.end());
                auto& [from, index] = path.back();
                index--;
                auto& waits = m_earlier[from];
                const auto cut = waits.begin() + static_cast<std::ptrdiff_t>(index);
                waits.erase(std::remove(cut, waits.end(), std::size_t{*cut}), waits.end());
            }
        }
    }
}

TaskSorter::Cycle
TaskSorter::FindCycle()
{
    Cycle found;
    Walk([&found](const Cycle& cycle) {
        found = cycle;
        return false;
    });
    return found;
}

void
TaskSorter::BreakCycles(const std::function<void(const Cycle&)>& tell)
{
    Walk([&tell](const Cycle& cycle) {
        tell(cycle);
        return true;
    });
}

void
TaskSorter::MoveTo(ListedGraph& graph, uint32_t rank)
{
    std::vector<std::size_t> missing(m_tasks.size());
    std::vector<std::vector<std::size_t>> later(m_tasks.size());
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t place = 0; place < m_tasks.size(); place++)
    {
        auto& all = m_earlier[place];
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        missing[place] = all.size();
        for (std::size_t earlier : all)
        {
            later[earlier].push_back(place);
        }
        if (missing[place] == 0)
        {
            ready.push(place);
        }
    }
    std::vector<uint64_t> ids(m_tasks.size());
    while (!ready.empty())
    {
        const std::size_t place = ready.top();
        ready.pop();
        GraphTask task = std::move(m_tasks[place]);
        task.after.reserve(m_earlier[place].size());
        for (std::size_t earlier : m_earlier[place])
        {
            task.after.push_back(ids[earlier]);
        }
        ids[place] = graph.Add(rank, std::move(task));
        for (std::size_t next : later[place])
        {
            if (--missing[next] == 0)
            {
                ready.push(next);
            }
        }
    }
    // Their memory is free now: other ranks may be waiting with theirs.
    m_tasks = std::vector<GraphTask>();
    m_earlier = std::vector<std::vector<std::size_t>>();
}

} // namespace ns3::training
