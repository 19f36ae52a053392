/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology/astra-network.h"

#include "core/input-file.h"
#include "topology-builder.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

namespace ns3::training
{

namespace
{

/// Most NPUs of a network.
constexpr uint64_t MAX_NPUS = 1 << 20;

/** A list of the file. */
struct List
{
    std::size_t line{0};            // 0: the file does not have it
    std::vector<std::string> words; // its elements
};

/** Reads lines `key: [a, b]`; this form of YAML is all that ASTRA-sim writes. */
class AstraNetwork
{
  public:
    explicit AstraNetwork(const std::string& path)
        : m_path(path)
    {
    }

    std::vector<AstraDimension> Read();

  private:
    [[noreturn]] void Refuse(std::size_t line, const std::string& text) const
    {
        throw ConfigurationError(m_path + ":" + std::to_string(line) + ": " + text);
    }

    void ReadLists(const std::string& text);
    double GetNumber(const std::string& key, std::size_t index) const;

    std::string m_path;
    std::map<std::string, List> m_lists{{"topology", {}},
                                        {"npus_count", {}},
                                        {"bandwidth", {}},
                                        {"latency", {}}};
};

void
AstraNetwork::ReadLists(const std::string& text)
{
    std::istringstream lines(text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);)
    {
        number++;
        line = boost::trim_copy(line.substr(0, line.find('#')));
        if (line.empty() || line == "---")
        {
            continue;
        }
        const std::size_t colon = line.find(':');
        const std::string key = boost::trim_copy(line.substr(0, colon));
        const auto list = m_lists.find(key);
        std::string value =
            colon == std::string::npos ? "" : boost::trim_copy(line.substr(colon + 1));
        if (list == m_lists.end() || list->second.line > 0 || value.size() < 3 ||
            value.front() != '[' || value.back() != ']')
        {
            Refuse(number,
                   "'" + MakePrintableName(line) +
                       "' (allowed: topology: [Ring, Switch, FullyConnected], npus_count: [4, 2], "
                       "bandwidth: [100, 50], latency: [500, 500], each once)");
        }
        value = value.substr(1, value.size() - 2);
        list->second.line = number;
        boost::split(list->second.words, value, boost::is_any_of(","));
        for (std::string& word : list->second.words)
        {
            boost::trim(word);
        }
    }
    const List& kinds = m_lists["topology"];
    for (const auto& [key, list] : m_lists)
    {
        if (list.line == 0 || list.words.size() != kinds.words.size())
        {
            Refuse(std::max<std::size_t>(1, list.line),
                   key + " has " + std::to_string(list.words.size()) + " elements (allowed: " +
                       std::to_string(kinds.words.size()) + ", as topology)");
        }
    }
}

double
AstraNetwork::GetNumber(const std::string& key, std::size_t index) const
{
    const List& list = m_lists.at(key);
    const auto number = ParseDouble(list.words[index]);
    if (!number || *number < 0)
    {
        Refuse(list.line,
               key + " is '" + MakePrintableName(list.words[index]) +
                   "' (allowed: numbers from 0)");
    }
    return *number;
}

std::vector<AstraDimension>
AstraNetwork::Read()
{
    const auto text = ReadInputFile(m_path);
    if (!text)
    {
        throw ConfigurationError(m_path +
                                 ": cannot be read (allowed: a network file of ASTRA-sim 2)");
    }
    ReadLists(*text);
    std::vector<AstraDimension> dimensions;
    uint64_t npus = 1;
    for (std::size_t i = 0; i < m_lists["topology"].words.size(); i++)
    {
        const std::string kind = m_lists["topology"].words[i];
        if (kind != "Ring" && kind != "Switch" && kind != "FullyConnected")
        {
            Refuse(m_lists["topology"].line,
                   "topology is '" + MakePrintableName(kind) +
                       "' (allowed: Ring, Switch, FullyConnected)");
        }
        const double size = GetNumber("npus_count", i);
        if (size != std::floor(size) || size < 2 || size > MAX_NPUS || npus * size > MAX_NPUS)
        {
            Refuse(m_lists["npus_count"].line,
                   "npus_count is '" + m_lists["npus_count"].words[i] +
                       "' (allowed: whole numbers from 2, whose product is up to " +
                       std::to_string(MAX_NPUS) + ")");
        }
        npus *= static_cast<uint64_t>(size);
        constexpr double BITS = 8.0 * (1 << 30); // of a unit of bandwidth
        const double rate = GetNumber("bandwidth", i) * BITS;
        if (rate < 1e6 || rate > 1e14)
        {
            Refuse(m_lists["bandwidth"].line,
                   "bandwidth is '" + m_lists["bandwidth"].words[i] + "' (allowed: rates " +
                       std::string(LINK_RATES) + ", in units of 2^30 byte/s)");
        }
        const double latency = GetNumber("latency", i);
        if (latency > 1e11)
        {
            Refuse(m_lists["latency"].line,
                   "latency is '" + m_lists["latency"].words[i] +
                       "' (allowed: " + std::string(LINK_DELAYS) + ", in ns)");
        }
        dimensions.push_back({kind,
                              static_cast<uint32_t>(size),
                              DataRate(static_cast<uint64_t>(std::llround(rate))),
                              PicoSeconds(std::llround(latency * 1000))});
    }
    return dimensions;
}

} // namespace

std::vector<AstraDimension>
ReadAstraNetwork(const std::string& path)
{
    return AstraNetwork(path).Read();
}

} // namespace ns3::training
