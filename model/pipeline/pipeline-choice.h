/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PIPELINE_CHOICE_H
#define DISTRIBUTED_TRAINING_PIPELINE_CHOICE_H

#include "pipeline-schedule.h"

#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-pipeline
 * A named schedule, in Registry<PipelineScheduleEntry>.
 */
struct PipelineScheduleEntry
{
    static constexpr const char* KIND = "pipeline schedule"; ///< for messages
    std::string help;                                        ///< one line, with the source
    /**
     * Creates the schedule.
     * @param ranks of the pipeline
     * @param microBatches of an iteration
     * @param values its keys, validated
     * @throw ConfigurationError if it needs other numbers
     */
    PipelineSchedule (*make)(uint32_t ranks, uint32_t microBatches, const KeyValues& values);
    std::vector<Key> keys{};           ///< its keys
    std::optional<FirstValue> first{}; ///< its leading value
};

/** @return its leading value */
inline std::optional<FirstValue>
GetFirstValue(const PipelineScheduleEntry& entry)
{
    return entry.first;
}

/**
 * @ingroup distributed-training-pipeline
 * @param text NAME or NAME:key=value,... of a PipelineScheduleEntry, or the path of a file whose
 *        name ends with .csv, short for `file:PATH`
 * @param ranks of the pipeline
 * @param microBatches of an iteration
 * @return the schedule, complete and free of deadlocks
 * @throw ConfigurationError if the text is invalid, or the schedule incomplete or deadlocked
 */
PipelineSchedule MakePipelineSchedule(const std::string& text,
                                      uint32_t ranks,
                                      uint32_t microBatches);

/**
 * @ingroup distributed-training-pipeline
 * @param ranks of the pipeline
 * @param chunks stages of each rank
 * @return by stage its rank: stage s on rank s modulo `ranks`
 */
std::vector<uint32_t> PlaceStagesInLoop(uint32_t ranks, uint32_t chunks);

/**
 * @ingroup distributed-training-pipeline
 * @param ranks of the pipeline
 * @return by stage its rank, two stages each: down the ranks and up again
 */
std::vector<uint32_t> PlaceStagesInV(uint32_t ranks);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PIPELINE_CHOICE_H
