/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_OPERATION_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_OPERATION_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/** What a collective does; meanings as in Communicator. */
enum class CollectiveOperation : uint8_t
{
    ALL_REDUCE,
    REDUCE_SCATTER,
    ALL_GATHER,
    BROADCAST,
    REDUCE,
    ALL_TO_ALL,
    ALL_TO_ALL_V,
    BARRIER,
    SEND_RECEIVE
};

/**
 * What each rank sends to each in an all-to-all-v: element s * ranks + d is the bytes from rank s
 * to rank d. Known to all ranks, as after an exchange of counts.
 */
using ByteMatrix = std::shared_ptr<const std::vector<uint64_t>>;

/**
 * @ingroup distributed-training-collective
 * @return all operations
 */
const std::vector<CollectiveOperation>& GetCollectiveOperations();

/**
 * @ingroup distributed-training-collective
 * @param operation what a collective does
 * @return its name, such as "all-reduce"
 */
std::string GetName(CollectiveOperation operation);

/**
 * @ingroup distributed-training-collective
 * @param name such as "all-reduce"
 * @return the operation of that name
 * @throw ConfigurationError that lists the names there are
 */
CollectiveOperation FindCollectiveOperation(const std::string& name);

/**
 * @ingroup distributed-training-collective
 * @param operation what a collective does
 * @return whether each rank's data goes to other places: all-to-all, all-to-all-v, send-receive
 */
bool IsExchange(CollectiveOperation operation);

/**
 * @ingroup distributed-training-collective
 * @param operation what a collective does
 * @return whether one rank is its root: broadcast, reduce
 */
bool HasRoot(CollectiveOperation operation);

/**
 * @ingroup distributed-training-collective
 *
 * The factor between algorithm bandwidth (size / time) and bus bandwidth as nccl-tests defines them
 * (doc/PERFORMANCE.md): all-reduce 2(n-1)/n, reduce-scatter, all-gather and all-to-all (n-1)/n,
 * broadcast, reduce and send-receive 1, barrier 0.
 *
 * @param operation what is done
 * @param ranks number of ranks n, at least 1
 * @return the factor; 0 for one rank, which moves nothing
 */
double GetBusFactor(CollectiveOperation operation, uint32_t ranks);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_OPERATION_H
