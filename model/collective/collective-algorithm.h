/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_ALGORITHM_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_ALGORITHM_H

#include "collective-schedule.h"

#include "ns3/registry.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

struct TopologyGraph;

/** What a collective algorithm is asked to plan for. */
struct CollectiveRequest
{
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< what to do
    uint32_t ranks{1};                                              ///< number of ranks, at least 1
    uint64_t bytes{0};                                              ///< size of the whole vector
    uint32_t root{0};     ///< broadcast, reduce: see CollectiveSchedule::root
    uint32_t servers{1};  ///< parameter server: number of shards, 1 to ranks
    uint32_t segments{0}; ///< parts each chunk is cut into; 0: as the algorithm likes
    /// Keys of the algorithm; BuildSchedule() adds those that are missing with their defaults.
    std::map<std::string, std::string> keys;
    const TopologyGraph* topology{nullptr}; ///< where the ranks are, or null: unknown
    std::vector<uint32_t> hosts;            ///< the host of each rank; empty: rank r is on host r

    /**
     * @param key name of a key of the algorithm
     * @return its value
     */
    const std::string& Get(const std::string& key) const;
    /**
     * @param key name of a key of the algorithm that is a number
     * @return its value
     */
    uint64_t GetNumber(const std::string& key) const;
    /**
     * @param rank 0 to ranks - 1
     * @return the host it is on
     */
    uint32_t GetHost(uint32_t rank) const;
};

/** A key=value that an algorithm understands. */
struct AlgorithmKey
{
    std::string help;                 ///< one line
    std::string initial;              ///< value if the user gives none
    std::vector<std::string> choices; ///< allowed words; empty: a number
    uint64_t least{0};                ///< smallest number
    uint64_t most{0};                 ///< largest number

    /** @return what is allowed: words with | between them, or from which number to which */
    std::string GetAllowed() const;
};

/** The way that messages between two ranks are meant to take. */
struct RankPath
{
    uint32_t from;               ///< rank that sends
    uint32_t to;                 ///< rank that receives
    std::vector<uint32_t> nodes; ///< the switches on the way, as nodes of the topology
};

/**
 * @ingroup distributed-training-collective
 *
 * A collective algorithm by name. Its function fills in the actions of a schedule whose operation,
 * root and number of ranks are set, and whose chunks are as many as the ranks (all-to-all and
 * all-to-all-v: ranks^2; barrier: 1); it is called for two ranks or more and for operations in its
 * list only.
 */
struct CollectiveAlgorithm
{
    static constexpr const char* KIND = "collective algorithm"; ///< for messages
    std::string help;                                           ///< one line
    std::vector<CollectiveOperation> operations;                ///< what it can do
    void (*build)(const CollectiveRequest& request, CollectiveSchedule& schedule); ///< plans it
    /// Throws ConfigurationError with what it needs if it cannot do this request; may be null.
    void (*check)(const CollectiveRequest& request){nullptr};
    /// Segments that are good for a request whose `bytes` are set; null: 1.
    uint32_t (*segments)(const CollectiveRequest& request){nullptr};
    std::map<std::string, AlgorithmKey> keys{}; ///< what a user may choose
    bool bySize{false};   ///< whether the plan, not its segments alone, depends on the size
    bool searches{false}; ///< whether it searches for its plan, which takes long for many ranks
    /// The ways its messages are meant to take, each pair of ranks once; null: any.
    std::vector<RankPath> (*paths)(const CollectiveRequest& request){nullptr};
};

/**
 * @ingroup distributed-training-collective
 * @return what there is to say of all registered algorithms: names, operations and keys with their
 *         defaults, each with an explanation
 */
std::vector<std::pair<std::string, std::string>> DescribeAlgorithms();

/**
 * @ingroup distributed-training-collective
 * @param algorithm `NAME` or `NAME:key=value,key=value` of a registered algorithm
 * @param request what to plan for; gets the algorithm's keys
 * @return the algorithm
 * @throw ConfigurationError if there is no such algorithm, it cannot do the operation, or the
 *        request is out of range
 */
const CollectiveAlgorithm& CheckRequest(const std::string& algorithm, CollectiveRequest& request);

/**
 * @ingroup distributed-training-collective
 * @param algorithm `NAME` or `NAME:key=value,key=value` of a registered algorithm
 * @param request what to plan for
 * @return the schedule; nothing to do for one rank
 * @throw ConfigurationError as CheckRequest()
 */
CollectiveSchedule BuildSchedule(const std::string& algorithm, CollectiveRequest request);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_ALGORITHM_H
