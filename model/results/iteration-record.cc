/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "iteration-record.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace ns3::training
{

namespace
{

using Field = IterationField;
using Kind = IterationField::Kind;
using Mean = IterationField::Mean;
using Merge = IterationField::RankMerge;

/** @return the fields of some kinds, reduced to their generic description */
std::vector<RecordField<IterationRecord>>
Select(const std::vector<Kind>& kinds)
{
    std::vector<RecordField<IterationRecord>> selected;
    for (const Kind kind : kinds)
    {
        for (const Field& field : GetIterationFields())
        {
            if (field.kind == kind)
            {
                selected.push_back(field);
            }
        }
    }
    return selected;
}

/** Adds an iteration to a running mean; `mean.iteration` is the number of those before it. */
void
Accumulate(const Field& field, const IterationRecord& record, IterationRecord& mean)
{
    const bool isFirst = mean.iteration == 0;
    if (const auto* flag = std::get_if<bool IterationRecord::*>(&field.member))
    {
        mean.*(*flag) = (isFirst || mean.*(*flag)) && record.*(*flag);
    }
    else if (const auto* number = std::get_if<double IterationRecord::*>(&field.member))
    {
        double& value = mean.*(*number);
        const double next = record.*(*number);
        if (isFirst || field.mean == Mean::LAST)
        {
            value = next;
        }
        else if (field.mean == Mean::MEAN)
        {
            value += next;
        }
    }
}

/** @return the fields of the printed table, by column */
const std::map<uint32_t, const Field*>&
GetTable()
{
    static const auto table = [] {
        std::map<uint32_t, const Field*> columns;
        for (const Field& field : GetIterationFields())
        {
            if (field.column.place > 0)
            {
                columns[field.column.place] = &field;
            }
        }
        return columns;
    }();
    return table;
}

/// Width of the table's first column.
constexpr int NAME_WIDTH = 10;

} // namespace

const std::vector<IterationField>&
GetIterationFields()
{
    using Record = IterationRecord;
    using Rank = RankIteration;
    static const std::vector<Field> fields{
        {{"iteration", "", "number of the iteration, from 0", &Record::iteration},
         Kind::LABEL,
         Mean::COUNT},
        {{"warmup", "", "whether means leave it out", &Record::warmup}, Kind::LABEL, Mean::ALL},
        {{"start_s", "s", "simulated time of its start", &Record::startS},
         Kind::SPAN,
         Mean::FIRST,
         {},
         {},
         Merge::EARLIEST,
         &Rank::start},
        {{"end_s", "s", "simulated time of its end", &Record::endS},
         Kind::SPAN,
         Mean::LAST,
         {},
         {},
         Merge::LATEST,
         &Rank::end},
        {{"iteration_time_s", "s", "time of an iteration", &Record::iterationTimeS},
         Kind::QUANTITY,
         Mean::MEAN,
         {1, "time (ms)", 1e3}},
        {{"compute_time_s",
          "s",
          "time a rank computes in an iteration; of the slowest rank, if they differ",
          &Record::computeTimeS},
         Kind::QUANTITY,
         Mean::MEAN,
         {2, "compute (ms)", 1e3},
         {},
         Merge::LATEST,
         &Rank::computeTime},
        {{"straggler_time_s",
          "s",
          "compute time of each rank above that of the fastest, sum over the ranks",
          &Record::stragglerTimeS},
         Kind::QUANTITY,
         Mean::MEAN},
        {{"communication_time_s",
          "s",
          "time in which a collective or a message is under way at a rank, mean over the ranks",
          &Record::communicationTimeS},
         Kind::QUANTITY,
         Mean::MEAN,
         {3, "communic. (ms)", 1e3, 14},
         {},
         Merge::MEAN,
         &Rank::communicationTime},
        {{"idle_s",
          "s",
          "iteration time - compute time; at a rank it is bubble, exposed communication and the "
          "rest",
          &Record::idleS},
         Kind::QUANTITY,
         Mean::MEAN},
        {{"exposed_communication_s",
          "s",
          "idle time of a rank while communication is under way, the sum of the kinds below; mean",
          &Record::exposedCommunicationS},
         Kind::QUANTITY,
         Mean::MEAN,
         {4, "exposed (ms)", 1e3}},
        {{"bubble_s",
          "s",
          "idle time of a rank until what it waits for can begin at other ranks: the bubble of a "
          "pipeline, the wait for stragglers; mean over the ranks",
          &Record::bubbleS},
         Kind::QUANTITY,
         Mean::MEAN,
         {},
         {},
         Merge::MEAN,
         &Rank::bubble},
        {{"exposed_data_s",
          "s",
          "idle time of a rank while gradients or parameters of replicas are exchanged; mean",
          &Record::exposedDataS},
         Kind::QUANTITY,
         Mean::MEAN,
         {},
         {},
         Merge::MEAN,
         &Rank::exposedData},
        {{"exposed_tensor_s",
          "s",
          "idle time of a rank while parts of a layer are exchanged; mean",
          &Record::exposedTensorS},
         Kind::QUANTITY,
         Mean::MEAN,
         {},
         {},
         Merge::MEAN,
         &Rank::exposedTensor},
        {{"exposed_pipeline_s",
          "s",
          "idle time of a rank while stages exchange activations or gradients; mean",
          &Record::exposedPipelineS},
         Kind::QUANTITY,
         Mean::MEAN,
         {},
         {},
         Merge::MEAN,
         &Rank::exposedPipeline},
        {{"exposed_context_s",
          "s",
          "idle time of a rank while parts of a sequence are exchanged; mean",
          &Record::exposedContextS},
         Kind::QUANTITY,
         Mean::MEAN,
         {},
         {},
         Merge::MEAN,
         &Rank::exposedContext},
        {{"exposed_expert_s",
          "s",
          "idle time of a rank while tokens go to their experts and back; mean",
          &Record::exposedExpertS},
         Kind::QUANTITY,
         Mean::MEAN,
         {},
         {},
         Merge::MEAN,
         &Rank::exposedExpert},
        {{"exposed_other_s",
          "s",
          "idle time of a rank during other communication; mean",
          &Record::exposedOtherS},
         Kind::QUANTITY,
         Mean::MEAN,
         {},
         {},
         Merge::MEAN,
         &Rank::exposedOther},
        {{"other_idle_s", "s", "idle time of a rank for other reasons; mean", &Record::otherIdleS},
         Kind::QUANTITY,
         Mean::MEAN,
         {},
         {},
         Merge::MEAN,
         &Rank::otherIdle},
        {{"overlap_cost_s",
          "s",
          "of other_idle_s, what computations lost to collectives beside them; mean",
          &Record::overlapCostS},
         Kind::QUANTITY,
         Mean::MEAN,
         {},
         {},
         Merge::MEAN,
         &Rank::overlapCost},
        {{"busbw_GBps", "GB/s", "bus bandwidth of the collectives", &Record::busbwGBps},
         Kind::QUANTITY,
         Mean::RATIO,
         {6, "busbw (GB/s)"},
         {&Record::busBytes, &Record::collectiveTimeS, 1e9}},
        {{"lower_bound_s",
          "s",
          "lower bound of the time of the collectives on this network",
          &Record::lowerBoundS},
         Kind::QUANTITY,
         Mean::MEAN,
         {5, "bound (ms)", 1e3}},
        {{"scaling_efficiency",
          "",
          "compute time / iteration time: speed of a rank, compared with a rank on its own",
          &Record::scalingEfficiency},
         Kind::QUANTITY,
         Mean::RATIO,
         {7, "efficiency", 100, 9, 1, " %"},
         {&Record::computeTimeS, &Record::iterationTimeS}},
        {{"verified",
          "",
          "whether every sum of every rank was compared and right",
          &Record::verified},
         Kind::LABEL,
         Mean::ALL},
        {{"derived", "", "like the one before, and not simulated", &Record::derived},
         Kind::LABEL,
         Mean::ALL},
        {{"least_compute_s", "s", "compute time of the fastest rank", &Record::leastComputeS},
         Kind::TERM,
         Mean::MEAN,
         {},
         {},
         Merge::EARLIEST,
         &Rank::leastCompute},
        {{"mean_compute_s", "s", "compute time, mean over the ranks", &Record::meanComputeS},
         Kind::TERM,
         Mean::MEAN,
         {},
         {},
         Merge::MEAN,
         &Rank::totalCompute},
        {{"collective_time_s",
          "s",
          "time in which a collective is under way at a rank, mean over the ranks",
          &Record::collectiveTimeS},
         Kind::TERM,
         Mean::MEAN,
         {},
         {},
         Merge::MEAN,
         &Rank::collectiveTime},
        {{"bus_bytes", "byte", "bytes that count for the bus bandwidth", &Record::busBytes},
         Kind::TERM,
         Mean::FIRST}};
    return fields;
}

const std::vector<RecordField<IterationRecord>>&
IterationRecord::GetFields()
{
    static const auto columns = [] {
        std::vector<RecordField<IterationRecord>> all;
        for (const Field& field : GetIterationFields())
        {
            if (field.kind != Kind::TERM)
            {
                all.push_back(field);
            }
        }
        return all;
    }();
    return columns;
}

const std::vector<RecordField<IterationRecord>>&
GetIterationQuantities()
{
    static const auto quantities = Select({Kind::QUANTITY});
    return quantities;
}

void
RankIteration::Add(const RankIteration& other, int64_t count)
{
    for (const Field& field : GetIterationFields())
    {
        if (field.measured)
        {
            this->*field.measured += count * other.*field.measured;
        }
    }
}

void
RankIteration::Merge(const RankIteration& other)
{
    for (const Field& field : GetIterationFields())
    {
        if (!field.measured)
        {
            continue;
        }
        Time& mine = this->*field.measured;
        const Time theirs = other.*field.measured;
        switch (field.merge)
        {
        case Merge::EARLIEST:
            mine = std::min(mine, theirs);
            break;
        case Merge::LATEST:
            mine = std::max(mine, theirs);
            break;
        case Merge::MEAN:
            mine += theirs;
            break;
        }
    }
}

void
SetMeasurements(const RankIteration& ranks, uint32_t count, IterationRecord& record)
{
    for (const Field& field : GetIterationFields())
    {
        if (field.measured)
        {
            const double seconds = (ranks.*field.measured).GetSeconds();
            record.*std::get<double IterationRecord::*>(field.member) =
                field.merge == Merge::MEAN ? seconds / count : seconds;
        }
    }
}

void
SetRatios(IterationRecord& record)
{
    for (const Field& field : GetIterationFields())
    {
        if (field.ratio.numerator && record.*field.ratio.denominator > 0)
        {
            record.*std::get<double IterationRecord::*>(field.member) =
                record.*field.ratio.numerator / record.*field.ratio.denominator / field.ratio.unit;
        }
    }
}

IterationRecord
GetMean(const std::vector<IterationRecord>& records)
{
    IterationRecord mean;
    for (const IterationRecord& record : records)
    {
        if (record.warmup)
        {
            continue;
        }
        for (const Field& field : GetIterationFields())
        {
            Accumulate(field, record, mean);
        }
        mean.iteration++;
    }
    if (mean.iteration == 0)
    {
        mean.scalingEfficiency = 0; // no iterations
        return mean;
    }
    for (const Field& field : GetIterationFields())
    {
        if (field.mean == Mean::MEAN)
        {
            mean.*std::get<double IterationRecord::*>(field.member) /= mean.iteration;
        }
    }
    SetRatios(mean);
    return mean;
}

JsonValue
MeanToJson(const IterationRecord& mean)
{
    auto json = JsonValue::Object();
    SetMembers(json, GetIterationQuantities(), mean);
    return json;
}

JsonValue
IterationToJson(const IterationRecord& record)
{
    static const auto fields = Select({Kind::QUANTITY, Kind::LABEL});
    auto json = JsonValue::Object();
    SetMembers(json, fields, record);
    return json;
}

std::string
FormatIterationHeadings()
{
    std::array<char, 200> text{};
    std::string line(text.data(),
                     std::snprintf(text.data(), text.size(), "%-*s", NAME_WIDTH, "iteration"));
    for (const auto& [place, field] : GetTable())
    {
        const Field::Column& column = field->column;
        const int width = column.width + static_cast<int>(column.suffix.size());
        line.append(text.data(),
                    std::snprintf(text.data(), text.size(), " %*s", width, column.heading.c_str()));
    }
    return line;
}

std::string
FormatIteration(const std::string& name, const IterationRecord& record)
{
    std::array<char, 200> text{};
    std::string line = name;
    line.resize(std::max<std::size_t>(line.size(), NAME_WIDTH), ' ');
    for (const auto& [place, field] : GetTable())
    {
        const Field::Column& column = field->column;
        const double value = record.*std::get<double IterationRecord::*>(field->member);
        line.append(text.data(),
                    std::snprintf(text.data(),
                                  text.size(),
                                  " %*.*f%s",
                                  column.width,
                                  column.digits,
                                  value * column.factor,
                                  column.suffix.c_str()));
    }
    return line;
}

} // namespace ns3::training
