/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "internet-test-common.h"
#include "test-case.h"
#include "transport/tcp-sender-socket.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/fault-plan.h"
#include "ns3/inet-socket-address.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/topology-builder.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ns3::training::tests::tcp_sender_socket_test
{

/** A stream over a line of 10 Gbit/s, sent by ns-3's socket or by ours: all times are equal. */
struct TcpSenderSocketTestCase
{
    static constexpr uint64_t TOTAL = 6000000;

    /** What happened: times in ps, and windows or bytes. */
    using History = std::vector<std::pair<int64_t, uint64_t>>;

    void OnWindow(uint32_t, uint32_t bytes)
    {
        history.emplace_back(PicosecondsNow(), bytes);
    }

    /** Looks at the list between two segments. */
    void Sample()
    {
        aside = std::max(aside, ours ? ours->GetAside() : 0);
        if (received < TOTAL)
        {
            Simulator::Schedule(MicroSeconds(101), &TcpSenderSocketTestCase::Sample, this);
        }
    }

    void OnAccept(Ptr<Socket> socket, const Address&)
    {
        accepted = socket;
        socket->SetRecvCallback(MakeCallback(&TcpSenderSocketTestCase::OnData, this));
    }

    void OnData(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
        {
            received += packet->GetSize();
            history.emplace_back(PicosecondsNow(), received);
        }
    }

    /** @param socket the sender, which has space for some more bytes */
    void OnSpace(Ptr<Socket> socket, uint32_t)
    {
        while (written < TOTAL && socket->GetTxAvailable() > 0)
        {
            const uint64_t bytes =
                std::min<uint64_t>({TOTAL - written, socket->GetTxAvailable(), 10000});
            if (socket->Send(Create<Packet>(static_cast<uint32_t>(bytes)), 0) < 0)
            {
                return;
            }
            written += bytes;
        }
    }

    History Send(bool isOurs)
    {
        history.clear();
        written = 0;
        received = 0;
        Fabric fabric = FabricHelper().Install(
            BuildTopology("single-switch", 2, DataRate("10Gbps"), MicroSeconds(500)));
        FaultPlan plan;
        for (const std::string& fault : faults)
        {
            plan.Add(fault);
        }
        plan.Apply(fabric, MicroSeconds(10));
        InstallStacks(fabric);
        auto listener = Socket::CreateSocket(fabric.hosts.Get(1), TcpSocketFactory::GetTypeId());
        listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
        listener->Listen();
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    MakeCallback(&TcpSenderSocketTestCase::OnAccept, this));
        ours = isOurs ? TcpSenderSocket::Create(fabric.hosts.Get(0)) : nullptr;
        Ptr<Socket> sender = ours;
        if (!isOurs)
        {
            sender = Socket::CreateSocket(fabric.hosts.Get(0), TcpSocketFactory::GetTypeId());
        }
        sender->Bind();
        sender->TraceConnectWithoutContext("CongestionWindow",
                                           MakeCallback(&TcpSenderSocketTestCase::OnWindow, this));
        sender->SetSendCallback(MakeCallback(&TcpSenderSocketTestCase::OnSpace, this));
        sender->Connect(InetSocketAddress(HostDevice::GetIpv4Address(1), 9));
        Sample();
        Simulator::Stop(Seconds(2000));
        Simulator::Run();
        accepted = nullptr;
        ours = nullptr;
        Simulator::Destroy();
        return history;
    }

    void Run()
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2 << 20));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(3 << 20));
        Config::SetDefault("ns3::TcpSocketBase::Sack", StringValue(sack));
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(control));
        Config::SetDefault("ns3::TcpSocketState::EnablePacing", BooleanValue(isPaced));
        const History stock = Send(false);
        NS_TEST_EXPECT_MSG_EQ(received, TOTAL, "ns-3's socket");
        const History own = Send(true);
        Config::Reset();
        NS_TEST_EXPECT_MSG_EQ(received, TOTAL, "our socket");
        NS_TEST_EXPECT_MSG_EQ(own.size(), stock.size(), "as many segments and windows");
        NS_TEST_EXPECT_MSG_EQ((own == stock), true, "each at the same picosecond");
        NS_TEST_EXPECT_MSG_GT(aside,
                              (faults.empty() ? 100 : 1),
                              "segments in flight are set aside");
    }

    std::vector<std::string> faults;
    std::string control;
    std::string sack;
    bool isPaced;
    Ptr<TcpSenderSocket> ours{};
    Ptr<Socket> accepted{};
    History history{};
    uint64_t written{0};
    uint64_t received{0};
    std::size_t aside{0}; // most segments
};

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const std::vector<std::vector<std::string>> allFaults{
        {},
        {"*:loss=1e-3"},
        {"*:loss=2e-2"},
        {"*:duplicate=1e-2"},
        {"host0-switch0:down,from=3ms,until=250ms"}};
    for (const auto& faults : allFaults)
    {
        for (const std::string sack : {"true", "false"})
        {
            for (const bool isPaced : {false, true})
            {
                for (const std::string control : {"ns3::TcpNewReno", "ns3::training::TcpCubic"})
                {
                    cases.push_back(
                        {control + (isPaced ? ", paced" : "") + ", selective acknowledgements " +
                             sack + ", " + (faults.empty() ? "no fault" : faults.front()),
                         [=] {
                             TcpSenderSocketTestCase{faults, control, sack, isPaced}.Run();
                         }});
                }
            }
        }
    }
    return cases;
}

const Suite g_suite("tcp-sender-socket", Duration::EXTENSIVE, MakeCases());

} // namespace ns3::training::tests::tcp_sender_socket_test
