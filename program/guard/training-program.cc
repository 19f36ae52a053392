/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-program.h"

#include "guarded-run.h"
#include "parent-process.h"

#include "ns3/cluster-command-line.h"
#include "ns3/gradient-codec.h"
#include "ns3/log.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-output-file.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/training-setup-progress.h"
#include "ns3/value-suggestion.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <new>
#include <sstream>
#include <unistd.h>

namespace ns3::training
{

namespace
{

/// More sizes are considered a typing error.
constexpr std::size_t MAX_SIZES = 10000;

/// Words of messages, such as values of options, and whole messages are shortened to these lengths.
constexpr std::size_t MAX_WORD = 300;
constexpr std::size_t MAX_LINE = 4000;

/** @return the text without its middle if it is longer than a limit */
std::string
Shorten(const std::string& text, std::size_t limit)
{
    const std::string gap = "[...]";
    const std::size_t half = (limit - gap.size()) / 2;
    return text.size() <= limit ? text
                                : text.substr(0, half) + gap + text.substr(text.size() - half);
}

/** @return whether everything has reached standard output */
bool
FlushOutput()
{
    std::cout.flush();
    return std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout;
}

/// Message about an output that cannot be written.
constexpr const char* LOST_OUTPUT = "standard output: cannot be written";

/// Name of the program while its body runs, which --help and ns-3 may end by std::exit(0).
const char* g_running = nullptr;

/** Ends the program with status 1 if output of its body is lost. */
void
CheckOutputAtExit()
{
    if (g_running && !FlushOutput())
    {
        std::fprintf(stderr, "%s: %s\n", g_running, LOST_OUTPUT);
        _exit(1);
    }
}

} // namespace

std::string
ToLine(const std::string& text)
{
    std::string line;
    std::string word;
    for (const char character : text + ' ')
    {
        const bool isControl = static_cast<unsigned char>(character) < ' ' || character == 127;
        if (character != ' ')
        {
            word += isControl ? '?' : character;
            continue;
        }
        line += Shorten(word, MAX_WORD) + ' ';
        word.clear();
    }
    line.pop_back();
    return Shorten(line, MAX_LINE);
}

int
RunProgram(const std::string& name, const std::function<int()>& body)
{
    EndWithParent();
    // With several processes only the first one prints.
    const bool speaks = Processes::GetId() == 0;
    if (!speaks && !std::freopen("/dev/null", "w", stdout))
    {
        return 1;
    }
    g_running = name.c_str();
    std::atexit(&CheckOutputAtExit);
    GuardedRun::HandleSignals();
    if (speaks)
    {
        SetupProgress::Enable();
    }
    int status = 0;
    int signal = 0;
    std::string text;
    try
    {
        status = body();
    }
    catch (const ConfigurationError& error)
    {
        status = 2;
        text = SuggestValue(NameOption(error));
    }
    catch (const SimulationInterrupted& error)
    {
        signal = error.GetSignal();
        text = error.what();
    }
    catch (const SimulationCodecError& error)
    {
        status = 4;
        text = error.what();
    }
    catch (const SimulationStuck& error)
    {
        status = 3;
        text = std::string("stuck: ") + error.what();
    }
    catch (const std::exception& error) // for example a full disk, or no memory left
    {
        const bool isCodec = dynamic_cast<const CodecError*>(&error);
        status = isCodec ? 4 : 1;
        text = isCodec                                       ? std::string("codec: ") + error.what()
               : dynamic_cast<const std::bad_alloc*>(&error) ? "out of memory"
                                                             : error.what();
        if (Processes::GetCount() > 1) // the other processes do not know of the error
        {
            std::cerr << name << ": " << ToLine(text) << std::endl;
            Processes::Abort(status);
        }
    }
    g_running = nullptr;
    if (!FlushOutput() && status == 0)
    {
        status = 1;
        text = LOST_OUTPUT;
    }
    if (!text.empty() && speaks)
    {
        std::cerr << name << ": " << ToLine(text) << std::endl;
    }
    Processes::Finish();
    if (signal != 0)
    {
        std::raise(signal); // its default action, as the run is over
    }
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
        if (geometric ? bytes > end / step : end - bytes < step)
        {
            return sizes;
        }
        bytes = geometric ? bytes * step : bytes + step;
    }
}

JsonOutput::JsonOutput(const std::string& target)
    : m_target(target)
{
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
        WriteOutputFile(m_target, document.Write(2) + "\n");
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
GetConfiguration(const ProgramOptions& options,
                 const Cluster& cluster,
                 const std::vector<std::pair<std::string, std::string>>& choices)
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
    for (const auto& [option, value] : choices)
    {
        resolved.Set(option, value);
    }
    auto configuration = options.ToJson();
    configuration.Set("resolved", resolved);
    return configuration;
}

void
AddRunCost(JsonValue& document, const RunCost& cost)
{
    document.Set("events", cost.events)
        .Set("packet_hops", cost.packetHops)
        .Set("skipped_packet_hops", cost.skippedHops)
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
    if (cost.skippedHops > 0)
    {
        char skipped[100];
        std::snprintf(skipped,
                      sizeof(skipped),
                      "; %.2f M of the packet-hops repeat a steady state and were skipped",
                      static_cast<double>(cost.skippedHops) * 1e-6);
        return std::string(text) + skipped;
    }
    return text;
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

void
RecordAll(const ProgramOptions& options,
          const RunFilesOptions& files,
          const std::function<void()>& simulate)
{
    files.Check(std::numeric_limits<uint32_t>::max());
    if (!files.IsGiven())
    {
        simulate();
        return;
    }
    RunOutputs outputs(files, options.GetName());
    outputs.MakeCurrent(options.ToJson());
    try
    {
        simulate();
    }
    catch (const SimulationStuck&) // the runs so far are kept
    {
        outputs.Complete();
        throw;
    }
    outputs.Complete();
}

void
RunExperiment(const ProgramOptions& options,
              const std::string& json,
              const RunFilesOptions& files,
              const std::string& part,
              const ExperimentParts& parts,
              const std::function<JsonValue()>& results,
              const RunCost& cost,
              const std::string& hosts)
{
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("--mpi=" + std::to_string(Processes::GetCount()) +
                                 " (allowed: 1)");
    }
    const JsonOutput output(json);
    RecordAll(options, files, [&] {
        for (const auto& [name, run] : parts)
        {
            if (part == "all" || part == name)
            {
                run();
            }
        }
    });
    auto document = results();
    const std::string inputs =
        ClusterOptions().DescribeHosts() + (hosts.empty() ? "" : "; " + hosts);
    if (json != "-")
    {
        std::cout << FormatRunCost(cost) << "\n" << FormatInputs(inputs) << std::flush;
    }
    AddRunCost(document, cost);
    document.Set("inputs", inputs);
    document.Set("configuration", options.ToJson()).Set("version", GetVersion());
    output.Write(document);
}

} // namespace ns3::training
