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
 * Parses an MSCCL algorithm (msccl-tools' ir_to_xml) in the older format (`step s= srcbuf= srcoff=
 * dstbuf= dstoff=`) or the newer format (`op step= buf= off=`): all-reduce, all-gather,
 * reduce-scatter, all-to-all, broadcast and reduce (the last two with root 0 or the root in an
 * attribute `root`), in place or out of place.
 *
 * The steps of a thread block run in order, after the steps that they depend on. Sends and receives
 * between two GPUs on a channel match in FIFO order. MSCCL addresses buffer slots, whereas a
 * schedule addresses chunks, so the program is executed once to find the chunk in each slot. If a
 * scratch or output slot holds a chunk outside the chunk's own slot, it becomes a copy of the
 * chunk.
 *
 * @param text contents of the file
 * @param name file name, for messages
 * @return the schedule, not yet verified
 * @throw ConfigurationError that names the file and the line, or the GPU, thread block and step
 */
CollectiveSchedule ReadMscclSchedule(const std::string& text, const std::string& name);

/**
 * @ingroup distributed-training-helper
 *
 * Writes a schedule as MSCCL XML in the older format, without segments. There is one thread block
 * per peer, direction and channel, and one for local actions. Messages whose order differs between
 * sender and receiver use different channels.
 *
 * @param schedule a schedule verified by VerifySchedule()
 * @return the XML text
 * @throw ConfigurationError if MSCCL does not support the operation
 */
std::string WriteMscclSchedule(const CollectiveSchedule& schedule);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MSCCL_SCHEDULE_H
