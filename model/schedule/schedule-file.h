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
 * Collective schedules as text: JSON of this module, MSCCL XML, and a human-readable listing.
 * @{
 */

/**
 * Loads a schedule of any size and verifies it.
 * @param path path of a file written by SaveSchedule(), or of an MSCCL XML file
 * @return the schedule
 * @throw ConfigurationError with the file, the location in it (the line, if the file is malformed
 *        JSON or XML) and the error, including faults found by VerifySchedule()
 */
CollectiveSchedule LoadSchedule(const std::string& path);

/**
 * @param schedule schedule to write
 * @param path path of the file; .xml selects MSCCL XML, any other suffix JSON
 * @throw ConfigurationError if MSCCL does not support the operation
 * @throw std::runtime_error if the file cannot be written
 */
void SaveSchedule(const CollectiveSchedule& schedule, const std::string& path);

/**
 * @param schedule schedule to write
 * @return JSON, one action per line; with rotation, the actions of rank 0 only
 */
std::string WriteScheduleJson(const CollectiveSchedule& schedule);

/**
 * @param text JSON in the format of WriteScheduleJson()
 * @param name file name, for messages
 * @return the schedule, not yet verified
 * @throw ConfigurationError as LoadSchedule()
 */
CollectiveSchedule ReadScheduleJson(const std::string& text, const std::string& name);

/**
 * @param schedule schedule to list
 * @return every action of every rank in words, one per line, without segments
 */
std::string DescribeSchedule(const CollectiveSchedule& schedule);

/** @} */

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_FILE_H
