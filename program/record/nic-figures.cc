/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nic-figures.h"

#include "ns3/host-device.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ns3::training
{

JsonValue
NicFigures::ToJson() const
{
    auto json = JsonValue::Object();
    json.Set("codec", codec)
        .Set("declared", isDeclared)
        .Set("coded_packets", counters.codedPackets)
        .Set("plain_bytes", counters.plainBytes)
        .Set("coded_bytes", counters.codedBytes)
        .Set("bypassed_packets", counters.bypassedPackets)
        .Set("bypassed_bytes", counters.bypassedBytes)
        .Set("ratio", counters.GetRatio());
    json.Set("classes", training::ToJson(counters.classes));
    if (errors)
    {
        errors->AddTo(json);
    }
    return json;
}

std::string
NicFigures::Format() const
{
    const uint64_t bytes = counters.plainBytes + counters.bypassedBytes;
    std::string text = "nic " + codec + ": " + FormatBytes(bytes) + " of gradients as " +
                       FormatBytes(counters.codedBytes + counters.bypassedBytes) + ", ratio " +
                       FormatDouble(std::round(counters.GetRatio() * 1000) / 1000) +
                       (isDeclared ? " (declared)" : "") + ", " +
                       std::to_string(counters.codedPackets) + " packets coded, " +
                       std::to_string(counters.bypassedPackets) + " plain\n";
    if (bytes == 0)
    {
        text += "warning: nothing was coded, as no packet with the mark of gradients was sent (see "
                "the keys tos and copies of --nic)\n";
    }
    uint64_t numbers = 0;
    for (const CodecClass& each : counters.classes)
    {
        numbers += each.count;
    }
    if (numbers > 0)
    {
        text += "nic classes:";
        for (const CodecClass& each : counters.classes)
        {
            char share[64];
            std::snprintf(share,
                          sizeof(share),
                          " %.1f %%",
                          100 * static_cast<double>(each.count) / static_cast<double>(numbers));
            text += (&each == &counters.classes[0] ? " " : ", ") + each.name + share;
        }
        text += "\n";
    }
    if (errors)
    {
        text += errors->Format("nic",
                               codesOwner ? "numbers that are coded again may change again"
                                          : "owner=coded mends it");
    }
    return text;
}

std::vector<CodecCounters>
GatherEngines(const Cluster& cluster)
{
    if (!cluster.GetNicEngines().IsInstalled())
    {
        return {};
    }
    // An engine counts in the process that simulates its host, and elsewhere has nothing to count.
    // Links inside servers have none.
    CodecCounters nothing;
    nothing.classes = cluster.GetNicEngines().GetCodec().CountClasses(nullptr, 0);
    ByteWriter writer;
    std::vector<CodecCounters> engines;
    for (const auto& device : cluster.GetFabric().devices)
    {
        const auto engine = DynamicCast<CodecEngine>(device->GetProgram());
        const CodecCounters& mine = engine ? engine->GetCounters() : nothing;
        writer(mine.codedPackets, mine.plainBytes, mine.codedBytes);
        writer(mine.bypassedPackets, mine.bypassedBytes);
        for (const CodecClass& each : mine.classes)
        {
            writer(each.count);
        }
        engines.push_back(nothing);
    }
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        ByteReader reader(bytes.data(), bytes.size());
        for (CodecCounters& engine : engines)
        {
            CodecCounters one;
            one.classes = engine.classes;
            reader(one.codedPackets, one.plainBytes, one.codedBytes);
            reader(one.bypassedPackets, one.bypassedBytes);
            for (CodecClass& each : one.classes)
            {
                each.count = reader.Next<uint64_t>();
            }
            engine.Add(one);
        }
    }
    return engines;
}

JsonValue
ToJson(const std::vector<CodecClass>& classes)
{
    auto json = JsonValue::Object();
    for (const CodecClass& each : classes)
    {
        json.Set(each.name, each.count);
    }
    return json;
}

std::optional<NicFigures>
GetNicFigures(const Cluster& cluster, const std::optional<CodingErrors>& errors)
{
    const NicHelper& engines = cluster.GetNicEngines();
    if (!engines.IsInstalled())
    {
        return std::nullopt;
    }
    NicFigures figures;
    figures.codec = engines.GetSpec();
    figures.codesOwner = engines.GetCoding().codesOwner;
    figures.isDeclared = engines.IsDeclared();
    figures.errors = errors;
    for (const CodecCounters& engine : GatherEngines(cluster))
    {
        figures.counters.Add(engine);
    }
    return figures;
}

} // namespace ns3::training
