/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_PLANNER_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_PLANNER_H

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
    /// Schedules of more ranks than this are not proven when built: it takes N^3 time.
    static constexpr uint32_t VERIFIED_RANKS = 64;

    /**
     * @param algorithm name of a registered algorithm
     * @param ranks number of ranks
     * @param servers parameter server: number of shards
     */
    CollectivePlanner(const std::string& algorithm, uint32_t ranks, uint32_t servers);

    /**
     * @param operation what to do
     * @param bytes size of the whole vector
     * @param root broadcast: rank that has the data
     * @return the plan
     * @throw ConfigurationError if the algorithm has none
     */
    std::shared_ptr<const CollectiveSchedule> Get(CollectiveOperation operation,
                                                  uint64_t bytes,
                                                  uint32_t root);

    /**
     * @param operation what would be asked for
     * @throw ConfigurationError if the algorithm has no plan for it; nothing is built
     */
    void Check(CollectiveOperation operation) const;

  private:
    CollectiveRequest MakeRequest(CollectiveOperation operation) const;

    /// Only a broadcast's plan depends on size and root.
    using Key = std::tuple<CollectiveOperation, uint64_t, uint32_t>;

    std::string m_algorithm;
    uint32_t m_ranks;
    uint32_t m_servers;
    std::map<Key, std::shared_ptr<const CollectiveSchedule>> m_plans;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_PLANNER_H
