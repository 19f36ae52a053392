/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "task-sorter.h"

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
    auto& all = m_earlier.at(place);
    if (std::find(all.begin(), all.end(), earlier) == all.end())
    {
        all.push_back(earlier);
    }
}

void
TaskSorter::Release(std::size_t place, std::size_t earlier)
{
    auto& all = m_earlier.at(place);
    all.erase(std::remove(all.begin(), all.end(), earlier), all.end());
}

std::vector<std::size_t>
TaskSorter::FindCycle() const
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
                std::vector<std::size_t> cycle;
                auto on = std::find_if(path.begin(), path.end(), [earlier](const auto& step) {
                    return step.first == earlier;
                });
                for (; on != path.end(); ++on)
                {
                    cycle.push_back(on->first);
                }
                return cycle;
            }
        }
    }
    return {};
}

void
TaskSorter::AddTo(ListedGraph& graph, uint32_t rank) const
{
    std::vector<std::size_t> missing(m_tasks.size());
    std::vector<std::vector<std::size_t>> later(m_tasks.size());
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t place = 0; place < m_tasks.size(); place++)
    {
        missing[place] = m_earlier[place].size();
        for (std::size_t earlier : m_earlier[place])
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
        GraphTask task = m_tasks[place];
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
}

} // namespace ns3::training
