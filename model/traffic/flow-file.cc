/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "flow-file.h"

#include "core/input-file.h"
#include "core/input-manifest.h"
#include "flow-sizes.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace ns3::training
{

namespace
{

/// Maximum priority and port of a flow.
constexpr uint64_t MAX_PRIORITY = 7;
constexpr uint64_t MAX_PORT = 65535;

/** A line that is not empty. */
struct Line
{
    uint64_t number;
    std::vector<std::string> words;
};

/** @return the lines of a text that are not empty, without comments */
std::vector<Line>
SplitLines(const std::string& text)
{
    std::vector<Line> all;
    std::istringstream lines(text);
    std::string line;
    for (uint64_t number = 1; std::getline(lines, line); number++)
    {
        std::istringstream stream(line.substr(0, line.find('#')));
        std::vector<std::string> words;
        for (std::string word; stream >> word;)
        {
            words.push_back(word);
        }
        if (!words.empty())
        {
            all.push_back({number, words});
        }
    }
    return all;
}

/** What the lines of a file have in common. */
struct Format
{
    bool hasPort;                         ///< whether there is a column of ports
    std::map<uint64_t, uint32_t> hosts{}; ///< by their numbers in the file

    /** @return number of columns */
    std::size_t GetColumns() const
    {
        return hasPort ? 6 : 5;
    }

    /** @param word of a line @return the host that it names */
    std::optional<uint32_t> FindHost(const std::string& word) const
    {
        const auto number = ParseUnsigned(word);
        const auto found = number ? hosts.find(*number) : hosts.end();
        return found == hosts.end() ? std::nullopt : std::optional(found->second);
    }
};

/** @return the flow of a line, and its port; none if it is malformed */
std::optional<std::pair<ListedFlow, uint64_t>>
ReadFlow(const std::vector<std::string>& words, const Format& format)
{
    if (words.size() < format.GetColumns())
    {
        return std::nullopt;
    }
    const std::size_t next = format.hasPort ? 4 : 3;
    const auto source = format.FindHost(words[0]);
    const auto destination = format.FindHost(words[1]);
    const auto priority = ParseUnsigned(words[2]);
    const auto port = format.hasPort ? ParseUnsigned(words[3]) : 0;
    const auto bytes = ParseUnsigned(words[next]);
    const auto start = ParseDouble(words[next + 1]);
    if (!source || !destination || *source == *destination || !priority ||
        *priority > MAX_PRIORITY || !port || *port > MAX_PORT || !bytes || *bytes < 1 ||
        *bytes > FlowSizes::MAX_BYTES || !start || !(*start >= 0) || !(*start <= MAX_FLOW_START))
    {
        return std::nullopt;
    }
    return std::pair(ListedFlow{{*source, *destination},
                                *bytes,
                                Seconds(*start),
                                static_cast<uint8_t>(*priority)},
                     *port);
}

} // namespace

std::vector<ListedFlow>
ReadFlowFile(const std::string& path, uint32_t hosts, const std::vector<uint32_t>& nodes)
{
    const auto text = ReadInputFile(path);
    if (!text)
    {
        throw ConfigurationError("flow file " + path + ": cannot be read");
    }
    const std::vector<Line> lines = SplitLines(*text);
    const auto where = [&](std::size_t index) {
        return path + ":" + std::to_string(index < lines.size() ? lines[index].number : 1) + ": ";
    };
    const auto count = lines.empty() || lines[0].words.size() != 1
                           ? std::nullopt
                           : ParseUnsigned(lines[0].words[0]);
    if (!count || *count < 1 || *count > MAX_LISTED_FLOWS)
    {
        throw ConfigurationError(
            where(0) + "'" + (lines.empty() ? "" : MakePrintableName(lines[0].words[0])) +
            "' (allowed: the number of flows, 1 to " + std::to_string(MAX_LISTED_FLOWS) + ")");
    }
    if (lines.size() - 1 < *count)
    {
        throw ConfigurationError(where(0) + "'" + lines[0].words[0] + "' before " +
                                 std::to_string(lines.size() - 1) +
                                 " flows (allowed: the number of flows that follow)");
    }
    InputManifest::File& file = InputManifest::Begin(path);
    Format format{lines[1].words.size() != 5};
    for (uint32_t host = 0; host < hosts; host++)
    {
        format.hosts[nodes.empty() ? host : nodes[host]] = host;
    }
    std::string named = std::to_string(hosts);
    if (!nodes.empty())
    {
        const uint32_t last = nodes[hosts - 1];
        named = std::to_string(last + 1) + " that are no switches";
        file.Assume("hosts as nodes " + std::to_string(nodes[0]) + " to " + std::to_string(last) +
                        " of the topology's file",
                    path);
    }
    std::vector<ListedFlow> flows;
    std::optional<uint64_t> port; // of all flows
    for (std::size_t i = 1; i < lines.size(); i++)
    {
        const auto place = [&path, &lines, i] {
            return path + ":" + std::to_string(lines[i].number);
        };
        if (i > *count)
        {
            file.Ignore("line behind the flows that the first line declares", place);
            continue;
        }
        file.Use();
        for (std::size_t column = format.GetColumns(); column < lines[i].words.size(); column++)
        {
            file.Ignore("column " + std::to_string(column + 1), place);
        }
        const auto flow = ReadFlow(lines[i].words, format);
        if (!flow)
        {
            std::string line;
            for (const std::string& word : lines[i].words)
            {
                line += (line.empty() ? "" : " ") + word;
            }
            throw ConfigurationError(
                where(i) + "'" + MakePrintableName(line) +
                "' (allowed: source destination priority port bytes start, with two different "
                "hosts below " +
                named +
                ", priority 0 to 7, port 0 to 65535, 1 to 2^40 bytes, 0 "
                "to " +
                FormatDouble(MAX_FLOW_START) + " s)");
        }
        port = port.value_or(flow->second);
        if (flow->second != *port)
        {
            throw ConfigurationError(where(i) + "port " + std::to_string(flow->second) +
                                     " after port " + std::to_string(*port) +
                                     " (allowed: one port for all flows, as RoCEv2 has one)");
        }
        flows.push_back(flow->first);
    }
    std::stable_sort(flows.begin(), flows.end(), [](const ListedFlow& a, const ListedFlow& b) {
        return a.start < b.start;
    });
    return flows;
}

} // namespace ns3::training
