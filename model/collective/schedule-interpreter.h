/*
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
 * Carries out a schedule in plain memory, without a network or time. The additions are the same in
 * the same order as over the network, so the results are equal bit by bit.
 *
 * @param schedule a right one
 * @param inputs each rank's vector; all of one length but with all-to-all-v
 * @param matrix all-to-all-v: bytes from each rank to each
 * @return each rank's vector afterwards
 */
std::vector<std::vector<float>> InterpretSchedule(const CollectiveSchedule& schedule,
                                                  std::vector<std::vector<float>> inputs,
                                                  ByteMatrix matrix = nullptr);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_INTERPRETER_H
