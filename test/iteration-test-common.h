/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ITERATION_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_ITERATION_TEST_COMMON_H

#include "ns3/iteration-record.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-record-field.h"

#include <string>
#include <vector>

namespace ns3::training::tests
{

/** @return all stored fields of all iterations */
inline std::string
ToText(const std::vector<IterationRecord>& records)
{
    auto rows = JsonValue::Array();
    for (const IterationRecord& record : records)
    {
        auto row = JsonValue::Object();
        SetMembers(row, IterationRecord::GetFields(), record);
        rows.Append(row);
    }
    return rows.Write();
}

/** @return times of iterations, s */
inline std::vector<double>
GetTimes(const std::vector<IterationRecord>& records)
{
    std::vector<double> times;
    for (const IterationRecord& record : records)
    {
        times.push_back(record.iterationTimeS);
    }
    return times;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_ITERATION_TEST_COMMON_H
