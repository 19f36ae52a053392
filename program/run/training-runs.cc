/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/training-runs.h"

#include "guard/run-warnings.h"

#include "ns3/json-output.h"
#include "ns3/training-version.h"

#include <variant>

namespace ns3::training
{

void
TrainingRuns::Add(uint64_t run, const TrainingRunResult& result)
{
    m_cost.Add(result.cost);
    MergeWarnings(m_warnings, result.warnings);
    m_configuration = result.configuration;
    m_runs.emplace_back(run, result);
}

void
TrainingRuns::Fail(const std::string& reason, const JsonValue& configuration)
{
    m_failure = reason;
    m_configuration = configuration;
}

const std::vector<std::string>&
TrainingRuns::GetWarnings() const
{
    return m_warnings;
}

IterationRecord
TrainingRuns::GetMean() const
{
    return Estimate(&MeanEstimate::mean);
}

IterationRecord
TrainingRuns::GetHalfWidth() const
{
    return Estimate(&MeanEstimate::halfWidth);
}

const RunCost&
TrainingRuns::GetCost() const
{
    return m_cost;
}

IterationRecord
TrainingRuns::Estimate(double MeanEstimate::*part) const
{
    IterationRecord record;
    for (const auto& field : GetIterationQuantities())
    {
        if (const auto* member = std::get_if<double IterationRecord::*>(&field.member))
        {
            std::vector<double> values;
            for (const auto& [run, result] : m_runs)
            {
                values.push_back(result.mean.*(*member));
            }
            record.*(*member) = EstimateMean(values).*part;
        }
    }
    return record;
}

JsonValue
TrainingRuns::ToJson() const
{
    auto document = JsonValue::Object();
    if (!m_runs.empty())
    {
        document = MeanToJson(GetMean());
        document.Set("confidence_95", MeanToJson(GetHalfWidth()));
    }
    AddWarnings(document, m_warnings);
    AddRunCost(document, m_cost);
    auto runs = JsonValue::Array();
    auto iterations = JsonValue::Array();
    auto learning = JsonValue::Array();
    for (const auto& [run, result] : m_runs)
    {
        auto one = MeanToJson(result.mean);
        one.Set("run", run);
        result.figures.AddTo(one);
        if (result.repetition)
        {
            result.repetition->AddTo(one);
        }
        AddRunCost(one, result.cost);
        runs.Append(one);
        for (const IterationRecord& record : result.iterations)
        {
            auto iteration = IterationToJson(record);
            iteration.Set("run", run);
            iterations.Append(iteration);
        }
        for (const LearningRow& row : result.learning)
        {
            auto state = LearningToJson(row);
            state.Set("run", run);
            learning.Append(state);
        }
    }
    document.Set("runs", runs).Set("iterations", iterations);
    if (!m_runs.empty() && !m_runs.front().second.learning.empty())
    {
        document.Set("learning", learning);
    }
    if (!m_runs.empty())
    {
        document.Set("inputs", m_runs.front().second.inputs);
    }
    AddFailure(document, m_failure);
    document.Set("configuration", m_configuration).Set("version", GetVersion());
    return document;
}

} // namespace ns3::training
