/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nic-figures.h"

#include "core/record-sum.h"

#include "ns3/host-device.h"
#include "ns3/result-table.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ns3::training
{

namespace
{

const ResultTableEntry<NicCounterRow> g_nicCounter("nic_counter");

/** @return the rows of all engines, by link */
std::vector<NicCounterRow>
MakeRows(const Fabric& fabric, const std::vector<CodecCounters>& engines)
{
    std::vector<NicCounterRow> rows;
    std::map<const FabricPort*, std::size_t> indices;
    for (std::size_t i = 0; i < fabric.devices.size(); i++)
    {
        indices.emplace(&fabric.devices[i]->GetPort(), i);
    }
    for (uint32_t link = 0; link < fabric.channels.size(); link++)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            const FabricPort& port = fabric.channels[link]->GetPort(end);
            const auto found = indices.find(&port);
            if (found == indices.end())
            {
                continue;
            }
            const CodecCounters& engine = engines[found->second];
            rows.push_back(NicCounterRow{engine,
                                         fabric.GetEndName(link, end),
                                         port.GetIndex(),
                                         ToJson(engine.classes).Write()});
        }
    }
    return rows;
}

std::unique_ptr<Figures>
MakeNicFigures(const FiguresRequest& request)
{
    const NicHelper& engines = request.cluster.GetNicEngines();
    if (!engines.IsInstalled())
    {
        return nullptr;
    }
    auto figures = std::make_unique<NicFigures>();
    figures->codec = engines.GetSpec();
    figures->codesOwner = engines.GetCoding().codesOwner;
    figures->isDeclared = engines.IsDeclared();
    figures->errors = request.errors;
    const auto counters = GatherEngines(request.cluster);
    for (const CodecCounters& engine : counters)
    {
        figures->counters.Add(engine);
    }
    figures->rows = MakeRows(request.cluster.GetFabric(), counters);
    return figures;
}

const Registry<FiguresEntry>::Entry g_nic("nic", {"codes of engines in NICs", &MakeNicFigures});

} // namespace

std::vector<RecordField<NicCounterRow>>
NicCounterRow::GetFields()
{
    using Row = NicCounterRow;
    std::vector<RecordField<Row>> fields{
        {"node", "", "host", &Row::node},
        {"port", "", "number of the port at that host", &Row::port}};
    const auto counters = InheritFields<Row>(CodecCounters::GetFields());
    fields.insert(fields.end(), counters.begin(), counters.end());
    fields.push_back({"classes", "", "numbers by class of the codec, JSON", &Row::classNumbers});
    return fields;
}

JsonValue
NicFigures::ToJson() const
{
    auto json = JsonValue::Object();
    json.Set("codec", codec).Set("declared", isDeclared);
    SetMembers(json, CodecCounters::GetFields(), counters);
    json.Set("ratio", counters.GetRatio()).Set("classes", training::ToJson(counters.classes));
    if (errors)
    {
        errors->AddTo(json);
    }
    return json;
}

void
NicFigures::AddRows(ResultStore& store) const
{
    for (const NicCounterRow& row : rows)
    {
        store.Add(row);
    }
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
    std::vector<CodecCounters> engines;
    ByteWriter writer;
    for (const auto& device : cluster.GetFabric().devices)
    {
        const auto engine = DynamicCast<CodecEngine>(device->GetProgram());
        engines.push_back(engine ? engine->GetCounters() : nothing);
        for (CodecClass& each : engines.back().classes)
        {
            writer(each.count);
            each.count = 0;
        }
    }
    engines = SumOverProcesses(CodecCounters::GetFields(), engines);
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        ByteReader reader(bytes.data(), bytes.size());
        for (CodecCounters& engine : engines)
        {
            for (CodecClass& each : engine.classes)
            {
                each.count += reader.Next<uint64_t>();
            }
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

} // namespace ns3::training
