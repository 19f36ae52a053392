/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/nccl-graph.h"

#include "core/input-file.h"
#include "core/xml-tree.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <set>

namespace ns3::training
{

namespace
{

using Xml = boost::property_tree::ptree;

/// Most channels of a graph (nccl, MAXCHANNELS).
constexpr std::size_t MAX_CHANNELS = 64;

/// Largest number of a GPU.
constexpr uint64_t MAX_GPU = 1 << 20;

/** Reads a graph. */
class NcclGraphReader
{
  public:
    NcclGraphReader(const std::string& path, uint32_t id)
        : m_path(path),
          m_id(id)
    {
    }

    NcclGraph Read(const Xml& graphs)
    {
        std::string ids;
        for (const auto& [name, element] : graphs)
        {
            if (name != "graph")
            {
                continue;
            }
            const uint64_t id = GetNumber("graph", element, "id", 1 << 20);
            if (id == m_id)
            {
                return ReadGraph(element);
            }
            ids += (ids.empty() ? "" : ", ") + std::to_string(id);
        }
        throw ConfigurationError(m_path + ": no graph with id " + std::to_string(m_id) +
                                 " (allowed: " + (ids.empty() ? "a file with graphs" : ids) + ")");
    }

  private:
    [[noreturn]] void Refuse(const std::string& text, const std::string& allowed) const
    {
        throw ConfigurationError(m_path + ": graph " + std::to_string(m_id) + ": " + text +
                                 " (allowed: " + allowed + ")");
    }

    static std::string Get(const Xml& element, const char* attribute)
    {
        return element.get<std::string>(std::string("<xmlattr>.") + attribute, "");
    }

    uint64_t GetNumber(const char* name, const Xml& element, const char* attribute, uint64_t most)
    {
        const auto number = ParseUnsigned(Get(element, attribute));
        if (!number || *number > most)
        {
            Refuse(std::string(name) + " has " + attribute + " '" +
                       MakePrintableName(Get(element, attribute)) + "'",
                   "0 to " + std::to_string(most));
        }
        return *number;
    }

    /** @return number of a GPU in its server, which NCCL writes and reads as hexadecimal */
    uint32_t GetDevice(const Xml& gpu) const
    {
        const std::string text = Get(gpu, "dev");
        const std::string digits = text.substr(text.compare(0, 2, "0x") == 0 ? 2 : 0);
        if (digits.empty() || digits.size() > 5 ||
            digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
        {
            Refuse("gpu has dev '" + MakePrintableName(text) + "'",
                   "hexadecimal numbers up to fffff");
        }
        return static_cast<uint32_t>(std::stoul(digits, nullptr, 16));
    }

    NcclGraph ReadGraph(const Xml& element)
    {
        NcclGraph graph;
        graph.pattern = static_cast<uint32_t>(GetNumber("graph", element, "pattern", 6));
        const bool isRing = graph.pattern == NcclGraph::RING;
        if (isRing != (m_id == 0) || graph.pattern < NcclGraph::BALANCED_TREE ||
            graph.pattern > NcclGraph::RING)
        {
            Refuse("pattern " + std::to_string(graph.pattern),
                   m_id == 0 ? "4, a ring" : "1, 2 and 3, trees");
        }
        for (const auto& [name, channel] : element)
        {
            if (name == "channel")
            {
                AddChannel(channel, graph);
            }
        }
        const uint64_t count = GetNumber("graph", element, "nchannels", MAX_CHANNELS);
        if (graph.channels.size() != count || count == 0)
        {
            Refuse(std::to_string(graph.channels.size()) + " channels with nchannels " +
                       std::to_string(count),
                   "as many, at least 1");
        }
        NumberGpus(graph);
        graph.alternates = isRing && count % 2 == 0 && Get(element, "crossnic") == "2";
        return graph;
    }

    void AddChannel(const Xml& channel, NcclGraph& graph)
    {
        std::vector<uint32_t> chain;
        for (const auto& [name, element] : channel)
        {
            if (name == "gpu")
            {
                // Without ranks, as in files of clouds, the numbers of devices tell the order.
                chain.push_back(
                    Get(element, "rank").empty()
                        ? GetDevice(element)
                        : static_cast<uint32_t>(GetNumber("gpu", element, "rank", MAX_GPU)));
            }
            else if (name != "net" && name != "<xmlattr>")
            {
                Refuse("element " + MakePrintableName(name) + " in a channel", "net and gpu");
            }
        }
        graph.channels.push_back(chain);
    }

    /** Numbers the GPUs of the server from 0 in their order. */
    void NumberGpus(NcclGraph& graph)
    {
        const std::set<uint32_t> gpus(graph.channels[0].begin(), graph.channels[0].end());
        for (std::size_t i = 0; i < graph.channels.size(); i++)
        {
            auto& chain = graph.channels[i];
            if (chain.empty() || chain.size() != gpus.size() ||
                std::set<uint32_t>(chain.begin(), chain.end()) != gpus)
            {
                Refuse("channel " + std::to_string(i) + " with " + std::to_string(chain.size()) +
                           " gpus",
                       "each gpu of the server once");
            }
            for (uint32_t& gpu : chain)
            {
                gpu = static_cast<uint32_t>(std::distance(gpus.begin(), gpus.find(gpu)));
            }
        }
    }

    std::string m_path;
    uint32_t m_id;
};

} // namespace

uint32_t
NcclGraph::GetGpus() const
{
    return static_cast<uint32_t>(channels.front().size());
}

std::vector<uint32_t>
NcclGraph::GetChain(uint32_t channel, uint32_t server) const
{
    std::vector<uint32_t> chain = channels[alternates && server % 2 == 1 ? channel ^ 1 : channel];
    for (uint32_t& gpu : chain)
    {
        gpu += server * GetGpus();
    }
    return chain;
}

NcclGraph
ReadNcclGraph(const std::string& path, uint32_t id)
{
    const auto text = ReadInputFile(path);
    const std::string allowed = "a graph file of NCCL";
    if (!text)
    {
        throw ConfigurationError(path + ": cannot be read (allowed: " + allowed + ")");
    }
    return NcclGraphReader(path, id).Read(ReadXmlTree(*text, path, "graphs", allowed));
}

} // namespace ns3::training
