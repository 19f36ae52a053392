/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "internet-test-common.h"
#include "test-case.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/global-value.h"
#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/topology-builder.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <map>

namespace ns3::training::tests::fabric_internet_test
{

/** ns-3's own UDP and TCP over the fabric. */
struct FabricInternetTestCase
{
    void Run();
    void RunUdp(Fabric& fabric);
    void RunTcp(Fabric& fabric);

    /** Counts the ECN fields of packets that reach the IP layer of host 0. */
    void OnIp(Ptr<const Packet> packet, Ptr<Ipv4> ipv4, uint32_t interface);

    /** @param socket a TCP socket of the receiver @param from the sender */
    void OnAccept(Ptr<Socket> socket, const Address& from);

    /** @param socket a receiver that has data */
    void OnData(Ptr<Socket> socket);

    /** @param socket a TCP sender @param space free bytes in its buffer */
    void OnSpace(Ptr<Socket> socket, uint32_t space);

    bool tcp;                                    ///< TCP, otherwise UDP
    bool checksums;                              ///< whether ns-3 computes checksums
    uint64_t ip[4]{};                            // packets by ECN field
    uint64_t received{0};                        // bytes
    uint64_t wrong{0};                           // bytes that differ from the sent ones
    int64_t lastReceived{0};                     // ps
    std::map<Ptr<Socket>, uint64_t> positions{}; // bytes so far, by socket
    std::vector<Ptr<Socket>> accepted{};
};

void
FabricInternetTestCase::OnIp(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    Ipv4Header header;
    packet->PeekHeader(header);
    ip[header.GetEcn()]++;
}

void
FabricInternetTestCase::OnAccept(Ptr<Socket> socket, const Address&)
{
    accepted.push_back(socket);
    socket->SetRecvCallback(MakeCallback(&FabricInternetTestCase::OnData, this));
}

void
FabricInternetTestCase::OnData(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        std::vector<uint8_t> bytes(packet->GetSize());
        packet->CopyData(bytes.data(), packet->GetSize());
        uint64_t& at = positions[socket];
        for (uint8_t byte : bytes)
        {
            wrong += byte != static_cast<uint8_t>(at++ % 251);
        }
        received += bytes.size();
        lastReceived = PicosecondsNow();
    }
}

void
FabricInternetTestCase::OnSpace(Ptr<Socket> socket, uint32_t)
{
    constexpr uint64_t TOTAL = 1000000;
    uint64_t& at = positions[socket];
    while (at < TOTAL && socket->GetTxAvailable() > 0)
    {
        std::vector<uint8_t> bytes(
            std::min<uint64_t>({TOTAL - at, socket->GetTxAvailable(), 10000}));
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

void
FabricInternetTestCase::Run()
{
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(checksums));
    FabricHelper helper;
    helper.SetSwitchAttribute("EcnKminPerGbps", DoubleValue(0));
    helper.SetSwitchAttribute("EcnKmaxPerGbps", DoubleValue(0));
    Fabric fabric =
        helper.Install(BuildTopology("single-switch", 3, DataRate("10Gbps"), MicroSeconds(1)));
    InstallStacks(fabric);
    fabric.hosts.Get(0)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "Rx",
        MakeCallback(&FabricInternetTestCase::OnIp, this));
    tcp ? RunTcp(fabric) : RunUdp(fabric);
    NS_TEST_EXPECT_MSG_EQ(wrong, 0, "bytes arrive as they were sent");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    accepted.clear();
    positions.clear();
    Simulator::Destroy();
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));
}

void
FabricInternetTestCase::RunUdp(Fabric& fabric)
{
    auto receiver = Socket::CreateSocket(fabric.hosts.Get(0), UdpSocketFactory::GetTypeId());
    receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
    receiver->SetRecvCallback(MakeCallback(&FabricInternetTestCase::OnData, this));
    std::vector<uint8_t> bytes(20000);
    for (std::size_t i = 0; i < bytes.size(); i++)
    {
        bytes[i] = static_cast<uint8_t>(i % 251);
    }
    std::vector<Ptr<Socket>> senders;
    for (uint32_t host = 1; host < 3; host++)
    {
        auto sender = Socket::CreateSocket(fabric.hosts.Get(host), UdpSocketFactory::GetTypeId());
        sender->Bind();
        sender->Connect(InetSocketAddress(HostDevice::GetIpv4Address(0), 9));
        senders.push_back(sender);
    }
    // 100 bytes alone: 146 on Ethernet, exactly two hops later.
    In(0, [&]() { senders[0]->Send(bytes.data(), 100, 0); });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(received, 100, "one datagram");
    NS_TEST_EXPECT_MSG_EQ(lastReceived,
                          2 * (LineTime(100 + 28 + 18 + 8, 10000000000) + 1000000),
                          "time of a datagram");
    // A short one is padded to the minimum frame.
    positions.clear();
    int64_t start = PicosecondsNow();
    In(0, [&]() { senders[0]->Send(bytes.data(), 1, 0); });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(lastReceived - start,
                          2 * (LineTime(64 + 8, 10000000000) + 1000000),
                          "time of a shortest frame");
    NS_TEST_EXPECT_MSG_EQ(received, 101, "the padding is gone");
    // Larger than the MTU: IP fragments it.
    positions.clear();
    In(0, [&]() { senders[0]->Send(bytes.data(), 20000, 0); });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(received, 20101, "a datagram in fragments");
    NS_TEST_EXPECT_MSG_EQ((ip[0] > 0 && ip[1] + ip[2] + ip[3] == 0), true, "no ECN");

    // Two concurrent senders build up a queue; host 1 is ECN capable, host 2 is not.
    positions.clear();
    ip[0] = 0;
    senders[0]->SetIpTos(2);
    In(0, [&]() {
        for (uint32_t i = 0; i < 50; i++)
        {
            senders[0]->Send(bytes.data(), 1000, 0);
            senders[1]->Send(bytes.data(), 1000, 0);
        }
    });
    wrong = 0;
    Simulator::Run();
    wrong = 0; // the data of two senders mix, so the content is not compared
    NS_TEST_EXPECT_MSG_EQ(received, 120101, "all arrive");
    NS_TEST_EXPECT_MSG_EQ(ip[0], 50, "NOT_ECT stays");
    NS_TEST_EXPECT_MSG_EQ(ip[2] + ip[3], 50, "the others are ECN capable");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(ip[3], 40, "marked where a queue stood behind them");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().markedFrames, ip[3], "as the switch counts");
}

void
FabricInternetTestCase::RunTcp(Fabric& fabric)
{
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    auto listener = Socket::CreateSocket(fabric.hosts.Get(0), TcpSocketFactory::GetTypeId());
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                MakeCallback(&FabricInternetTestCase::OnAccept, this));
    std::vector<Ptr<Socket>> senders;
    for (uint32_t host = 1; host < 3; host++)
    {
        auto sender = Socket::CreateSocket(fabric.hosts.Get(host), TcpSocketFactory::GetTypeId());
        sender->Bind();
        sender->SetSendCallback(MakeCallback(&FabricInternetTestCase::OnSpace, this));
        sender->Connect(InetSocketAddress(HostDevice::GetIpv4Address(0), 9));
        senders.push_back(sender);
    }
    Simulator::Stop(Seconds(20));
    Simulator::Run();
    Config::Reset();
    NS_TEST_EXPECT_MSG_EQ(received, 2000000, "both streams are complete");
    NS_TEST_EXPECT_MSG_GT(ip[2], 0, "ECN was negotiated");
    NS_TEST_EXPECT_MSG_GT(ip[3], 0, "marks reach the receiver's IP header");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().markedFrames, ip[3], "as the switch counts");
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const auto addFabricInternet = [&cases](bool tcp, bool checksums) {
        cases.push_back({std::string("stock ns-3 ") + (tcp ? "TCP" : "UDP") + " and ECN" +
                             (checksums ? ", with checksums" : ""),
                         [=] {
                             FabricInternetTestCase{tcp, checksums}.Run();
                         }});
    };
    addFabricInternet(false, false);
    addFabricInternet(true, false);
    addFabricInternet(false, true);
    addFabricInternet(true, true);
    return cases;
}

const Suite g_suite("fabric-internet", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::fabric_internet_test
