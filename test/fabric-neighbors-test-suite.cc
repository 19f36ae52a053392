/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/endpoint-address.h"
#include "neighbors-test-common.h"

namespace ns3::training::tests::fabric_neighbors_test
{

/** Addresses in any order and subnet; the usual ones swapped; two on an interface; none. */
struct NeighborAddressesTestCase : NeighborsTestCase
{
    void Run()
    {
        OwnSubnet();
        Swapped();
        TwoSubnets();
    }

    void OwnSubnet()
    {
        constexpr uint32_t HOSTS = 4;
        const auto addresses = Split("192.168.7.9|192.168.7.200|192.168.7.1|192.168.7.30");
        Fabric fabric = MakeHosts(addresses);
        std::vector<Packets> expected;
        for (uint32_t from = 0; from < HOSTS; from++)
        {
            for (uint32_t to = 0; to < HOSTS; to++)
            {
                if (from == to)
                {
                    continue;
                }
                // One at a time, so that none waits for another.
                const int64_t start = static_cast<int64_t>(expected.size()) * 100000000;
                const uint32_t bytes = 100 + 10 * from + to;
                const Ptr<Node> sender = fabric.hosts.Get(from);
                const char* const address = addresses[to].c_str();
                In(start, [this, sender, address, bytes]() { SendUdp(sender, address, bytes); });
                expected.push_back({GetId(fabric, to),
                                    addresses[from].c_str(),
                                    bytes,
                                    start + GetFabricTime(bytes + 28),
                                    64});
            }
        }
        Finish();
        NS_TEST_ASSERT_MSG_EQ(m_received, expected, "each at its host");
        for (std::size_t i = 0; i < expected.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(m_received[i].time, expected[i].time, "time of datagram " << i);
            NS_TEST_EXPECT_MSG_EQ(m_received[i].ttl, 64, "no router in between");
        }
        NS_TEST_EXPECT_MSG_EQ(m_drops.size(), 0, "no drops");
        m_received.clear();
    }

    void Swapped()
    {
        Fabric fabric = MakeFabric(3);
        AddStack(fabric.hosts.Get(0));
        AddStack(fabric.hosts.Get(1));
        AddAddress(fabric.devices[0], "10.0.0.2");
        AddAddress(fabric.devices[1], "10.0.0.1");
        In(0, [&]() { SendUdp(fabric.hosts.Get(0), "10.0.0.1", 10); });
        In(100000000, [&]() { SendUdp(fabric.hosts.Get(1), "10.0.0.2", 20); });
        // The usual address of a host without a stack: the host drops it.
        In(200000000, [&]() { SendUdp(fabric.hosts.Get(0), "10.0.0.3", 30); });
        // The usual address of no host.
        In(300000000, [&]() { SendUdp(fabric.hosts.Get(0), "10.0.0.4", 40); });
        const std::vector<Packets> expected{{GetId(fabric, 1), "10.0.0.2", 10, 0, 0},
                                            {GetId(fabric, 0), "10.0.0.1", 20, 0, 0}};
        Finish();
        NS_TEST_EXPECT_MSG_EQ(m_received, expected, "by interface, not by endpoint");
        NS_TEST_EXPECT_MSG_EQ(m_drops[DropReason::NO_RECEIVER], 1, "no stack");
        NS_TEST_EXPECT_MSG_EQ(m_drops[DropReason::NO_ROUTE], 1, "no host");
        NS_TEST_EXPECT_MSG_EQ(m_drops.size(), 2, "no other reason");
        m_received.clear();
        m_drops.clear();
    }

    void TwoSubnets()
    {
        Fabric fabric = MakeFabric(2);
        for (uint32_t host = 0; host < 2; host++)
        {
            AddStack(fabric.hosts.Get(host));
            AddAddress(fabric.devices[host], host == 0 ? "10.1.0.1" : "10.1.0.2");
            AddAddress(fabric.devices[host], host == 0 ? "10.2.0.1" : "10.2.0.2");
        }
        In(0, [&]() { SendUdp(fabric.hosts.Get(0), "10.1.0.2", 10); });
        In(100000000, [&]() { SendUdp(fabric.hosts.Get(0), "10.2.0.2", 20); });
        In(200000000, [&]() { SendUdp(fabric.hosts.Get(1), "10.2.0.1", 30); });
        const std::vector<Packets> expected{{GetId(fabric, 1), "10.1.0.1", 10, 0, 0},
                                            {GetId(fabric, 1), "10.2.0.1", 20, 0, 0},
                                            {GetId(fabric, 0), "10.2.0.2", 30, 0, 0}};
        Finish();
        NS_TEST_EXPECT_MSG_EQ(m_received, expected, "both subnets");
        NS_TEST_EXPECT_MSG_EQ(m_drops.size(), 0, "no drops");
        m_received.clear();
    }
};

/** An address moves to another host, and then nobody has it. */
struct NeighborMoveTestCase : NeighborsTestCase
{
    void Remove(Ptr<NetDevice> device)
    {
        auto ipv4 = device->GetNode()->GetObject<Ipv4>();
        ipv4->RemoveAddress(ipv4->GetInterfaceForDevice(device), Ipv4Address("10.1.0.9"));
    }

    void Run()
    {
        Fabric fabric = MakeHosts({"10.1.0.1", "10.1.0.2", "10.1.0.3"});
        for (uint32_t i = 0; i < 4; i++)
        {
            In(i * 100000000, [&, i]() {
                if (i == 1)
                {
                    AddAddress(fabric.devices[1], "10.1.0.9");
                }
                if (i == 2)
                {
                    Remove(fabric.devices[1]);
                    AddAddress(fabric.devices[2], "10.1.0.9");
                }
                if (i == 3)
                {
                    Remove(fabric.devices[2]);
                }
                SendUdp(fabric.hosts.Get(0), "10.1.0.9", 10 + i);
            });
        }
        const std::vector<Packets> expected{{GetId(fabric, 1), "10.1.0.1", 11, 0, 0},
                                            {GetId(fabric, 2), "10.1.0.1", 12, 0, 0}};
        Finish();
        NS_TEST_EXPECT_MSG_EQ(m_received, expected, "where the address was");
        NS_TEST_EXPECT_MSG_EQ(m_drops[DropReason::NO_ROUTE], 2, "before and after");
        NS_TEST_EXPECT_MSG_EQ(m_drops.size(), 1, "no other reason");
    }
};

/** What no host has is counted and traced where it is sent. */
struct NeighborUnknownTestCase : NeighborsTestCase
{
    void OnMacTxDrop(Ptr<const Packet> packet)
    {
        Ipv4Header header;
        packet->PeekHeader(header);
        m_lost.push_back(header.GetDestination());
    }

    void Run()
    {
        Fabric fabric = MakeHosts({"10.1.0.1", "10.1.0.2"});
        const Ptr<HostDevice> device = fabric.devices[0];
        AddRoute(device, "10.5.0.0", "10.1.0.77"); // a gateway that is nowhere
        AddRoute(device, "10.6.0.0");              // on the link, but with no host
        AddRoute(device, "239.1.1.0");
        device->TraceConnectWithoutContext(
            "MacTxDrop",
            MakeCallback(&NeighborUnknownTestCase::OnMacTxDrop, this));
        const std::vector<const char*> unknown{"10.1.0.3",
                                               "10.1.0.255",
                                               "255.255.255.255",
                                               "239.1.1.5",
                                               "10.5.0.1",
                                               "10.6.0.1"};
        for (const char* address : unknown)
        {
            In(0, [this, &fabric, address]() { SendUdp(fabric.hosts.Get(0), address, 100); });
        }
        In(0, [&]() { SendUdp(fabric.hosts.Get(0), "10.1.0.2", 100); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_received.size(), 1, "the one that has a host");
        NS_TEST_EXPECT_MSG_EQ(m_drops[DropReason::NO_ROUTE], unknown.size(), "all others");
        NS_TEST_EXPECT_MSG_EQ(m_drops.size(), 1, "no other reason");
        NS_TEST_EXPECT_MSG_EQ(device->GetPort().GetCounters().droppedFrames,
                              unknown.size(),
                              "counted by the port");
        NS_TEST_EXPECT_MSG_EQ(m_lost,
                              std::vector<Ipv4Address>(unknown.begin(), unknown.end()),
                              "traced by the device");
        Finish();
    }

    std::vector<Ipv4Address> m_lost;
};

/** Hosts with two rails, each on a subnet and a switch of its own. */
struct NeighborRailsTestCase : NeighborsTestCase
{
    void Run()
    {
        TopologyGraph graph;
        graph.name = "two rails";
        graph.hosts = 2;
        graph.switches = 2;
        for (uint32_t host = 0; host < 2; host++)
        {
            for (uint32_t rail = 0; rail < 2; rail++)
            {
                graph.links.push_back({host, 2 + rail, DataRate(RATE), PicoSeconds(DELAY)});
            }
        }
        Fabric fabric = MakeFabric(graph);
        for (uint32_t host = 0; host < 2; host++)
        {
            AddStack(fabric.hosts.Get(host));
            AddAddress(fabric.rails[host][0], host == 0 ? "10.1.0.1" : "10.1.0.2");
            AddAddress(fabric.rails[host][1], host == 0 ? "10.2.0.1" : "10.2.0.2");
        }
        In(0, [&]() { SendUdp(fabric.hosts.Get(0), "10.1.0.2", 100); });
        In(100000000, [&]() { SendUdp(fabric.hosts.Get(0), "10.2.0.2", 200); });
        In(200000000, [&]() { SendUdp(fabric.hosts.Get(1), "10.2.0.1", 300); });
        // The address of the other rail, by a route through the wrong one: its switch drops it.
        AddRoute(fabric.rails[1][0], "10.3.0.0");
        In(300000000, [&]() {
            AddAddress(fabric.rails[0][1], "10.3.0.1");
            SendUdp(fabric.hosts.Get(1), "10.3.0.1", 400);
        });
        const std::vector<Packets> expected{{GetId(fabric, 1), "10.1.0.1", 100, 0, 0},
                                            {GetId(fabric, 1), "10.2.0.1", 200, 0, 0},
                                            {GetId(fabric, 0), "10.2.0.2", 300, 0, 0}};
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_received, expected, "each by the rail of its subnet");
        const auto sent = [&](uint32_t host, uint32_t rail) {
            return fabric.rails[host][rail]->GetPort().GetCounters().transmittedFrames;
        };
        NS_TEST_EXPECT_MSG_EQ(sent(0, 0), 1, "host 0, rail 0");
        NS_TEST_EXPECT_MSG_EQ(sent(0, 1), 1, "host 0, rail 1");
        NS_TEST_EXPECT_MSG_EQ(sent(1, 0), 1, "host 1, rail 0: by the wrong route");
        NS_TEST_EXPECT_MSG_EQ(sent(1, 1), 1, "host 1, rail 1");
        NS_TEST_EXPECT_MSG_EQ(m_drops[DropReason::NO_ROUTE], 1, "dropped by the switch");
        NS_TEST_EXPECT_MSG_EQ(m_drops.size(), 1, "no other reason");
        Finish();
    }
};

/** A destination MAC address, as packet sockets give it, counts more than the IP header. */
struct NeighborMacTestCase : NeighborsTestCase
{
    void Run()
    {
        Fabric fabric = MakeHosts({"10.1.0.1", "10.1.0.2", "10.1.0.3"});
        const auto send = [&](const Mac48Address& to) {
            Ipv4Header header;
            header.SetSource("10.1.0.1");
            header.SetDestination("10.1.0.2");
            header.SetTtl(64);
            header.SetPayloadSize(100);
            auto packet = Create<Packet>(100);
            packet->AddHeader(header);
            return fabric.devices[0]->Send(packet, to, ETHERTYPE_IPV4);
        };
        NS_TEST_EXPECT_MSG_EQ(send(GetEndpointMacAddress(2)), true, "host 2");
        NS_TEST_EXPECT_MSG_EQ(send(Mac48Address::GetBroadcast()), true, "by its IP address");
        NS_TEST_EXPECT_MSG_EQ(send(GetEndpointMacAddress(3)), false, "no host");
        NS_TEST_EXPECT_MSG_EQ(send("00:11:22:33:44:55"), false, "none of the fabric");
        NS_TEST_EXPECT_MSG_EQ(m_drops[DropReason::NO_ROUTE], 2, "counted");
        Simulator::Run();
        for (uint32_t host = 1; host < 3; host++)
        {
            NS_TEST_EXPECT_MSG_EQ(
                fabric.devices[host]->GetPort().GetCounters().receivedFrames,
                (host == 1 ? 2 : 1),
                "host " << host << ", and what host 2 forwards to the owner of the address");
        }
        Finish();
    }
};

const Suite g_suite("fabric-neighbors",
                    Duration::QUICK,
                    {{"addresses of interfaces, whatever the endpoint",
                      RunTest<NeighborAddressesTestCase>},
                     {"an address that moves during the simulation", RunTest<NeighborMoveTestCase>},
                     {"packets without a next hop are counted", RunTest<NeighborUnknownTestCase>},
                     {"hosts with two rails", RunTest<NeighborRailsTestCase>},
                     {"MAC addresses of hosts", RunTest<NeighborMacTestCase>}});

} // namespace ns3::training::tests::fabric_neighbors_test
