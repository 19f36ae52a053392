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

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
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
 * Compares the bits of numbers.
 * @param actual a vector
 * @param expected the vector that it should be
 * @param begin first element to compare
 * @param end element behind the last one
 * @return description of the first difference, or empty
 */
std::string FindDifference(const std::vector<float>& actual,
                           const std::vector<float>& expected,
                           std::size_t begin,
                           std::size_t end);

/**
 * @ingroup distributed-training-job
 * @param graph the job
 * @param seed of the job
 * @param rank whose numbers they are: of a message its sender
 * @param task a collective or a message
 * @param iteration in which it starts
 * @param number of the collective in its groups, or of the message among those of its tag
 * @return where the numbers of its tensor come from; none are those of another tensor of the job
 */
GradientPlace GetGraphPlace(const TaskGraph& graph,
                            uint64_t seed,
                            uint32_t rank,
                            const GraphTask& task,
                            uint32_t iteration,
                            uint64_t number);

/**
 * @ingroup distributed-training-job
 *
 * Compares the results of all collectives and messages of a graph bit by bit: collectives with a
 * reference that is computed from the same numbers, which are made again, messages with what their
 * sender has sent, in order. Numbers in code (TaskCode) are coded, decoded and added up once more.
 * Memory: the tensors of all ranks while a reference is computed, then the results of a collective
 * until its last rank has reported.
 */
class GraphChecker
{
  public:
    /** Makes the numbers of a place, so many. */
    using Numbers =
        std::function<std::vector<float>(const GradientPlace& place, std::size_t count)>;

    /** @param source of the numbers @return a function that asks it */
    static Numbers From(std::shared_ptr<const GradientSource> source);

    /** A float32 vector for each rank of a group. */
    using Vectors = std::vector<std::vector<float>>;

    /** A collective whose first rank reports. */
    struct Collective
    {
        uint32_t rank;                    ///< that reports
        const GraphTask& task;            ///< the collective
        uint32_t iteration;               ///< in which it starts
        const Vectors& inputs;            ///< by rank in the group
        const std::vector<float>& result; ///< of the rank; may reveal the order of arrival
    };

    /** The results that a collective must have. */
    struct Results
    {
        Vectors values; ///< by rank in the group, or one for all
        /// Says which parts a rank has; null: all.
        std::shared_ptr<const CollectiveSchedule> schedule{};
    };

    /**
     * Computes results in exactly the order of additions of the collective. Called once for each
     * collective, in the order of iterations.
     */
    using Reference = std::function<Results(const Collective& collective)>;

    /**
     * @param rank a rank
     * @param task a collective of it
     * @return the schedule of its group
     */
    using Schedules =
        std::function<std::shared_ptr<const CollectiveSchedule>(uint32_t rank, const GraphTask&)>;

    /** @param schedules of the collectives @return a reference that executes them in memory */
    static Reference Execute(Schedules schedules);

    /**
     * @param graph the job
     * @param numbers of its tensors
     * @param seed of the job
     * @param reference for its collectives
     */
    GraphChecker(std::shared_ptr<const TaskGraph> graph,
                 Numbers numbers,
                 uint64_t seed,
                 Reference reference);

    /**
     * @param alternative computes other correct results, valid if all ranks have them; returns no
     *        values if there are none
     */
    void SetAlternative(Reference alternative);

    /**
     * Receives the expected results of a collective, once and before the tensors of the next
     * iteration are made.
     * @param place of the numbers of the rank that reports
     * @param values see Results
     */
    using Listener = std::function<void(const GradientPlace& place, const Vectors& values)>;

    /** @param listener called with all expected results */
    void OnExpected(Listener listener);

    /** @param reporters number of ranks that report to this object; the others do elsewhere */
    void SetReporters(uint32_t reporters);

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

    /** @param mismatch found by another process; the first one is kept */
    void AddMismatch(const std::string& mismatch);

  private:
    /** Expected results of a collective that some ranks have not reported. */
    struct Expected
    {
        Results results;
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
                                 uint32_t iteration,
                                 uint64_t number);
    Results MakeExpected(uint32_t rank,
                         const std::vector<uint32_t>& group,
                         const GraphTask& task,
                         uint64_t number,
                         const Tensor& result);

    std::shared_ptr<const TaskGraph> m_graph;
    Numbers m_numbers;
    uint64_t m_seed;
    Reference m_reference;
    Reference m_alternative; // or empty
    Listener m_listener;     // or empty
    std::size_t m_reporters{std::numeric_limits<std::size_t>::max()};
    /// By groups, first rank of the group and number.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Expected> m_expected;
    /// Sums of collectives in code that a later one carries, by rank and task.
    std::map<std::pair<uint32_t, uint64_t>, std::vector<float>> m_sums;
    uint64_t m_checked{0};
    std::string m_mismatch;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRAPH_CHECKER_H
