/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * Topologies from files, in three formats, recognized by their first characters:
 * - JSON: hosts, switches, properties of TopologyShape, and links between nodes a and b. Hosts are
 *   numbered before switches;
 * - HPCC and ASTRA-sim: "nodes switches links", the switches, and one line per link: two nodes,
 *   rate, delay, frame loss probability;
 * - SimAI: "nodes gpus-per-server nvswitches switches links gpu-type", the NVSwitches and switches,
 *   and the same link lines. Nodes that are not switches are hosts, in ascending order. A host with
 *   a link to another host must forward, so it gets a router, like a torus node.
 */

#include "core/input-file.h"
#include "core/input-manifest.h"
#include "core/memory.h"
#include "topology-builder.h"
#include "topology/topology-contents.h"

#include "ns3/training-quantity.h"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <functional>
#include <sstream>

namespace ns3::training
{

namespace
{

/// Maximum number of nodes or links; more are treated as a typing error.
constexpr uint64_t MAX_ELEMENTS = 1 << 22;

/// Maximum number of configurations of optical circuit switches.
constexpr uint64_t MAX_CIRCUITS = 1 << 16;

/// Memory for a parsed file, per character.
constexpr double BYTES_PER_CHARACTER = 30;

/// Maximum length of a file excerpt in an error message.
constexpr std::size_t MAX_QUOTE = 40;

/** Reports errors with the file name and line. */
class SourceLocation
{
  public:
    explicit SourceLocation(std::string file)
        : m_file(std::move(file))
    {
    }

    const std::string& GetFile() const
    {
        return m_file;
    }

    std::string Describe(std::size_t line) const
    {
        return m_file + ":" + std::to_string(line);
    }

    [[noreturn]] void Refuse(std::size_t line, const std::string& text) const
    {
        throw ConfigurationError(Describe(line) + ": " + text);
    }

    /** Rejects a word; the error message is one line of printable characters. */
    [[noreturn]] void Refuse(std::size_t line,
                             const std::string& what,
                             const std::string& word,
                             const std::string& allowed) const
    {
        std::string quoted;
        for (const char character : word.substr(0, MAX_QUOTE))
        {
            quoted += character >= ' ' && character <= '~' ? character : '?';
        }
        Refuse(line, what + " is '" + quoted + "' (allowed: " + allowed + ")");
    }

    uint32_t GetNumber(std::size_t line,
                       const std::string& what,
                       const std::string& word,
                       uint64_t least,
                       uint64_t most) const
    {
        const auto number = ParseUnsigned(word);
        if (!number || *number < least || *number > most)
        {
            Refuse(line, what, word, std::to_string(least) + " to " + std::to_string(most));
        }
        return static_cast<uint32_t>(*number);
    }

    DataRate GetRate(std::size_t line, const std::string& word) const
    {
        const auto rate = ParseLinkRate(word);
        if (!rate)
        {
            Refuse(line, "rate", word, std::string(LINK_RATES) + ", such as 100Gbps");
        }
        return *rate;
    }

    Time GetTime(std::size_t line, const std::string& word) const
    {
        const auto time = ParseLinkDelay(word);
        if (!time)
        {
            Refuse(line, "delay", word, std::string(LINK_DELAYS) + ", such as 500ns");
        }
        return *time;
    }

    double GetLoss(std::size_t line, const std::string& word) const
    {
        const auto loss = ParseDouble(word);
        if (!loss || *loss < 0 || *loss > 1)
        {
            Refuse(line, "loss", word, "0 to 1");
        }
        return *loss;
    }

  private:
    std::string m_file;
};

/** The words of a file, in order, with their line numbers. */
class Words
{
  public:
    Words(const std::string& text, const SourceLocation& location)
        : m_location(location)
    {
        std::istringstream lines(text);
        std::string line;
        for (std::size_t number = 1; std::getline(lines, line); number++)
        {
            std::istringstream words(line);
            for (std::string word; words >> word;)
            {
                m_words.emplace_back(word, number);
            }
            m_lines = number;
        }
    }

    /** @return number of words on the first non-blank line */
    std::size_t CountFirst() const
    {
        return static_cast<std::size_t>(
            std::count_if(m_words.begin(), m_words.end(), [this](const auto& word) {
                return word.second == m_words.front().second;
            }));
    }

    std::string Next(const std::string& what)
    {
        if (m_next == m_words.size())
        {
            m_location.Refuse(m_lines, "the file ends where " + what + " should be");
        }
        return m_words[m_next++].first;
    }

    uint32_t NextNumber(const std::string& what, uint64_t least, uint64_t most)
    {
        const std::string word = Next(what);
        return m_location.GetNumber(GetLine(), what, word, least, most);
    }

    /** @return line number of the latest word */
    std::size_t GetLine() const
    {
        return m_words[m_next - 1].second;
    }

    /** Counts what is behind the links: the simulators of this format do not read it. */
    void LeaveRest(InputManifest::File& file) const
    {
        std::size_t line = 0;
        for (std::size_t i = m_next; i < m_words.size(); i++)
        {
            if (m_words[i].second != line)
            {
                line = m_words[i].second;
                file.Ignore("line behind the links that the first line declares",
                            [&] { return m_location.Describe(line); });
            }
        }
    }

  private:
    const SourceLocation& m_location;
    std::vector<std::pair<std::string, std::size_t>> m_words;
    std::size_t m_next{0};
    std::size_t m_lines{1};
};

/** Parses the format of HPCC and ASTRA-sim, or of SimAI. */
FileContents
ReadWords(const std::string& text, const SourceLocation& location, InputManifest::File& file)
{
    Words words(text, location);
    const std::size_t header = words.CountFirst();
    if (header != 3 && header != 6)
    {
        location.Refuse(1,
                        "the first line has " + std::to_string(header) +
                            " words (allowed: 3, nodes switches links; 6, nodes gpus-per-server "
                            "nvswitches switches links gpu-type; or JSON)");
    }
    FileContents contents;
    contents.nodes = words.NextNumber("number of nodes", 1, MAX_ELEMENTS);
    uint32_t switches = 0;
    if (header == 6)
    {
        contents.shape.groupSize = words.NextNumber("number of GPUs per server", 1, contents.nodes);
        contents.shape.serverGroups = true;
        switches = words.NextNumber("number of NVSwitches", 0, contents.nodes - 1);
    }
    const uint32_t scaleUpSwitches = switches;
    switches += words.NextNumber("number of switches", 0, contents.nodes - 1 - switches);
    const uint32_t links = words.NextNumber("number of links", 0, MAX_ELEMENTS);
    if (header == 6)
    {
        words.Next("type of GPU");
    }
    contents.isSwitch.resize(contents.nodes);
    for (uint32_t i = 0; i < switches; i++)
    {
        const uint32_t node = words.NextNumber("switch", 0, contents.nodes - 1);
        if (contents.isSwitch[node])
        {
            location.Refuse(words.GetLine(), "switch", std::to_string(node), "each once");
        }
        contents.isSwitch[node] = true;
        if (i < scaleUpSwitches)
        {
            contents.scaleUpSwitches.push_back(node);
        }
    }
    for (uint32_t i = 0; i < links; i++)
    {
        FileLink link{};
        link.link.a = words.NextNumber("node of a link", 0, contents.nodes - 1);
        link.line = words.GetLine();
        link.link.b = words.NextNumber("node of a link", 0, contents.nodes - 1);
        const std::string rate = words.Next("rate of a link");
        link.link.rate = location.GetRate(words.GetLine(), rate);
        const std::string delay = words.Next("delay of a link");
        link.link.delay = location.GetTime(words.GetLine(), delay);
        const std::string loss = words.Next("error rate of a link");
        link.link.loss = location.GetLoss(words.GetLine(), loss);
        contents.links.push_back(link);
    }
    words.LeaveRest(file);
    return contents;
}

/** @return line number of each element of the array "links" in a valid JSON text */
std::vector<std::size_t>
FindLines(const std::string& text)
{
    std::vector<std::size_t> found;
    const std::size_t begin = text.find("\"links\"");
    std::size_t line = 1;
    uint32_t depth = 0;
    for (std::size_t i = 0; i < text.size(); i++)
    {
        line += text[i] == '\n';
        if (i > begin && text[i] == '{' && depth++ == 0)
        {
            found.push_back(line);
        }
        depth -= i > begin && text[i] == '}' && depth > 0;
    }
    return found;
}

/** Parses the JSON format of this module. */
FileContents
ReadJson(const std::string& text, const SourceLocation& location, const TopologyRequest& request)
{
    namespace json = boost::property_tree;
    json::ptree tree;
    CheckNesting(text, location.GetFile());
    std::istringstream stream(text);
    try
    {
        json::read_json(stream, tree);
    }
    catch (const json::json_parser_error& error)
    {
        location.Refuse(error.line(), "no JSON: " + error.message());
    }
    const auto check =
        [&location](const json::ptree& object, std::size_t line, const std::string& keys) {
            for (const auto& [key, value] : object)
            {
                if ((", " + keys + ",").find(", " + key + ",") == std::string::npos)
                {
                    location.Refuse(line, "key", key, keys);
                }
                if (object.count(key) > 1)
                {
                    location.Refuse(line, "key", key, "each once");
                }
            }
        };
    check(tree,
          1,
          "hosts, switches, groupSize, sides, wraps, serverGroups, rails, fullMesh, bipartite, "
          "ringAcrossGroups, planes, hostsPerNic, localSwitches, scaleUpSwitches, links");
    const json::ptree none;
    const auto getList = [&](const std::string& key) -> const json::ptree& {
        const json::ptree& list = tree.get_child(key, none);
        if (!list.data().empty())
        {
            location.Refuse(1, key, list.data(), "an array");
        }
        return list;
    };
    const auto getFlag = [&location](const json::ptree& object, std::size_t line, const char* key) {
        const auto flag = object.get<std::string>(key, "false");
        if (flag != "true" && flag != "false")
        {
            location.Refuse(line, key, flag, "true, false");
        }
        return flag == "true";
    };
    FileContents contents;
    const uint32_t hosts =
        location.GetNumber(1, "hosts", tree.get<std::string>("hosts", ""), 1, MAX_ELEMENTS);
    contents.nodes =
        hosts +
        location.GetNumber(1, "switches", tree.get<std::string>("switches", "0"), 0, MAX_ELEMENTS);
    contents.shape.groupSize =
        location.GetNumber(1, "groupSize", tree.get<std::string>("groupSize", "1"), 1, hosts);
    contents.shape.hostsPerNic =
        location.GetNumber(1, "hostsPerNic", tree.get<std::string>("hostsPerNic", "1"), 1, hosts);
    contents.shape.localSwitches = location.GetNumber(1,
                                                      "localSwitches",
                                                      tree.get<std::string>("localSwitches", "1"),
                                                      1,
                                                      MAX_ELEMENTS);
    uint64_t product = 1;
    for (const auto& [name, side] : getList("sides"))
    {
        contents.shape.sides.push_back(location.GetNumber(1, "side", side.data(), 1, hosts));
        product *= contents.shape.sides.back();
        if (hosts % product != 0)
        {
            break;
        }
    }
    if (!contents.shape.sides.empty() && product != hosts)
    {
        location.Refuse(1, "product of the sides", std::to_string(product), std::to_string(hosts));
    }
    TopologyShape& shape = contents.shape;
    shape.wraps = getFlag(tree, 1, "wraps");
    shape.serverGroups = getFlag(tree, 1, "serverGroups");
    shape.rails = getFlag(tree, 1, "rails");
    shape.fullMesh = getFlag(tree, 1, "fullMesh");
    shape.bipartite = getFlag(tree, 1, "bipartite");
    shape.ringAcrossGroups = getFlag(tree, 1, "ringAcrossGroups");
    const bool needsGroups = shape.rails || shape.bipartite || shape.ringAcrossGroups;
    if (needsGroups && hosts % shape.groupSize != 0)
    {
        location.Refuse(1,
                        "groupSize",
                        std::to_string(shape.groupSize),
                        "a divisor of the hosts, with rails, bipartite or ringAcrossGroups");
    }
    const uint32_t switches = contents.nodes - hosts;
    if (shape.bipartite && (switches % 2 != 0 || hosts != shape.groupSize * switches))
    {
        location.Refuse(1,
                        "number of switches",
                        std::to_string(switches),
                        "with bipartite an even number, with a group of hosts on each");
    }
    shape.planes =
        location.GetNumber(1, "planes", tree.get<std::string>("planes", "1"), 1, MAX_ELEMENTS);
    if (shape.planes > 1 && (switches == 0 || switches % shape.planes != 0))
    {
        location.Refuse(1,
                        "planes",
                        std::to_string(shape.planes),
                        "a divisor of the " + std::to_string(switches) + " switches");
    }
    contents.isSwitch.resize(hosts, false);
    contents.isSwitch.resize(contents.nodes, true);
    contents.isExport = true;
    for (const auto& [name, number] : getList("scaleUpSwitches"))
    {
        if (switches == 0)
        {
            location.Refuse(1, "scaleUpSwitches", number.data(), "none without switches");
        }
        contents.scaleUpSwitches.push_back(
            hosts +
            location.GetNumber(1, "number of a scale-up switch", number.data(), 0, switches - 1));
    }
    const std::vector<std::size_t> lines = FindLines(text);
    for (const auto& [name, value] : getList("links"))
    {
        const std::size_t line =
            contents.links.size() < lines.size() ? lines[contents.links.size()] : 1;
        check(value, line, "a, b, rate, delay, loss, cost, dimension, dateline, internal, circuit");
        const auto get = [&value = value](const std::string& key, const std::string& initial) {
            return value.get<std::string>(key, initial);
        };
        FileLink link{};
        link.line = line;
        link.link.a = location.GetNumber(line, "a", get("a", ""), 0, contents.nodes - 1);
        link.link.b = location.GetNumber(line, "b", get("b", ""), 0, contents.nodes - 1);
        link.link.rate =
            value.count("rate") == 0 ? request.rate : location.GetRate(line, get("rate", ""));
        link.link.delay =
            value.count("delay") == 0 ? request.delay : location.GetTime(line, get("delay", ""));
        link.link.loss = location.GetLoss(line, get("loss", "0"));
        link.link.cost = location.GetNumber(line, "cost", get("cost", "1"), 1, 1000);
        link.link.dimension = static_cast<uint8_t>(
            location.GetNumber(line,
                               "dimension",
                               get("dimension", std::to_string(TopologyGraph::NO_DIMENSION)),
                               0,
                               TopologyGraph::NO_DIMENSION));
        link.link.dateline = getFlag(value, line, "dateline");
        link.link.internal = getFlag(value, line, "internal");
        if (value.count("circuit") > 0)
        {
            link.link.circuit =
                location.GetNumber(line, "circuit", get("circuit", ""), 0, MAX_CIRCUITS - 1);
            if (contents.isSwitch[link.link.a] != contents.isSwitch[link.link.b])
            {
                location.Refuse(line,
                                "circuit of a link of a host (allowed: between switches, or "
                                "between hosts)");
            }
        }
        const auto getPlane = [&](uint32_t node) { // of a host: that of the other end
            const uint32_t count = switches / shape.planes;
            return node < hosts ? shape.planes : (node - hosts) / count;
        };
        const uint32_t planes[2] = {getPlane(link.link.a), getPlane(link.link.b)};
        if (shape.planes > 1 && planes[0] != planes[1] &&
            std::max(planes[0], planes[1]) < shape.planes)
        {
            location.Refuse(line,
                            "link between planes " + std::to_string(planes[0]) + " and " +
                                std::to_string(planes[1]) + " (allowed: within one)");
        }
        contents.links.push_back(link);
    }
    return contents;
}

void
BuildFromFile(const TopologyRequest& request, TopologyGraph& graph)
{
    // The path is the rest of the text, commas included.
    std::string path = request.keys.GetFirst();
    const std::string forward = ",forward=all";
    const bool hostsForward = boost::ends_with(path, forward);
    path.resize(path.size() - (hostsForward ? forward.size() : 0));
    const SourceLocation location(path);
    const auto text = ReadInputFile(path);
    if (!text)
    {
        throw ConfigurationError("topology '" + request.keys.GetSpelling() +
                                 "' cannot be read (allowed: file:PATH of a readable file)");
    }
    const std::string& all = *text;
    InputManifest::File& file = InputManifest::Begin(path);
    CheckMemory(BYTES_PER_CHARACTER * static_cast<double>(all.size()), path);
    const std::size_t first = all.find_first_not_of(" \t\r\n");
    if (first == std::string::npos)
    {
        location.Refuse(1, "the file is empty");
    }
    FileContents contents =
        all[first] == '{' ? ReadJson(all, location, request) : ReadWords(all, location, file);
    file.Use(contents.links.size());

    contents.hostsForward = hostsForward;
    for (const FileLink& link : contents.links)
    {
        if (link.link.a == link.link.b)
        {
            location.Refuse(link.line,
                            "a link from node " + std::to_string(link.link.a) + " to itself");
        }
    }
    BuildFromContents(contents, graph);
}

const Registry<TopologyBuilder>::Entry g_file(
    "file",
    {"a topology file in HPCC, ASTRA-sim or SimAI format (with ,forward=all behind the path hosts "
     "with several links forward), or JSON: {\"hosts\": 2, \"switches\": 1, "
     "\"links\": [{\"a\": 0, \"b\": 2, \"rate\": \"100Gbps\", \"delay\": \"1us\"}, ...]}",
     {},
     &BuildFromFile,
     FirstValue{"PATH", "a readable file", true, true, {}}});

} // namespace

} // namespace ns3::training
