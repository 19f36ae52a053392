/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_ALGORITHM_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_ALGORITHM_H

#include "ns3/collective-schedule.h"
#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

struct TopologyGraph;

/** Parameters of a collective to plan. */
struct CollectiveRequest
{
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< collective operation
    uint32_t ranks{1};                                              ///< number of ranks, at least 1
    uint64_t bytes{0};                                              ///< size of the whole vector
    uint32_t root{0};     ///< broadcast, reduce: see CollectiveSchedule::root
    uint32_t segments{0}; ///< segments per chunk; 0: chosen by the algorithm
    KeyValues keys;       ///< keys of the algorithm; CheckRequest() checks them and adds defaults
    const TopologyGraph* topology{nullptr}; ///< topology of the ranks; null: unknown
    std::vector<uint32_t> hosts;            ///< host of each rank; empty: rank r is on host r

    /**
     * @param rank rank, from 0 to ranks - 1
     * @return the host of the rank
     */
    uint32_t GetHost(uint32_t rank) const;

    /** @return a description such as "6 ranks on topology 'ring:6'", for messages */
    std::string Describe() const;
};

/**
 * @ingroup distributed-training-collective
 *
 * A requirement of an algorithm on a request. Requirements shared by several algorithms are in
 * the header algorithm-needs.
 */
struct AlgorithmNeed
{
    const char* text; ///< completes "needs ...", such as "a torus or mesh of two dimensions"
    bool (*isMet)(const CollectiveRequest& request); ///< whether a request meets it
    /// Describes a request that violates it; null: CollectiveRequest::Describe()
    std::string (*describe)(const CollectiveRequest& request){nullptr};
};

/** The planned path of the messages from one rank to another. */
struct RankPath
{
    uint32_t from;               ///< sending rank
    uint32_t to;                 ///< receiving rank
    std::vector<uint32_t> nodes; ///< switches on the path, as nodes of the topology
};

/**
 * @ingroup distributed-training-collective
 *
 * A collective algorithm, registered by name in Registry<CollectiveAlgorithm>. Its build function
 * adds the actions to a schedule whose operation, root and number of ranks are set, and whose
 * number of chunks equals the number of ranks (all-to-all and all-to-all-v: ranks^2; barrier: 1).
 * It is only called for at least two ranks and for requests that meet the requirements.
 */
struct CollectiveAlgorithm
{
    static constexpr const char* KIND = "collective algorithm"; ///< for messages
    std::string help;                                           ///< one line
    std::vector<CollectiveOperation> operations;                ///< supported operations
    /// Builds the schedule of a request.
    void (*build)(const CollectiveRequest& request, CollectiveSchedule& schedule);
    std::vector<Key> keys{};            ///< its keys
    std::vector<AlgorithmNeed> needs{}; ///< requirements on a request
    /// Returns the preferred number of segments for a request; null: 1.
    uint32_t (*segments)(const CollectiveRequest& request){nullptr};
    bool dependsOnSize{
        false};           ///< whether the schedule depends on the size, apart from its segments
    bool searches{false}; ///< whether it searches for a schedule, which is slow for many ranks
    /// Returns the planned paths of its messages, one per pair of ranks; null: any paths.
    std::vector<RankPath> (*paths)(const CollectiveRequest& request){nullptr};
};

/**
 * @ingroup distributed-training-collective
 * @param algorithm a registered algorithm
 * @return its operations and requirements, one line each, for help
 */
std::vector<std::string> GetNotes(const CollectiveAlgorithm& algorithm);

/**
 * @ingroup distributed-training-collective
 * @param algorithm `NAME` or `NAME:key=value,key=value` of a registered algorithm
 * @param request the request; receives the keys of the algorithm
 * @return the algorithm
 * @throw ConfigurationError if the algorithm does not exist, it does not support the operation, a
 *        key is invalid, or the request is out of range or violates a requirement
 */
const CollectiveAlgorithm& CheckRequest(const std::string& algorithm, CollectiveRequest& request);

/**
 * @ingroup distributed-training-collective
 * @param algorithm an algorithm and its keys
 * @param request the request; receives the keys of the algorithm
 * @throw ConfigurationError if the algorithm does not support the operation, or the request is out
 *        of range or violates a requirement
 */
void CheckRequest(const Choice<CollectiveAlgorithm>& algorithm, CollectiveRequest& request);

/**
 * @ingroup distributed-training-collective
 * @param algorithm `NAME` or `NAME:key=value,key=value` of a registered algorithm
 * @param request the collective to plan
 * @return the schedule; without actions for one rank
 * @throw ConfigurationError as CheckRequest()
 */
CollectiveSchedule BuildSchedule(const std::string& algorithm, CollectiveRequest request);

/**
 * @ingroup distributed-training-collective
 * @param algorithm an algorithm and its keys
 * @param request the collective to plan
 * @return the schedule; without actions for one rank
 * @throw ConfigurationError as CheckRequest()
 */
CollectiveSchedule BuildSchedule(const Choice<CollectiveAlgorithm>& algorithm,
                                 CollectiveRequest request);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_ALGORITHM_H
