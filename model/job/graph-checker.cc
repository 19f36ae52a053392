/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-checker.h"

#include "job/quantized-tensor.h"
#include "schedule/schedule-interpreter.h"

#include "ns3/abort.h"
#include "ns3/chunk-layout.h"
#include "ns3/training-mix-bits.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>
#include <utility>

namespace ns3::training
{

std::string
FindDifference(const std::vector<float>& actual,
               const std::vector<float>& expected,
               std::size_t begin,
               std::size_t end)
{
    if (actual.size() != expected.size())
    {
        return std::to_string(actual.size()) + " elements, expected " +
               std::to_string(expected.size());
    }
    // Compares bits, not values: 0 and -0 differ, and NaN equals itself.
    if (begin == end ||
        std::memcmp(&actual[begin], &expected[begin], (end - begin) * sizeof(float)) == 0)
    {
        return "";
    }
    std::size_t index = begin;
    while (std::memcmp(&actual[index], &expected[index], sizeof(float)) == 0)
    {
        index++;
    }
    std::ostringstream text;
    text << std::setprecision(std::numeric_limits<float>::max_digits10) << "element " << index
         << " of " << actual.size() << " is " << actual[index] << ", expected " << expected[index];
    return text.str();
}

GradientPlace
GetGraphPlace(const TaskGraph& graph,
              uint64_t seed,
              uint32_t rank,
              const GraphTask& task,
              uint32_t iteration,
              uint64_t number)
{
    const bool isCollective = task.kind == TaskKind::COLLECTIVE;
    const auto first = isCollective ? graph.GetFirstGradient(task) : std::nullopt;
    if (first)
    {
        return {seed, rank, iteration, static_cast<uint32_t>(task.tag), *first};
    }
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

GraphChecker::Numbers
GraphChecker::From(std::shared_ptr<const GradientSource> source)
{
    return [source = std::move(source)](const GradientPlace& place, std::size_t count) {
        return source->Make(place, count);
    };
}

GraphChecker::Reference
GraphChecker::Execute(Schedules schedules)
{
    return [schedules = std::move(schedules)](const Collective& collective) {
        const auto schedule = schedules(collective.rank, collective.task);
        return Results{InterpretSchedule(*schedule, collective.inputs, collective.task.matrix),
                       schedule};
    };
}

GraphChecker::GraphChecker(std::shared_ptr<const TaskGraph> graph,
                           Numbers numbers,
                           uint64_t seed,
                           Reference reference)
    : m_graph(std::move(graph)),
      m_numbers(std::move(numbers)),
      m_seed(seed),
      m_reference(std::move(reference))
{
}

void
GraphChecker::SetAlternative(Reference alternative)
{
    m_alternative = std::move(alternative);
}

void
GraphChecker::OnExpected(Listener listener)
{
    m_listener = std::move(listener);
}

void
GraphChecker::SetReporters(uint32_t reporters)
{
    m_reporters = reporters;
}

void
GraphChecker::AddMismatch(const std::string& mismatch)
{
    if (m_mismatch.empty())
    {
        m_mismatch = mismatch;
    }
}

bool
GraphChecker::Check(uint32_t rank, const GraphTask& task, uint64_t number, const Tensor& result)
{
    if (task.bytes < sizeof(float) || task.operation == CollectiveOperation::BARRIER)
    {
        return true; // there are no numbers
    }
    const bool isCollective = task.kind == TaskKind::COLLECTIVE;
    const std::string difference = isCollective ? CheckCollective(rank, task, number, result)
                                                : CheckMessage(rank, task, number, result);
    if (difference.empty())
    {
        m_checked++;
        return true;
    }
    const std::string at = " at rank " + std::to_string(rank);
    AddMismatch((isCollective && m_graph->GetFirstGradient(task)
                     ? "wrong sum" + at + ", iteration " + std::to_string(result.iteration) +
                           ", bucket " + std::to_string(task.tag)
                     : "wrong numbers" + at + " in " + m_graph->GetNames()[task.name] + " " +
                           std::to_string(number)) +
                ": " + difference);
    return false;
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
        m_numbers(GetGraphPlace(*m_graph, m_seed, task.peer, sent, result.iteration, number),
                  task.bytes / sizeof(float));
    return FindDifference(result.values, expected, 0, expected.size());
}

/** @return the tensor of a rank of a group before the collective */
std::vector<float>
GraphChecker::MakeInput(const std::vector<uint32_t>& group,
                        uint32_t place,
                        const GraphTask& task,
                        uint32_t iteration,
                        uint64_t number)
{
    const GradientPlace numbers =
        GetGraphPlace(*m_graph, m_seed, group[place], task, iteration, number);
    if (!task.code)
    {
        return m_numbers(numbers, task.bytes / sizeof(float));
    }
    const QuantizedTensor quantized(task, static_cast<uint32_t>(group.size()), place);
    if (task.code->input == 0)
    {
        return quantized.Encode(m_numbers(numbers, quantized.GetCount()));
    }
    const auto sums = m_sums.extract({group[place], task.code->input});
    NS_ABORT_MSG_IF(sums.empty(), "rank " << group[place] << " has not reported its sums");
    return quantized.Encode(sums.mapped());
}

GraphChecker::Results
GraphChecker::MakeExpected(uint32_t rank,
                           const std::vector<uint32_t>& group,
                           const GraphTask& task,
                           uint64_t number,
                           const Tensor& result)
{
    const auto ranks = static_cast<uint32_t>(group.size());
    Vectors inputs;
    for (uint32_t place = 0; place < ranks; place++)
    {
        inputs.push_back(MakeInput(group, place, task, result.iteration, number));
    }
    const Collective collective{rank, task, result.iteration, inputs, result.values};
    Results expected = m_reference(collective);
    if (m_alternative)
    {
        const auto own = std::find(group.begin(), group.end(), rank) - group.begin();
        Results other = m_alternative(collective);
        if (!other.values.empty() &&
            other.values[other.values.size() == 1 ? 0 : own] == result.values)
        {
            expected = std::move(other);
        }
    }
    for (uint32_t place = 0; place < ranks && task.code; place++)
    {
        std::vector<float>& values = expected.values[place];
        values = QuantizedTensor(task, ranks, place).Decode(values);
        if (task.code->isPassedOn)
        {
            m_sums[{group[place], task.id}] = values;
        }
    }
    if (m_listener)
    {
        m_listener(GetGraphPlace(*m_graph, m_seed, rank, task, result.iteration, number),
                   expected.values);
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
        Expected expected{MakeExpected(rank, group, task, number, result)};
        found = m_expected.emplace(key, std::move(expected)).first;
    }
    const auto& [results, schedule] = found->second.results;
    const auto place =
        static_cast<uint32_t>(std::find(group.begin(), group.end(), rank) - group.begin());
    const std::vector<float>& values = results.at(results.size() == 1 ? 0 : place);
    std::string difference;
    const bool isWhole = !schedule || IsExchange(schedule->operation) || task.code;
    if (isWhole)
    {
        difference = FindDifference(result.values, values, 0, values.size());
    }
    for (uint32_t chunk = 0; !isWhole && chunk < schedule->chunks; chunk++)
    {
        if (difference.empty() &&
            schedule->GetPromise(place, chunk) != CollectiveSchedule::Promise::NOTHING)
        {
            const auto [begin, end] =
                GetPartRange(values.size() * sizeof(float), schedule->chunks, chunk);
            difference =
                FindDifference(result.values, values, begin / sizeof(float), end / sizeof(float));
        }
    }
    if (++found->second.reports == std::min(group.size(), m_reporters))
    {
        m_expected.erase(found);
    }
    return difference;
}

} // namespace ns3::training
