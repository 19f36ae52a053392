/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_KINETO_COLLECTIVE_H
#define DISTRIBUTED_TRAINING_KINETO_COLLECTIVE_H

#include "ns3/collective-operation.h"
#include "ns3/task-graph.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ns3::training
{

/** What a collective of PyTorch does. */
struct KinetoCollective
{
    TaskKind kind;                 ///< COLLECTIVE, SEND or RECEIVE
    CollectiveOperation operation; ///< of a collective
};

/**
 * @ingroup distributed-training-formats
 * @param name as PyTorch reports it
 * @return what the collective does; none if it is unknown
 */
std::optional<KinetoCollective> FindKinetoCollective(const std::string& name);

/**
 * @ingroup distributed-training-formats
 * @param type name of a type of elements
 * @return bytes of an element; none if it is unknown
 */
std::optional<uint64_t> FindKinetoElementSize(const std::string& type);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_KINETO_COLLECTIVE_H
