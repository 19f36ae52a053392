/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "flow-file.h"

#include "core/input-file.h"
#include "flow-sizes.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
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

/** @return the flow of a line, and its port; none if it is malformed */
std::optional<std::pair<ListedFlow, uint64_t>>
ReadFlow(const std::vector<std::string>& words, uint32_t hosts)
{
    if (words.size() != 6)
    {
        return std::nullopt;
    }
    const auto source = ParseUnsigned(words[0]);
    const auto destination = ParseUnsigned(words[1]);
    const auto priority = ParseUnsigned(words[2]);
    const auto port = ParseUnsigned(words[3]);
    const auto bytes = ParseUnsigned(words[4]);
    const auto start = ParseDouble(words[5]);
    if (!source || *source >= hosts || !destination || *destination >= hosts ||
        *source == *destination || !priority || *priority > MAX_PRIORITY || !port ||
        *port > MAX_PORT || !bytes || *bytes < 1 || *bytes > FlowSizes::MAX_BYTES || !start ||
        !(*start >= 0) || !(*start <= MAX_FLOW_START))
    {
        return std::nullopt;
    }
    return std::pair(
        ListedFlow{{static_cast<uint32_t>(*source), static_cast<uint32_t>(*destination)},
                   *bytes,
                   Seconds(*start),
                   static_cast<uint8_t>(*priority)},
        *port);
}

} // namespace

std::vector<ListedFlow>
ReadFlowFile(const std::string& path, uint32_t hosts)
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
    if (lines.size() - 1 != *count)
    {
        throw ConfigurationError(where(0) + "'" + lines[0].words[0] + "' before " +
                                 std::to_string(lines.size() - 1) +
                                 " flows (allowed: the number of flows that follow)");
    }
    std::vector<ListedFlow> flows;
    std::optional<uint64_t> port; // of all flows
    for (std::size_t i = 1; i < lines.size(); i++)
    {
        const auto flow = ReadFlow(lines[i].words, hosts);
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
                std::to_string(hosts) +
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
