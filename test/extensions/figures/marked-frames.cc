/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * Frames that switches mark: in JSON and in the output of all programs, and by port in a table.
 */

#include "ns3/fabric-channel.h"
#include "ns3/fabric-port.h"
#include "ns3/result-table.h"
#include "ns3/run-figures.h"

namespace
{

using namespace ns3;
using namespace ns3::training;

struct MarkRow
{
    std::string node;
    uint64_t frames{0};

    static std::vector<RecordField<MarkRow>> GetFields()
    {
        return {{"node", "", "host or switch that sends", &MarkRow::node},
                {"marked_frames", "", "frames with an ECN mark", &MarkRow::frames}};
    }
};

const ResultTableEntry<MarkRow> g_table("marked_frames");

struct MarkFigures : Figures
{
    std::vector<MarkRow> rows;
    uint64_t frames{0};

    std::string GetName() const override
    {
        return "marks";
    }

    JsonValue ToJson() const override
    {
        return JsonValue::Object().Set("marked_frames", frames);
    }

    void AddRows(ResultStore& store) const override
    {
        for (const MarkRow& row : rows)
        {
            store.Add(row);
        }
    }

    std::string Format() const override
    {
        return "marked frames: " + std::to_string(frames) + "\n";
    }
};

std::unique_ptr<Figures>
Make(const FiguresRequest& request)
{
    auto figures = std::make_unique<MarkFigures>();
    const Fabric& fabric = request.cluster.GetFabric();
    for (uint32_t link = 0; link < fabric.channels.size(); link++)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            const uint64_t frames = fabric.channels[link]->GetPort(end).GetCounters().markedFrames;
            figures->rows.push_back({fabric.GetEndName(link, end), frames});
            figures->frames += frames;
        }
    }
    return figures;
}

const Registry<FiguresEntry>::Entry g_marks("marks", {"frames that switches mark", &Make});

} // namespace
