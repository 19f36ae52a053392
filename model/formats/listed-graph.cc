/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/listed-graph.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace ns3::training
{

namespace
{

/** The tasks of a rank, once for each iteration. */
class ListedSource : public TaskSource
{
  public:
    ListedSource(const std::vector<GraphTask>& tasks, uint32_t iterations, uint32_t endName)
        : m_tasks(tasks),
          m_iterations(iterations),
          m_endName(endName)
    {
        std::set<uint64_t> awaited;
        for (const GraphTask& task : tasks)
        {
            awaited.insert(task.after.begin(), task.after.end());
        }
        for (const GraphTask& task : tasks)
        {
            if (awaited.count(task.id) == 0)
            {
                m_last.push_back(task.id);
            }
        }
    }

    bool Next(GraphTask& task) override
    {
        if (m_iteration == m_iterations)
        {
            return false;
        }
        if (m_next < m_tasks.size())
        {
            task = m_tasks[m_next++];
            const bool isFirst = task.after.empty();
            for (uint64_t& id : task.after)
            {
                id += m_offset;
            }
            if (isFirst && m_offset > 0)
            {
                task.after.push_back(m_offset); // the end of the iteration before
            }
            task.id += m_offset;
            return true;
        }
        task = {};
        task.kind = TaskKind::MARK;
        task.stream = NO_STREAM;
        task.name = m_endName;
        for (uint64_t id : m_last)
        {
            task.after.push_back(id + m_offset);
        }
        m_offset += m_tasks.size() + 1;
        task.id = m_offset;
        m_next = 0;
        m_iteration++;
        return true;
    }

  private:
    const std::vector<GraphTask>& m_tasks;
    uint32_t m_iterations;
    uint32_t m_endName;
    std::vector<uint64_t> m_last; // tasks that no other task of the iteration waits for
    uint32_t m_iteration{0};
    std::size_t m_next{0};
    uint64_t m_offset{0}; // number of the last task of the iteration before
};

/** @return whether a task sends or receives */
bool
IsMessage(const GraphTask& task)
{
    return task.kind == TaskKind::SEND || task.kind == TaskKind::RECEIVE;
}

} // namespace

ListedGraph::ListedGraph(const std::string& path, uint32_t ranks)
    : m_path(path),
      m_tasks(ranks),
      m_lengths(ranks)
{
    AddName("end of iteration");
}

uint32_t
ListedGraph::AddGroups(const TaskGroups& groups)
{
    m_groups.push_back(groups);
    return static_cast<uint32_t>(m_groups.size() - 1);
}

uint32_t
ListedGraph::AddGroup(const std::vector<uint32_t>& ranks, Parallelism parallelism)
{
    const auto known = m_groupsOf.find(ranks);
    if (known != m_groupsOf.end())
    {
        return known->second;
    }
    const auto isApart = [&ranks](const std::vector<uint32_t>& other) {
        return std::none_of(ranks.begin(), ranks.end(), [&other](uint32_t rank) {
            return std::find(other.begin(), other.end(), rank) != other.end();
        });
    };
    // Groups of one size without common ranks make one communicator, as pipelines and replicas do.
    auto groups = std::find_if(m_groups.begin(), m_groups.end(), [&](const TaskGroups& candidate) {
        return candidate.parallelism == parallelism &&
               candidate.groups.front().size() == ranks.size() &&
               std::all_of(candidate.groups.begin(), candidate.groups.end(), isApart);
    });
    if (groups == m_groups.end())
    {
        m_groups.emplace_back();
        m_groups.back().parallelism = parallelism;
        groups = m_groups.end() - 1;
    }
    groups->groups.push_back(ranks);
    const auto index = static_cast<uint32_t>(groups - m_groups.begin());
    m_groupsOf.emplace(ranks, index);
    return index;
}

uint32_t
ListedGraph::AddName(const std::string& name)
{
    const auto [known, isNew] = m_nameOf.emplace(name, static_cast<uint32_t>(m_names.size()));
    if (isNew)
    {
        m_names.push_back(name);
    }
    return known->second;
}

/** @return tags of the messages from the sender of a message to its receiver */
ListedGraph::Tags&
ListedGraph::GetTags(uint32_t rank, const GraphTask& message)
{
    return m_tags[message.kind == TaskKind::SEND ? std::make_pair(rank, message.peer)
                                                 : std::make_pair(message.peer, rank)];
}

void
ListedGraph::CheckTag(uint32_t rank, const GraphTask& message) const
{
    if (message.tag > MAX_MESSAGE_TAG)
    {
        const bool isSend = message.kind == TaskKind::SEND;
        throw ConfigurationError(
            m_path + ": messages from rank " + std::to_string(isSend ? rank : message.peer) +
            " to rank " + std::to_string(isSend ? message.peer : rank) + " have more than " +
            std::to_string(MAX_MESSAGE_TAG + 1) + " tags (allowed: at most so many)");
    }
}

void
ListedGraph::SeparateSizes()
{
    constexpr uint64_t NONE = std::numeric_limits<uint64_t>::max();
    std::map<const Tags*, std::vector<uint64_t>> first;                     // size by tag
    std::map<std::tuple<const Tags*, uint64_t, uint64_t>, uint64_t> others; // by tag and size
    for (uint32_t rank = 0; rank < m_tasks.size(); rank++)
    {
        for (GraphTask& task : m_tasks[rank])
        {
            if (!IsMessage(task))
            {
                continue;
            }
            Tags& tags = GetTags(rank, task);
            auto& sizes = first[&tags];
            sizes.resize(tags.size(), NONE);
            uint64_t& size = sizes[task.tag];
            size = size == NONE ? task.bytes : size;
            if (size != task.bytes)
            {
                const auto [tag, isNew] =
                    others.try_emplace({&tags, task.tag, task.bytes}, tags.size());
                if (isNew)
                {
                    tags.emplace(NONE - tags.size(), tags.size()); // a tag that no file has
                }
                task.tag = tag->second;
                CheckTag(rank, task);
            }
        }
    }
}

uint64_t
ListedGraph::Add(uint32_t rank, GraphTask task)
{
    if (IsMessage(task))
    {
        Tags& tags = GetTags(rank, task);
        task.tag = tags.emplace(task.tag, tags.size()).first->second;
        CheckTag(rank, task);
    }
    auto& tasks = m_tasks.at(rank);
    task.id = tasks.size() + 1;
    AddFileTime(m_lengths[rank], task.length, Describe(rank, task));
    tasks.push_back(std::move(task));
    return tasks.back().id;
}

uint32_t
ListedGraph::GetRanks() const
{
    return static_cast<uint32_t>(m_tasks.size());
}

const std::vector<TaskGroups>&
ListedGraph::GetGroups() const
{
    return m_groups;
}

const std::vector<std::string>&
ListedGraph::GetNames() const
{
    return m_names;
}

std::unique_ptr<TaskSource>
ListedGraph::MakeSource(uint32_t rank, uint32_t iterations) const
{
    return std::make_unique<ListedSource>(m_tasks.at(m_isRepeated ? 0 : rank), iterations, 0);
}

std::string
ListedGraph::Describe(uint32_t rank, const GraphTask& task) const
{
    return m_places ? m_places(rank, task) : m_path + ": " + TaskGraph::Describe(rank, task);
}

std::size_t
ListedGraph::GetWindow() const
{
    // The order of a file need not be that of its dependencies on other ranks.
    return std::numeric_limits<std::size_t>::max();
}

} // namespace ns3::training
