/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "measure/flow-output.h"

#include <cstdio>
#include <type_traits>

namespace ns3::training
{

namespace
{

/** @return a line of a CSV file of flows */
std::string
MakeCsvLine(const FlowRow& row)
{
    std::string line;
    for (const auto& field : FlowRow::GetFields())
    {
        line += line.empty() ? "" : ",";
        field.Visit(
            [&](const auto& value) {
                if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>)
                {
                    char text[40];
                    std::snprintf(text, sizeof(text), "%.12g", value);
                    line += text;
                }
                else if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
                {
                    line += std::to_string(value);
                }
                else
                {
                    line += value;
                }
            },
            row);
    }
    return line;
}

/** Adds a flow as a row, and as a message. */
void
AddTo(RunFiles& files, const FlowRow& row)
{
    if (ResultStore* store = files.GetStore())
    {
        store->Add(row);
    }
    MessageRow message;
    message.source = row.source;
    message.destination = row.destination;
    message.tag = row.number;
    message.bytes = row.bytes;
    files.AddMessage(message, Seconds(row.startS), Seconds(row.endS));
}

} // namespace

FlowOutput::FlowOutput(const RunFilesOptions& files,
                       const std::string& csv,
                       bool lists,
                       const Cluster& cluster,
                       const std::string& configuration)
    : m_lists(lists)
{
    if (files.IsGiven())
    {
        m_files = std::make_unique<RunFiles>(files, cluster, "flow-benchmark", configuration);
    }
    if (!csv.empty())
    {
        m_csv = std::make_unique<OutputFile>(csv);
        m_csv->Write(MakeCsvHeader() + "\n");
    }
}

std::string
FlowOutput::MakeCsvHeader()
{
    std::string line;
    for (const auto& field : FlowRow::GetFields())
    {
        line += (line.empty() ? "" : ",") + field.name;
    }
    return line;
}

void
FlowOutput::Add(const FlowRow& row)
{
    if (m_files)
    {
        AddTo(*m_files, row);
    }
    if (m_csv)
    {
        m_csv->Write(MakeCsvLine(row) + "\n");
    }
    if (m_lists)
    {
        auto object = JsonValue::Object();
        SetMembers(object, FlowRow::GetFields(), row);
        m_list.Append(object);
    }
}

void
FlowOutput::Close(const std::string& failure)
{
    if (m_files)
    {
        m_files->Finish();
        m_files->Close(failure);
    }
    if (m_csv)
    {
        m_csv->Commit();
    }
}

} // namespace ns3::training
