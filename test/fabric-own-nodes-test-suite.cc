/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/node-container.h"
#include "ns3/node-list.h"
#include "ns3/simple-net-device.h"
#include "ns3/topology-builder.h"

namespace ns3::training::tests::fabric_own_nodes_test
{

TopologyGraph
MakeTopology(const std::string& topology, uint32_t hosts)
{
    return BuildTopology(topology, hosts, DataRate(10 * GIGA), MicroSeconds(1));
}

/** @return the nodes in reverse order */
NodeContainer
Reverse(const NodeContainer& nodes)
{
    NodeContainer reversed;
    for (uint32_t i = nodes.GetN(); i-- > 0;)
    {
        reversed.Add(nodes.Get(i));
    }
    return reversed;
}

/** @return arrivals when every host sends to every other one */
std::vector<Arrivals>
Exchange(const Fabric& fabric)
{
    const auto hosts = static_cast<uint32_t>(fabric.devices.size());
    std::vector<Arrivals> arrivals(hosts);
    for (uint32_t host = 0; host < hosts; host++)
    {
        NoteArrivals(fabric.devices[host], arrivals[host]);
        for (uint32_t to = 0; to < hosts; to++)
        {
            if (to != host)
            {
                fabric.devices[host]->GetPort().Send(
                    MakeFrame(1000 + 10 * host, LOSSLESS, host, to));
            }
        }
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    return arrivals;
}

/**
 * The caller's nodes carry the fabric: same frames at the same times as with nodes of the helper.
 */
void
TestOwnNodes()
{
    const TopologyGraph topology = MakeTopology("leaf-spine:leaves=2,spines=1", 6);
    const Fabric made = FabricHelper().Install(topology);
    const std::vector<Arrivals> expected = Exchange(made);
    Simulator::Destroy();

    // The order of the container counts, not that of the ids; nodes may have devices.
    const NodeContainer hosts(topology.hosts);
    const NodeContainer switches(topology.switches);
    for (uint32_t host = 0; host < topology.hosts; host += 2)
    {
        hosts.Get(host)->AddDevice(CreateObject<SimpleNetDevice>());
    }
    const Fabric own = FabricHelper().Install(Reverse(hosts), Reverse(switches), topology);
    NS_TEST_EXPECT_MSG_EQ(NodeList::GetNNodes(), topology.GetNodes(), "the helper has made none");
    for (uint32_t host = 0; host < topology.hosts; host++)
    {
        const Ptr<Node> node = hosts.Get(topology.hosts - 1 - host);
        NS_TEST_EXPECT_MSG_EQ(own.hosts.Get(host), node, "host " << host);
        NS_TEST_EXPECT_MSG_EQ(own.devices[host]->GetNode(), node, "its device");
        NS_TEST_EXPECT_MSG_EQ(own.GetId(host), node->GetId(), "its id");
    }
    for (uint32_t i = 0; i < topology.switches; i++)
    {
        const Ptr<Node> node = switches.Get(topology.switches - 1 - i);
        NS_TEST_EXPECT_MSG_EQ(node->GetObject<SwitchDevice>(),
                              own.devicesOfSwitches[i],
                              "switch " << i);
    }
    const std::vector<Arrivals> actual = Exchange(own);
    for (uint32_t host = 0; host < topology.hosts; host++)
    {
        NS_TEST_EXPECT_MSG_EQ(actual[host].size(), topology.hosts - 1, "from all others");
        NS_TEST_EXPECT_MSG_EQ(actual[host], expected[host], "the same arrivals");
    }
    Simulator::Destroy();
}

void
TestOwnSmallNetwork()
{
    TopologyGraph alone;
    alone.name = "alone";
    alone.hosts = 1;
    const Fabric one = FabricHelper().Install(NodeContainer(1), NodeContainer(), alone);
    NS_TEST_EXPECT_MSG_EQ(one.devices.size(), 1, "a device without a link");
    NS_TEST_EXPECT_MSG_EQ(one.devices[0]->IsLinkUp(), false, "no link");
    Simulator::Destroy();

    const TopologyGraph pair = MakeChain({{10 * GIGA, 1000}});
    const Fabric two = FabricHelper().Install(NodeContainer(2), NodeContainer(), pair);
    Arrivals arrivals;
    NoteArrivals(two.devices[1], arrivals);
    two.devices[0]->GetPort().Send(MakeFrame(1000, LOSSLESS));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(arrivals.size(), 1, "over the link");
    NS_TEST_EXPECT_MSG_EQ(arrivals[0].time,
                          LineTime(1000 + Frame::PREAMBLE_BYTES, 10 * GIGA) + 1000,
                          "and its time");
    Simulator::Destroy();
}

std::string
Refuse(const NodeContainer& hosts, const NodeContainer& switches)
{
    const TopologyGraph topology = MakeTopology("single-switch", 3);
    const uint32_t nodes = NodeList::GetNNodes();
    const std::string text =
        GetRefusal([&]() { FabricHelper().Install(hosts, switches, topology); });
    for (uint32_t i = 0; i < hosts.GetN(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(hosts.Get(i)->GetNDevices(), 0, "nothing is installed");
    }
    NS_TEST_EXPECT_MSG_EQ(NodeList::GetNNodes(), nodes, "nothing is made");
    return text;
}

void
TestOwnNodesRefusal()
{
    const NodeContainer three(3);
    const NodeContainer one(1);
    NS_TEST_EXPECT_MSG_EQ(Refuse(NodeContainer(2), one),
                          "topology 'single-switch': 2 host nodes (allowed: 3)",
                          "too few hosts");
    NS_TEST_EXPECT_MSG_EQ(Refuse(NodeContainer(4), one),
                          "topology 'single-switch': 4 host nodes (allowed: 3)",
                          "too many hosts");
    NS_TEST_EXPECT_MSG_EQ(Refuse(three, NodeContainer()),
                          "topology 'single-switch': 0 switch nodes (allowed: 1)",
                          "no switch");
    NS_TEST_EXPECT_MSG_EQ(Refuse(three, NodeContainer(2)),
                          "topology 'single-switch': 2 switch nodes (allowed: 1)",
                          "too many switches");
    const std::string twice =
        "topology 'single-switch': node " + std::to_string(three.Get(0)->GetId());
    NS_TEST_EXPECT_MSG_EQ(Refuse(NodeContainer(three.Get(0), three.Get(1), three.Get(0)), one),
                          twice + " is given twice (allowed: once)",
                          "a host twice");
    NS_TEST_EXPECT_MSG_EQ(Refuse(three, three.Get(0)),
                          twice + " is given twice (allowed: once)",
                          "a host that is the switch");
    const TopologyGraph topology = MakeTopology("single-switch", 3);
    FabricHelper divided;
    divided.SetPartition({0, 0, 0, 0});
    ExpectPart(GetRefusal([&]() { divided.Install(three, one, topology); }),
               "a partition for nodes of the caller (allowed: none");
    const auto refuseLink = [&](const TopologyGraph::Link& link, const std::string& text) {
        TopologyGraph wrong = topology;
        wrong.links[1] = link;
        ExpectPart(GetRefusal([&]() { FabricHelper().Install(three, one, wrong); }),
                   "topology 'single-switch': link 1 between nodes " + text);
    };
    const DataRate rate(GIGA);
    const Time delay = NanoSeconds(1);
    refuseLink({1, 4, rate, delay}, "1 and 4 at 1Gbps and 1000ps (allowed: two nodes below 4");
    refuseLink({3, 3, rate, delay}, "3 and 3");
    refuseLink({1, 3, DataRate(0), delay}, "1 and 3 at 0bps");
    refuseLink({1, 3, rate, NanoSeconds(-1)}, "1 and 3 at 1Gbps and -1000ps");
    FabricHelper().Install(three, one, topology);
    NS_TEST_EXPECT_MSG_EQ(
        GetRefusal([&]() { FabricHelper().Install(NodeContainer(3), one, topology); }),
        "topology 'single-switch': node " + std::to_string(one.Get(0)->GetId()) +
            " is a switch already (allowed: a switch of one fabric)",
        "a switch of two fabrics");
    Simulator::Destroy();
}

const Suite g_suite("fabric-own-nodes",
                    Duration::QUICK,
                    {{"nodes of the caller become hosts and switches", TestOwnNodes},
                     {"a host alone, two hosts without a switch", TestOwnSmallNetwork},
                     {"nodes that do not fit are refused", TestOwnNodesRefusal}});

} // namespace ns3::training::tests::fabric_own_nodes_test
