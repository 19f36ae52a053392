/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRAPH_CHECKER_H
#define DISTRIBUTED_TRAINING_GRAPH_CHECKER_H

#include "gradient-source.h"

#include "ns3/collective-schedule.h"
#include "ns3/task-graph.h"
#include "ns3/training-communicator.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 * @param seed of the job
 * @param rank whose numbers they are: of a message its sender
 * @param task a collective or a message
 * @param number of the collective in its groups, or of the message among those of its tag
 * @return where the numbers of its tensor come from; none are those of another tensor of the job
 */
GradientPlace GetGraphPlace(uint64_t seed, uint32_t rank, const GraphTask& task, uint64_t number);

/**
 * @ingroup distributed-training-job
 *
 * Compares the results of all collectives and messages of a graph bit by bit: collectives with the
 * schedule of their group executed in memory on the same numbers, messages with what their sender
 * has sent, in order. Numbers in code (TaskCode) are coded, decoded and added up once more. Memory:
 * the results of a collective until its last rank has reported.
 */
class GraphChecker
{
  public:
    /**
     * @param rank a rank
     * @param task a collective of it
     * @return the schedule of its group
     */
    using Schedules =
        std::function<std::shared_ptr<const CollectiveSchedule>(uint32_t rank, const GraphTask&)>;

    /**
     * @param graph the job
     * @param source of the numbers
     * @param seed of the job
     * @param schedules of its collectives
     */
    GraphChecker(std::shared_ptr<const TaskGraph> graph,
                 std::shared_ptr<const GradientSource> source,
                 uint64_t seed,
                 Schedules schedules);

    /**
     * @param rank that reports
     * @param task a collective, or the receipt of a message
     * @param number see GetGraphPlace()
     * @param result its tensor
     * @return whether the numbers are right; GetMismatch() describes the first wrong one
     */
    bool Check(uint32_t rank, const GraphTask& task, uint64_t number, const Tensor& result);

    /** Forgets collectives that some ranks have not reported. */
    void Clear()
    {
        m_expected.clear();
        m_sums.clear();
    }

    /** @return number of right results */
    uint64_t GetChecked() const
    {
        return m_checked;
    }

    /** @return the first wrong number: rank, task, element, both values; or empty */
    const std::string& GetMismatch() const
    {
        return m_mismatch;
    }

  private:
    /** Expected results of a collective that some ranks have not reported. */
    struct Expected
    {
        std::shared_ptr<const CollectiveSchedule> schedule;
        std::vector<std::vector<float>> results; // by rank in the group
        std::size_t reports{0};
    };

    std::string CheckCollective(uint32_t rank,
                                const GraphTask& task,
                                uint64_t number,
                                const Tensor& result);
    std::string CheckMessage(uint32_t rank,
                             const GraphTask& task,
                             uint64_t number,
                             const Tensor& result) const;
    std::vector<float> MakeInput(const std::vector<uint32_t>& group,
                                 uint32_t place,
                                 const GraphTask& task,
                                 uint64_t number);
    Expected MakeExpected(uint32_t rank,
                          const std::vector<uint32_t>& group,
                          const GraphTask& task,
                          uint64_t number);

    std::shared_ptr<const TaskGraph> m_graph;
    std::shared_ptr<const GradientSource> m_source;
    uint64_t m_seed;
    Schedules m_schedules;
    /// By groups, first rank of the group and number.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Expected> m_expected;
    /// Sums of collectives in code that a later one carries, by rank and task.
    std::map<std::pair<uint32_t, uint64_t>, std::vector<float>> m_sums;
    uint64_t m_checked{0};
    std::string m_mismatch;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRAPH_CHECKER_H
