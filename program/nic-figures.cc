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

namespace
{

/** @return a bound, null if there is none */
JsonValue
ToJsonBound(double bound)
{
    return std::isfinite(bound) ? JsonValue(bound) : JsonValue();
}

} // namespace

void
CodingErrors::Add(const std::vector<std::vector<float>>& inputs,
                  const std::vector<std::vector<float>>& sums,
                  const GradientCodec& codec)
{
    const auto ranks = static_cast<uint32_t>(inputs.size());
    double largest = 0;
    for (std::size_t i = 0; i < sums[0].size(); i++)
    {
        double exact = 0;
        for (const auto& input : inputs)
        {
            exact += input[i];
            largest = std::max(largest, std::abs(static_cast<double>(input[i])));
        }
        const auto [least, most] =
            std::minmax_element(sums.begin(), sums.end(), [i](const auto& a, const auto& b) {
                return a[i] < b[i];
            });
        const double drift = static_cast<double>((*most)[i]) - (*least)[i];
        driftedElements += drift > 0;
        largestDrift = std::max(largestDrift, drift);
        largestError =
            std::max({largestError, std::abs((*most)[i] - exact), std::abs((*least)[i] - exact)});
    }
    elements += sums[0].size();
    bound = std::max(bound, codec.GetErrorBound(largest, ranks, ranks));
    namedBound =
        std::max(namedBound, ranks * codec.GetNamedError() + GetFloatSumError(largest, ranks));
}

void
CodingErrors::Add(const CodingErrors& other)
{
    elements += other.elements;
    driftedElements += other.driftedElements;
    largestDrift = std::max(largestDrift, other.largestDrift);
    largestError = std::max(largestError, other.largestError);
    bound = std::max(bound, other.bound);
    namedBound = std::max(namedBound, other.namedBound);
}

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
        json.Set("drifted_elements", errors->driftedElements)
            .Set("elements", errors->elements)
            .Set("largest_drift", errors->largestDrift)
            .Set("largest_error", errors->largestError)
            .Set("error_bound", ToJsonBound(errors->bound))
            .Set("named_bound", ToJsonBound(errors->namedBound));
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
        char line[200];
        std::snprintf(line,
                      sizeof(line),
                      "nic errors: sums differ from exact ones by up to %.3g, ",
                      errors->largestError);
        text += line;
        if (std::isfinite(errors->bound))
        {
            std::snprintf(line, sizeof(line), "the codec makes at most %.3g", errors->bound);
            text += line;
        }
        else
        {
            text += "the codec has no bound";
        }
        if (std::isfinite(errors->namedBound))
        {
            std::snprintf(line,
                          sizeof(line),
                          "; the bound that it is named by, %.3g for a sum, %s",
                          errors->namedBound,
                          errors->largestError <= errors->namedBound ? "holds" : "does not hold");
            text += line;
        }
        text += "\n";
        if (errors->driftedElements > 0)
        {
            std::snprintf(line,
                          sizeof(line),
                          "warning: the ranks' sums differ in %llu of %llu elements, by up to %.3g "
                          "(%s)\n",
                          static_cast<unsigned long long>(errors->driftedElements),
                          static_cast<unsigned long long>(errors->elements),
                          errors->largestDrift,
                          codesOwner ? "numbers that are coded again may change again"
                                     : "owner=coded mends it");
            text += line;
        }
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
    ByteWriter writer;
    std::vector<CodecCounters> engines;
    for (const auto& device : cluster.GetFabric().devices)
    {
        const auto engine = DynamicCast<CodecEngine>(device->GetProgram());
        const CodecCounters& mine = engine->GetCounters();
        writer(mine.codedPackets, mine.plainBytes, mine.codedBytes);
        writer(mine.bypassedPackets, mine.bypassedBytes);
        for (const CodecClass& each : mine.classes)
        {
            writer(each.count);
        }
        engines.emplace_back();
        engines.back().classes = engine->GetCodec().CountClasses(nullptr, 0);
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
