/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "refusal-test-common.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/test.h"
#include "ns3/topology-builder.h"
#include "ns3/topology-report.h"
#include "ns3/training-time-resolution.h"

#include <cstdint>
#include <fstream>
#include <string>

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

namespace
{

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

} // namespace

/**
 * @ingroup distributed-training-topology-file-tests
 * Networks of ASTRA-sim and servers of NCCL.
 */
class TopologyImportTestCase : public RefusalTest
{
  public:
    TopologyImportTestCase()
        : RefusalTest("networks of ASTRA-sim and servers of NCCL become topologies")
    {
    }

  private:
    TopologyGraph Build(const std::string& kind,
                        const std::string& text,
                        uint32_t ranks,
                        const std::string& keys = "")
    {
        UsePicoseconds();
        const std::string path = CreateTempDirFilename("network");
        std::ofstream(path, std::ios::binary) << text;
        return BuildTopology(kind + ":" + path + keys, ranks, DataRate("50Gbps"), MicroSeconds(1));
    }

    void Refuse(const std::string& kind, const std::string& text, const std::string& part)
    {
        ExpectPart(GetRefusal([&] { Build(kind, text, 1); }), part);
    }

    void CheckAstra();
    void CheckNccl();

    void DoRun() override
    {
        CheckAstra();
        CheckNccl();
    }
};

void
TopologyImportTestCase::CheckAstra()
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
TopologyImportTestCase::CheckNccl()
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

/**
 * @ingroup distributed-training-topology-file-tests
 * The suite.
 */
class TopologyImportTestSuite : public TestSuite
{
  public:
    TopologyImportTestSuite()
        : TestSuite("distributed-training-topology-import", TestSuite::Type::UNIT)
    {
        AddTestCase(new TopologyImportTestCase);
    }
};

static TopologyImportTestSuite g_topologyImportTestSuite; ///< registers the suite
