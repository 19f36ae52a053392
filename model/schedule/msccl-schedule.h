/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MSCCL_SCHEDULE_H
#define DISTRIBUTED_TRAINING_MSCCL_SCHEDULE_H

#include "collective-schedule.h"

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Reads an MSCCL algorithm (msccl-tools' ir_to_xml), in its older form (`step s= srcbuf= srcoff=
 * dstbuf= dstoff=`) or its newer one (`op step= buf= off=`): all-reduce, all-gather,
 * reduce-scatter, all-to-all, broadcast and reduce (the last two with root 0
 * or that of an attribute `root`), in place or not.
 *
 * The steps of a thread block run in order and after those that they name; the messages between two
 * GPUs on a channel match first in, first out. MSCCL addresses slots of buffers, a schedule
 * addresses chunks: the program is executed once to find the chunk in each slot. A slot of a chunk
 * other than its own, in the scratch buffer or an output buffer, becomes a copy of the chunk.
 *
 * @param text of the file
 * @param name of the file, for messages
 * @return the schedule, not yet proven right
 * @throw ConfigurationError that names the file and its line, or GPU, thread block and step
 */
CollectiveSchedule ReadMscclSchedule(const std::string& text, const std::string& name);

/**
 * @ingroup distributed-training-helper
 *
 * Writes a schedule as MSCCL XML of the older form, without segments: a thread block for each peer,
 * direction and channel, and one for local actions. Messages whose order differs between the two
 * ends use different channels.
 *
 * @param schedule that VerifySchedule() has proven right
 * @return the text
 * @throw ConfigurationError if MSCCL has no such operation
 */
std::string WriteMscclSchedule(const CollectiveSchedule& schedule);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MSCCL_SCHEDULE_H
