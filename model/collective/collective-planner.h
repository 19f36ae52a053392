/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_PLANNER_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_PLANNER_H

#include "algorithm-chooser.h"
#include "collective-algorithm.h"

#include "ns3/collective-schedule.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training
{

/** A collective for which an algorithm has been chosen. */
struct PlannedChoice
{
    CollectiveOperation operation; ///< what it does
    uint64_t bytes;                ///< size of the whole vector
    uint32_t ranks;                ///< number of ranks
    AlgorithmChoice choice;        ///< among all algorithms
};

/**
 * @ingroup distributed-training-collective
 *
 * Builds, verifies and caches the schedules of a group of ranks. A schedule depends only on values
 * that every rank knows, so sharing a planner does not imply communication between ranks.
 */
class CollectivePlanner
{
  public:
    /// Maximum number of ranks for automatic verification; larger schedules are verified on request
    /// only.
    static constexpr uint32_t VERIFIED_RANKS = 128;

    /**
     * @param algorithm `NAME` or `NAME:key=value,...` of a registered algorithm
     * @param request ranks, topology and segments; Get() sets operation, bytes and root
     * @param verifyAll whether schedules of any number of ranks are verified
     */
    CollectivePlanner(const std::string& algorithm,
                      const CollectiveRequest& request,
                      bool verifyAll = false);

    /**
     * Plans each operation and size with the algorithm that is chosen for it.
     * @param selector chooses
     * @param request ranks, topology and segments, as above; the topology is mandatory
     * @param verifyAll whether schedules of any number of ranks are verified
     */
    CollectivePlanner(std::unique_ptr<AlgorithmSelector> selector,
                      const CollectiveRequest& request,
                      bool verifyAll = false);

    /**
     * Uses one fixed schedule.
     * @param source origin of the schedule, for messages
     * @param schedule the schedule, verified
     */
    CollectivePlanner(const std::string& source,
                      std::shared_ptr<const CollectiveSchedule> schedule);

    /**
     * @param operation collective operation
     * @param bytes size of the whole vector
     * @param root broadcast, reduce: the root
     * @return the schedule
     * @throw ConfigurationError if the algorithm does not support the request
     */
    std::shared_ptr<const CollectiveSchedule> Get(CollectiveOperation operation,
                                                  uint64_t bytes,
                                                  uint32_t root);

    /**
     * @param operation collective operation
     * @param bytes size of the whole vector
     * @param root broadcast, reduce: the root
     * @return the reason for the selector's choice; empty if the user gave the algorithm
     */
    std::string Explain(CollectiveOperation operation, uint64_t bytes, uint32_t root);

    /** @return the selector's choices for Get() so far, by operation and size */
    std::vector<PlannedChoice> GetChoices() const;

    /** @return the planned paths of the messages; empty: any paths */
    std::vector<RankPath> GetPaths() const;

    /** @return whether algorithms are chosen by operation and size */
    bool Chooses() const
    {
        return m_chooser != nullptr;
    }

    /** @return whether schedules are verified */
    bool IsVerifying() const;

    /**
     * Checks whether the algorithm supports an operation, without building a schedule.
     * @param operation collective operation
     * @throw ConfigurationError if it does not support the operation
     */
    void Check(CollectiveOperation operation) const;

  private:
    CollectiveRequest MakeRequest(CollectiveOperation operation,
                                  uint64_t bytes,
                                  uint32_t root) const;
    const Choice<CollectiveAlgorithm>& Find(const std::string& algorithm) const;

    /// Algorithm, operation, root, segments, and bytes if the schedule depends on the size.
    using PlanKey = std::tuple<std::string, CollectiveOperation, uint32_t, uint32_t, uint64_t>;

    std::string m_algorithm; // or origin of m_known
    CollectiveRequest m_request;
    bool m_verifyAll;
    std::unique_ptr<AlgorithmSelector> m_chooser;      // null: fixed algorithm
    std::shared_ptr<const CollectiveSchedule> m_known; // the fixed schedule, or null
    mutable std::map<std::string, Choice<CollectiveAlgorithm>> m_algorithms; // used so far
    std::map<PlanKey, std::shared_ptr<const CollectiveSchedule>> m_plans;
    /// Choices of m_chooser that Get() has used, by operation and size.
    std::map<std::pair<CollectiveOperation, uint64_t>, const AlgorithmChoice*> m_chosen;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_PLANNER_H
