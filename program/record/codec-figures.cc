/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec-figures.h"

#include "ns3/training-byte-archive.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

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
    json.Set("codec", codec)
        .Set("place", place)
        .Set("on", device)
        .Set("declared", isDeclared)
        .Set("encodings", counters.encodings)
        .Set("decodings", counters.decodings)
        .Set("plain_bytes", counters.plainBytes)
        .Set("coded_bytes", counters.codedBytes)
        .Set("ratio", GetRatio())
        .Set("encode_time_s", counters.encodeTime.GetSeconds())
        .Set("decode_time_s", counters.decodeTime.GetSeconds())
        .Set("longest_time_s", longestS);
    if (errors)
    {
        errors->AddTo(json);
    }
    return json;
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
    const auto& units = cluster.GetCodecs().GetUnits();
    if (units.empty())
    {
        return {};
    }
    // A rank counts in the process that simulates its host, and elsewhere has nothing to count.
    ByteWriter writer;
    for (const auto& unit : units)
    {
        const CodingCounters& mine = unit->GetCounters();
        writer(mine.encodings, mine.decodings, mine.plainBytes, mine.codedBytes);
        writer(mine.encodeTime, mine.decodeTime);
    }
    std::vector<CodingCounters> all(units.size());
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        ByteReader reader(bytes.data(), bytes.size());
        for (CodingCounters& rank : all)
        {
            CodingCounters one;
            reader(one.encodings, one.decodings, one.plainBytes, one.codedBytes);
            reader(one.encodeTime, one.decodeTime);
            rank.Add(one);
        }
    }
    return all;
}

std::optional<CodecFigures>
GetCodecFigures(const Cluster& cluster, bool isReal, const std::optional<CodingErrors>& errors)
{
    const CodecHelper& codecs = cluster.GetCodecs();
    if (!codecs.IsInstalled())
    {
        return std::nullopt;
    }
    CodecFigures figures;
    figures.codec = codecs.GetSpec();
    figures.place = codecs.CodesBuckets() ? "bucket" : "message";
    figures.device = codecs.GetDevice();
    figures.canCodeOwner = codecs.CanCodeOwner();
    figures.isDeclared = codecs.IsDeclared(isReal);
    figures.errors = errors;
    for (const CodingCounters& rank : GatherCoding(cluster))
    {
        figures.counters.Add(rank);
        figures.longestS =
            std::max(figures.longestS, (rank.encodeTime + rank.decodeTime).GetSeconds());
    }
    return figures;
}

} // namespace ns3::training
