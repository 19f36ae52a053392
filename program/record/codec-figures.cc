/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "record/codec-figures.h"

#include "core/record-sum.h"

#include "ns3/result-table.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

const ResultTableEntry<CodecCounterRow> g_codecCounter("codec_counter");

std::unique_ptr<Figures>
MakeCodecFigures(const FiguresRequest& request)
{
    const CodecHelper& codecs = request.cluster.GetCodecs();
    if (!codecs.IsInstalled())
    {
        return nullptr;
    }
    auto figures = std::make_unique<CodecFigures>();
    figures->codec = codecs.GetSpec();
    figures->place = codecs.CodesBuckets() ? "bucket" : "message";
    figures->device = codecs.GetDevice();
    figures->canCodeOwner = codecs.CanCodeOwner();
    figures->isDeclared = codecs.IsDeclared(request.isReal);
    figures->errors = request.errors;
    for (const CodingCounters& rank : GatherCoding(request.cluster))
    {
        AddMembers(CodingCounters::GetFields(), rank, figures->counters);
        figures->longestS =
            std::max(figures->longestS, (rank.encodeTime + rank.decodeTime).GetSeconds());
        figures->rows.push_back({rank, static_cast<uint32_t>(figures->rows.size())});
    }
    return figures;
}

const Registry<FiguresEntry>::Entry g_codec("codec", {"codes of hosts", &MakeCodecFigures});

} // namespace

std::vector<RecordField<CodecCounterRow>>
CodecCounterRow::GetFields()
{
    std::vector<RecordField<CodecCounterRow>> fields{
        {"rank", "", "the rank", &CodecCounterRow::rank}};
    const auto counters = InheritFields<CodecCounterRow>(CodingCounters::GetFields());
    fields.insert(fields.end(), counters.begin(), counters.end());
    return fields;
}

double
CodecFigures::GetRatio() const
{
    return counters.codedBytes == 0 ? 1
                                    : static_cast<double>(counters.plainBytes) /
                                          static_cast<double>(counters.codedBytes);
}

JsonValue
CodecFigures::ToJson() const
{
    auto json = JsonValue::Object();
    json.Set("codec", codec).Set("place", place).Set("on", device).Set("declared", isDeclared);
    SetMembers(json, CodingCounters::GetFields(), counters);
    json.Set("ratio", GetRatio()).Set("longest_time_s", longestS);
    if (errors)
    {
        errors->AddTo(json);
    }
    return json;
}

void
CodecFigures::AddRows(ResultStore& store) const
{
    for (const CodecCounterRow& row : rows)
    {
        store.Add(row);
    }
}

std::string
CodecFigures::Format() const
{
    std::string text =
        "codec " + codec + ": " + FormatBytes(counters.plainBytes) + " of gradients as " +
        FormatBytes(counters.codedBytes) + ", ratio " +
        FormatDouble(std::round(GetRatio() * 1000) / 1000) + (isDeclared ? " (declared)" : "") +
        ", " + std::to_string(counters.encodings) + " " + place + "s; a " + device +
        " coded for up to " + FormatDouble(std::round(longestS * 1e6) / 1e3) + " ms\n";
    if (counters.codedBytes > counters.plainBytes)
    {
        text += "warning: codes are longer than the gradients\n";
    }
    if (errors)
    {
        text += errors->Format("codec", canCodeOwner ? "owner=coded mends it" : "");
    }
    return text;
}

std::vector<CodingCounters>
GatherCoding(const Cluster& cluster)
{
    // A rank counts in the process that simulates its host, and elsewhere has nothing to count.
    std::vector<CodingCounters> mine;
    for (const auto& unit : cluster.GetCodecs().GetUnits())
    {
        mine.push_back(unit->GetCounters());
    }
    return mine.empty() ? mine : SumOverProcesses(CodingCounters::GetFields(), mine);
}

} // namespace ns3::training
