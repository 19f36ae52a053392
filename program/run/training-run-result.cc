/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-run-result.h"

#include "guard/run-warnings.h"
#include "run/algorithm-advice.h"

#include "ns3/json-output.h"
#include "ns3/training-version.h"

namespace ns3::training
{

JsonValue
LearningToJson(const LearningRow& row)
{
    auto json = JsonValue::Object();
    SetMembers(json, LearningRow::GetFields(), row);
    return json;
}

JsonValue
TrainingRunResult::ToJson() const
{
    auto document = MeanToJson(mean);
    for (const auto& field : GetIterationQuantities())
    {
        if (mean.iteration == 0)
        {
            document.Set(field.name, JsonValue()); // no iteration finished
        }
    }
    figures.AddTo(document);
    if (repetition)
    {
        repetition->AddTo(document);
    }
    AddWarnings(document, warnings);
    AddRunCost(document, cost);
    auto list = JsonValue::Array();
    for (const IterationRecord& record : iterations)
    {
        list.Append(IterationToJson(record));
    }
    if (!learning.empty())
    {
        auto states = JsonValue::Array();
        for (const LearningRow& row : learning)
        {
            states.Append(LearningToJson(row));
        }
        document.Set("learning", states);
    }
    auto reasons = JsonValue::Object();
    for (const auto& [collective, choice] : choices)
    {
        reasons.Set(collective, choice);
    }
    document.Set("iterations", list)
        .Set("choices", reasons)
        .Set("candidates", ListCandidates(planned))
        .Set("inputs", inputs);
    AddFailure(document, failure);
    document.Set("configuration", configuration).Set("version", GetVersion());
    return document;
}

} // namespace ns3::training
