/*
 * Copyright (c) 2026 The distributed-training authors
 *
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

/** The algorithm that was chosen for a collective. */
struct AlgorithmChoice
{
    std::string name;   ///< name of the algorithm
    std::string reason; ///< one line: its expected time and those of the next best algorithms
};

/**
 * @ingroup distributed-training-collective
 *
 * Chooses, for a group of ranks on a topology, the algorithm that CollectiveCost expects to be
 * fastest. The candidates are all registered algorithms, with the defaults of their keys.
 */
class AlgorithmChooser
{
  public:
    /// Name by which users ask for the choice, in place of an algorithm.
    static constexpr const char* NAME = "auto";
    /// Most ranks for which algorithms that search for a plan (CollectiveAlgorithm::searches) are
    /// candidates.
    static constexpr uint32_t MAX_SEARCHED_RANKS = 64;

    /** @param network parameters beyond the topology */
    explicit AlgorithmChooser(const NetworkCost& network);

    /**
     * @param request collective to be planned; topology and ranks must be the same in every call
     * @return the choice; the same for equal operation, bytes, and root
     * @throw ConfigurationError if no algorithm has a plan
     */
    const AlgorithmChoice& Choose(const CollectiveRequest& request);

  private:
    /// Operation, algorithm, root, segments, and bytes if the plan depends on them.
    using PlanKey = std::tuple<CollectiveOperation, std::string, uint32_t, uint32_t, uint64_t>;

    const std::optional<CollectiveCost>& GetCost(const std::string& name,
                                                 CollectiveRequest request);

    NetworkCost m_network;
    std::map<PlanKey, std::optional<CollectiveCost>> m_costs; // none: refused, or too large
    std::map<std::tuple<CollectiveOperation, uint64_t, uint32_t>, AlgorithmChoice> m_choices;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ALGORITHM_CHOOSER_H
