/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/topology-builder.h"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>

namespace ns3::training::tests::topology_import_test
{

/// Three servers of two XPUs and two NICs, one switch of eight ports.
constexpr const char* INFRAGRAPH = R"(# comment
name: fabric
description: A text that goes on
  in another line
devices:
- name: server
  components:
  - {choice: xpu, count: 2, name: xpu}
  - {choice: switch, count: 2, name: "pcie"}
  - choice: device
    count: 2
    name: card
  links: [{name: local}]
  edges:
  - ep1:
      component: xpu
    ep2: {component: 'pcie[0:2]'}
    scheme: many2many
    link: local
  - ep1: {component: "pcie[0]"}
    ep2: {device: "card[0:2]", component: bus}
    scheme: many2many
    link: local
- name: card
  components:
  - {choice: custom, custom: {type: bus}, count: 1, name: bus}
  - {choice: nic, count: 1, name: nic}
  - {choice: memory, count: 4, name: memory}
  links: [{name: chip, physical: {latency: {choice: ns, ns: 100}}}]
  edges:
  - {ep1: {component: bus}, ep2: {component: nic}, scheme: one2one, link: chip}
  - {ep1: {component: bus}, ep2: {component: memory}, scheme: many2many, link: chip}
- name: switch
  components:
  - {choice: cpu, count: 1, name: asic}
  - {choice: port, count: 8, name: port}
  links:
  - name: ic
  edges:
  - {ep1: {component: asic}, ep2: {component: port}, scheme: many2many, link: ic}
links:
- name: cable
  physical:
    bandwidth:
      choice: gigabytes_per_second
      gigabytes_per_second: 12.5
    latency: {choice: us, us: 0.4}
instances:
- {name: host, device: server, count: 3}
- {name: leaf, device: switch, count: 1}
edges:
- ep1: {instance: "host[0:3]", component: "card[0:2].nic[0]"}
  ep2: {instance: leaf, component: port}
  scheme: one2one
  link: cable
)";

/// Two processors with two GPUs each; NVLinks between pairs and to a switch, a NIC of 200 Gbit/s.
constexpr const char* SERVER = R"(<system version="1">
  <!-- a comment -->
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
    <pci busid="0000:01:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:02:00.0" class="0x030200" link_speed="16 GT/s" link_width="16">
        <gpu dev="0" sm="80" rank="0">
          <nvlink target="0000:03:00.0" count="4" tclass="0x030200"/>
          <nvlink target="0000:c0:00.0" count="2" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:03:00.0" class="0x030200" link_speed="16 GT/s" link_width="16">
        <gpu dev="1" sm="80" rank="1">
          <nvlink target="0000:02:00.0" count="4" tclass="0x030200"/>
          <nvlink target="0000:c1:00.0" count="2" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:04:00.0" class="0x020700" link_speed="16 GT/s" link_width="16">
        <nic><net name="mlx5_0" dev="0" speed="200000" port="1"/></nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="AuthenticAMD">
    <pci busid="0000:82:00.0" class="0x030200" link_speed="8 GT/s" link_width="0"/>
    <pci busid="0000:84:00.0" class="0x020000" link_speed="8 GT/s" link_width="8"/>
  </cpu>
</system>
)";

TopologyGraph
Build(const std::string& kind,
      const std::string& text,
      uint32_t ranks,
      const std::string& keys = "")
{
    const std::string path = WriteFile("network", text);
    return BuildTopology(kind + ":" + path + keys, ranks, DataRate("50Gbps"), MicroSeconds(1));
}

void
Refuse(const std::string& kind, const std::string& text, const std::string& part)
{
    ExpectPart(GetRefusal([&] { Build(kind, text, 1); }), part);
}

/** GPUs of AMD have links of their own. */
void
CheckXgmi()
{
    const auto count = [](const std::string& gcn, uint64_t gigabytes) {
        std::string text = SERVER;
        for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
                 {"nvlink target=\"0000:0", "xgmi target=\"0000:0"},
                 {"tclass=\"0x030200\"", "tclass=\"0x038000\""},
                 {"sm=\"80\"", "sm=\"80\" gcn=\"" + gcn + "\""}})
        {
            boost::replace_all(text, from, to);
        }
        const auto links = Build("nccl", text, 3).links;
        return std::count_if(links.begin(), links.end(), [gigabytes](const auto& link) {
            return link.rate.GetBitRate() == 4 * gigabytes * 8'000'000'000;
        });
    };
    // Four links, and rates of RCCL's topo.h.
    NS_TEST_EXPECT_MSG_EQ(count("gfx942", 48), 1, "MI300");
    NS_TEST_EXPECT_MSG_EQ(count("gfx90a", 36), 1, "MI200");
    NS_TEST_EXPECT_MSG_EQ(count("906", 24), 1, "Vega");
}

void
CheckAstra()
{
    const std::string end = "bandwidth: [ 400.0, 50 ]  # GB/s\nlatency: [ 936.25, 1000 ] # ns\n";
    const auto hgx = Build("astra-network",
                           "# comment\ntopology: [ Switch, Ring ]\nnpus_count: [ 4, 2 ]\n" + end,
                           8);
    // Each of 2 switches has 4 links; 4 rings of two have a link each, and their hosts routers.
    NS_TEST_EXPECT_MSG_EQ(hgx.hosts, 8, "NPUs");
    NS_TEST_EXPECT_MSG_EQ(hgx.switches, 2 + 8, "switches and routers");
    NS_TEST_EXPECT_MSG_EQ(hgx.links.size(), 8 + 4 + 8, "links");
    NS_TEST_EXPECT_MSG_EQ(hgx.links[0].rate.GetBitRate(), uint64_t{400} * 8 << 30, "2^30 byte/s");
    NS_TEST_EXPECT_MSG_EQ(hgx.links[0].delay, PicoSeconds(936250), "latency");
    NS_TEST_EXPECT_MSG_EQ(hgx.shape.groupSize, 4, "first dimension");
    for (uint32_t n : {2, 3, 7})
    {
        const std::string size = std::to_string(n);
        const std::string rest = "npus_count: [" + size + "]\nbandwidth: [1]\nlatency: [0]\n";
        const auto ring = Build("astra-network", "topology: [Ring]\n" + rest, n);
        NS_TEST_EXPECT_MSG_EQ(ring.links.size(), (n > 2 ? n : 1) + n, "ring of " << n);
        const auto full = Build("astra-network", "topology: [FullyConnected]\n" + rest, n);
        NS_TEST_EXPECT_MSG_EQ(full.links.size(), n * (n - 1) / 2 + n, "mesh of " << n);
    }
    const std::string first = "topology: [Ring]\nnpus_count: [4]\n";
    Refuse("astra-network",
           "topology: [Ring]\nnpus_count: [1]\nbandwidth: [1]\nlatency: [1]\n",
           "network:2: npus_count is '1' (allowed: whole numbers from 2");
    Refuse("astra-network",
           "topology: [Tree]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [1]\n",
           "network:1: topology is 'Tree'");
    Refuse("astra-network",
           first + "bandwidth: [tbd]\nlatency: [1]\n",
           "network:3: bandwidth is 'tbd'");
    Refuse("astra-network",
           first + "bandwidth: [0]\nlatency: [1]\n",
           "network:3: bandwidth is '0'");
    Refuse("astra-network", first + "bandwidth: [1]\n", "latency has 0 elements (allowed: 1");
    Refuse("astra-network",
           first + "bandwidth: [1, 2]\nlatency: [1]\n",
           "network:3: bandwidth has 2");
    Refuse("astra-network", first + "colour: [1]\n", "network:3: 'colour: [1]'");
    Refuse("astra-network", first + first, "network:3: 'topology: [Ring]'");
}

void
CheckNccl()
{
    const auto one = Build("nccl", SERVER, 3);
    // GPUs 0 and 1 have a direct link, so they have routers.
    NS_TEST_EXPECT_MSG_EQ(one.hosts, 3, "GPUs");
    // 2 processors, a bridge, 2 NICs, the NVSwitch, 2 routers
    NS_TEST_EXPECT_MSG_EQ(one.switches, 8, "switches");
    // 7 of PCI, 1 of processors, 1 + 2 NVLinks, 2 of routers
    NS_TEST_EXPECT_MSG_EQ(one.links.size(), 6 + 1 + 1 + 2 + 2, "links");
    uint64_t nvLinks = 0;
    for (const auto& link : one.links)
    {
        nvLinks += link.cost == 1 && !link.internal ? link.rate.GetBitRate() : 0;
    }
    NS_TEST_EXPECT_MSG_EQ(nvLinks, uint64_t{80 + 2 * 40} * 8000000000, "20 GB/s each");
    NS_TEST_EXPECT_MSG_EQ(one.shape.groupSize, 3, "server");
    // Two servers have a switch for each NIC; one NIC has the rate of the file.
    const auto two = Build("nccl", SERVER, 6);
    NS_TEST_EXPECT_MSG_EQ(two.hosts, 6, "GPUs");
    NS_TEST_EXPECT_MSG_EQ(two.switches, 2 * 8 + 2, "switches");
    NS_TEST_EXPECT_MSG_EQ(two.links.size(), 2 * 12 + 4, "links");
    uint64_t rails = 0;
    for (const auto& link : two.links)
    {
        rails += link.delay == MicroSeconds(1) ? link.rate.GetBitRate() : 0;
    }
    NS_TEST_EXPECT_MSG_EQ(rails, uint64_t{2} * (200 + 50) * 1000000000, "NICs");
    NS_TEST_EXPECT_MSG_EQ(Build("nccl", SERVER, 1, ",servers=3").hosts, 9, "servers=3");

    const auto replace = [](std::string text, const std::string& part, const std::string& by) {
        return text.replace(text.find(part), part.size(), by);
    };
    Refuse("nccl", "<system version=\"1\"></system>", "no GPUs");
    Refuse("nccl", "<graphs></graphs>", "no element system");
    Refuse("nccl", "<system>\n<cpu>\n", "network:");
    Refuse("nccl", replace(SERVER, "8 GT/s", "9 GT/s"), "pci 0000:82:00.0 has link_speed '9 GT/s'");
    Refuse("nccl", replace(SERVER, "\"200000\"", "\"fast\""), "an element has speed 'fast'");
    Refuse("nccl", replace(SERVER, "count=\"4\"", "count=\"0\""), "nvlink count '0'");
    Refuse("nccl",
           replace(SERVER, "0000:03:00.0\" class", "0000:02:00.0\" class"),
           "busid '0000:02:00.0'");
}

void
CheckInfraGraph()
{
    const auto graph = Build("infragraph", INFRAGRAPH, 6);
    // A card and a port are parts of the cable between a server and asic; two ports have no cable.
    NS_TEST_EXPECT_MSG_EQ(graph.hosts, 6, "XPUs");
    NS_TEST_EXPECT_MSG_EQ(graph.switches, 6 + 1, "two of each server, asic");
    NS_TEST_EXPECT_MSG_EQ(graph.links.size(), 12 + 6, "of XPUs, and of two cards of each server");
    NS_TEST_EXPECT_MSG_EQ(graph.shape.groupSize, 2, "servers");
    NS_TEST_EXPECT_MSG_EQ(graph.scaleUpSwitches.size(), 3, "those with XPUs only");
    uint32_t cables = 0;
    for (const auto& link : graph.links)
    {
        const bool isCable = link.rate == DataRate("100Gbps");
        cables += isCable;
        NS_TEST_EXPECT_MSG_EQ((isCable || link.rate == DataRate("50Gbps")), true, "rate");
        NS_TEST_EXPECT_MSG_EQ(link.delay, isCable ? NanoSeconds(500) : MicroSeconds(1), "delay");
    }
    NS_TEST_EXPECT_MSG_EQ(cables, 6, "two cards of each server");
    const auto refuse = [&](const std::string& old, const std::string& now, const char* part) {
        std::string text = INFRAGRAPH;
        const std::size_t at = text.find(old);
        NS_TEST_EXPECT_MSG_NE(at, std::string::npos, old);
        Refuse("infragraph", text.replace(at, old.size(), now), part);
    };
    refuse("[0:3]", "[0:4]", "network:52: 'host[0:4]' (allowed: a name, or a name with an index");
    refuse("choice: cpu", "choice: gpu", "network:35: choice is 'gpu' (allowed: cpu, custom, ");
    refuse("device: server", "device: box", "network:49: 'box' is not in devices (allowed: server");
    refuse("count: 8", "count: many", "network:36: count is 'many'");
    refuse("12.5", "fast", "network:46: gigabytes_per_second is 'fast' (allowed: numbers");
    refuse("12.5", "0", "network:45: bandwidth (allowed: rates from 1Mbps");
    refuse("scheme: one2one\n", "scheme: star\n", "network:54: scheme is 'star'");
    refuse("  link: cable\n", "", "network:52: no link");
    refuse("link: cable", "link: wire", "network:55: 'wire' is not in links (allowed: cable)");
    refuse("name: fabric", "connections: []", "network:2: unknown key 'connections'");
    refuse(".nic[0]", "", "'card[0:2]' (allowed: a component, behind the names of the devices");
    refuse("choice: xpu", "choice: cpu", "no XPUs in instances");
    refuse("{choice: memory", "{choice; memory", "network:28: ");
    refuse("count: 4, name: memory}", "count: 4, name: memory", "network:");
    refuse("devices:", "devices: &all", "anchors and tags");
    refuse("- name: card", "- name: card\n  name: card", "each key once");
    refuse("- name: card", " - name: card", "network:24: '- name: card'");
    refuse("name: fabric", "\tname: fabric", "network:2: 'name: fabric' (allowed: spaces before");
    // A device within itself.
    refuse("{choice: custom, custom: {type: bus}, count: 1, name: bus}",
           "{choice: device, count: 1, name: card}",
           "devices within each other");
    Refuse("infragraph", "", "network:1: empty file");
    Refuse("infragraph", std::string(100, '['), "network:1: ");
    std::string deep;
    for (uint32_t i = 0; i < 100; i++)
    {
        deep += std::string(i, ' ') + "a:\n";
    }
    Refuse("infragraph", deep, "values within each other");
    // JSON; edges are counted once, and a ring of two directions has one link.
    const auto pair = Build(
        "infragraph",
        R"({"devices": [{"name": "d", "components": [{"name": "x", "choice": "xpu", "count": 3}],
            "links": [{"name": "l"}], "edges": [{"ep1": {"component": "x"},
            "ep2": {"component": "x"}, "scheme": "many2many", "link": "l"}]}],
            "instances": [{"name": "i", "device": "d", "count": 1}]})",
        3);
    NS_TEST_EXPECT_MSG_EQ(pair.hosts, 3, "JSON");
    NS_TEST_EXPECT_MSG_EQ(pair.links.size(), 3 + 3, "each pair, and links to routers");
}

void
TestTopologyImport()
{
    CheckAstra();
    CheckNccl();
    CheckXgmi();
    CheckInfraGraph();
}

const Suite g_suite("topology-import",
                    Duration::QUICK,
                    {{"networks of ASTRA-sim and servers of NCCL become topologies",
                      TestTopologyImport}});

} // namespace ns3::training::tests::topology_import_test
