/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-checker.h"

#include "quantized-tensor.h"
#include "sum-checker.h"

#include "ns3/abort.h"
#include "ns3/chunk-layout.h"
#include "ns3/schedule-interpreter.h"
#include "ns3/training-mix-bits.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

GradientPlace
GetGraphPlace(uint64_t seed, uint32_t rank, const GraphTask& task, uint64_t number)
{
    const bool isCollective = task.kind == TaskKind::COLLECTIVE;
    // Collectives are numbered in their groups, messages in their tag from a rank to another.
    uint64_t stream = task.groups;
    if (!isCollective)
    {
        stream = MixBits(MixBits(task.tag + 1) ^ task.peer);
    }
    return {MixBits(seed ^ MixBits(stream)),
            rank,
            static_cast<uint32_t>(number),
            isCollective ? 0U : 1U,
            0};
}

GraphChecker::GraphChecker(std::shared_ptr<const TaskGraph> graph,
                           std::shared_ptr<const GradientSource> source,
                           uint64_t seed,
                           Schedules schedules)
    : m_graph(std::move(graph)),
      m_source(std::move(source)),
      m_seed(seed),
      m_schedules(std::move(schedules))
{
}

bool
GraphChecker::Check(uint32_t rank, const GraphTask& task, uint64_t number, const Tensor& result)
{
    if (task.bytes < sizeof(float) || task.operation == CollectiveOperation::BARRIER)
    {
        return true; // there are no numbers
    }
    const std::string difference = task.kind == TaskKind::COLLECTIVE
                                       ? CheckCollective(rank, task, number, result)
                                       : CheckMessage(rank, task, number, result);
    if (difference.empty())
    {
        m_checked++;
    }
    else if (m_mismatch.empty())
    {
        m_mismatch = "wrong numbers at rank " + std::to_string(rank) + " in " +
                     m_graph->GetNames()[task.name] + " " + std::to_string(number) + ": " +
                     difference;
    }
    return difference.empty();
}

std::string
GraphChecker::CheckMessage(uint32_t rank,
                           const GraphTask& task,
                           uint64_t number,
                           const Tensor& result) const
{
    GraphTask sent = task;
    sent.kind = TaskKind::SEND;
    sent.peer = rank;
    const auto expected =
        m_source->Make(GetGraphPlace(m_seed, task.peer, sent, number), task.bytes / sizeof(float));
    return FindDifference(result.values, expected, 0, expected.size());
}

/** @return the tensor of a rank of a group before the collective */
std::vector<float>
GraphChecker::MakeInput(const std::vector<uint32_t>& group,
                        uint32_t place,
                        const GraphTask& task,
                        uint64_t number)
{
    const GradientPlace numbers = GetGraphPlace(m_seed, group[place], task, number);
    if (!task.code)
    {
        return m_source->Make(numbers, task.bytes / sizeof(float));
    }
    const QuantizedTensor quantized(task, static_cast<uint32_t>(group.size()), place);
    if (task.code->input == 0)
    {
        return quantized.Encode(m_source->Make(numbers, quantized.GetCount()));
    }
    const auto sums = m_sums.extract({group[place], task.code->input});
    NS_ABORT_MSG_IF(sums.empty(), "rank " << group[place] << " has not reported its sums");
    return quantized.Encode(sums.mapped());
}

GraphChecker::Expected
GraphChecker::MakeExpected(uint32_t rank,
                           const std::vector<uint32_t>& group,
                           const GraphTask& task,
                           uint64_t number)
{
    const auto ranks = static_cast<uint32_t>(group.size());
    std::vector<std::vector<float>> inputs;
    for (uint32_t place = 0; place < ranks; place++)
    {
        inputs.push_back(MakeInput(group, place, task, number));
    }
    Expected expected;
    expected.schedule = m_schedules(rank, task);
    expected.results = InterpretSchedule(*expected.schedule, std::move(inputs), task.matrix);
    for (uint32_t place = 0; place < ranks && task.code; place++)
    {
        std::vector<float>& result = expected.results[place];
        result = QuantizedTensor(task, ranks, place).Decode(result);
        if (task.code->isPassedOn)
        {
            m_sums[{group[place], task.id}] = result;
        }
    }
    return expected;
}

std::string
GraphChecker::CheckCollective(uint32_t rank,
                              const GraphTask& task,
                              uint64_t number,
                              const Tensor& result)
{
    const std::vector<uint32_t> group = m_graph->GetGroup(task.groups, rank);
    const auto key = std::make_tuple(task.groups, group.front(), number);
    auto found = m_expected.find(key);
    if (found == m_expected.end())
    {
        found = m_expected.emplace(key, MakeExpected(rank, group, task, number)).first;
    }
    Expected& expected = found->second;
    const auto place =
        static_cast<uint32_t>(std::find(group.begin(), group.end(), rank) - group.begin());
    const std::vector<float>& values = expected.results.at(place);
    const CollectiveSchedule& schedule = *expected.schedule;
    std::string difference;
    const bool isWhole = IsExchange(schedule.operation) || task.code;
    if (isWhole)
    {
        difference = FindDifference(result.values, values, 0, values.size());
    }
    for (uint32_t chunk = 0; chunk < schedule.chunks && !isWhole; chunk++)
    {
        if (difference.empty() &&
            schedule.GetPromise(place, chunk) != CollectiveSchedule::Promise::NOTHING)
        {
            const auto [begin, end] =
                GetPartRange(values.size() * sizeof(float), schedule.chunks, chunk);
            difference =
                FindDifference(result.values, values, begin / sizeof(float), end / sizeof(float));
        }
    }
    if (++expected.reports == group.size())
    {
        m_expected.erase(found);
    }
    return difference;
}

} // namespace ns3::training
