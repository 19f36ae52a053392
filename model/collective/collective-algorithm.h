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

/** A collective to be planned. */
struct CollectiveRequest
{
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< operation
    uint32_t ranks{1};                                              ///< number of ranks, at least 1
    uint64_t bytes{0};                                              ///< size of the whole vector
    uint32_t root{0};     ///< broadcast, reduce: see CollectiveSchedule::root
    uint32_t segments{0}; ///< parts each chunk is cut into; 0: the algorithm decides
    KeyValues keys;       ///< keys of the algorithm, checked and with defaults by CheckRequest()
    const TopologyGraph* topology{nullptr}; ///< topology that the ranks are on; null: unknown
    std::vector<uint32_t> hosts;            ///< the host of each rank; empty: rank r is on host r

    /**
     * @param rank 0 to ranks - 1
     * @return the host it is on
     */
    uint32_t GetHost(uint32_t rank) const;

    /** @return such as "6 ranks on topology 'ring:6'", for messages */
    std::string Describe() const;
};

/**
 * @ingroup distributed-training-collective
 *
 * A condition under which an algorithm has a plan, as data. Those that several algorithms share are
 * in algorithm-needs.h.
 */
struct AlgorithmNeed
{
    const char* text; ///< completes "needs ...", such as "a power of two of ranks"
    bool (*isMet)(const CollectiveRequest& request); ///< whether a request meets it
    /// Describes a request that does not meet it; null: CollectiveRequest::Describe()
    std::string (*describe)(const CollectiveRequest& request){nullptr};
};

/** The path that the messages from one rank to another are planned for. */
struct RankPath
{
    uint32_t from;               ///< rank that sends
    uint32_t to;                 ///< rank that receives
    std::vector<uint32_t> nodes; ///< the switches on the path, as nodes of the topology
};

/**
 * @ingroup distributed-training-collective
 *
 * A collective algorithm by name, in Registry<CollectiveAlgorithm>. Its function fills in the
 * actions of a schedule whose operation, root and number of ranks are set, and whose chunks are as
 * many as the ranks (all-to-all and all-to-all-v: ranks^2; barrier: 1). It is called for two ranks
 * or more and for requests that meet the needs.
 */
struct CollectiveAlgorithm
{
    static constexpr const char* KIND = "collective algorithm"; ///< for messages
    std::string help;                                           ///< one line
    std::vector<CollectiveOperation> operations;                ///< operations that it has
    /// Plans a request.
    void (*build)(const CollectiveRequest& request, CollectiveSchedule& schedule);
    std::vector<Key> keys{};            ///< its keys
    std::vector<AlgorithmNeed> needs{}; ///< conditions on a request
    /// Returns the number of segments that suits a request; null: 1.
    uint32_t (*segments)(const CollectiveRequest& request){nullptr};
    bool bySize{false};   ///< whether the plan, apart from its segments, depends on the size
    bool searches{false}; ///< whether it searches for its plan, which takes long for many ranks
    /// Returns the paths that its messages are planned for, one for each pair of ranks; null: any.
    std::vector<RankPath> (*paths)(const CollectiveRequest& request){nullptr};
};

/**
 * @ingroup distributed-training-collective
 * @param algorithm a registered algorithm
 * @return its operations and needs, a line each, for help
 */
std::vector<std::string> GetNotes(const CollectiveAlgorithm& algorithm);

/**
 * @ingroup distributed-training-collective
 * @param algorithm `NAME` or `NAME:key=value,key=value` of a registered algorithm
 * @param request to be planned; gets the keys of the algorithm
 * @return the algorithm
 * @throw ConfigurationError if there is no such algorithm, it lacks the operation, a key is wrong,
 *        or the request is out of range or does not meet a need
 */
const CollectiveAlgorithm& CheckRequest(const std::string& algorithm, CollectiveRequest& request);

/**
 * @ingroup distributed-training-collective
 * @param algorithm an algorithm and its keys
 * @param request to be planned; gets the keys of the algorithm
 * @throw ConfigurationError if the algorithm lacks the operation, or the request is out of range or
 *        does not meet a need
 */
void CheckRequest(const Choice<CollectiveAlgorithm>& algorithm, CollectiveRequest& request);

/**
 * @ingroup distributed-training-collective
 * @param algorithm `NAME` or `NAME:key=value,key=value` of a registered algorithm
 * @param request to be planned
 * @return the schedule; nothing to do for one rank
 * @throw ConfigurationError as CheckRequest()
 */
CollectiveSchedule BuildSchedule(const std::string& algorithm, CollectiveRequest request);

/**
 * @ingroup distributed-training-collective
 * @param algorithm an algorithm and its keys
 * @param request to be planned
 * @return the schedule; nothing to do for one rank
 * @throw ConfigurationError as CheckRequest()
 */
CollectiveSchedule BuildSchedule(const Choice<CollectiveAlgorithm>& algorithm,
                                 CollectiveRequest request);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_ALGORITHM_H
