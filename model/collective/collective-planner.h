/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_PLANNER_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_PLANNER_H

#include "algorithm-chooser.h"
#include "collective-algorithm.h"

#include <map>
#include <memory>
#include <tuple>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The plans of a group of ranks: builds each schedule once, proves it right, and keeps it. A plan
 * is a pure function of what every rank knows, so sharing it passes nothing between ranks.
 */
class CollectivePlanner
{
  public:
    /// Schedules of more ranks than this are not proven when built, unless asked for.
    static constexpr uint32_t VERIFIED_RANKS = 128;

    /**
     * @param algorithm `NAME` or `NAME:key=value,...` of a registered algorithm
     * @param request for how many ranks, where, with which options; operation, bytes and root are
     *        those of Get()
     * @param verifyAll whether schedules of any number of ranks are proven
     */
    CollectivePlanner(const std::string& algorithm,
                      const CollectiveRequest& request,
                      bool verifyAll = false);

    /**
     * Plans by the algorithm that AlgorithmChooser chooses for each operation and size.
     * @param network where the plans are carried out
     * @param request as above, with a topology
     * @param verifyAll as above
     */
    CollectivePlanner(const NetworkCost& network,
                      const CollectiveRequest& request,
                      bool verifyAll = false);

    /**
     * A plan that is known.
     * @param source where it is from, for messages
     * @param schedule the plan, proven right
     */
    CollectivePlanner(const std::string& source,
                      std::shared_ptr<const CollectiveSchedule> schedule);

    /**
     * @param operation what to do
     * @param bytes size of the whole vector
     * @param root broadcast, reduce: the root
     * @return the plan
     * @throw ConfigurationError if the algorithm has none
     */
    std::shared_ptr<const CollectiveSchedule> Get(CollectiveOperation operation,
                                                  uint64_t bytes,
                                                  uint32_t root);

    /**
     * @param operation what to do
     * @param bytes size of the whole vector
     * @param root broadcast, reduce: the root
     * @return why AlgorithmChooser has chosen the algorithm; empty if the algorithm was given
     */
    std::string Explain(CollectiveOperation operation, uint64_t bytes, uint32_t root);

    /** @return the ways that the algorithm has chosen for its messages; none: any */
    std::vector<RankPath> GetPaths() const;

    /** @return whether plans are proven right */
    bool IsVerifying() const;

    /**
     * @param operation what would be asked for
     * @throw ConfigurationError if the algorithm has no plan for it; nothing is built
     */
    void Check(CollectiveOperation operation) const;

  private:
    CollectiveRequest MakeRequest(CollectiveOperation operation,
                                  uint64_t bytes,
                                  uint32_t root) const;

    /// Operation, root, segments, and bytes if more than the segments depends on them.
    using Key = std::tuple<std::string, CollectiveOperation, uint32_t, uint32_t, uint64_t>;

    std::string m_algorithm; // or where m_known is from
    CollectiveRequest m_request;
    bool m_verifyAll;
    std::unique_ptr<AlgorithmChooser> m_chooser;       // null: the algorithm is given
    std::shared_ptr<const CollectiveSchedule> m_known; // the only plan, or null
    std::map<Key, std::shared_ptr<const CollectiveSchedule>> m_plans;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_PLANNER_H
