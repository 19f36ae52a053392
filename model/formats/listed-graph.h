/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LISTED_GRAPH_H
#define DISTRIBUTED_TRAINING_LISTED_GRAPH_H

#include "formats/file-time.h"

#include "ns3/task-graph.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 *
 * Tasks that a file lists, rank by rank, as a graph. An iteration is all of them; the first tasks
 * of the next one wait for its end.
 */
class ListedGraph : public TaskGraph
{
  public:
    /**
     * @param path of the file, for messages
     * @param ranks number of ranks
     */
    ListedGraph(const std::string& path, uint32_t ranks);

    /**
     * @param groups disjoint groups
     * @return their index
     */
    uint32_t AddGroups(const TaskGroups& groups);

    /**
     * Finds the place of a group that may share ranks with others.
     * @param ranks of the group, in order
     * @param parallelism why they communicate
     * @return index of the groups that it is in
     */
    uint32_t AddGroup(const std::vector<uint32_t>& ranks, Parallelism parallelism);

    /**
     * @param name of tasks
     * @return its index
     */
    uint32_t AddName(const std::string& name);

    /**
     * Adds a task; its number is set, and the tag of a message becomes its place among those from
     * its sender to its receiver.
     * @param rank that does it
     * @param task whose dependencies are numbers of earlier tasks
     * @return its number, from 1
     * @throw ConfigurationError if the tasks of the rank last longer than MAX_FILE_TIME, or
     * messages between two ranks have too many tags
     */
    uint64_t Add(uint32_t rank, GraphTask task);

    /**
     * @param rank a rank
     * @return number of tasks of a rank so far, which is the number of the last one
     */
    std::size_t GetSize(uint32_t rank) const
    {
        return m_tasks.at(rank).size();
    }

    /// Describes a place of a rank, as Describe() does.
    using Places = std::function<std::string(uint32_t rank, const GraphTask& task)>;

    /** @param places describes tasks by GraphTask::place; a task with the number 0 is none */
    void SetPlaces(Places places)
    {
        m_places = std::move(places);
    }

    /**
     * Messages between two ranks of one tag and several sizes get a tag for each size: ranks may
     * start them in another order than that of the file.
     */
    void SeparateSizes();

    /** From now on all ranks do the tasks of rank 0. */
    void RepeatFirst()
    {
        m_isRepeated = true;
    }

    uint32_t GetRanks() const override;
    const std::vector<TaskGroups>& GetGroups() const override;
    const std::vector<std::string>& GetNames() const override;
    std::unique_ptr<TaskSource> MakeSource(uint32_t rank, uint32_t iterations) const override;
    std::size_t GetWindow() const override;
    std::string Describe(uint32_t rank, const GraphTask& task) const override;

  private:
    /// Tags of the messages from a rank to another: new one by that of the file.
    using Tags = std::unordered_map<uint64_t, uint64_t>;

    Tags& GetTags(uint32_t rank, const GraphTask& message);
    void CheckTag(uint32_t rank, const GraphTask& message) const;

    std::string m_path;
    Places m_places;                             // or empty
    std::vector<std::vector<GraphTask>> m_tasks; // by rank
    bool m_isRepeated{false};                    // all ranks do the tasks of rank 0
    std::vector<Time> m_lengths;                 // by rank, length of its tasks
    std::vector<TaskGroups> m_groups;
    std::map<std::vector<uint32_t>, uint32_t> m_groupsOf; // by ranks of a group
    std::vector<std::string> m_names;
    std::map<std::string, uint32_t> m_nameOf;
    std::map<std::pair<uint32_t, uint32_t>, Tags> m_tags; // by sender and receiver
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LISTED_GRAPH_H
