/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PARALLEL_MEMORY_H
#define DISTRIBUTED_TRAINING_PARALLEL_MEMORY_H

#include "parallel-plan.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 *
 * Memory that a rank needs: parameters, gradients and the state of Adam, divided as ZeRO says,
 * and the activations that its schedule keeps (Korthikanti et al., MLSys 2023), but for those that
 * are computed again. Sizes of a layer's matrices say how many activations it has.
 * @param plan who has what
 * @param rank the rank
 * @return bytes
 */
uint64_t GetMemoryBytes(const ParallelPlan& plan, uint32_t rank);

/**
 * @ingroup distributed-training-parallel
 * @param plan who has what
 * @return GetMemoryBytes() of the rank that needs most
 */
uint64_t GetMostMemoryBytes(const ParallelPlan& plan);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PARALLEL_MEMORY_H
