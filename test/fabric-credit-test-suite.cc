/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/link-credits.h"
#include "ns3/string.h"
#include "ns3/topology-builder.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training::tests::fabric_credit_test
{

constexpr uint64_t RATE = 100 * GIGA;

/** @return a helper whose switches use credits */
FabricHelper
MakeHelper(uint64_t bytes)
{
    FabricHelper helper;
    helper.SetSwitchAttribute("FlowControl", StringValue("credit"));
    helper.SetSwitchAttribute("CreditBuffer", UintegerValue(bytes));
    return helper;
}

/** @return the credits of all ports and lossless classes */
std::vector<int64_t>
GetBalances(const Fabric& fabric)
{
    std::vector<int64_t> balances;
    for (const auto& channel : fabric.channels)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            for (uint8_t priority = 0; priority < PRIORITIES; priority++)
            {
                balances.push_back(channel->GetPort(end).GetCredits()->GetBalance(priority));
            }
        }
    }
    return balances;
}

/** A receiver grants what it has received and what is free, whatever else is stored. */
void
TestLinkCredits()
{
    LinkCredits credits;
    credits.SetReceiving(1 << LOSSLESS, 1000);
    credits.SetSending(1 << LOSSLESS, 1000);
    NS_TEST_EXPECT_MSG_EQ(credits.Grant(LOSSLESS, 0), 0, "all is granted at the start");
    credits.NoteReceived(LOSSLESS, 300);
    NS_TEST_EXPECT_MSG_EQ(credits.Grant(LOSSLESS, 300), 0, "stored");
    NS_TEST_EXPECT_MSG_EQ(credits.Grant(LOSSLESS, 100), 200, "partly free again");
    NS_TEST_EXPECT_MSG_EQ(credits.Grant(LOSSLESS, 100), 0, "granted once");
    credits.NoteReceived(LOSSLESS, 500);
    NS_TEST_EXPECT_MSG_EQ(credits.Grant(LOSSLESS, 900), 0, "a program has emitted 300");
    NS_TEST_EXPECT_MSG_EQ(credits.Grant(LOSSLESS, 400), 200, "which come first");
    NS_TEST_EXPECT_MSG_EQ(credits.Grant(LOSSLESS, 0), 400, "800 in all");
    NS_TEST_EXPECT_MSG_EQ(credits.Grant(2, 0), 0, "another class");
    NS_TEST_EXPECT_MSG_EQ(credits.Add(LOSSLESS, -999), true, "one byte is left");
    NS_TEST_EXPECT_MSG_EQ(credits.Add(LOSSLESS, -500), false, "overdrawn by a frame");
    NS_TEST_EXPECT_MSG_EQ(credits.Add(LOSSLESS, 500), true, "one byte");
    NS_TEST_EXPECT_MSG_EQ(credits.GetBalance(LOSSLESS), 1, "left");
    NS_TEST_EXPECT_MSG_EQ(credits.GetBalance(2), 1000, "another class");
}

void
Check(uint64_t buffer)
{
    constexpr uint32_t BYTES = 1000;
    constexpr int64_t DELAY = 5000000;
    constexpr int64_t LAST = 10000;
    constexpr uint64_t FRAMES = 1000;
    Fabric fabric = MakeHelper(buffer).Install(MakeChain({{RATE, DELAY}, {RATE, LAST}}));
    const auto before = GetBalances(fabric);
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    Blaster sender(fabric.devices[0], 1, BYTES, LOSSLESS, FRAMES);
    sender.Start(0);
    Simulator::Run();
    const auto window = static_cast<int64_t>((buffer + BYTES - 1) / BYTES);
    const int64_t line = LineTime(BYTES + 20, RATE);
    const int64_t arrive = LineTime(BYTES + 8, RATE);
    const int64_t loop = std::max(window * line, arrive + 2 * DELAY);
    NS_TEST_ASSERT_MSG_EQ(arrivals.size(), FRAMES, "all arrive");
    for (int64_t i = 0; i < static_cast<int64_t>(FRAMES); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(arrivals[i].time,
                              i / window * loop + i % window * line + arrive + DELAY + arrive +
                                  LAST,
                              "frame " << i << ", buffer " << buffer);
    }
    NS_TEST_EXPECT_MSG_EQ(GetBalances(fabric), before, "all credits came back");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/**
 * With a receive buffer of n frames, n frames leave per round trip or at line rate, to the
 * picosecond.
 */
void
TestCreditThroughput()
{
    // The round trip of 10.08 us holds 124 frames.
    for (const uint64_t buffer : {1, 1000, 1001, 9999, 10000, 50000, 123000, 124000, 500000})
    {
        Check(buffer);
    }
}

/**
 * An incast with credits loses nothing, sends no pauses, keeps the receiver's line busy, and is
 * fair; also with a slow receiver, losses on links and a restart. All credits come back.
 */
struct CreditIncastTestCase
{
    static constexpr uint32_t SENDERS = 8;
    static constexpr uint32_t BYTES = 4178;
    static constexpr uint64_t FRAMES = 300;

    void Check(uint64_t buffer, DataRate receiveRate, double loss, bool restart)
    {
        const std::string what = "buffer " + std::to_string(buffer) + ", receive rate " +
                                 std::to_string(receiveRate.GetBitRate()) + ", loss " +
                                 std::to_string(loss) + ", restart " + std::to_string(restart);
        Fabric fabric = MakeHelper(buffer).Install(BuildTopology("leaf-spine:leaves=3,spines=2",
                                                                 SENDERS + 1,
                                                                 DataRate(RATE),
                                                                 NanoSeconds(500)));
        const auto before = GetBalances(fabric);
        fabric.devices[0]->SetReceiveRate(receiveRate);
        if (loss > 0)
        {
            LoseFrames(fabric, loss);
        }
        Arrivals arrivals;
        NoteArrivals(fabric.devices[0], arrivals);
        std::vector<std::unique_ptr<Blaster>> senders;
        for (uint32_t i = 1; i <= SENDERS; i++)
        {
            senders.push_back(
                std::make_unique<Blaster>(fabric.devices[i], 0, BYTES, LOSSLESS, FRAMES));
            senders.back()->Start(i);
        }
        if (restart)
        {
            In(100000000, [&]() { fabric.devicesOfSwitches[0]->Restart(); });
        }
        Simulator::Run();
        const PortCounters total = fabric.GetTotal();
        NS_TEST_EXPECT_MSG_EQ(arrivals.size() + total.droppedFrames + total.lostFrames,
                              SENDERS * FRAMES,
                              what << ": arrived, lost on links or by the restart");
        NS_TEST_EXPECT_MSG_EQ((total.droppedFrames > 0), restart, what << ": drops");
        NS_TEST_EXPECT_MSG_EQ(total.byPriority[LOSSLESS].losslessDrops,
                              0,
                              what << ": no lack of space");
        NS_TEST_EXPECT_MSG_EQ((total.lostFrames > 0), (loss > 0), what << ": losses");
        NS_TEST_EXPECT_MSG_EQ(total.pausesSent, 0, what << ": no pauses");
        if (loss == 0 && !restart)
        {
            const uint64_t rate = receiveRate.GetBitRate() > 0 ? receiveRate.GetBitRate() : RATE;
            const uint32_t overhead = receiveRate.GetBitRate() > 0 ? 0 : 20;
            NS_TEST_EXPECT_MSG_EQ_TOL(
                static_cast<double>(arrivals.back().time - arrivals.front().time),
                static_cast<double>(LineTime((BYTES + overhead) * (arrivals.size() - 1), rate)),
                static_cast<double>(arrivals.size()),
                what << ": the receiver is always busy");
        }
        NS_TEST_EXPECT_MSG_EQ(GetBalances(fabric), before, what << ": all credits");
        for (const auto& device : fabric.devicesOfSwitches)
        {
            NS_TEST_EXPECT_MSG_EQ(device->GetBuffer().GetUsed(), 0, what << ": memory is free");
        }
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, what << ": all frames given back");
        Simulator::Destroy();
    }

    void Run()
    {
        for (const uint64_t buffer : {0, 20000, 100000})
        {
            Check(buffer, DataRate(0), 0, false);
            Check(buffer, DataRate(10 * GIGA), 0, false);
            Check(buffer, DataRate(0), 0.02, false);
            Check(buffer, DataRate(10 * GIGA), 0.02, true);
        }
    }
};

/** A class without credits does not hold up another one, and stores as much as the buffer says. */
void
TestCreditClasses()
{
    constexpr uint32_t BYTES = 1000;
    constexpr uint8_t OTHER = 2;
    FabricHelper helper = MakeHelper(50 * BYTES);
    helper.SetSwitchAttribute("LosslessClasses", UintegerValue(1 << LOSSLESS | 1 << OTHER));
    Fabric fabric =
        helper.Install(BuildTopology("single-switch", 2, DataRate(RATE), NanoSeconds(500)));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    FabricPort& egress = fabric.devicesOfSwitches[0]->GetPort(1);
    egress.GetPauses().Override(LOSSLESS, true);
    Blaster sender(fabric.devices[0], 1, BYTES, LOSSLESS, 200);
    sender.Start(0);
    In(1, [&]() {
        for (uint32_t i = 0; i < 300; i++)
        {
            fabric.devices[0]->GetPort().Send(MakeFrame(BYTES, OTHER));
        }
    });
    Simulator::Stop(MilliSeconds(1));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(sender.sent, 50, "the buffer of the class is full");
    NS_TEST_EXPECT_MSG_EQ(egress.GetQueueBytes(LOSSLESS), 50 * BYTES, "of its frames");
    NS_TEST_EXPECT_MSG_EQ(arrivals.size(), 300, "the other class has passed");
    NS_TEST_EXPECT_MSG_EQ(fabric.devices[0]->GetPort().IsPaused(LOSSLESS), true, "waits");
    NS_TEST_EXPECT_MSG_EQ(fabric.devices[0]->GetPort().IsPaused(OTHER), false, "waits not");
    egress.GetPauses().Override(LOSSLESS, false);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(arrivals.size(), 500, "all arrive");
    // A pause frame has no say where there are credits.
    fabric.devices[0]->GetPort().Arrive(MakePause(0xff, 65535));
    Simulator::Stop(MicroSeconds(10));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(fabric.devices[0]->GetPort().IsPaused(LOSSLESS), false, "credits");
    NS_TEST_EXPECT_MSG_EQ(fabric.devices[0]->GetPort().IsPaused(LOSSY), true, "none");
    Simulator::Destroy();
}

/**
 * What has which flow control: NVSwitches have credits, others pauses; without any, lossless
 * classes are lossy.
 */
void
TestFlowControlChoice()
{
    FabricHelper helper;
    Fabric rails = helper.Install(
        BuildTopology("rail-optimized:gpus=2,servers=2", 4, DataRate(RATE), NanoSeconds(500)));
    for (uint32_t i = 0; i < rails.topology.switches; i++)
    {
        NS_TEST_EXPECT_MSG_EQ((rails.devicesOfSwitches[i]->GetFlowControl() == FlowControl::CREDIT),
                              (i < 2),
                              "switch " << i << ": NVSwitches come first");
    }
    NS_TEST_EXPECT_MSG_EQ(rails.rails[0][0]->GetPort().GetCredits(), nullptr, "network port");
    NS_TEST_EXPECT_MSG_EQ(rails.rails[0][1]->GetPort().GetCredits()->GetSendingClasses(),
                          1 << LOSSLESS,
                          "NVLink port");
    Simulator::Destroy();

    // One with a neighbor of another network pauses as that does; behind another one, it cannot.
    TopologyGraph graph = MakeChain({{RATE, 1000}, {RATE, 1000}, {RATE, 1000}, {RATE, 1000}});
    graph.scaleUpSwitches = {0};
    NS_TEST_EXPECT_MSG_EQ(
        (helper.Install(graph).devicesOfSwitches[0]->GetFlowControl() == FlowControl::PFC),
        true,
        "part of a network");
    Simulator::Destroy();
    graph.scaleUpSwitches = {0, 1};
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&]() { helper.Install(graph); }),
                          "ns3::training::SwitchDevice::FlowControl of neighbors: credit and "
                          "pfc (allowed: the same at both ends of a link)",
                          "neighbors");
    Simulator::Destroy();
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&]() {
                              FabricHelper unknown;
                              unknown.SetSwitchAttribute("FlowControl", StringValue("cbfc"));
                              unknown.Install(graph);
                          }),
                          "ns3::training::SwitchDevice::FlowControl='cbfc' (allowed: auto, "
                          "none, pfc, credit)",
                          "name");
    Simulator::Destroy();

    helper.SetSwitchAttribute("FlowControl", StringValue("none"));
    helper.SetSwitchAttribute("BufferSize", UintegerValue(100000));
    Fabric fabric =
        helper.Install(BuildTopology("single-switch", 3, DataRate(RATE), NanoSeconds(500)));
    Blaster first(fabric.devices[1], 0, 1000, LOSSLESS, 1000);
    Blaster second(fabric.devices[2], 0, 1000, LOSSLESS, 1000);
    first.Start(0);
    second.Start(0);
    Simulator::Run();
    const PortCounters total = fabric.GetTotal();
    NS_TEST_EXPECT_MSG_GT(total.byPriority[LOSSLESS].droppedFrames, 800, "drops");
    NS_TEST_EXPECT_MSG_EQ(total.pausesSent + total.byPriority[LOSSLESS].losslessDrops,
                          0,
                          "as of lossy");
    Simulator::Destroy();
}

const Suite g_suite("fabric-credit",
                    Duration::QUICK,
                    {{"arithmetic of credits", TestLinkCredits},
                     {"throughput is the minimum of line and buffer per round trip",
                      TestCreditThroughput},
                     {"incast with credits", RunTest<CreditIncastTestCase>},
                     {"classes are independent", TestCreditClasses},
                     {"choice of the flow control", TestFlowControlChoice}});

} // namespace ns3::training::tests::fabric_credit_test
