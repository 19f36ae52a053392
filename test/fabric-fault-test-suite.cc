/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "file-test-common.h"

#include "ns3/config.h"
#include "ns3/fault-plan.h"
#include "ns3/string.h"
#include "ns3/topology-builder.h"

namespace ns3::training::tests::fabric_fault_test
{

/** @return the refusal of a fault in a leaf-spine fabric, or empty */
std::string
GetRefusal(const std::string& text)
{
    Fabric fabric = FabricHelper().Install(
        BuildTopology("leaf-spine:leaves=2,spines=2", 4, DataRate("100Gbps"), MicroSeconds(1)));
    FaultPlan plan;
    const std::string refusal = tests::GetRefusal([&] {
        plan.Add(text);
        plan.Apply(fabric, MicroSeconds(10));
    });
    Simulator::Destroy();
    return refusal;
}

/** Frames from host 0 to host 1 under a fault plan. */
struct Crossing
{
    Arrivals arrivals;
    PortCounters total;
};

/** @return result of sending frames of 1000 bytes over two links of 100 Gbit/s and 1 us */
Crossing
Cross(const std::vector<std::string>& faults, uint64_t frames, uint8_t priority)
{
    Crossing crossing;
    Fabric fabric =
        FabricHelper().Install(MakeChain({Hop{100 * GIGA, 1000000}, Hop{100 * GIGA, 1000000}}));
    FaultPlan plan;
    for (const std::string& fault : faults)
    {
        plan.Add(fault);
    }
    plan.Apply(fabric, MicroSeconds(10));
    NoteArrivals(fabric.devices[1], crossing.arrivals);
    Blaster sender(fabric.devices[0], 1, 1000, priority, frames);
    sender.Start(0);
    Simulator::Run();
    crossing.total = fabric.GetTotal();
    Simulator::Destroy();
    return crossing;
}

/**
 * Link-level retry: all frames arrive, none overtakes another, and each loss costs a round trip of
 * the link, the response and the frame, exactly.
 */
void
TestRetry()
{
    constexpr uint64_t FRAMES = 5000;
    constexpr int64_t COST = 2 * 1000000 + 300000 + 81600; // ps
    const Crossing ideal = Cross({}, FRAMES, 0);
    for (const auto& [fault, loss] :
         {std::pair("host0-switch0:loss=0.1,retry=300ns", 0.1),
          std::pair("host0-switch0:ber=1e-5,retry=300ns", -std::expm1(8000 * std::log1p(-1e-5)))})
    {
        const Crossing crossing = Cross({fault}, FRAMES, 0);
        NS_TEST_ASSERT_MSG_EQ(crossing.arrivals.size(), FRAMES, fault << ": all arrive");
        for (uint64_t i = 1; i < FRAMES; i++)
        {
            const int64_t gap = crossing.arrivals[i].time - crossing.arrivals[i - 1].time;
            NS_TEST_ASSERT_MSG_EQ((gap >= 81600), true, fault << ": one behind the other");
        }
        const uint64_t lost = crossing.total.lostFrames;
        // Geometric: p / (1 - p) losses a frame, five standard deviations.
        const double mean = loss / (1 - loss);
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(lost) / FRAMES,
                                  mean,
                                  5 * std::sqrt(mean / (1 - loss) / FRAMES),
                                  fault << ": losses");
        NS_TEST_EXPECT_MSG_EQ(crossing.arrivals.back().time - ideal.arrivals.back().time,
                              COST * static_cast<int64_t>(lost),
                              fault << ": time");
        NS_TEST_EXPECT_MSG_EQ(crossing.total.transmittedFrames,
                              crossing.total.receivedFrames + lost,
                              fault << ": conservation");
    }
    const Crossing dead = Cross({"host0-switch0:loss=1,retry=0ns"}, 3, 0);
    NS_TEST_EXPECT_MSG_EQ(dead.arrivals.size(), 0, "lost for good");
    NS_TEST_EXPECT_MSG_EQ(dead.total.lostFrames, 3 * 17, "after 16 retries");
}

/**
 * Frequency of each type of fault against its closed form, within five standard deviations, and
 * conservation: sent + duplicated = received + lost.
 */
void
TestFaultFrequency()
{
    constexpr uint64_t FRAMES = 20000;
    constexpr double N = FRAMES;
    // Gilbert-Elliott: a fraction P / (P + R) of the time in the bad state; losses are
    // correlated.
    const double ber = -std::expm1(8000 * std::log1p(-1e-5));
    for (const auto& [fault, lost, duplicated] :
         {std::tuple("host0-switch0:loss=0.1", 0.1, 0.0),
          std::tuple("host0-switch0:ber=1e-5", ber, 0.0),
          std::tuple("host0-switch0:burst-loss=0.01/0.09", 0.1, 0.0),
          std::tuple("host0-switch0:burst-loss=0.01/0.09/0.5", 0.05, 0.0),
          std::tuple("host0-switch0:duplicate=0.2", 0.0, 0.2),
          std::tuple("host0-switch0:reorder=0.3/3us", 0.0, 0.0)})
    {
        const Crossing crossing = Cross({fault}, FRAMES, LOSSY);
        const PortCounters& total = crossing.total;
        NS_TEST_EXPECT_MSG_EQ(total.transmittedFrames + total.duplicatedFrames,
                              total.receivedFrames + total.lostFrames,
                              fault << ": conservation");
        const double spread = std::string(fault).find("burst") == std::string::npos ? 5 : 25;
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(total.lostFrames) / N,
                                  lost,
                                  spread * std::sqrt(lost * (1 - lost) / N),
                                  fault << ": lost");
        // Frames duplicated on the first link cross the second one twice.
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(total.duplicatedFrames) / N,
                                  duplicated,
                                  5 * std::sqrt(duplicated * (1 - duplicated) / N),
                                  fault << ": duplicated");
        NS_TEST_EXPECT_MSG_EQ(crossing.arrivals.size(),
                              FRAMES - total.lostFrames + total.duplicatedFrames,
                              fault << ": arrived");
    }
    for (const auto& faults : {std::vector<std::string>{"*:duplicate=1", "*:loss=1"},
                               std::vector<std::string>{"*:loss=1", "*:duplicate=1"}})
    {
        const Crossing none = Cross(faults, 10, LOSSY);
        NS_TEST_EXPECT_MSG_EQ(none.arrivals.size(), 0, "a copy is lost as any other frame");
        NS_TEST_EXPECT_MSG_EQ(none.total.transmittedFrames + none.total.duplicatedFrames,
                              none.total.lostFrames,
                              "conservation");
    }
    const Crossing late = Cross({"host0-switch0:reorder=1/5us"}, 10, LOSSLESS);
    const Crossing prompt = Cross({"host0-switch0:loss=0"}, 10, LOSSLESS);
    NS_TEST_EXPECT_MSG_EQ(late.arrivals[0].time - prompt.arrivals[0].time,
                          5000000,
                          "late by as much as said");
}

/** A link that is down temporarily: no frame passes meanwhile, all frames before and after do. */
void
TestDeadLink()
{
    constexpr int64_t LINE = 81600; // transmission time of a frame with preamble and gap, ps
    const Crossing crossing = Cross({"switch0-host1:down,from=20us,until=30us"}, 1000, LOSSLESS);
    const PortCounters& total = crossing.total;
    NS_TEST_EXPECT_MSG_EQ(total.transmittedFrames,
                          total.receivedFrames + total.lostFrames,
                          "conservation");
    NS_TEST_EXPECT_MSG_EQ(crossing.arrivals.size(),
                          1000 - total.lostFrames - total.droppedFrames,
                          "the others arrive");
    // Frames on the line at the failure are lost too: 1 us and one frame more than 10 us.
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(total.lostFrames + total.droppedFrames),
                              11e6 / LINE,
                              3,
                              "lost while down");
    for (const Arrival& arrival : crossing.arrivals)
    {
        NS_TEST_EXPECT_MSG_EQ((arrival.time < 20000000 || arrival.time > 30000000),
                              true,
                              "nothing arrives while it is down");
    }
}

/**
 * Traffic survives the failure of a spine: adjacent leaves bypass it immediately, others after new
 * routes are computed.
 */
void
TestReroute(const std::string& path)
{
    // The link of leaf 1 fails. Leaf 0 does not know until routes change, 10 us later.
    FabricHelper helper;
    helper.SetSwitchAttribute("Path", StringValue(path));
    Fabric fabric = helper.Install(
        BuildTopology("leaf-spine:leaves=2,spines=2", 8, DataRate("100Gbps"), MicroSeconds(1)));
    FaultPlan plan;
    plan.Add("switch1-switch2:down,from=50us");
    plan.Apply(fabric, MicroSeconds(10));
    std::vector<Arrivals> arrivals(8);
    std::vector<std::unique_ptr<Blaster>> senders;
    for (uint32_t host = 0; host < 4; host++)
    {
        NoteArrivals(fabric.devices[4 + host], arrivals[4 + host]);
        NoteArrivals(fabric.devices[host], arrivals[host]);
        senders.push_back(
            std::make_unique<Blaster>(fabric.devices[host], 4 + host, 1000, LOSSLESS, 2000));
        senders.back()->Start(0);
        senders.push_back(
            std::make_unique<Blaster>(fabric.devices[4 + host], host, 1000, LOSSLESS, 2000));
        senders.back()->Start(0);
    }
    Simulator::Run();
    uint64_t arrived = 0;
    for (const Arrivals& ofHost : arrivals)
    {
        arrived += ofHost.size();
        NS_TEST_EXPECT_MSG_GT(ofHost.back().time, 160000000, "every flow lives to its end");
    }
    const PortCounters total = fabric.GetTotal();
    NS_TEST_EXPECT_MSG_EQ(arrived + total.lostFrames + total.droppedFrames, 16000, "all frames");
    // Downward frames are lost for 10 us plus those in flight; upward frames bypass the
    // failure.
    NS_TEST_EXPECT_MSG_LT(total.lostFrames + total.droppedFrames, 4 * 300, "few are lost");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/** A restart of a switch drops its queues and clears its pauses; afterwards it works again. */
void
TestRestart()
{
    Fabric fabric = FabricHelper().Install(
        BuildTopology("single-switch", 5, DataRate("100Gbps"), MicroSeconds(1)));
    FaultPlan plan;
    plan.Add("switch0:restart,from=40us,until=60us");
    plan.Apply(fabric, MicroSeconds(0));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[0], arrivals);
    std::vector<std::unique_ptr<Blaster>> senders;
    for (uint32_t host = 1; host < 5; host++)
    {
        senders.push_back(std::make_unique<Blaster>(fabric.devices[host], 0, 1000, LOSSLESS, 1000));
        senders.back()->Start(0);
    }
    Simulator::Stop(MicroSeconds(41));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(fabric.devicesOfSwitches[0]->GetBuffer().GetUsed(), 0, "empty");
    NS_TEST_EXPECT_MSG_GT(fabric.GetTotal().droppedFrames, 300, "what waited is gone");
    Simulator::Run();
    const PortCounters total = fabric.GetTotal();
    NS_TEST_EXPECT_MSG_EQ(arrivals.size() + total.lostFrames + total.droppedFrames,
                          4000 + total.duplicatedFrames,
                          "all frames");
    NS_TEST_EXPECT_MSG_GT(arrivals.back().time, 61000000, "it works again");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/**
 * A host that receives at a tenth of the line rate: a lossless class is paused and arrives
 * completely at that rate; a lossy class is dropped.
 */
void
TestSlowReceiver()
{
    constexpr uint64_t FRAMES = 3000;
    const Crossing lossless = Cross({"host1:receive-rate=10Gbps"}, FRAMES, LOSSLESS);
    NS_TEST_ASSERT_MSG_EQ(lossless.arrivals.size(), FRAMES, "all arrive");
    NS_TEST_EXPECT_MSG_EQ_TOL(
        static_cast<double>(lossless.arrivals.back().time - lossless.arrivals.front().time),
        (FRAMES - 1) * 800000.0,
        FRAMES,
        "at the host's rate");
    NS_TEST_EXPECT_MSG_GT(lossless.total.pausesSent, 1, "by pauses");
    const Crossing lossy = Cross({"host1:receive-rate=10Gbps"}, FRAMES, LOSSY);
    NS_TEST_EXPECT_MSG_GT(lossy.total.droppedFrames, FRAMES / 2, "most are dropped");
    NS_TEST_EXPECT_MSG_EQ(lossy.arrivals.size() + lossy.total.droppedFrames, FRAMES, "all");
    NS_TEST_EXPECT_MSG_EQ(lossy.total.pausesSent, 0, "without pauses");
    const Crossing brief = Cross({"host1:receive-rate=1Gbps,until=10us"}, FRAMES, LOSSLESS);
    NS_TEST_EXPECT_MSG_EQ(brief.arrivals.size(), FRAMES, "all arrive");
    NS_TEST_EXPECT_MSG_LT(brief.arrivals.back().time, 300000000, "fast again");
    // The slower of two overlapping faults counts, even if it ends first.
    const std::string slow = "host1:receive-rate=5Gbps";
    const std::string slower = "host1:receive-rate=1Gbps,until=100us";
    for (const auto& faults :
         {std::vector<std::string>{slow, slower}, std::vector<std::string>{slower, slow}})
    {
        const Crossing two = Cross(faults, 1000, LOSSLESS);
        NS_TEST_ASSERT_MSG_EQ(two.arrivals.size(), 1000, "all arrive");
        // 12 frames of 8 us each in the first 100 us.
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(two.arrivals.back().time),
                                  100e6 + 988 * 1.6e6,
                                  20e6,
                                  "then at the other's rate");
    }
    Config::SetDefault("ns3::training::HostDevice::ReceiveRate", StringValue("5Gbps"));
    const Crossing usual = Cross({slower}, 1000, LOSSLESS);
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(usual.arrivals.back().time),
                              100e6 + 988 * 1.6e6,
                              20e6,
                              "then at the usual rate");
    Config::Reset();
}

/** Invalid faults are refused by one line with the allowed values. */
void
TestFaultRefusal()
{
    for (const std::string& text : Split("|*|*:|:loss=0.1|*:loss=1.5|*:loss=-0.1|*:loss|"
                                         "*:loss=nan|*:ber=2|*:burst-loss=0.1|"
                                         "*:burst-loss=0.1/2|*:reorder=0.1|*:reorder=0.1/-3us|"
                                         "*:down=1|*:melt|*:from=1us|*:down,from=2us,until=1us|"
                                         "*:down,from=2us,until=2us|host4:loss=0.1|"
                                         "switch4:loss=0.1|host0-switch1:loss=0.1|"
                                         "host0-host0:loss=0.1|host0-switch0-switch2:loss=0.1|"
                                         "router1:loss=0.1|host0:restart|*:restart|"
                                         "host0-:loss=0.1|*:loss=0.1,|*:burst-loss=0.1/0.2/|"
                                         "*:loss=0.1,loss=0.2|*:down,from=1us,from=2us|"
                                         "switch0:receive-rate=1Gbps|host0:receive-rate=0bps|"
                                         "@/there/is/no/such/file|@/"))
    {
        const std::string refusal = GetRefusal(text);
        ExpectPart(refusal, "(allowed: ", text);
        NS_TEST_EXPECT_MSG_EQ(refusal.find("fault " + text), 0, refusal);
        NS_TEST_EXPECT_MSG_EQ(refusal.find('\n'), std::string::npos, "one line");
    }
    for (const std::string& text : Split("*:loss=0|host3:loss=1|"
                                         "switch3-switch0:ber=1e-9,duplicate=0.1,reorder=0.1/1us|"
                                         "switch0:restart|switch0:restart,from=0|"
                                         "*:reorder=1/0,from=0,until=1ps|"
                                         "host0-switch0:burst-loss=0.1/0.2/0.3,from=1us,until=2us"))
    {
        NS_TEST_EXPECT_MSG_EQ(GetRefusal(text), "", text);
    }
    const std::string path =
        WriteFile("faults.txt", "# bad cables\n\nhost0:loss=0.1 # this one\n  *:ber=oops\n");
    NS_TEST_EXPECT_MSG_EQ(GetRefusal("@" + path).find(path + ":4: "), 0, GetRefusal("@" + path));
    std::ofstream(path) << "host0:loss=0.1\r\n@" << path << "\r\n"; // infinite recursion
    NS_TEST_EXPECT_MSG_EQ(GetRefusal("@" + path).find(path + ":2: @" + path + " (allowed: "),
                          0,
                          GetRefusal("@" + path));
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    cases.push_back({"link-level retry", TestRetry});
    cases.push_back(
        {"faults are as frequent as said, and no frame is unaccounted for", TestFaultFrequency});
    cases.push_back({"a link goes down and comes back", TestDeadLink});
    for (const std::string path : {"ecmp", "flowlet", "spray"})
    {
        cases.push_back(
            {"traffic goes around dead links, by " + path, [path] { TestReroute(path); }});
    }
    cases.push_back({"a switch restarts", TestRestart});
    cases.push_back({"a slow receiver pauses or drops", TestSlowReceiver});
    cases.push_back({"faults that are not right are refused", TestFaultRefusal});
    return cases;
}

const Suite g_suite("fabric-fault", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::fabric_fault_test
