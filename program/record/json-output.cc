/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "json-output.h"

#include "core/input-manifest.h"
#include "core/lost-outputs.h"

#include "ns3/training-output-file.h"
#include "ns3/training-processes.h"

#include <iostream>

namespace ns3::training
{

JsonOutput::JsonOutput(const std::string& target)
    : m_target(target)
{
}

void
JsonOutput::Write(const JsonValue& results) const
{
    if (Processes::GetId() != 0)
    {
        return;
    }
    JsonValue document = results;
    document.Set("schema", SCHEMA);
    if (m_target == "-")
    {
        std::cout << document.Write(2) << std::endl;
    }
    else if (!m_target.empty())
    {
        LostOutputs::Try([&] { WriteOutputFile(m_target, document.Write(2) + "\n"); });
    }
}

void
AddFailure(JsonValue& document, const std::string& failure)
{
    if (!failure.empty())
    {
        document.Set("state", "failed").Set("reason", failure);
    }
}

JsonValue
GetConfiguration(JsonValue options,
                 const Cluster& cluster,
                 const std::vector<std::pair<std::string, JsonValue>>& more)
{
    auto resolved = JsonValue::Object();
    resolved.Set("algorithm", cluster.GetPlan().GetAlgorithm())
        .Set("congestion-control", cluster.GetOptions().congestionControl)
        .Set("mtu", cluster.GetOptions().GetMtu())
        .Set("hosts", cluster.GetFabric().topology.hosts)
        .Set("switches", cluster.GetFabric().topology.switches);
    std::string notes;
    for (const std::string& note : cluster.GetNotes())
    {
        notes += (notes.empty() ? "" : "; ") + note;
    }
    resolved.Set("notes", notes);
    for (const auto& [option, value] : more)
    {
        resolved.Set(option, value);
    }
    return options.Set("resolved", resolved).Set("inputs", InputManifest::ToJson());
}

std::string
FormatInputs(const std::string& inputs)
{
    return "inputs: " + inputs + "\n";
}

std::string
FormatNotes(const std::vector<std::string>& notes)
{
    std::string text;
    for (const std::string& note : notes)
    {
        text += "# " + note + "\n";
    }
    return text;
}

} // namespace ns3::training
