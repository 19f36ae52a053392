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
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The plans of a group of ranks: builds each schedule once, proves it right, and caches it. A plan
 * follows from values that every rank knows, so ranks exchange nothing by sharing a planner.
 */
class CollectivePlanner
{
  public:
    /// Schedules of more ranks are proven on request only.
    static constexpr uint32_t VERIFIED_RANKS = 128;

    /**
     * @param algorithm `NAME` or `NAME:key=value,...` of a registered algorithm
     * @param request ranks, topology and segments; Get() sets operation, bytes and root
     * @param verifyAll whether schedules of any number of ranks are proven
     */
    CollectivePlanner(const std::string& algorithm,
                      const CollectiveRequest& request,
                      bool verifyAll = false);

    /**
     * Plans each operation and size by the algorithm that AlgorithmChooser chooses.
     * @param network that carries out the plans
     * @param request as above, with a topology
     * @param verifyAll as above
     */
    CollectivePlanner(const NetworkCost& network,
                      const CollectiveRequest& request,
                      bool verifyAll = false);

    /**
     * Has one plan, that of a schedule.
     * @param source of the schedule, for messages
     * @param schedule the plan, proven right
     */
    CollectivePlanner(const std::string& source,
                      std::shared_ptr<const CollectiveSchedule> schedule);

    /**
     * @param operation of the collective
     * @param bytes size of the whole vector
     * @param root broadcast, reduce: the root
     * @return the plan
     * @throw ConfigurationError if the algorithm has none
     */
    std::shared_ptr<const CollectiveSchedule> Get(CollectiveOperation operation,
                                                  uint64_t bytes,
                                                  uint32_t root);

    /**
     * @param operation of the collective
     * @param bytes size of the whole vector
     * @param root broadcast, reduce: the root
     * @return the reason of AlgorithmChooser's choice; empty if the algorithm was given
     */
    std::string Explain(CollectiveOperation operation, uint64_t bytes, uint32_t root);

    /** @return the paths that the algorithm plans its messages for; none: any */
    std::vector<RankPath> GetPaths() const;

    /** @return whether plans are proven right */
    bool IsVerifying() const;

    /**
     * Checks that the algorithm has a plan; builds nothing.
     * @param operation of the collective
     * @throw ConfigurationError if it has none
     */
    void Check(CollectiveOperation operation) const;

  private:
    CollectiveRequest MakeRequest(CollectiveOperation operation,
                                  uint64_t bytes,
                                  uint32_t root) const;
    const Choice<CollectiveAlgorithm>& Find(const std::string& algorithm) const;

    /// Algorithm, operation, root, segments, and bytes if more than the segments depends on them.
    using PlanKey = std::tuple<std::string, CollectiveOperation, uint32_t, uint32_t, uint64_t>;

    std::string m_algorithm; // or the source of m_known
    CollectiveRequest m_request;
    bool m_verifyAll;
    std::unique_ptr<AlgorithmChooser> m_chooser;       // null: the algorithm is given
    std::shared_ptr<const CollectiveSchedule> m_known; // the only plan, or null
    mutable std::map<std::string, Choice<CollectiveAlgorithm>> m_algorithms; // used so far
    std::map<PlanKey, std::shared_ptr<const CollectiveSchedule>> m_plans;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_PLANNER_H
