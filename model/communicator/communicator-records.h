/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COMMUNICATOR_RECORDS_H
#define DISTRIBUTED_TRAINING_COMMUNICATOR_RECORDS_H

#include "ns3/collective-operation.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/** One message, for trace sources. Ranks are numbered in the transport's whole group. */
struct MessageRecord
{
    uint32_t source{0};      ///< source rank
    uint32_t destination{0}; ///< destination rank
    uint64_t collective{0};  ///< see MessageTag
    uint32_t step{0};        ///< step of the algorithm
    uint32_t message{0};     ///< index among the messages of this step to the same rank
    uint64_t tag{0};         ///< tag in the transport
    uint64_t bytes{0};       ///< size
    Time time; ///< Send: when the transport accepted it; Receive: when its last byte arrived
};

/** One collective at one rank, for trace sources. Times are simulated. */
struct CollectiveRecord
{
    uint32_t rank{0};         ///< the rank, in the transport's whole group
    uint32_t communicator{0}; ///< number of the communicator
    uint64_t collective{0};   ///< number in the communicator, from 0, in issue order
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< operation
    std::string algorithm;                                          ///< name of the algorithm
    uint64_t bytes{0};                                              ///< size of the whole vector
    uint32_t iteration{0};                                          ///< see Tensor
    uint32_t bucket{0};                                             ///< see Tensor
    Time issued;                                                    ///< time of issue
    Time started;                                                   ///< time of its turn
    Time finished;       ///< time of completion at this rank
    bool derived{false}; ///< took the time of an earlier one, without packets
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COMMUNICATOR_RECORDS_H
