/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-task.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace ns3::training
{

void
TrainingTask::Compute(Time length, const std::string& phase)
{
    TaskStep step;
    step.length = length;
    step.phase = phase;
    steps.push_back(step);
}

void
TrainingTask::Start(const TaskCollective& collective)
{
    TaskStep step;
    step.kind = TaskStep::Kind::START;
    step.collective = static_cast<uint32_t>(collectives.size());
    steps.push_back(step);
    collectives.push_back(collective);
}

void
TrainingTask::Wait(uint32_t collective)
{
    TaskStep step;
    step.kind = TaskStep::Kind::WAIT;
    step.collective = collective;
    steps.push_back(step);
}

void
TrainingTask::Apply(uint32_t collective, Time length)
{
    TaskStep step;
    step.kind = TaskStep::Kind::APPLY;
    step.collective = collective;
    step.length = length;
    steps.push_back(step);
}

void
TrainingTask::RemoveUpdate()
{
    steps.erase(std::remove_if(steps.begin(),
                               steps.end(),
                               [](const TaskStep& step) { return step.phase == "update"; }),
                steps.end());
}

Time
TrainingTask::GetComputeTime() const
{
    Time sum;
    for (const TaskStep& step : steps)
    {
        sum += step.length;
    }
    return sum;
}

std::vector<uint32_t>
TrainingTask::GetCollectives(uint32_t communicator) const
{
    std::vector<uint32_t> indices;
    for (uint32_t i = 0; i < collectives.size(); i++)
    {
        if (collectives[i].communicator == communicator)
        {
            indices.push_back(i);
        }
    }
    return indices;
}

uint64_t
TrainingTask::GetFirstNumber(uint32_t collective) const
{
    return std::accumulate(collectives.begin(),
                           collectives.begin() + collective,
                           uint64_t{0},
                           [](uint64_t numbers, const TaskCollective& earlier) {
                               return numbers + earlier.bytes / sizeof(float);
                           });
}

uint32_t
TrainingTask::GetGroupSize(uint32_t communicator, uint32_t ranks) const
{
    const auto& groups = communicators.at(communicator).groups;
    return groups.empty() ? ranks : static_cast<uint32_t>(groups[0].size());
}

double
TrainingTask::GetBusBytes(uint32_t ranks) const
{
    std::map<std::pair<CollectiveOperation, uint32_t>, uint64_t> bytes;
    for (const TaskCollective& collective : collectives)
    {
        bytes[{collective.operation, collective.communicator}] += collective.bytes;
    }
    double sum = 0;
    for (const auto& [kind, size] : bytes)
    {
        sum +=
            static_cast<double>(size) * GetBusFactor(kind.first, GetGroupSize(kind.second, ranks));
    }
    return sum;
}

bool
TrainingTask::WaitsForAll() const
{
    std::set<uint32_t> underWay;
    for (const TaskStep& step : steps)
    {
        if (step.kind == TaskStep::Kind::START)
        {
            underWay.insert(step.collective);
        }
        else if (step.kind == TaskStep::Kind::WAIT || step.kind == TaskStep::Kind::APPLY)
        {
            underWay.erase(step.collective);
        }
    }
    return underWay.empty();
}

bool
TrainingTask::IsAllReduceOnly() const
{
    return std::all_of(collectives.begin(), collectives.end(), [](const auto& collective) {
        return collective.operation == CollectiveOperation::ALL_REDUCE &&
               collective.communicator == 0;
    });
}

} // namespace ns3::training
