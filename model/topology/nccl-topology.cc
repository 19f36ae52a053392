/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * Servers as NCCL describes them (NCCL_TOPO_DUMP_FILE; nccl, src/graph/topo.h and xml.cc): GPUs are
 * hosts; processors, PCI bridges, NVSwitches and NICs are switches. Several servers are joined by
 * a switch for each NIC, its rail. Descriptions of clouds leave out GPUs and NICs, which NCCL finds
 * at run time; here the classes of PCI devices tell them.
 */

#include "core/input-file.h"
#include "core/input-manifest.h"
#include "core/memory.h"
#include "core/xml-tree.h"
#include "topology-builder.h"
#include "topology/topology-contents.h"

#include "ns3/training-quantity.h"

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

using Xml = boost::property_tree::ptree;

/// Cost of links that are no NVLinks: paths of NVLinks are taken first, as in NCCL.
constexpr uint32_t SLOW_COST = 4;

/// Delays: of a link of NVLink, PCI, or between processors.
constexpr int64_t DELAY_NS = 25;

/// Generation of a GPU of which nothing is said: V100.
constexpr uint32_t DEFAULT_SM = 70;

/** An NVLink that is read before its other end is known. */
struct NvLink
{
    uint32_t gpu;       // node
    std::string target; // bus id
    std::string kind;   // class of the target
    DataRate rate;
};

/** Reads a server of an XML file, as often as wanted. */
class NcclServer
{
  public:
    NcclServer(const std::string& path, const TopologyRequest& request, FileContents& contents)
        : m_path(path),
          m_request(request),
          m_contents(contents)
    {
    }

    /**
     * @param system the root of the file
     * @return its NICs: node and rate
     */
    std::vector<std::pair<uint32_t, DataRate>> Add(const Xml& system);

    /** @return GPUs of the server */
    uint32_t GetGpus() const
    {
        return static_cast<uint32_t>(m_gpus.size());
    }

  private:
    [[noreturn]] void Refuse(const std::string& element,
                             const std::string& attribute,
                             const std::string& value,
                             const std::string& allowed) const
    {
        throw ConfigurationError(m_path + ": " + element + " has " + attribute + " '" +
                                 MakePrintableName(value) + "' (allowed: " + allowed + ")");
    }

    static std::string Get(const Xml& element, const char* attribute)
    {
        return element.get<std::string>(std::string("<xmlattr>.") + attribute, "");
    }

    uint32_t AddNode(bool isSwitch);
    void AddLink(uint32_t a, uint32_t b, DataRate rate, uint32_t cost);
    DataRate GetPciRate(const Xml& pci) const;
    static double GetProcessorRate(const Xml& cpu);
    static double GetNvLinkRate(uint32_t sm);
    static double GetXgmiRate(const std::string& gcn);
    uint32_t GetNumber(const Xml& element, const char* attribute, uint32_t initial) const;
    void AddPci(const Xml& pci, uint32_t parent);
    void AddGpu(const Xml& gpu, const std::string& busId, uint32_t node);
    void AddNic(const Xml* net, uint32_t parent);
    void AddNvLinks();
    void FillNvLinks();

    std::string m_path;
    const TopologyRequest& m_request;
    FileContents& m_contents;
    std::map<std::string, uint32_t> m_gpus; // by bus id
    std::map<uint32_t, uint32_t> m_sm;      // by node, generation of the GPU
    std::vector<NvLink> m_nvLinks;
    std::vector<std::pair<uint32_t, DataRate>> m_nics;
};

uint32_t
NcclServer::AddNode(bool isSwitch)
{
    m_contents.isSwitch.push_back(isSwitch);
    return m_contents.nodes++;
}

void
NcclServer::AddLink(uint32_t a, uint32_t b, DataRate rate, uint32_t cost)
{
    FileLink link{};
    link.link = {a, b, rate, NanoSeconds(DELAY_NS)};
    link.link.cost = cost;
    m_contents.links.push_back(link);
}

/** @return a rate of GB/s */
DataRate
MakeRate(double gigabytes)
{
    return DataRate(static_cast<uint64_t>(gigabytes * 8e9 + 0.5));
}

uint32_t
NcclServer::GetNumber(const Xml& element, const char* attribute, uint32_t initial) const
{
    const std::string text = Get(element, attribute);
    if (text.empty())
    {
        return initial;
    }
    const auto number = ParseUnsigned(text);
    if (!number || *number > 1000000000)
    {
        Refuse("an element", attribute, text, "a whole number up to 10^9");
    }
    return static_cast<uint32_t>(*number);
}

/** @return width times speed; NCCL counts 1.5 GB/s for 16 lanes of 2.5 GT/s and so on */
DataRate
NcclServer::GetPciRate(const Xml& pci) const
{
    static const std::map<std::string, double> speeds{{"", 60},
                                                      {"2.5 GT/s", 15},
                                                      {"5 GT/s", 30},
                                                      {"8 GT/s", 60},
                                                      {"16 GT/s", 120},
                                                      {"32 GT/s", 240},
                                                      {"64 GT/s", 480}};
    std::string speed = Get(pci, "link_speed");
    const std::string suffix = " PCIe"; // as Linux writes it
    if (speed.size() > suffix.size() &&
        speed.compare(speed.size() - suffix.size(), suffix.size(), suffix) == 0)
    {
        speed.resize(speed.size() - suffix.size());
    }
    const std::size_t zero = speed.find(".0 ");
    if (zero != std::string::npos)
    {
        speed.erase(zero, 2);
    }
    const auto found = speeds.find(speed);
    if (found == speeds.end())
    {
        Refuse("pci " + MakePrintableName(Get(pci, "busid")),
               "link_speed",
               speed,
               "2.5, 5, 8, 16, 32 or 64 GT/s");
    }
    const uint32_t width = GetNumber(pci, "link_width", 0);
    if (width > 64)
    {
        Refuse("pci " + MakePrintableName(Get(pci, "busid")),
               "link_width",
               std::to_string(width),
               "0 to 64");
    }
    return MakeRate((width == 0 ? 16 : width) * found->second / 80);
}

/** @return GB/s between processors */
double
NcclServer::GetProcessorRate(const Xml& cpu)
{
    const std::string arch = Get(cpu, "arch");
    if (arch == "ppc64")
    {
        return 32;
    }
    if (arch == "arm64")
    {
        return 6;
    }
    if (Get(cpu, "vendor") == "AuthenticAMD")
    {
        return 16;
    }
    const std::string model = Get(cpu, "modelid");
    return model == "143" ? 22 : model == "207" ? 40 : 10; // Sapphire, Emerald Rapids, or before
}

/** @return GB/s of an NVLink by the generation of the GPU */
double
NcclServer::GetNvLinkRate(uint32_t sm)
{
    return sm >= 100 ? 40.1 : sm >= 90 ? 20.6 : sm == 86 ? 12 : sm >= 70 ? 20 : 18;
}

/** @return GB/s of a link between AMD's GPUs by their architecture, as in RCCL's topo.h */
double
NcclServer::GetXgmiRate(const std::string& gcn)
{
    const auto isKind = [&gcn](const std::string& begin) {
        return gcn.compare(0, begin.size(), begin) == 0;
    };
    return isKind("gfx94") || isKind("94") || isKind("gfx95") ? 48
           : isKind("gfx90a") || gcn == "910"                 ? 36
                                                              : 24; // Vega
}

void
NcclServer::AddGpu(const Xml& gpu, const std::string& busId, uint32_t node)
{
    const uint32_t sm = GetNumber(gpu, "sm", DEFAULT_SM);
    m_sm[node] = sm;
    const double rateOfXgmi = GetXgmiRate(Get(gpu, "gcn"));
    for (const auto& [name, link] : gpu)
    {
        if (name == "nvlink" || name == "xgmi")
        {
            const uint32_t count = GetNumber(link, "count", 1);
            if (count < 1 || count > 64)
            {
                Refuse("gpu " + MakePrintableName(busId),
                       name + " count",
                       std::to_string(count),
                       "1 to 64");
            }
            m_nvLinks.push_back(
                {node,
                 Get(link, "target"),
                 Get(link, "tclass"),
                 MakeRate(count * (name == "xgmi" ? rateOfXgmi : GetNvLinkRate(sm)))});
        }
    }
}

/** @param net its port; null: of the rate of the network */
void
NcclServer::AddNic(const Xml* net, uint32_t parent)
{
    const uint32_t megabits = net ? GetNumber(*net, "speed", 0) : 0;
    const DataRate rate = !net            ? m_request.rate
                          : megabits == 0 ? DataRate("10Gbps")
                                          : DataRate(uint64_t{megabits} * 1000000);
    m_nics.emplace_back(parent, rate);
}

void
NcclServer::AddPci(const Xml& pci, uint32_t parent)
{
    const std::string busId = Get(pci, "busid");
    const std::string kind = Get(pci, "class");
    const auto isKind = [&kind](const std::string& begin) {
        return kind.compare(0, begin.size(), begin) == 0;
    };
    const bool isGpu = pci.count("gpu") > 0 || isKind("0x03");
    const uint32_t node = AddNode(!isGpu);
    AddLink(node, parent, GetPciRate(pci), SLOW_COST);
    if (isGpu)
    {
        if (!m_gpus.emplace(busId, node).second)
        {
            Refuse("pci", "busid", busId, "each once");
        }
        AddGpu(pci.get_child("gpu", Xml()), busId, node);
        return;
    }
    bool hasPort = false;
    for (const auto& [name, child] : pci)
    {
        if (name == "pci")
        {
            AddPci(child, node);
        }
        else if (name == "nic")
        {
            for (const auto& [port, net] : child)
            {
                if (port == "net")
                {
                    AddNic(&net, node);
                    hasPort = true;
                }
            }
        }
    }
    if (!hasPort && isKind("0x02"))
    {
        AddNic(nullptr, node);
    }
}

/** Gives each GPU the NVLinks to a switch that the user knows, if the file has none. */
void
NcclServer::FillNvLinks()
{
    const uint32_t count = m_request.GetCount("nvlinks", 0);
    if (count == 0 && m_nvLinks.empty() && m_gpus.size() > 1)
    {
        InputManifest::Get(m_path).Assume("no NVLinks, so GPUs use PCI; nvlinks=N gives each GPU N",
                                          m_path);
    }
    if (count == 0)
    {
        return;
    }
    if (!m_nvLinks.empty())
    {
        Refuse("a GPU", "nvlink", "and nvlinks=" + std::to_string(count), "one of both");
    }
    for (const auto& [busId, node] : m_gpus)
    {
        m_nvLinks.push_back({node, "", "0x068000", MakeRate(count * GetNvLinkRate(m_sm.at(node)))});
    }
}

/** Both ends of a link between GPUs list it. All NVSwitches of a server are one. */
void
NcclServer::AddNvLinks()
{
    std::map<uint32_t, uint64_t> toSwitch; // by GPU, bit/s
    std::map<std::pair<uint32_t, uint32_t>, DataRate> direct;
    for (const NvLink& link : m_nvLinks)
    {
        const auto target = m_gpus.find(link.target);
        if (target != m_gpus.end())
        {
            direct.emplace(std::minmax(link.gpu, target->second), link.rate);
        }
        else if (link.kind.compare(0, 6, "0x0680") == 0)
        {
            toSwitch[link.gpu] += link.rate.GetBitRate();
        }
        // Others lead to processors of Power, whose GPUs are reached by PCI here.
    }
    for (const auto& [ends, rate] : direct)
    {
        AddLink(ends.first, ends.second, rate, 1);
    }
    if (!toSwitch.empty())
    {
        const uint32_t node = AddNode(true);
        m_contents.scaleUpSwitches.push_back(node);
        for (const auto& [gpu, rate] : toSwitch)
        {
            AddLink(gpu, node, DataRate(rate), 1);
        }
    }
}

std::vector<std::pair<uint32_t, DataRate>>
NcclServer::Add(const Xml& system)
{
    m_gpus.clear();
    m_nvLinks.clear();
    m_nics.clear();
    std::vector<uint32_t> processors;
    for (const auto& [name, cpu] : system)
    {
        if (name != "cpu")
        {
            continue;
        }
        const uint32_t node = AddNode(true);
        for (uint32_t other : processors)
        {
            AddLink(other, node, MakeRate(GetProcessorRate(cpu)), SLOW_COST);
        }
        processors.push_back(node);
        for (const auto& [kind, child] : cpu)
        {
            if (kind == "pci")
            {
                AddPci(child, node);
            }
        }
    }
    FillNvLinks();
    AddNvLinks();
    if (m_gpus.empty())
    {
        throw ConfigurationError(m_path + ": no GPUs (allowed: a topology of NCCL with some)");
    }
    return m_nics;
}

/** Counts elements and attributes of a file: those that mean something here, and others. */
void
CountElements(const Xml& element,
              const std::string& name,
              const std::string& path,
              InputManifest::File& file)
{
    static const std::map<std::string, std::set<std::string>> known{
        {"system", {"version"}},
        {"cpu", {"arch", "vendor", "modelid"}},
        {"pci", {"busid", "class", "link_speed", "link_width"}},
        {"gpu", {"sm", "gcn"}},
        {"nvlink", {"target", "count", "tclass"}},
        {"xgmi", {"target", "count", "tclass"}},
        {"nic", {}},
        {"net", {"speed"}}};
    const auto attributes = known.find(name);
    const auto where = [&path] { return path; };
    if (attributes == known.end())
    {
        file.Ignore("element " + name, where);
        return;
    }
    file.Use();
    for (const auto& [child, content] : element)
    {
        if (child == "<xmlattr>")
        {
            for (const auto& [attribute, value] : content)
            {
                if (attributes->second.count(attribute) > 0)
                {
                    file.Use();
                }
                else
                {
                    file.Ignore("attribute " + attribute + " of " + name, where);
                }
            }
        }
        else if (child != "<xmlcomment>" && child != "<xmltext>")
        {
            CountElements(content, child, path, file);
        }
    }
}

void
BuildNccl(const TopologyRequest& request, TopologyGraph& graph)
{
    const std::string& path = request.keys.GetFirst();
    const auto text = ReadInputFile(path);
    if (!text)
    {
        throw ConfigurationError(path + ": cannot be read (allowed: an XML topology of NCCL)");
    }
    const Xml system = ReadXmlTree(*text, path, "system", "an XML topology of NCCL");
    CountElements(system, "system", path, InputManifest::Begin(path));
    FileContents contents;
    NcclServer server(path, request, contents);
    std::map<std::size_t, uint32_t> rails; // by number of the NIC
    uint32_t servers = request.GetCount("servers", 0);
    for (uint32_t number = 0; number == 0 || number < servers; number++)
    {
        const auto nics = server.Add(system);
        if (number == 0)
        {
            const uint32_t gpus = server.GetGpus();
            servers = servers > 0 ? servers : (request.GetRanks() + gpus - 1) / gpus;
            CheckMemory(double{1000} * servers * contents.nodes, path);
            if (servers > 1 && nics.empty())
            {
                throw ConfigurationError(path + ": no NICs (allowed: with one server of " +
                                         std::to_string(gpus) + " GPUs)");
            }
        }
        for (std::size_t nic = 0; nic < nics.size() && servers > 1; nic++)
        {
            if (number == 0)
            {
                rails[nic] = contents.nodes++;
                contents.isSwitch.push_back(true);
            }
            FileLink link{};
            link.link = {nics[nic].first, rails[nic], nics[nic].second, request.delay};
            link.link.cost = SLOW_COST;
            contents.links.push_back(link);
        }
    }
    contents.shape.groupSize = server.GetGpus();
    contents.shape.serverGroups = true;
    BuildFromContents(contents, graph);
}

const Registry<TopologyBuilder>::Entry g_nccl(
    "nccl",
    {"servers that an XML topology of NCCL describes, joined by a switch for each of their NICs",
     {MakeCountKey("servers", "servers; by default as many as the ranks need", 65536),
      MakeCountKey("nvlinks",
                   "NVLinks of each GPU to the NVSwitches of its server, if the file has none",
                   64)},
     &BuildNccl,
     FirstValue{"PATH", "a readable file", false, true, {}}});

} // namespace

} // namespace ns3::training
