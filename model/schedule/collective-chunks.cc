/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-chunks.h"

#include "ns3/abort.h"

namespace ns3::training
{

uint32_t
CollectiveChunks::GetSource(uint32_t chunk) const
{
    switch (operation)
    {
    case CollectiveOperation::ALL_GATHER:
        return GetOwner(chunk);
    case CollectiveOperation::BROADCAST:
        return root;
    case CollectiveOperation::ALL_TO_ALL:
    case CollectiveOperation::ALL_TO_ALL_V:
        return chunk / (chunks / m_size);
    case CollectiveOperation::SEND_RECEIVE:
        return chunk;
    case CollectiveOperation::ALL_REDUCE:
    case CollectiveOperation::REDUCE_SCATTER:
    case CollectiveOperation::REDUCE:
    case CollectiveOperation::BARRIER:
        break;
    }
    NS_ABORT_MSG(GetName(operation) << " has data at every rank");
    return 0;
}

bool
CollectiveChunks::HasAtStart(uint32_t rank, uint32_t chunk) const
{
    switch (operation)
    {
    case CollectiveOperation::ALL_REDUCE:
    case CollectiveOperation::REDUCE_SCATTER:
    case CollectiveOperation::REDUCE:
    case CollectiveOperation::BARRIER:
        return true;
    default:
        return rank == GetSource(chunk);
    }
}

CollectiveChunks::Promise
CollectiveChunks::GetPromise(uint32_t rank, uint32_t chunk) const
{
    switch (operation)
    {
    case CollectiveOperation::REDUCE_SCATTER:
        return rank == GetOwner(chunk) ? Promise::SUM : Promise::NOTHING;
    case CollectiveOperation::REDUCE:
        return rank == root ? Promise::SUM : Promise::NOTHING;
    case CollectiveOperation::ALL_GATHER:
    case CollectiveOperation::BROADCAST:
        return Promise::COPY;
    case CollectiveOperation::ALL_TO_ALL:
    case CollectiveOperation::ALL_TO_ALL_V:
        return rank == GetTarget(chunk) ? Promise::COPY : Promise::NOTHING;
    case CollectiveOperation::SEND_RECEIVE:
        return rank == (chunk + 1) % m_size ? Promise::COPY : Promise::NOTHING;
    case CollectiveOperation::ALL_REDUCE:
    case CollectiveOperation::BARRIER:
        break;
    }
    return Promise::SUM;
}

} // namespace ns3::training
