/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ALGORITHM_CHOOSER_H
#define DISTRIBUTED_TRAINING_ALGORITHM_CHOOSER_H

#include "collective-algorithm.h"
#include "collective-cost.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace ns3::training
{

/** Which algorithm is used for a collective. */
struct AlgorithmChoice
{
    std::string name;   ///< of the algorithm
    std::string reason; ///< one line: its expected time and that of the next best ones
};

/**
 * @ingroup distributed-training-collective
 *
 * Chooses the registered algorithm that is fastest by CollectiveCost, for a group of ranks on a
 * topology.
 */
class AlgorithmChooser
{
  public:
    /// Name of the algorithm that stands for the choice.
    static constexpr const char* NAME = "auto";
    /// Algorithms that search for a plan (CollectiveAlgorithm::searches) are left out above this.
    static constexpr uint32_t MOST_SEARCHED_RANKS = 64;

    /** @param network its parameters beside the topology */
    explicit AlgorithmChooser(const NetworkCost& network);

    /**
     * @param request the topology and the ranks in it must be the same in every call
     * @return the choice; the same for equal operation, bytes, and root
     * @throw ConfigurationError if no algorithm can do it
     */
    const AlgorithmChoice& Choose(const CollectiveRequest& request);

  private:
    /** What a plan depends on: operation, algorithm, root, segments, and bytes if need be. */
    using PlanKey = std::tuple<CollectiveOperation, std::string, uint32_t, uint32_t, uint64_t>;

    const std::optional<CollectiveCost>& GetCost(const std::string& name,
                                                 CollectiveRequest request);

    NetworkCost m_network;
    std::map<PlanKey, std::optional<CollectiveCost>> m_costs; // nothing: refused, or too large
    std::map<std::tuple<CollectiveOperation, uint64_t, uint32_t>, AlgorithmChoice> m_choices;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ALGORITHM_CHOOSER_H
