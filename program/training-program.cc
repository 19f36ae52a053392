/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-program.h"

#include "cluster-command-line.h"
#include "guarded-run.h"

#include "ns3/log.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-output-file.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace ns3::training
{

namespace
{

/// More sizes are considered a typing error.
constexpr std::size_t MAX_SIZES = 10000;

} // namespace

int
RunProgram(const std::string& name, const std::function<int()>& body)
{
    // With several processes only the first one prints.
    const bool speaks = Processes::GetId() == 0;
    if (!speaks && !std::freopen("/dev/null", "w", stdout))
    {
        return 1;
    }
    int status = 0;
    std::string text;
    try
    {
        status = body();
    }
    catch (const ConfigurationError& error)
    {
        status = 2;
        text = NameOption(error);
    }
    catch (const SimulationStuck& error)
    {
        status = 3;
        text = std::string("stuck: ") + error.what();
    }
    catch (const std::exception& error) // for example a full disk, or no memory left
    {
        status = 1;
        text = error.what();
        if (Processes::GetCount() > 1) // the other processes do not know of the error
        {
            std::cerr << name << ": " << text << std::endl;
            Processes::Abort(status);
        }
    }
    if (!text.empty() && speaks)
    {
        std::cerr << name << ": " << text << std::endl;
    }
    Processes::Finish();
    // mpirun kills the others when one fails, possibly before the first one prints.
    return speaks ? status : 0;
}

std::vector<uint64_t>
ParseSizes(const std::string& option, const std::string& text)
{
    const auto refuse = [&](const std::string& part) {
        return ConfigurationError(option + "=" + text + ": '" + part +
                                  "' is not allowed (allowed: begin:end:xFACTOR with a factor of 2 "
                                  "or more, begin:end:STEP, or a list a,b,c; up to " +
                                  std::to_string(MAX_SIZES) + " sizes; units " + BYTE_UNITS + ")");
    };
    const auto size = [&](const std::string& part) {
        const auto bytes = ParseBytes(part);
        if (!bytes)
        {
            throw refuse(part);
        }
        return *bytes;
    };
    const bool range = text.find(':') != std::string::npos;
    std::vector<std::string> parts;
    std::istringstream stream(text + (range ? ":" : ","));
    for (std::string part; std::getline(stream, part, range ? ':' : ',');)
    {
        parts.push_back(part);
    }
    std::vector<uint64_t> sizes;
    if (!range)
    {
        for (const std::string& part : parts)
        {
            sizes.push_back(size(part));
        }
        return sizes;
    }
    if (parts.size() != 3 || parts[2].empty())
    {
        throw refuse(text);
    }
    const bool geometric = parts[2][0] == 'x';
    const uint64_t step =
        geometric ? ParseUnsigned(parts[2].substr(1)).value_or(0) : size(parts[2]);
    const uint64_t begin = size(parts[0]);
    const uint64_t end = size(parts[1]);
    if (step < (geometric ? 2 : 1) || (geometric && begin == 0))
    {
        throw refuse(parts[2]);
    }
    if (end < begin)
    {
        throw refuse(parts[1]);
    }
    for (uint64_t bytes = begin;;)
    {
        sizes.push_back(bytes);
        if (sizes.size() > MAX_SIZES)
        {
            throw refuse(parts[2]);
        }
        if (geometric ? bytes > end / step : bytes > end - std::min(end, step))
        {
            return sizes;
        }
        bytes = geometric ? bytes * step : bytes + step;
    }
}

JsonOutput::JsonOutput(const std::string& target)
    : m_target(target)
{
    if (!target.empty() && target != "-")
    {
        CheckOutputFile(target);
    }
}

void
JsonOutput::Write(const JsonValue& document) const
{
    if (Processes::GetId() != 0)
    {
        return;
    }
    if (m_target == "-")
    {
        std::cout << document.Write(2) << std::endl;
    }
    else if (!m_target.empty())
    {
        std::ofstream file(m_target);
        file << document.Write(2) << std::endl;
        if (!file)
        {
            throw ConfigurationError("--json=" + m_target + ": cannot be written");
        }
    }
}

JsonValue
GetConfiguration(const ProgramOptions& options, const Cluster& cluster)
{
    auto resolved = JsonValue::Object();
    resolved.Set("algorithm", cluster.GetAlgorithm())
        .Set("congestion-control", cluster.GetCongestionControl())
        .Set("mtu", cluster.GetMtu())
        .Set("hosts", cluster.GetFabric().topology.hosts)
        .Set("switches", cluster.GetFabric().topology.switches);
    std::string notes;
    for (const std::string& note : cluster.GetNotes())
    {
        notes += (notes.empty() ? "" : "; ") + note;
    }
    resolved.Set("notes", notes);
    auto configuration = options.ToJson();
    configuration.Set("resolved", resolved);
    return configuration;
}

void
AddRunCost(JsonValue& document, const RunCost& cost)
{
    document.Set("events", cost.events)
        .Set("packet_hops", cost.packetHops)
        .Set("packet_hops_per_cpu_s", cost.GetPacketHopsPerSecond())
        .Set("cpu_s", cost.cpuSeconds)
        .Set("peak_memory_MiB", cost.peakMemoryMebibytes);
}

std::string
FormatRunCost(const RunCost& cost)
{
    char text[200];
    std::snprintf(text,
                  sizeof(text),
                  "cost of the simulation: %.2f s CPU, %.2f M events, %.2f M packet-hops "
                  "(%.2f M/s), %.0f MiB",
                  cost.cpuSeconds,
                  static_cast<double>(cost.events) * 1e-6,
                  static_cast<double>(cost.packetHops) * 1e-6,
                  cost.GetPacketHopsPerSecond() * 1e-6,
                  cost.peakMemoryMebibytes);
    return text;
}

void
RunExperiment(const ProgramOptions& options,
              const std::string& json,
              const std::string& part,
              const ExperimentParts& parts,
              const std::function<JsonValue()>& results,
              const RunCost& cost)
{
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("--mpi=" + std::to_string(Processes::GetCount()) +
                                 " (allowed: 1)");
    }
    const JsonOutput output(json);
    for (const auto& [name, run] : parts)
    {
        if (part == "all" || part == name)
        {
            run();
        }
    }
    auto document = results();
    if (json != "-")
    {
        std::cout << FormatRunCost(cost) << std::endl;
    }
    AddRunCost(document, cost);
    document.Set("configuration", options.ToJson()).Set("version", GetVersion());
    output.Write(document);
}

} // namespace ns3::training
