/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "neighbors-test-common.h"

#include "ns3/simple-net-device-helper.h"
#include "ns3/tcp-socket-factory.h"

namespace ns3::training::tests::fabric_gateway_test
{

/**
 * Host 1 of a fabric is the gateway to a node on another link of ns-3.
 * @param arp whether the other link needs ARP, as CSMA does; otherwise it is point-to-point
 */
struct NeighborGatewayTestCase : NeighborsTestCase
{
    static constexpr uint64_t STREAM = 300000; // bytes of TCP in each direction

    void OnAccept(Ptr<Socket> socket, const Address&)
    {
        socket->SetRecvCallback(MakeCallback(&NeighborGatewayTestCase::OnStream, this));
        m_sockets.push_back(socket);
    }

    void OnStream(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
        {
            std::vector<uint8_t> bytes(packet->GetSize());
            packet->CopyData(bytes.data(), packet->GetSize());
            uint64_t& at = m_streams[socket->GetNode()->GetId()];
            for (uint8_t byte : bytes)
            {
                m_wrong += byte != static_cast<uint8_t>(at++ % 251);
            }
        }
    }

    void OnSpace(Ptr<Socket> socket, uint32_t)
    {
        uint64_t& at = m_sent[socket];
        while (at < STREAM && socket->GetTxAvailable() > 0)
        {
            std::vector<uint8_t> bytes(
                std::min<uint64_t>({STREAM - at, socket->GetTxAvailable(), 1000}));
            for (std::size_t i = 0; i < bytes.size(); i++)
            {
                bytes[i] = static_cast<uint8_t>((at + i) % 251);
            }
            const int sent = socket->Send(bytes.data(), static_cast<uint32_t>(bytes.size()), 0);
            if (sent <= 0)
            {
                return;
            }
            at += static_cast<uint64_t>(sent);
        }
    }

    void Listen(Ptr<Node> node)
    {
        auto socket = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        socket->Listen();
        socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  MakeCallback(&NeighborGatewayTestCase::OnAccept, this));
        m_sockets.push_back(socket);
    }

    void Connect(Ptr<Node> node, const char* to)
    {
        auto socket = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
        socket->Bind();
        socket->SetSendCallback(MakeCallback(&NeighborGatewayTestCase::OnSpace, this));
        socket->Connect(InetSocketAddress(Ipv4Address(to), PORT));
        m_sockets.push_back(socket);
    }

    void Run(bool arp)
    {
        constexpr int64_t LINK_DELAY = 7000000; // ps
        Fabric fabric = MakeFabric(3);
        const Ptr<Node> client = CreateObject<Node>();
        SimpleNetDeviceHelper helper;
        helper.SetNetDevicePointToPointMode(!arp);
        helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(GIGA)));
        helper.SetChannelAttribute("Delay", TimeValue(TimeStep(LINK_DELAY)));
        const NetDeviceContainer link = helper.Install(NodeContainer(fabric.hosts.Get(1), client));
        AddStack(client);
        for (uint32_t host = 0; host < 3; host++)
        {
            AddStack(fabric.hosts.Get(host));
        }
        AddAddress(fabric.devices[0], "10.1.0.10");
        AddAddress(fabric.devices[1], "10.1.0.11");
        AddAddress(fabric.devices[2], "10.1.0.12");
        AddAddress(link.Get(0), "172.16.0.1");
        AddAddress(link.Get(1), "172.16.0.2");
        AddRoute(fabric.devices[0], "172.16.0.0", "10.1.0.11");
        AddRoute(fabric.devices[2], "172.16.0.0", "10.1.0.11");
        AddRoute(link.Get(1), "10.1.0.0", "172.16.0.1");
        const auto way = [&](uint32_t ipBytes) {
            return GetFabricTime(ipBytes) + LineTime(ipBytes, GIGA) + LINK_DELAY;
        };
        constexpr int64_t FIRST = 100 * 1000000000LL; // after ARP has resolved, ps
        constexpr int64_t GAP = 1000000000;
        In(0, [&]() { Ping(fabric.hosts.Get(0), "172.16.0.2", 8); });
        In(FIRST, [&]() { SendUdp(fabric.hosts.Get(0), "172.16.0.2", 100); });
        In(FIRST + GAP, [&]() { SendUdp(client, "10.1.0.12", 200); });
        In(FIRST + 2 * GAP, [&]() { Ping(fabric.hosts.Get(2), "172.16.0.2", 56); });
        In(FIRST + 3 * GAP, [&]() { Ping(client, "10.1.0.10", 1000); });
        // The near and the far address of the gateway itself.
        In(FIRST + 4 * GAP, [&]() { Ping(fabric.hosts.Get(0), "172.16.0.1", 56); });
        In(FIRST + 5 * GAP, [&]() { Ping(client, "10.1.0.11", 56); });
        Simulator::Run();
        const std::vector<Packets> expected{
            {GetId(fabric, 0), "172.16.0.2", 8, 0, 63},
            {client->GetId(), "10.1.0.10", 100, FIRST + way(128), 63},
            {GetId(fabric, 2), "172.16.0.2", 200, FIRST + GAP + way(228), 63},
            {GetId(fabric, 2), "172.16.0.2", 56, FIRST + 2 * GAP + 2 * way(84), 63},
            {client->GetId(), "10.1.0.10", 1000, FIRST + 3 * GAP + 2 * way(1028), 63},
            {GetId(fabric, 0), "172.16.0.1", 56, FIRST + 4 * GAP + 2 * GetFabricTime(84), 64},
            {client->GetId(),
             "10.1.0.11",
             56,
             FIRST + 5 * GAP + 2 * (LineTime(84, GIGA) + LINK_DELAY),
             64}};
        NS_TEST_ASSERT_MSG_EQ(m_received, expected, "UDP and ping, both directions");
        for (std::size_t i = 0; i < expected.size(); i++)
        {
            if (i > 0)
            {
                NS_TEST_EXPECT_MSG_EQ(m_received[i].time, expected[i].time, "time of " << i);
            }
            NS_TEST_EXPECT_MSG_EQ(m_received[i].ttl, expected[i].ttl, "routers before " << i);
        }

        Listen(client);
        Listen(fabric.hosts.Get(2));
        In(0, [&]() {
            Connect(fabric.hosts.Get(0), "172.16.0.2");
            Connect(client, "10.1.0.12");
        });
        Simulator::Stop(Seconds(60));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_streams[client->GetId()], STREAM, "TCP from the fabric");
        NS_TEST_EXPECT_MSG_EQ(m_streams[GetId(fabric, 2)], STREAM, "TCP to the fabric");
        NS_TEST_EXPECT_MSG_EQ(m_wrong, 0, "bytes arrive as they were sent");
        NS_TEST_EXPECT_MSG_EQ(m_drops.size(), 0, "no drops");
        m_sent.clear();
        Finish();
    }

    std::map<Ptr<Socket>, uint64_t> m_sent{};
    std::map<uint32_t, uint64_t> m_streams{}; // received bytes, by node
    uint64_t m_wrong{0};
};

/** A host on two fabrics routes between them; endpoint numbers repeat. */
struct NeighborTwoFabricsTestCase : NeighborsTestCase
{
    void Run()
    {
        const NodeContainer nodes(3); // the second one is on both fabrics
        std::vector<Fabric> fabrics;
        for (uint32_t i = 0; i < 2; i++)
        {
            const NodeContainer hosts(nodes.Get(i), nodes.Get(i + 1));
            fabrics.push_back(FabricHelper().Install(
                hosts,
                NodeContainer(1),
                BuildTopology("single-switch", 2, DataRate(RATE), PicoSeconds(DELAY))));
        }
        for (uint32_t i = 0; i < 3; i++)
        {
            AddStack(nodes.Get(i));
        }
        AddAddress(fabrics[0].devices[0], "10.1.0.1");
        AddAddress(fabrics[0].devices[1], "10.1.0.2");
        AddAddress(fabrics[1].devices[0], "10.2.0.1");
        AddAddress(fabrics[1].devices[1], "10.2.0.2");
        AddRoute(fabrics[0].devices[0], "10.2.0.0", "10.1.0.2");
        AddRoute(fabrics[1].devices[1], "10.1.0.0", "10.2.0.1");
        In(0, [&]() { SendUdp(nodes.Get(0), "10.2.0.2", 100); });
        In(100000000, [&]() { Ping(nodes.Get(2), "10.1.0.1", 56); });
        Finish();
        const std::vector<Packets> expected{{nodes.Get(2)->GetId(), "10.1.0.1", 100, 0, 0},
                                            {nodes.Get(2)->GetId(), "10.1.0.1", 56, 0, 0}};
        NS_TEST_ASSERT_MSG_EQ(m_received, expected, "through the host on both");
        NS_TEST_EXPECT_MSG_EQ(m_received[0].time, 2 * GetFabricTime(128), "two fabrics");
        NS_TEST_EXPECT_MSG_EQ(m_received[1].time, 100000000 + 4 * GetFabricTime(84), "and back");
        NS_TEST_EXPECT_MSG_EQ(m_received[0].ttl, 63, "one router");
    }
};

/** A router on the subnet is used although the fabric would reach the destination directly. */
struct NeighborRouterTestCase : NeighborsTestCase
{
    void Run()
    {
        Fabric fabric = MakeFabric(3);
        for (uint32_t host = 0; host < 3; host++)
        {
            AddStack(fabric.hosts.Get(host));
        }
        AddAddress(fabric.devices[0], "10.1.0.1");
        AddAddress(fabric.devices[1], "10.1.0.254");
        AddAddress(fabric.devices[1], "10.2.0.254");
        AddAddress(fabric.devices[2], "10.2.0.1");
        AddRoute(fabric.devices[0], "10.2.0.0", "10.1.0.254");
        AddRoute(fabric.devices[2], "10.1.0.0", "10.2.0.254");
        In(0, [&]() { SendUdp(fabric.hosts.Get(0), "10.2.0.1", 100); });
        In(100000000, [&]() { SendUdp(fabric.hosts.Get(2), "10.1.0.1", 200); });
        const std::vector<Packets> expected{{GetId(fabric, 2), "10.1.0.1", 100, 0, 0},
                                            {GetId(fabric, 0), "10.2.0.1", 200, 0, 0}};
        Finish();
        NS_TEST_ASSERT_MSG_EQ(m_received, expected, "through the router");
        NS_TEST_EXPECT_MSG_EQ(m_received[0].time, 2 * GetFabricTime(128), "twice over the switch");
        NS_TEST_EXPECT_MSG_EQ(m_received[0].ttl, 63, "one router");
        NS_TEST_EXPECT_MSG_EQ(m_received[1].ttl, 63, "one router");
        NS_TEST_EXPECT_MSG_EQ(m_drops.size(), 0, "no drops");
    }
};

const Suite g_suite(
    "fabric-gateway",
    Duration::QUICK,
    {{"a gateway to a point-to-point link", [] { NeighborGatewayTestCase().Run(false); }},
     {"a gateway to a broadcast link", [] { NeighborGatewayTestCase().Run(true); }},
     {"a host on two fabrics", RunTest<NeighborTwoFabricsTestCase>},
     {"a router between two subnets of one fabric", RunTest<NeighborRouterTestCase>}});

} // namespace ns3::training::tests::fabric_gateway_test
