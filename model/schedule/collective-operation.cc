/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-operation.h"

#include "ns3/training-configuration-error.h"

namespace ns3::training
{

const std::vector<CollectiveOperation>&
GetCollectiveOperations()
{
    static const std::vector<CollectiveOperation> all{CollectiveOperation::ALL_REDUCE,
                                                      CollectiveOperation::REDUCE_SCATTER,
                                                      CollectiveOperation::ALL_GATHER,
                                                      CollectiveOperation::BROADCAST,
                                                      CollectiveOperation::REDUCE,
                                                      CollectiveOperation::ALL_TO_ALL,
                                                      CollectiveOperation::ALL_TO_ALL_V,
                                                      CollectiveOperation::BARRIER,
                                                      CollectiveOperation::SEND_RECEIVE};
    return all;
}

std::string
GetName(CollectiveOperation operation)
{
    static const char* const names[] = {"all-reduce",
                                        "reduce-scatter",
                                        "all-gather",
                                        "broadcast",
                                        "reduce",
                                        "all-to-all",
                                        "all-to-all-v",
                                        "barrier",
                                        "send-receive"};
    return names[static_cast<uint8_t>(operation)];
}

CollectiveOperation
FindCollectiveOperation(const std::string& name)
{
    std::string names;
    for (CollectiveOperation operation : GetCollectiveOperations())
    {
        if (GetName(operation) == name)
        {
            return operation;
        }
        names += (names.empty() ? "" : ", ") + GetName(operation);
    }
    throw ConfigurationError("unknown collective operation '" + name + "' (allowed: " + names +
                             ")");
}

bool
IsAllToAll(CollectiveOperation operation)
{
    return operation == CollectiveOperation::ALL_TO_ALL ||
           operation == CollectiveOperation::ALL_TO_ALL_V;
}

bool
IsExchange(CollectiveOperation operation)
{
    return IsAllToAll(operation) || operation == CollectiveOperation::SEND_RECEIVE;
}

bool
HasRoot(CollectiveOperation operation)
{
    return operation == CollectiveOperation::BROADCAST || operation == CollectiveOperation::REDUCE;
}

double
GetBusFactor(CollectiveOperation operation, uint32_t ranks)
{
    if (ranks < 2)
    {
        return 0;
    }
    switch (operation)
    {
    case CollectiveOperation::ALL_REDUCE:
        return 2.0 * (ranks - 1) / ranks;
    case CollectiveOperation::REDUCE_SCATTER:
    case CollectiveOperation::ALL_GATHER:
    case CollectiveOperation::ALL_TO_ALL:
    case CollectiveOperation::ALL_TO_ALL_V:
        return 1.0 * (ranks - 1) / ranks;
    case CollectiveOperation::BARRIER:
        return 0;
    case CollectiveOperation::BROADCAST:
    case CollectiveOperation::REDUCE:
    case CollectiveOperation::SEND_RECEIVE:
        break;
    }
    return 1;
}

} // namespace ns3::training
