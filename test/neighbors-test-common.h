/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NEIGHBORS_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_NEIGHBORS_TEST_COMMON_H

#include "internet-test-common.h"
#include "test-case.h"

#include "ns3/drop-reason.h"
#include "ns3/icmpv4.h"
#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-raw-socket-factory.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/topology-builder.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <map>

namespace ns3::training::tests
{

inline constexpr uint64_t RATE = 10 * GIGA; ///< of the links, bit/s
inline constexpr int64_t DELAY = 1000000;   ///< of the links, ps
inline constexpr uint16_t PORT = 9;         ///< of UDP and TCP receivers

/**
 * @param ipBytes size of a UDP datagram or ICMP message, with its IP header
 * @return its time over two links of the fabric, ps
 */
inline int64_t
GetFabricTime(uint32_t ipBytes)
{
    const uint32_t frame = std::max<uint32_t>(ipBytes + Frame::ETHERNET_BYTES, Frame::MIN_BYTES);
    return 2 * (LineTime(frame + Frame::PREAMBLE_BYTES, RATE) + DELAY);
}

/** IP stacks on the hosts of a fabric, and what they receive. */
struct NeighborsTestCase
{
    /** A received datagram, echo reply, or part of a TCP stream. */
    struct Packets
    {
        uint32_t node;    ///< id of the receiving node
        Ipv4Address from; ///< source address
        uint32_t bytes;   ///< of data
        int64_t time;     ///< ps
        uint32_t ttl;     ///< time to live, of datagrams

        /** @return whether all fields but time and TTL are equal */
        bool operator==(const Packets& other) const
        {
            return node == other.node && from == other.from && bytes == other.bytes;
        }
    };

    /** @return a fabric whose drops are counted */
    Fabric MakeFabric(const TopologyGraph& topology)
    {
        Fabric fabric = FabricHelper().Install(topology);
        for (const auto& device : fabric.devices)
        {
            device->TraceConnectWithoutContext("Drop",
                                               MakeCallback(&NeighborsTestCase::OnDrop, this));
        }
        for (const auto& device : fabric.devicesOfSwitches)
        {
            device->TraceConnectWithoutContext("Drop",
                                               MakeCallback(&NeighborsTestCase::OnDrop, this));
        }
        return fabric;
    }

    /** @return a fabric of one switch */
    Fabric MakeFabric(uint32_t hosts)
    {
        return MakeFabric(
            BuildTopology("single-switch", hosts, DataRate(RATE), PicoSeconds(DELAY)));
    }

    /** Installs a stack and a receiver of UDP. */
    void AddStack(Ptr<Node> node)
    {
        InstallStack(node);
        auto socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        socket->SetIpRecvTtl(true);
        socket->SetRecvCallback(MakeCallback(&NeighborsTestCase::OnData, this));
        m_sockets.push_back(socket);
    }

    void AddAddress(Ptr<NetDevice> device, const char* address)
    {
        auto ipv4 = device->GetNode()->GetObject<Ipv4>();
        const int32_t old = ipv4->GetInterfaceForDevice(device);
        const uint32_t interface = old < 0 ? ipv4->AddInterface(device) : old;
        ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, "255.255.255.0"));
        ipv4->SetUp(interface);
    }

    /** @return a fabric of one switch, and of a host with a stack for each address */
    Fabric MakeHosts(const std::vector<std::string>& addresses)
    {
        Fabric fabric = MakeFabric(static_cast<uint32_t>(addresses.size()));
        for (uint32_t host = 0; host < addresses.size(); host++)
        {
            AddStack(fabric.hosts.Get(host));
            AddAddress(fabric.devices[host], addresses[host].c_str());
        }
        return fabric;
    }

    /** Routes a subnet through a gateway, or, without one, through the device itself. */
    void AddRoute(Ptr<NetDevice> device, const char* network, const char* gateway = nullptr)
    {
        auto ipv4 = device->GetNode()->GetObject<Ipv4>();
        auto routing = Ipv4StaticRoutingHelper().GetStaticRouting(ipv4);
        const uint32_t interface = ipv4->GetInterfaceForDevice(device);
        if (gateway)
        {
            routing->AddNetworkRouteTo(network, "255.255.255.0", gateway, interface);
        }
        else
        {
            routing->AddNetworkRouteTo(network, "255.255.255.0", interface);
        }
    }

    /** Sends a datagram at once. */
    void SendUdp(Ptr<Node> node, const char* to, uint32_t bytes)
    {
        auto socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        socket->SetAllowBroadcast(true);
        socket->Bind();
        socket->SendTo(Create<Packet>(bytes), 0, InetSocketAddress(Ipv4Address(to), PORT));
    }

    /** Sends an ICMP echo request at once; the reply is received. */
    void Ping(Ptr<Node> node, const char* to, uint32_t bytes)
    {
        auto socket = Socket::CreateSocket(node, Ipv4RawSocketFactory::GetTypeId());
        socket->SetAttribute("Protocol", UintegerValue(1));
        socket->SetRecvCallback(MakeCallback(&NeighborsTestCase::OnEcho, this));
        socket->Bind();
        Icmpv4Echo echo;
        echo.SetIdentifier(static_cast<uint16_t>(m_echoes.size()));
        m_echoes.emplace(socket, echo.GetIdentifier());
        echo.SetData(Create<Packet>(bytes));
        Icmpv4Header header;
        header.SetType(Icmpv4Header::ICMPV4_ECHO);
        auto packet = Create<Packet>();
        packet->AddHeader(echo);
        packet->AddHeader(header);
        socket->SendTo(packet, 0, InetSocketAddress(Ipv4Address(to), 0));
        m_sockets.push_back(socket);
    }

    /** Runs, and frees what the simulation holds. */
    void Finish()
    {
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
        m_sockets.clear();
        m_echoes.clear();
        Simulator::Destroy();
    }

    /** @return id of a host's node */
    static uint32_t GetId(const Fabric& fabric, uint32_t host)
    {
        return fabric.hosts.Get(host)->GetId();
    }

    void OnData(Ptr<Socket> socket)
    {
        Address from;
        while (Ptr<Packet> packet = socket->RecvFrom(from))
        {
            SocketIpTtlTag ttl;
            packet->PeekPacketTag(ttl);
            m_received.push_back({socket->GetNode()->GetId(),
                                  InetSocketAddress::ConvertFrom(from).GetIpv4(),
                                  packet->GetSize(),
                                  PicosecondsNow(),
                                  ttl.GetTtl()});
        }
    }

    void OnEcho(Ptr<Socket> socket)
    {
        Address from;
        while (Ptr<Packet> packet = socket->RecvFrom(from))
        {
            Ipv4Header ip;
            packet->RemoveHeader(ip);
            Icmpv4Header icmp;
            packet->RemoveHeader(icmp);
            if (icmp.GetType() != Icmpv4Header::ICMPV4_ECHO_REPLY)
            {
                continue;
            }
            Icmpv4Echo echo;
            packet->RemoveHeader(echo);
            if (echo.GetIdentifier() == m_echoes.at(socket)) // a raw socket gets all replies
            {
                m_received.push_back({socket->GetNode()->GetId(),
                                      ip.GetSource(),
                                      echo.GetDataSize(),
                                      PicosecondsNow(),
                                      ip.GetTtl()});
            }
        }
    }

    void OnDrop(const Frame&, uint16_t, DropReason reason)
    {
        m_drops[reason]++;
    }

    std::vector<Packets> m_received;
    std::map<DropReason, uint64_t> m_drops;
    std::vector<Ptr<Socket>> m_sockets;
    std::map<Ptr<Socket>, uint16_t> m_echoes; // identifiers of echo requests
};

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_NEIGHBORS_TEST_COMMON_H
