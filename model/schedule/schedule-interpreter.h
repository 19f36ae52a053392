/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULE_INTERPRETER_H
#define DISTRIBUTED_TRAINING_SCHEDULE_INTERPRETER_H

#include "chunk-layout.h"

#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Executes a schedule in plain memory, without a network or time. Additions are made in the same
 * order as over the network, so the results are equal bit by bit.
 *
 * @param schedule proven right
 * @param inputs each rank's vector; of equal lengths, except for all-to-all-v
 * @param matrix all-to-all-v: bytes from each rank to each
 * @return each rank's vector afterwards
 */
std::vector<std::vector<float>> InterpretSchedule(const CollectiveSchedule& schedule,
                                                  std::vector<std::vector<float>> inputs,
                                                  ByteMatrix matrix = nullptr);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_INTERPRETER_H
