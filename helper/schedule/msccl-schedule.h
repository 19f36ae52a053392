/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MSCCL_SCHEDULE_H
#define DISTRIBUTED_TRAINING_MSCCL_SCHEDULE_H

#include "ns3/collective-schedule.h"

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Reads an MSCCL algorithm (msccl-tools' ir_to_xml), in its older form (`step s= srcbuf= srcoff=
 * dstbuf= dstoff=`) or its newer one (`op step= buf= off=`): all-reduce, all-gather,
 * reduce-scatter, all-to-all, broadcast and reduce (these two from or to gpu 0,
 * or that of an attribute `root`), in place or not.
 *
 * The steps of a thread block run in order and after those they name; messages of two gpus on a
 * channel are matched first in, first out. As MSCCL speaks of places and a schedule of chunks, the
 * program is carried out once to see which chunk is where: another place of a chunk than its own,
 * in the scratch buffer or an output buffer, becomes a copy of it.
 *
 * @param text of the file
 * @param name of the file, for messages
 * @return the schedule, not yet proven right
 * @throw ConfigurationError that names the file and its line, or gpu, thread block and step
 */
CollectiveSchedule ReadMscclSchedule(const std::string& text, const std::string& name);

/**
 * @ingroup distributed-training-helper
 *
 * Writes a schedule as MSCCL XML of the older form, segments left out: a thread block for each
 * peer, direction and channel, one more for what is done without a peer. Messages whose order is
 * not the same at both ends go through different channels.
 *
 * @param schedule that VerifySchedule() has found right
 * @return the text
 * @throw ConfigurationError if MSCCL has no such operation
 */
std::string WriteMscclSchedule(const CollectiveSchedule& schedule);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MSCCL_SCHEDULE_H
