/*
 * Copyright (c) 2026 The distributed-training authors
 *
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

/** The collective operations; see Communicator for their semantics. */
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
 * The sizes of an all-to-all-v: element s * ranks + d is the number of bytes from rank s to rank d.
 * Every rank knows the whole matrix, as after an exchange of counts.
 */
using ByteMatrix = std::shared_ptr<const std::vector<uint64_t>>;

/**
 * @ingroup distributed-training-collective
 * @return all operations
 */
const std::vector<CollectiveOperation>& GetCollectiveOperations();

/**
 * @ingroup distributed-training-collective
 * @param operation a collective operation
 * @return its name, such as "all-reduce"
 */
std::string GetName(CollectiveOperation operation);

/**
 * @ingroup distributed-training-collective
 * @param name operation name, such as "all-reduce"
 * @return the operation of that name
 * @throw ConfigurationError that lists the registered names if there is no such operation
 */
CollectiveOperation FindCollectiveOperation(const std::string& name);

/**
 * @ingroup distributed-training-collective
 * @param operation a collective operation
 * @return whether it is an all-to-all, of equal or unequal parts
 */
bool IsAllToAll(CollectiveOperation operation);

/**
 * @ingroup distributed-training-collective
 * @param operation a collective operation
 * @return whether it exchanges data between ranks without reduction: all-to-all, all-to-all-v,
 *         send-receive
 */
bool IsExchange(CollectiveOperation operation);

/**
 * @ingroup distributed-training-collective
 * @param operation a collective operation
 * @return whether it has a root: broadcast, reduce
 */
bool HasRoot(CollectiveOperation operation);

/**
 * @ingroup distributed-training-collective
 *
 * The ratio of bus bandwidth to algorithm bandwidth (size / time) as defined by nccl-tests
 * (doc/PERFORMANCE.md): all-reduce 2(n-1)/n, reduce-scatter, all-gather and all-to-all (n-1)/n,
 * broadcast, reduce and send-receive 1, barrier 0.
 *
 * @param operation a collective operation
 * @param ranks number of ranks n, at least 1
 * @return the factor; 0 for one rank, which moves no data
 */
double GetBusFactor(CollectiveOperation operation, uint32_t ranks);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_OPERATION_H
