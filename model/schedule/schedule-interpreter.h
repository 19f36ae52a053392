/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULE_INTERPRETER_H
#define DISTRIBUTED_TRAINING_SCHEDULE_INTERPRETER_H

#include "collective-schedule.h"
#include "message-coding.h"

#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Executes a schedule in memory, without network or simulated time. Additions are performed in the
 * same order as over the network, so the results are bit-identical.
 *
 * @param schedule a verified schedule
 * @param inputs vector of each rank; of equal lengths, except for all-to-all-v
 * @param matrix all-to-all-v: bytes from each rank to each
 * @param coding of the messages
 * @return final vector of each rank
 */
std::vector<std::vector<float>> InterpretSchedule(const CollectiveSchedule& schedule,
                                                  std::vector<std::vector<float>> inputs,
                                                  ByteMatrix matrix = nullptr,
                                                  const MessageCoding& coding = {});

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_INTERPRETER_H
