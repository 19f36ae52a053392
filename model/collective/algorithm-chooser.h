/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ALGORITHM_CHOOSER_H
#define DISTRIBUTED_TRAINING_ALGORITHM_CHOOSER_H

#include "collective-algorithm.h"
#include "collective-cost.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace ns3::training
{

/** An algorithm that could be chosen for a collective. */
struct AlgorithmCandidate
{
    std::string name;  ///< algorithm name
    std::string unfit; ///< why it cannot be chosen, one line; empty: it can
    double seconds{0}; ///< expected time
    double latency{0}; ///< part of it that does not depend on the size, s
    uint32_t steps{0}; ///< messages that wait for each other
};

/** What hosts add to the expected time of a schedule. */
struct HostEstimate
{
    double seconds{0};    ///< before the first message, and at each step
    double channel{0};    ///< of the busiest channel for all its messages; the traffic hides it, s
    double wireFactor{1}; ///< bytes sent per byte of data
};

/** What a chooser asks about the hosts. Empty functions: hosts take no time. */
struct HostQuestions
{
    /// What they add to a schedule, for a size of the whole vector.
    std::function<HostEstimate(const CollectiveSchedule&, uint64_t)> estimate{};
    /// Algorithms that their library has for an operation; none: it has no choice of its own.
    std::function<std::vector<std::string>(CollectiveOperation)> listAlgorithms{};
};

/** The algorithm chosen for a collective. */
struct AlgorithmChoice
{
    std::string name;   ///< algorithm name
    std::string reason; ///< one line: its expected time and the times of the runners-up
    /// All registered algorithms: those that fit by rising expected time, then the others by name.
    std::vector<AlgorithmCandidate> candidates;
};

/**
 * @ingroup distributed-training-collective
 * Chooses an algorithm for each collective of a group of ranks.
 */
class AlgorithmSelector
{
  public:
    virtual ~AlgorithmSelector() = default;

    /** @return name that users give in place of an algorithm */
    virtual std::string GetName() const = 0;

    /**
     * @param request request collective to plan; topology and ranks must be equal in all calls
     * @return the choice; deterministic for equal operation, bytes and root; valid while this lives
     * @throw ConfigurationError if no algorithm supports the request
     */
    virtual const AlgorithmChoice& Choose(const CollectiveRequest& request) = 0;
};

/**
 * @ingroup distributed-training-collective
 *
 * Chooses, for a group of ranks on a topology, the algorithm with the least expected time according
 * to CollectiveCost and the hosts. The candidates are all registered algorithms with default keys.
 */
class AlgorithmChooser : public AlgorithmSelector
{
  public:
    /// Name that users give in place of an algorithm to request automatic selection.
    static constexpr const char* NAME = "auto";
    /// Maximum number of ranks for which search-based algorithms (CollectiveAlgorithm::searches)
    /// are candidates.
    static constexpr uint32_t MAX_SEARCHED_RANKS = 64;

    /**
     * @param network parameters beyond the topology
     * @param hosts of the ranks
     */
    explicit AlgorithmChooser(const NetworkCost& network, HostQuestions hosts = {});

    // AlgorithmSelector
    std::string GetName() const override
    {
        return NAME;
    }

    const AlgorithmChoice& Choose(const CollectiveRequest& request) override;

  private:
    /// Operation, algorithm, root, segments, and bytes if the plan depends on them.
    using PlanKey = std::tuple<CollectiveOperation, std::string, uint32_t, uint32_t, uint64_t>;

    /** Cost of an algorithm, or why there is none. */
    struct Judgement
    {
        std::optional<CollectiveCost> cost;
        std::shared_ptr<const CollectiveSchedule> schedule; // null: hosts take no time
        std::string unfit;
    };

    AlgorithmCandidate Judge(const std::string& name, CollectiveRequest request);
    std::string Object(const std::string& name, CollectiveOperation operation) const;

    NetworkCost m_network;
    HostQuestions m_hosts;
    std::map<PlanKey, Judgement> m_costs;
    std::map<std::tuple<CollectiveOperation, uint64_t, uint32_t>, AlgorithmChoice> m_choices;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ALGORITHM_CHOOSER_H
