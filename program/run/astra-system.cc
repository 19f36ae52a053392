/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/astra-system.h"

#include "core/input-file.h"
#include "core/json-scanner.h"
#include "formats/workload-format.h"
#include "topology/astra-network.h"

#include "ns3/program-options.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-key-values.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace ns3::training
{

namespace
{

/// What ends the keys of the four lists of algorithms.
const std::string IMPLEMENTATION = "-implementation";

/// Keys that change no time: of what ASTRA-sim writes, and of a bus that it does not simulate
/// without model-shared-bus.
const std::set<std::string> WITHOUT_EFFECT{"G",
                                           "L",
                                           "g",
                                           "local-mem-trace-filename",
                                           "local-reduction-delay",
                                           "o",
                                           "trace-enabled",
                                           "track-local-mem"};

/// Keys that say nothing as long as they are 0.
const std::set<std::string> SWITCHES{"boost-mode", "model-shared-bus", "replay-only"};

/** @return the algorithm of this module by its name in ASTRA-sim; none if it is unknown */
std::optional<std::string>
FindAlgorithm(const std::string& name)
{
    static const std::map<std::string, std::string> all{
        {"ring", "ring"},
        {"direct", "direct"},
        {"halvingDoubling", "rabenseifner"},
        {"doubleBinaryTree", "double-binary-tree"},
    };
    const auto found = all.find(name);
    if (found != all.end())
    {
        return found->second;
    }
    const auto window =
        name.compare(0, 6, "direct") == 0 ? ParseUnsigned(name.substr(6)) : std::nullopt;
    return window && *window >= 1 && *window <= 65535
               ? std::make_optional("direct:window=" + std::to_string(*window))
               : std::nullopt;
}

/** Reads a file of the system layer. */
class AstraSystemReader
{
  public:
    AstraSystemReader(const std::string& path, bool lenient)
        : m_isLenient(lenient)
    {
        m_system.path = path;
    }

    AstraSystem Read(const std::string& text)
    {
        JsonScanner scanner(m_system.path, text);
        std::set<std::string> seen;
        std::string key;
        for (scanner.Enter('{'); scanner.NextMember(key);)
        {
            if (!seen.insert(key).second)
            {
                Refuse(key, "given twice", "once");
            }
            std::vector<std::string> values;
            const char first = scanner.Peek();
            if (first == '[')
            {
                for (scanner.Enter('['); scanner.NextElement();)
                {
                    values.push_back(scanner.TakeScalar());
                }
            }
            else
            {
                values.push_back(scanner.TakeScalar());
            }
            Take(key, values, first == '[');
        }
        if (scanner.Peek() != 0)
        {
            scanner.Fail("the end of the file");
        }
        m_system.problems = m_problems.GetLines();
        return m_system;
    }

  private:
    [[noreturn]] void Refuse(const std::string& key,
                             const std::string& value,
                             const std::string& allowed) const
    {
        throw ConfigurationError(m_system.path + ": " + MakePrintableName(key) + " is '" +
                                 MakePrintableName(value) + "' (allowed: " + allowed + ")");
    }

    /** Takes a key that means nothing here. */
    void LeaveOut(const std::string& key, const std::string& value, const std::string& rule)
    {
        if (!m_isLenient)
        {
            Refuse(key, value, "the keys that doc/formats.rst lists, or --lenient");
        }
        m_problems.Add(rule, m_system.path + ": " + MakePrintableName(key));
    }

    double GetNumber(const std::string& key, const std::string& value, double min, double max) const
    {
        const auto number = ParseDouble(value);
        if (!number || !(*number >= min && *number <= max))
        {
            Refuse(key, value, FormatDouble(min) + " to " + FormatDouble(max));
        }
        return *number;
    }

    uint64_t GetCount(const std::string& key, const std::string& value) const
    {
        constexpr uint64_t MOST = 256;
        const auto count = ParseUnsigned(value);
        if (!count || *count < 1 || *count > MOST)
        {
            Refuse(key, value, "1 to " + std::to_string(MOST));
        }
        return *count;
    }

    std::string GetWord(const std::string& key,
                        const std::string& value,
                        const std::map<std::string, std::string>& words) const
    {
        const auto found = words.find(value);
        std::string allowed;
        for (const auto& [word, meaning] : words)
        {
            allowed += (allowed.empty() ? "" : ", ") + word;
        }
        if (found == words.end())
        {
            Refuse(key, value, allowed);
        }
        return found->second;
    }

    void TakeAlgorithms(const std::string& key, const std::vector<std::string>& names)
    {
        const std::string operation = key.substr(0, key.size() - IMPLEMENTATION.size());
        auto& algorithms = m_system.algorithms[operation];
        for (const std::string& name : names)
        {
            // oneRing and the like take all ranks for one dimension.
            const bool isFlat = name.compare(0, 3, "one") == 0 && name.size() > 3;
            std::string plain = isFlat ? name.substr(3) : name;
            plain[0] = isFlat ? static_cast<char>(std::tolower(plain[0])) : plain[0];
            const auto algorithm = FindAlgorithm(plain);
            if (!algorithm || (isFlat && (names.size() > 1 || plain == "doubleBinaryTree")))
            {
                Refuse(key,
                       name,
                       "for each dimension ring, direct, directW with a window W from 1, "
                       "halvingDoubling or doubleBinaryTree; or alone oneRing, oneDirect, "
                       "oneDirectW or oneHalvingDoubling");
            }
            m_system.isFlat[operation] = isFlat;
            algorithms.push_back(*algorithm);
        }
        if (algorithms.empty())
        {
            Refuse(key, "[]", "an algorithm for each dimension");
        }
    }

    void Take(const std::string& key, const std::vector<std::string>& values, bool isList)
    {
        const bool isAlgorithms =
            key == "all-reduce-implementation" || key == "reduce-scatter-implementation" ||
            key == "all-gather-implementation" || key == "all-to-all-implementation";
        const std::string value = values.empty() ? "" : values.front();
        if (isAlgorithms && isList)
        {
            TakeAlgorithms(key, values);
        }
        else if (key.find(IMPLEMENTATION) != std::string::npos && !isAlgorithms)
        {
            LeaveOut(key,
                     value,
                     "an algorithm in a file, which --schedule reads as MSCCL XML; the collective "
                     "is as without it");
        }
        else if (isList || isAlgorithms)
        {
            Refuse(key, value, isList ? "a value" : "a list");
        }
        else if (WITHOUT_EFFECT.count(key) == 0)
        {
            TakeValue(key, value);
        }
    }

    void TakeValue(const std::string& key, const std::string& value)
    {
        if (key == "scheduling-policy")
        {
            m_system.order =
                GetWord(key, value, {{"FIFO", "fifo"}, {"LIFO", "lifo"}, {"EXPLICIT", "priority"}});
        }
        else if (key == "collective-optimization")
        {
            m_system.optimization =
                GetWord(key, value, {{"baseline", "baseline"}, {"localBWAware", "local"}});
        }
        else if (key == "preferred-dataset-splits")
        {
            m_system.splits = GetCount(key, value);
        }
        else if (key == "active-chunks-per-dimension")
        {
            m_system.active = GetCount(key, value);
        }
        else if (key == "endpoint-delay")
        {
            const double nanoseconds = GetNumber(key, value, 0, 1e9);
            m_system.endpointDelay = PicoSeconds(std::llround(nanoseconds * 1000));
        }
        else if (key == "local-mem-bw")
        {
            m_system.memory = GetNumber(key, value, 0, 1e6) * 1e9;
        }
        else if (key == "peak-perf")
        {
            m_system.peak = GetNumber(key, value, 0, 1e6) * 1e12;
        }
        else if (key == "roofline-enabled")
        {
            m_system.hasRoofline = GetNumber(key, value, 0, 1) != 0;
        }
        else if (SWITCHES.count(key) == 0)
        {
            LeaveOut(key, value, "an unknown key, which is left out");
        }
        else if (value != "0")
        {
            LeaveOut(key, value, "something that is not simulated here, so it is taken as 0");
        }
    }

    bool m_isLenient;
    AstraSystem m_system;
    FormatProblems m_problems;
};

} // namespace

AstraSystem
ReadAstraSystem(const std::string& path, bool lenient)
{
    const auto text = ReadInputFile(path);
    if (!text)
    {
        throw ConfigurationError(path + ": cannot be read (allowed: a system file of ASTRA-sim 2)");
    }
    return AstraSystemReader(path, lenient).Read(*text);
}

std::vector<uint32_t>
GetAstraSizes(const std::string& topology)
{
    std::vector<uint32_t> sizes;
    const std::string name = KeyValues::Split(topology).GetName();
    if (name == "astra-network")
    {
        for (const AstraDimension& dimension : ReadAstraNetwork(topology.substr(name.size() + 1)))
        {
            sizes.push_back(dimension.size);
        }
    }
    return sizes;
}

std::string
AstraSystem::MakeCollective(const std::vector<uint32_t>& sizes) const
{
    std::string text = "per-dimension:";
    for (const std::string operation : {"all-reduce", "reduce-scatter", "all-gather", "all-to-all"})
    {
        const auto found = algorithms.find(operation);
        const std::vector<std::string> names =
            found == algorithms.end() ? std::vector<std::string>{"ring"} : found->second;
        if (found != algorithms.end() && !isFlat.at(operation) && !sizes.empty() &&
            names.size() != sizes.size())
        {
            throw ConfigurationError(path + ": " + operation + IMPLEMENTATION + " has " +
                                     std::to_string(names.size()) +
                                     " algorithms (allowed: " + std::to_string(sizes.size()) +
                                     ", one for each dimension of the network; or oneRing, "
                                     "oneDirect, oneHalvingDoubling)");
        }
        text += operation + "=";
        for (std::size_t i = 0; i < names.size(); i++)
        {
            text += (i == 0 ? "" : "+") + names[i];
        }
        text += ",";
    }
    for (std::size_t i = 0; i < sizes.size(); i++)
    {
        text += (i == 0 ? "sizes=" : "x") + std::to_string(sizes[i]);
    }
    return text + (sizes.empty() ? "" : ",") + "optimization=" + optimization +
           ",splits=" + std::to_string(splits) + ",active=" + std::to_string(active);
}

void
AstraSystem::ApplyTo(const ProgramOptions& given, TrainingRunOptions& job) const
{
    job.notes.insert(job.notes.end(), problems.begin(), problems.end());
    if (!given.IsGiven("collective") && !given.IsGiven("schedule"))
    {
        job.cluster.algorithm = MakeCollective(GetAstraSizes(job.cluster.topology));
        const TypeId type = ScheduledCommunicator::GetTypeId();
        const auto set = [&](const std::string& name, const std::string& value) {
            if (IsDefaultUnchanged(type, name))
            {
                job.cluster.attributes[type.GetName() + "::" + name] = value;
            }
        };
        set("Order", order);
        if (memory > 0)
        {
            // A sum reads two numbers and writes one.
            constexpr double ACCESSES = 3;
            const auto rate = std::max<int64_t>(1, std::llround(memory * 8 / ACCESSES));
            set("ReduceRate", std::to_string(rate) + "bps");
        }
        if (!given.IsGiven("host-latency"))
        {
            job.cluster.hostLatency = endpointDelay;
        }
    }
    if (!hasRoofline)
    {
        return;
    }
    const std::string name = "chakra";
    const bool isNamed = KeyValues::Split(job.workload).GetName() == name;
    if (!isNamed && FindWorkloadFormat(job.workload) != name)
    {
        throw ConfigurationError(path + ": roofline-enabled with workload " + job.workload +
                                 " (allowed: 0, or a trace of Chakra)");
    }
    if (!(memory > 0) || !(peak > 0))
    {
        throw ConfigurationError(path + ": roofline-enabled with local-mem-bw " +
                                 FormatDouble(memory / 1e9) + " and peak-perf " +
                                 FormatDouble(peak / 1e12) + " (allowed: both above 0)");
    }
    job.workload = (isNamed ? "" : name + ":") + job.workload + ",peak=" + FormatDouble(peak) +
                   ",memory=" + FormatDouble(memory);
}

} // namespace ns3::training
