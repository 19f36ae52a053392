/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "program.h"

#include "guarded-run.h"

#include "ns3/byte-archive.h"
#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/output-file.h"
#include "ns3/processes.h"
#include "ns3/quantity.h"
#include "ns3/schedule-file.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-builder.h"
#include "ns3/topology-report.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingProgram");

namespace
{

/// More sizes than this are a typing error.
constexpr std::size_t MOST_SIZES = 10000;

} // namespace

std::string
GetVersion()
{
    return "0.1.0";
}

int
RunProgram(const std::string& name, const std::function<int()>& body)
{
    // Of several processes the first one speaks for all.
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
        text = error.what();
    }
    catch (const SimulationStuck& error)
    {
        status = 3;
        text = std::string("stuck: ") + error.what();
    }
    catch (const std::exception& error) // the disk is full, memory has run out
    {
        status = 1;
        text = error.what();
        if (Processes::GetCount() > 1) // which the others do not know of
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
    // mpirun kills the others when one fails, which must not keep the first one from speaking.
    return speaks ? status : 0;
}

std::vector<uint64_t>
ParseSizes(const std::string& option, const std::string& text)
{
    const auto refuse = [&](const std::string& part) {
        return ConfigurationError(option + "=" + text + ": '" + part +
                                  "' is not allowed (allowed: begin:end:xFACTOR with a factor of 2 "
                                  "or more, begin:end:STEP, or a list a,b,c; up to " +
                                  std::to_string(MOST_SIZES) + " sizes; units " + BYTE_UNITS + ")");
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
        if (sizes.size() > MOST_SIZES)
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

bool
ShowTopology(const ClusterOptions& options)
{
    if (Processes::GetId() != 0 || (!options.printTopology && options.exportTopology.empty()))
    {
        return options.printTopology;
    }
    UsePicoseconds();
    const auto ranks = static_cast<uint32_t>(options.ranks);
    const TopologyGraph topology =
        BuildTopology(options.topology, ranks, options.rate, options.delay);
    if (!options.exportTopology.empty())
    {
        CheckOutputFile(options.exportTopology);
        std::ofstream file(options.exportTopology);
        file << WriteTopology(topology) << std::flush;
        if (!file)
        {
            throw ConfigurationError("--export-topology=" + options.exportTopology +
                                     ": cannot be written");
        }
    }
    if (options.printTopology)
    {
        std::cout << DescribeTopology(topology, ranks) << std::flush;
    }
    return options.printTopology;
}

bool
ShowSchedule(const ClusterOptions& options,
             const Cluster& cluster,
             CollectiveOperation operation,
             uint64_t bytes)
{
    if (Processes::GetId() == 0 && (options.printSchedule || !options.exportSchedule.empty()))
    {
        const auto schedule = cluster.GetPlanner().Get(operation, bytes, 0);
        if (!options.exportSchedule.empty())
        {
            SaveSchedule(*schedule, options.exportSchedule);
        }
        if (options.printSchedule)
        {
            std::cout << DescribeSchedule(*schedule) << std::flush;
        }
    }
    return options.printSchedule;
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
    auto configuration = options.ToJson();
    configuration.Set("resolved", resolved);
    return configuration;
}

void
AddInNetwork(JsonValue& document, const Cluster& cluster, double largestError)
{
    if (cluster.GetInNetworkCommunicators().empty())
    {
        return;
    }
    InNetworkCounters mine;
    bool hasFallenBack = false;
    double errorBound = 0;
    for (const auto& worker : cluster.GetInNetworkCommunicators())
    {
        const InNetworkCounters& counters = worker->GetCounters();
        mine.sent += counters.sent;
        mine.resent += counters.resent;
        mine.received += counters.received;
        mine.duplicates += counters.duplicates;
        hasFallenBack |= worker->HasFallenBack();
        errorBound = std::max(errorBound, worker->GetErrorBound());
    }
    ByteWriter packed;
    packed(mine.sent, mine.resent, mine.received, mine.duplicates, hasFallenBack);
    packed.Append(&errorBound, sizeof(errorBound));
    InNetworkCounters sum;
    for (const std::string& bytes : Processes::Gather(packed.GetText()))
    {
        ByteReader reader(bytes.data(), bytes.size());
        sum.sent += reader.Next<uint64_t>();
        sum.resent += reader.Next<uint64_t>();
        sum.received += reader.Next<uint64_t>();
        sum.duplicates += reader.Next<uint64_t>();
        hasFallenBack |= reader.Next<bool>();
        double bound;
        std::memcpy(&bound, reader.Skip(sizeof(bound)), sizeof(bound));
        errorBound = std::max(errorBound, bound);
    }
    auto object = JsonValue::Object();
    object.Set("sent", sum.sent)
        .Set("resent", sum.resent)
        .Set("received", sum.received)
        .Set("duplicates", sum.duplicates)
        .Set("fallen_back", hasFallenBack)
        .Set("error_bound", errorBound);
    if (largestError >= 0)
    {
        object.Set("max_error", largestError);
    }
    document.Set("in_network", object);
}

std::string
FormatFallback(const Cluster& cluster)
{
    for (const auto& worker : cluster.GetInNetworkCommunicators())
    {
        if (worker->HasFallenBack())
        {
            return "the hosts made all-reduces themselves from then on: " + worker->GetFailure() +
                   "\n";
        }
    }
    return "";
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
