/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "pipeline/pipeline-choice.h"

#include "pipeline/pipeline-timing.h"

#include "ns3/training-configuration-error.h"

namespace ns3::training
{

namespace
{

/** @return whether a file is meant, without `file:` */
bool
IsFile(const std::string& text)
{
    const std::string end = ".csv";
    return text.size() > end.size() && text.compare(0, 5, "file:") != 0 &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

PipelineSchedule
MakePipelineSchedule(const std::string& text, uint32_t ranks, uint32_t microBatches)
{
    const auto choice = Choose<PipelineScheduleEntry>(IsFile(text) ? "file:" + text : text);
    PipelineSchedule schedule = choice.entry->make(ranks, microBatches, choice.values);
    std::string problem = schedule.FindGap();
    if (problem.empty())
    {
        problem = TimePipeline(schedule, {}).deadlock;
    }
    if (!problem.empty())
    {
        throw ConfigurationError("schedule", text, ": " + problem);
    }
    return schedule;
}

std::vector<uint32_t>
PlaceStagesInLoop(uint32_t ranks, uint32_t chunks)
{
    std::vector<uint32_t> places;
    for (uint32_t stage = 0; stage < ranks * chunks; stage++)
    {
        places.push_back(stage % ranks);
    }
    return places;
}

std::vector<uint32_t>
PlaceStagesInV(uint32_t ranks)
{
    std::vector<uint32_t> places;
    for (uint32_t stage = 0; stage < 2 * ranks; stage++)
    {
        places.push_back(stage < ranks ? stage : 2 * ranks - 1 - stage);
    }
    return places;
}

} // namespace ns3::training
