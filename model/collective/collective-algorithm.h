/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_ALGORITHM_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_ALGORITHM_H

#include "collective-schedule.h"

#include "ns3/registry.h"

#include <string>
#include <vector>

namespace ns3::training
{

/** What a collective algorithm is asked to plan for. */
struct CollectiveRequest
{
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< what to do
    uint32_t ranks{1};                                              ///< number of ranks, at least 1
    uint64_t bytes{0};                                              ///< size of the whole vector
    uint32_t root{0};    ///< broadcast: rank that has the data
    uint32_t servers{1}; ///< parameter server: number of shards, 1 to ranks
};

/**
 * @ingroup distributed-training-collective
 *
 * A collective algorithm by name. Its function fills in the actions of a schedule whose operation,
 * root and number of ranks are set; it is called for two ranks or more and for operations in its
 * list only.
 */
struct CollectiveAlgorithm
{
    static constexpr const char* KIND = "collective algorithm"; ///< for messages
    std::string help;                                           ///< one line
    std::vector<CollectiveOperation> operations;                ///< what it can do
    void (*build)(const CollectiveRequest& request, CollectiveSchedule& schedule); ///< plans it
};

/**
 * @ingroup distributed-training-collective
 * @param algorithm name of a registered algorithm
 * @param request what to plan for
 * @return the algorithm
 * @throw ConfigurationError if there is no such algorithm, it cannot do the operation, or the
 *        request is out of range
 */
const CollectiveAlgorithm& CheckRequest(const std::string& algorithm,
                                        const CollectiveRequest& request);

/**
 * @ingroup distributed-training-collective
 * @param algorithm name of a registered algorithm
 * @param request what to plan for
 * @return the schedule; nothing to do for one rank
 * @throw ConfigurationError as CheckRequest()
 */
CollectiveSchedule BuildSchedule(const std::string& algorithm, const CollectiveRequest& request);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_ALGORITHM_H
