/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULE_FILE_H
#define DISTRIBUTED_TRAINING_SCHEDULE_FILE_H

#include "collective-schedule.h"

#include <string>

namespace ns3::training
{

/**
 * @addtogroup distributed-training-helper
 * Collective schedules as text: JSON of this module, XML of MSCCL, and a listing for people.
 * @{
 */

/**
 * Reads a schedule of any size and proves it right.
 * @param path of a file that SaveSchedule() has written, or an MSCCL XML file
 * @return the schedule
 * @throw ConfigurationError with the file, the location in it (the line, if it is not JSON or XML)
 *        and the fault, which may be that of VerifySchedule()
 */
CollectiveSchedule LoadSchedule(const std::string& path);

/**
 * @param schedule to be written
 * @param path of the file: as MSCCL XML if it ends in .xml, otherwise as JSON
 * @throw ConfigurationError if the file cannot be written, or MSCCL has no such operation
 */
void SaveSchedule(const CollectiveSchedule& schedule, const std::string& path);

/**
 * @param schedule to be written
 * @return JSON, one action a line; with rotation the actions of rank 0 only
 */
std::string WriteScheduleJson(const CollectiveSchedule& schedule);

/**
 * @param text JSON as WriteScheduleJson() writes it
 * @param name of the file, for messages
 * @return the schedule, not yet proven right
 * @throw ConfigurationError as LoadSchedule()
 */
CollectiveSchedule ReadScheduleJson(const std::string& text, const std::string& name);

/**
 * @param schedule to be listed
 * @return every action of every rank in words, one a line, without segments
 */
std::string DescribeSchedule(const CollectiveSchedule& schedule);

/** @} */

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_FILE_H
