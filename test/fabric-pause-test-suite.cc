/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/double.h"
#include "ns3/pfc-deadlock.h"
#include "ns3/string.h"
#include "ns3/topology-builder.h"
#include "ns3/uinteger.h"

#include <map>

namespace ns3::training::tests::fabric_pause_test
{

/**
 * Priority flow control: with headroom, an incast at full rate loses nothing and keeps the
 * receiver's line busy; with a buffer too small for the headroom it drops frames.
 * @param buffer memory of the switch, bytes
 */
void
TestFabricIncast(uint32_t count,
                 uint64_t rate,
                 int64_t delay,
                 uint32_t bytes,
                 uint64_t buffer,
                 bool lossless)
{
    FabricHelper helper;
    helper.SetSwitchAttribute("BufferSize", UintegerValue(buffer));
    helper.SetSwitchAttribute("HeadroomScale", DoubleValue(lossless ? 1 : 0));
    Fabric fabric =
        helper.Install(BuildTopology("single-switch", count + 1, DataRate(rate), TimeStep(delay)));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[0], arrivals);
    const uint64_t frames = 200;
    std::vector<std::unique_ptr<Blaster>> senders;
    for (uint32_t i = 1; i <= count; i++)
    {
        senders.push_back(std::make_unique<Blaster>(fabric.devices[i], 0, bytes, LOSSLESS, frames));
        senders.back()->Start(i);
    }
    Simulator::Run();
    const PortCounters total = fabric.GetTotal();
    NS_TEST_EXPECT_MSG_EQ(arrivals.size() + total.droppedFrames,
                          frames * count,
                          "received or dropped");
    NS_TEST_EXPECT_MSG_EQ((total.droppedFrames == 0), lossless, "drops");
    NS_TEST_EXPECT_MSG_GT(total.pausesSent, 0, "senders were paused");
    NS_TEST_EXPECT_MSG_EQ(total.pausesSent, total.pausesReceived, "no pause is lost");
    for (uint32_t i = 1; i <= count; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(senders[i - 1]->sent, frames, "every sender has finished");
    }
    if (lossless)
    {
        // Pauses never empty the switch, so the receiver's line is always busy.
        NS_TEST_EXPECT_MSG_EQ_TOL(
            static_cast<double>(arrivals.back().time - arrivals.front().time),
            static_cast<double>(LineTime((bytes + 20) * (arrivals.size() - 1), rate)),
            static_cast<double>(arrivals.size()),
            "line rate at the receiver");
        // Arbitration by pauses is fair between ingress ports: at half-time all have sent equally.
        std::map<uint32_t, double> share;
        for (std::size_t i = 0; i < arrivals.size() / 2; i++)
        {
            share[arrivals[i].source]++;
        }
        double sum = 0;
        double squares = 0;
        for (const auto& [source, count] : share)
        {
            sum += count;
            squares += count * count;
        }
        NS_TEST_EXPECT_MSG_GT(sum * sum / (count * squares), 0.97, "Jain's fairness index");
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/**
 * Frames that leave a switch by the port they came in by: a pause for their sender waits until the
 * frame that causes it has left.
 */
void
TestFabricReflection()
{
    constexpr uint64_t RATE = 100 * GIGA;
    constexpr uint32_t BYTES = 4178;
    FabricHelper helper;
    helper.SetSwitchAttribute("BufferSize", UintegerValue(400000));
    Fabric fabric =
        helper.Install(BuildTopology("single-switch", 2, DataRate(RATE), NanoSeconds(500)));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[0], arrivals);
    FabricPort& port = fabric.devicesOfSwitches[0]->GetPort(0);
    int64_t free = 0;
    uint64_t pauses = 0;
    port.SetTap([&](const Frame& frame, bool isSent) {
        if (isSent)
        {
            NS_TEST_EXPECT_MSG_GT_OR_EQ(PicosecondsNow(), free, "one frame at a time");
            free = PicosecondsNow() + LineTime(frame.bytes + 20, RATE);
            pauses += frame.kind == FrameKind::PAUSE;
        }
    });
    constexpr uint64_t FRAMES = 500;
    Blaster reflected(fabric.devices[0], 0, BYTES, LOSSLESS, FRAMES);
    Blaster other(fabric.devices[1], 0, BYTES, LOSSLESS, FRAMES);
    reflected.Start(1);
    other.Start(1);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_GT(pauses, 10, "host 0 is paused");
    NS_TEST_EXPECT_MSG_EQ(arrivals.size(), 2 * FRAMES, "all arrive");
    Simulator::Destroy();
}

/**
 * The headroom suffices in the worst case: pauses wait behind the largest frames, and senders have
 * just started another one.
 * @param bytes size of all frames, which is the maximum
 */
void
TestFabricHeadroom(uint32_t bytes)
{
    constexpr uint32_t PHASES = 24;
    const int64_t lineTime = LineTime(bytes + 20, 100000000000);
    uint64_t dropped = 0;
    uint64_t pauses = 0;
    for (uint32_t phase = 0; phase < PHASES; phase++)
    {
        FabricHelper helper;
        helper.SetSwitchAttribute("BufferSize", UintegerValue(1000000));
        helper.SetSwitchAttribute("LargestFrame", UintegerValue(bytes));
        Fabric fabric = helper.Install(
            BuildTopology("single-switch",
                          3,
                          DataRate("100Gbps"),
                          TimeStep(100000 + (phase * 7 % PHASES) * lineTime / PHASES)));
        // Host 0 overloads a host that is paused; host 2 congests the path of the pauses.
        fabric.devicesOfSwitches[0]->GetPort(1).Arrive(MakePause(1 << LOSSLESS, 65535));
        Blaster sender(fabric.devices[0], 1, bytes, LOSSLESS, 1000);
        Blaster reverse(fabric.devices[2], 0, bytes, LOSSY, 400);
        sender.Start(lineTime);
        reverse.Start(phase * lineTime / PHASES);
        Simulator::Stop(MicroSeconds(300)); // within 65535 quanta
        Simulator::Run();
        const PortCounters& port = fabric.devicesOfSwitches[0]->GetPort(1).GetCounters();
        dropped += port.droppedFrames;
        pauses += fabric.devicesOfSwitches[0]->GetPort(0).GetCounters().pausesSent;
        NS_TEST_EXPECT_MSG_LT(sender.sent, 1000, "the sender is paused");
        Simulator::Destroy();
    }
    NS_TEST_EXPECT_MSG_EQ(dropped, 0, "lossless frames dropped");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(pauses, PHASES, "pauses");
}

/** Congestion that outlasts a pause: the switch renews the pause, and no frame is dropped. */
void
TestFabricLongPause()
{
    FabricHelper helper;
    helper.SetSwitchAttribute("BufferSize", UintegerValue(1000000));
    Fabric fabric =
        helper.Install(BuildTopology("single-switch", 2, DataRate("100Gbps"), NanoSeconds(500)));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    Blaster sender(fabric.devices[0], 1, 4158, LOSSLESS, 2000);
    sender.Start(0);
    // The receiver pauses the switch for 3 ms, nine times the longest pause at 100 Gbit/s.
    for (int64_t time = 0; time < 3000000000; time += 100000000)
    {
        In(time, [&]() { fabric.devices[1]->GetPort().SendPause(1 << LOSSLESS, 65535); });
    }
    In(3000000000, [&]() { fabric.devices[1]->GetPort().SendPause(1 << LOSSLESS, 0); });
    uint64_t sentEarly = 0;
    uint64_t sentLate = 0;
    In(300000000, [&]() { sentEarly = sender.sent; });
    In(2999000000, [&]() { sentLate = sender.sent; });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_LT(sentEarly, 2000, "the sender is paused");
    NS_TEST_EXPECT_MSG_EQ(sentLate, sentEarly, "and stays so");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().droppedFrames, 0, "lossless frames dropped");
    NS_TEST_EXPECT_MSG_EQ(arrivals.size(), 2000, "all arrive in the end");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/**
 * A pause stops exactly its priorities, for quanta * 512 bit times or until a resume.
 * @param rate of the link, bit/s
 */
void
TestFabricPause(uint64_t rate, uint16_t quanta)
{
    constexpr uint32_t BYTES = 1000;
    constexpr int64_t DELAY = 1000000;
    const int64_t frameTime = LineTime(BYTES + 20, rate);
    const int64_t pauseAt = 10 * frameTime + frameTime / 2;
    const int64_t arrives = pauseAt + LineTime(Frame::MIN_BYTES + 8, rate) + DELAY;
    const int64_t length =
        std::llround(static_cast<long double>(quanta) * 512e12L / static_cast<long double>(rate));
    const auto frames = static_cast<uint32_t>((arrives + length) / frameTime + 100);

    for (const bool resume : {false, true})
    {
        for (const bool other : {false, true})
        {
            Recorder a;
            Recorder b;
            a.port.Connect(b.port, rate, TimeStep(DELAY));
            b.port.Connect(a.port, rate, TimeStep(DELAY));
            for (uint32_t i = 0; i < frames; i++)
            {
                a.port.Send(MakeFrame(BYTES, LOSSLESS));
                if (other)
                {
                    a.port.Send(MakeFrame(BYTES, 1));
                }
            }
            In(pauseAt, [&]() { b.port.SendPause(1 << LOSSLESS, quanta); });
            int64_t ends = arrives + length;
            if (resume)
            {
                ends = arrives + length / 2;
                In(pauseAt + length / 2, [&]() { b.port.SendPause(1 << LOSSLESS, 0); });
            }
            bool pausedInside = false;
            bool otherPausedInside = true;
            In((arrives + ends) / 2, [&]() {
                pausedInside = a.port.IsPaused(LOSSLESS);
                otherPausedInside = a.port.IsPaused(1);
            });
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(pausedInside, true, "paused");
            NS_TEST_EXPECT_MSG_EQ(otherPausedInside, false, "the other priority is not paused");
            NS_TEST_EXPECT_MSG_EQ(a.port.IsPaused(LOSSLESS), false, "not for ever");
            int64_t firstAfter = 0;
            int64_t previous = -1;
            uint32_t othersInside = 0;
            uint32_t inside = 0;
            for (const auto& [time, priority] : a.begun)
            {
                if (priority == LOSSLESS)
                {
                    inside += time > arrives && time < ends - 1;
                    firstAfter = firstAfter == 0 && time >= ends - 1 ? time : firstAfter;
                }
                else
                {
                    othersInside += time > arrives + frameTime && time < ends - frameTime;
                }
                if (other)
                {
                    NS_TEST_EXPECT_MSG_EQ((previous < 0 || time - previous <= frameTime + 1),
                                          true,
                                          "with another priority waiting the line never idles");
                }
                previous = time;
            }
            NS_TEST_EXPECT_MSG_EQ(inside, 0, "nothing starts while paused");
            if (other)
            {
                NS_TEST_EXPECT_MSG_GT_OR_EQ(othersInside + 4,
                                            (ends - arrives) / frameTime,
                                            "the other priority has the whole line");
                NS_TEST_EXPECT_MSG_LT_OR_EQ(firstAfter, ends + 20 * frameTime, "resumes");
            }
            else
            {
                NS_TEST_EXPECT_MSG_EQ_TOL(firstAfter, ends, 1, "the pause ends to the picosecond");
            }
            NS_TEST_EXPECT_MSG_EQ(b.arrivals.size(), frames * (other ? 2 : 1), "all arrive");
            Simulator::Destroy();
        }
    }
}

/** A port obeys a pause after its response time, by default the maximum of the standard. */
void
TestFabricPauseResponse()
{
    // IEEE Std 802.3, 31B.3.7, in pause quanta of 512 bit times.
    const std::vector<std::pair<uint64_t, int64_t>> limits{{100000000, 5120000},
                                                           {1 * GIGA, 1024000},
                                                           {10 * GIGA, 3430400},
                                                           {25 * GIGA, 1638400},
                                                           {40 * GIGA, 1510400},
                                                           {50 * GIGA, 1505280},
                                                           {100 * GIGA, 2017280},
                                                           {200 * GIGA, 1159680},
                                                           {400 * GIGA, 1158400},
                                                           {800 * GIGA, 1158400}};
    for (const auto& [rate, limit] : limits)
    {
        NS_TEST_EXPECT_MSG_EQ(GetPauseResponseLimit(rate).GetTimeStep(), limit, rate);
    }
    constexpr uint64_t RATE = 100 * GIGA;
    constexpr int64_t DELAY = 1000000;
    constexpr uint32_t BYTES = 1000;
    constexpr uint32_t FRAMES = 1000;
    const int64_t frameTime = LineTime(BYTES + 20, RATE);
    const int64_t arrives = LineTime(Frame::MIN_BYTES + 8, RATE) + DELAY;
    const int64_t length = LineTime(1000 * 64, RATE);
    for (const int64_t response : {0, 100, 500000, 2017280})
    {
        Recorder a;
        Recorder b;
        a.pauseResponse = TimeStep(response);
        a.port.Connect(b.port, RATE, TimeStep(DELAY));
        b.port.Connect(a.port, RATE, TimeStep(DELAY));
        for (uint32_t i = 0; i < FRAMES; i++)
        {
            a.port.Send(MakeFrame(BYTES, LOSSLESS));
        }
        b.port.SendPause(1 << LOSSLESS, 1000);
        Simulator::Run();
        const int64_t obeyed = arrives + response;
        const int64_t before = (obeyed + frameTime - 1) / frameTime;
        NS_TEST_EXPECT_MSG_EQ(a.begun[before - 1].first,
                              (before - 1) * frameTime,
                              response << ": the last frame before");
        NS_TEST_EXPECT_MSG_EQ_TOL(a.begun[before].first,
                                  arrives + length,
                                  1,
                                  response << ": the pause lasts from its arrival on");
        NS_TEST_EXPECT_MSG_EQ(b.arrivals.size(), FRAMES, response << ": all arrive");
        Simulator::Destroy();
    }
}

/**
 * The frames that a sender begins until it obeys the pause fit into a headroom of just their size,
 * and one of them is dropped if the headroom has a byte less.
 */
void
TestFabricExactHeadroom()
{
    constexpr uint64_t RATE = 100 * GIGA;
    constexpr int64_t DELAY = 700000;
    constexpr uint32_t BYTES = 1500;
    const int64_t response = GetPauseResponseLimit(RATE).GetTimeStep();
    // All memory is headroom: the first frame makes the switch pause its sender.
    const int64_t obeyed =
        LineTime(BYTES + 8, RATE) + LineTime(Frame::MIN_BYTES + 8, RATE) + 2 * DELAY + response;
    const int64_t frameTime = LineTime(BYTES + 20, RATE);
    const int64_t frames = (obeyed + frameTime - 1) / frameTime;
    const double usual = static_cast<double>(2 * DELAY + response) / 80 + 3.0 * BYTES + 128;
    NS_TEST_EXPECT_MSG_GT(usual, static_cast<double>(frames * BYTES), "the usual headroom");
    for (const double missing : {0.5, -0.5})
    {
        FabricHelper helper;
        helper.SetSwitchAttribute("Guaranteed", UintegerValue(0));
        helper.SetSwitchAttribute("LosslessAlpha", DoubleValue(0));
        helper.SetSwitchAttribute("LargestFrame", UintegerValue(BYTES));
        helper.SetSwitchAttribute(
            "HeadroomScale",
            DoubleValue((static_cast<double>(frames * BYTES) + missing) / usual));
        Fabric fabric =
            helper.Install(BuildTopology("single-switch", 2, DataRate(RATE), TimeStep(DELAY)));
        fabric.devicesOfSwitches[0]->GetPort(1).GetPauses().Override(LOSSLESS, true);
        Blaster sender(fabric.devices[0], 1, BYTES, LOSSLESS, 1000);
        sender.Start(0);
        Simulator::Stop(MicroSeconds(100));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(sender.sent), frames, "until it obeys");
        NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().byPriority[LOSSLESS].losslessDrops,
                              (missing < 0 ? 1 : 0),
                              "drops");
        Simulator::Destroy();
    }
}

constexpr uint64_t RATE = 100 * GIGA;
constexpr int64_t DELAY = 500000;
constexpr uint32_t BYTES = 1000;
constexpr int64_t STORM = 3000000000; // ends at, ps
constexpr int64_t DETECTION = 1000000000;
constexpr int64_t RESTORATION = 600000000;

FabricHelper
MakeHelper(const std::string& action)
{
    FabricHelper helper;
    helper.SetSwitchAttribute("WatchdogDetection",
                              TimeValue(TimeStep(action == "none" ? 0 : DETECTION)));
    helper.SetSwitchAttribute("WatchdogRestoration", TimeValue(TimeStep(RESTORATION)));
    if (action != "none")
    {
        helper.SetSwitchAttribute("WatchdogAction", StringValue(action));
    }
    return helper;
}

void
Storm(const std::string& action)
{
    Fabric fabric = MakeHelper(action).Install(
        BuildTopology("single-switch", 2, DataRate(RATE), TimeStep(DELAY)));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    FabricPort& port = fabric.devices[1]->GetPort();
    for (int64_t time = 0; time <= STORM; time += 100000000)
    {
        In(time, [&]() { port.SendPause(1 << LOSSLESS, 65535); });
    }
    Blaster sender(fabric.devices[0], 1, BYTES, LOSSLESS, 2000);
    sender.Start(100000000);
    // After the storm, all is as before.
    In(2 * STORM, [&]() { fabric.devices[0]->GetPort().Send(MakeFrame(BYTES, LOSSLESS)); });
    Simulator::Run();
    const int64_t paused =
        LineTime(Frame::MIN_BYTES + 8, RATE) + DELAY + GetPauseResponseLimit(RATE).GetTimeStep();
    const int64_t transit = LineTime(BYTES + 8, RATE) + DELAY;
    const PortCounters& counters = fabric.devicesOfSwitches[0]->GetPort(1).GetCounters();
    const uint32_t storms = action == "none" ? 0 : 1;
    NS_TEST_EXPECT_MSG_EQ(counters.byPriority[LOSSLESS].pauseStorms, storms, action << ": storms");
    NS_TEST_EXPECT_MSG_EQ(arrivals.back().time,
                          2 * STORM + 2 * transit,
                          action << ": the last frame");
    if (action == "drop")
    {
        NS_TEST_EXPECT_MSG_EQ(counters.byPriority[LOSSLESS].droppedFrames,
                              2000,
                              "all but the last one");
        NS_TEST_EXPECT_MSG_EQ(arrivals.size(), 1, "that one");
    }
    else
    {
        NS_TEST_EXPECT_MSG_EQ(counters.droppedFrames, 0, action);
        NS_TEST_EXPECT_MSG_EQ(arrivals.size(), 2001, action << ": all arrive");
        // Without a watchdog, the last pause has to expire.
        const int64_t begins = action == "forward"
                                   ? paused + DETECTION
                                   : paused - GetPauseResponseLimit(RATE).GetTimeStep() + STORM +
                                         LineTime(65535ULL * 64, RATE);
        NS_TEST_EXPECT_MSG_EQ_TOL(arrivals.front().time,
                                  begins + transit,
                                  1,
                                  action << ": the first frame");
    }
    NS_TEST_EXPECT_MSG_EQ(fabric.devicesOfSwitches[0]->GetBuffer().GetUsed(),
                          0,
                          action << ": memory is free");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, action << ": all frames given back");
    Simulator::Destroy();
}

void
DeadReceiver(bool watched)
{
    Fabric fabric =
        MakeHelper(watched ? "drop" : "none")
            .Install(BuildTopology("single-switch", 3, DataRate(RATE), TimeStep(DELAY)));
    fabric.devices[1]->SetReceiveRate(DataRate(1));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[2], arrivals);
    Blaster sender(fabric.devices[0], 1, BYTES, LOSSLESS, 100000);
    sender.Start(0);
    In(DETECTION / 2, [&]() {
        for (uint32_t i = 0; i < 100; i++)
        {
            fabric.devices[0]->GetPort().Send(MakeFrame(BYTES, LOSSLESS, 0, 2));
        }
    });
    Simulator::Stop(TimeStep(20 * DETECTION));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(arrivals.size(),
                          (watched ? 100 : 0),
                          "frames for another host behind those for the dead one");
    NS_TEST_EXPECT_MSG_EQ((sender.sent == 100000), watched, "their sender goes on");
    NS_TEST_EXPECT_MSG_EQ(
        fabric.devicesOfSwitches[0]->GetPort(1).GetCounters().byPriority[LOSSLESS].pauseStorms,
        (watched ? 1 : 0),
        "storms");
    Simulator::Destroy();
}

/** The watchdog: a class that is paused too long is dropped or forwarded until pauses cease. */
void
TestFabricWatchdog()
{
    for (const std::string action : {"none", "drop", "forward"})
    {
        Storm(action);
    }
    DeadReceiver(false);
    DeadReceiver(true);
}

/**
 * A ring of three switches with flows in the same direction over two links each: a deadlock, whose
 * cycle is reported. On shortest paths the same traffic passes.
 */
void
TestFabricDeadlock(const std::string& flowControl)
{
    for (const bool cyclic : {true, false})
    {
        TopologyGraph graph;
        graph.name = "triangle";
        graph.hosts = 3;
        graph.switches = 3;
        for (uint32_t i = 0; i < 3; i++)
        {
            graph.links.push_back({i, 3 + i, DataRate("100Gbps"), NanoSeconds(100)});
            graph.links.push_back({3 + i, 3 + (i + 1) % 3, DataRate("100Gbps"), NanoSeconds(100)});
        }
        FabricHelper helper;
        helper.SetSwitchAttribute("BufferSize", UintegerValue(300000));
        helper.SetSwitchAttribute("FlowControl", StringValue(flowControl));
        Fabric fabric = helper.Install(graph);
        std::vector<std::unique_ptr<Blaster>> senders;
        std::vector<Arrivals> arrivals(3);
        for (uint32_t host = 0; host < 3; host++)
        {
            // Links of switch i: 2i to its host, 2i + 1 to the next switch (its end 0).
            const uint32_t behind = (host + 2) % 3;
            if (cyclic)
            {
                fabric.devicesOfSwitches[host]->GetTable().SetStatic(
                    behind,
                    {fabric.channels[2 * host + 1]->GetPort(0).GetIndex()});
            }
            NoteArrivals(fabric.devices[host], arrivals[host]);
            senders.push_back(
                std::make_unique<Blaster>(fabric.devices[host], behind, 1000, LOSSLESS, 5000));
            senders.back()->Start(0);
        }
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        const PfcDeadlock early = FindPfcDeadlock(fabric);
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        const PfcDeadlock late = FindPfcDeadlock(fabric);
        NS_TEST_EXPECT_MSG_EQ(early.cycle, late.cycle, "it stays");
        NS_TEST_EXPECT_MSG_EQ(early.sentFrames, late.sentFrames, "and nothing moves");
        for (const std::string part : {"switch0 -> switch1", "switch1 -> switch2", "(priority 3)"})
        {
            NS_TEST_EXPECT_MSG_EQ((late.cycle.find(part) != std::string::npos),
                                  cyclic,
                                  late.cycle << ": " << part);
        }
        for (const Arrivals& ofHost : arrivals)
        {
            NS_TEST_EXPECT_MSG_EQ((ofHost.size() == 5000), !cyclic, "all arrive, or not");
        }
        Simulator::Destroy();
    }
}

constexpr uint32_t FRAMES = 2000;

/**
 * Lossless traffic in a ring, torus, or BiGraph completes: after the dateline it uses a separate
 * class. Without datelines the same traffic deadlocks.
 * @param distances host h sends to host h + d for each distance d
 */
void
TestFabricDateline(const std::string& spec, const std::vector<uint32_t>& distances)
{
    for (const bool datelines : {false, true})
    {
        TopologyGraph graph = BuildTopology(spec, 1, DataRate(100 * GIGA), TimeStep(300000));
        for (auto& link : graph.links)
        {
            link.dateline = link.dateline && datelines;
        }
        FabricHelper helper;
        helper.SetSwitchAttribute("BufferSize", UintegerValue(400000));
        helper.SetSwitchAttribute("LargestFrame", UintegerValue(1000));
        helper.SetSwitchAttribute("PauseResponse", TimeValue(Time(0)));
        helper.SetHostAttribute("PauseResponse", TimeValue(Time(0)));
        Fabric fabric = helper.Install(graph);
        std::vector<std::unique_ptr<Blaster>> senders;
        std::vector<Arrivals> arrivals(graph.hosts);
        for (uint32_t host = 0; host < graph.hosts; host++)
        {
            const uint32_t distance = distances[host % distances.size()];
            NoteArrivals(fabric.devices[host], arrivals[host]);
            senders.push_back(std::make_unique<Blaster>(fabric.devices[host],
                                                        (host + distance) % graph.hosts,
                                                        1000,
                                                        LOSSLESS,
                                                        FRAMES));
            senders.back()->Start(0);
        }
        Simulator::Stop(MilliSeconds(4));
        Simulator::Run();
        const std::string cycle = FindPfcDeadlock(fabric).cycle;
        NS_TEST_EXPECT_MSG_EQ(cycle.empty(), datelines, "deadlock: " << cycle);
        std::size_t arrived = 0;
        bool isBase = true;
        for (const Arrivals& ofHost : arrivals)
        {
            arrived += ofHost.size();
            for (const Arrival& arrival : ofHost)
            {
                isBase = isBase && arrival.priority == LOSSLESS;
            }
        }
        NS_TEST_EXPECT_MSG_EQ((arrived == std::size_t{graph.hosts} * FRAMES),
                              datelines,
                              "all arrive, or not: " << arrived);
        NS_TEST_EXPECT_MSG_EQ(isBase, true, "in the class they were sent in");
        const PortCounters total = fabric.GetTotal();
        NS_TEST_EXPECT_MSG_EQ(total.droppedFrames, 0, "no loss");
        NS_TEST_EXPECT_MSG_EQ((total.byPriority[LOSSLESS + 1].transmittedFrames > 0),
                              datelines,
                              "second class");
        Simulator::Destroy();
    }
}

/**
 * The class of a lossless frame on each link of its path, and the classes that need a second one.
 */
void
TestFabricSecondClass()
{
    // Along the row from column 4 over the dateline to 1, then along the column from row 4
    // to 1.
    const TopologyGraph graph =
        BuildTopology("torus:5x5", 25, DataRate(100 * GIGA), TimeStep(300000));
    for (const uint8_t priority : {LOSSLESS, LOSSY})
    {
        Fabric fabric = FabricHelper().Install(graph);
        std::vector<std::pair<std::string, uint8_t>> classes; // end of a link, class on it
        for (uint32_t link = 0; link < fabric.channels.size(); link++)
        {
            for (uint32_t end = 0; end < 2; end++)
            {
                const std::string name = fabric.GetEndName(link, end);
                fabric.channels[link]->GetPort(end).SetTap(
                    [&classes, name](const Frame& frame, bool sends) {
                        if (!sends)
                        {
                            classes.emplace_back(name, frame.priority);
                        }
                    });
            }
        }
        fabric.devices[24]->GetPort().Send(MakeFrame(1000, priority, 24, 6));
        Simulator::Run();
        const uint8_t second = priority == LOSSLESS ? LOSSLESS + 1 : priority;
        const std::vector<std::pair<std::string, uint8_t>> expected{{"switch24", priority},
                                                                    {"switch20", priority},
                                                                    {"switch21", second},
                                                                    {"switch1", priority},
                                                                    {"switch6", second},
                                                                    {"host6", priority}};
        NS_TEST_EXPECT_MSG_EQ(classes, expected, "classes on the way");
        Simulator::Destroy();
    }
    for (const uint32_t classes : {0x18, 0x80, 0x88})
    {
        FabricHelper helper;
        helper.SetSwitchAttribute("LosslessClasses", UintegerValue(classes));
        ExpectPart(GetRefusal([&] { helper.Install(graph); }),
                   "LosslessClasses=" + std::to_string(classes));
        Simulator::Destroy();
    }
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const auto addFabricIncast = [&cases](uint32_t senders,
                                          uint64_t rate,
                                          int64_t delay,
                                          uint32_t bytes,
                                          uint64_t buffer,
                                          bool lossless) {
        cases.push_back({"incast of " + std::to_string(senders) + " at " + std::to_string(rate) +
                             " bps, " + std::to_string(bytes) + " bytes, buffer " +
                             std::to_string(buffer),
                         [=] { TestFabricIncast(senders, rate, delay, bytes, buffer, lossless); }});
    };
    const auto addFabricPause = [&cases](uint64_t rate, uint16_t quanta) {
        cases.push_back(
            {"pause of " + std::to_string(quanta) + " quanta at " + std::to_string(rate) + " bps",
             [=] { TestFabricPause(rate, quanta); }});
    };
    cases.push_back({"a deadlock is found, flow control pfc", [] { TestFabricDeadlock("pfc"); }});
    cases.push_back(
        {"a deadlock is found, flow control credit", [] { TestFabricDeadlock("credit"); }});
    cases.push_back({"datelines of ring:5", [] { TestFabricDateline("ring:5", {2}); }});
    cases.push_back({"datelines of ring:8", [] { TestFabricDateline("ring:8", {3}); }});
    cases.push_back({"datelines of torus:5x5", [] { TestFabricDateline("torus:5x5", {12}); }});
    cases.push_back({"datelines of torus:3x6", [] { TestFabricDateline("torus:3x6", {9}); }});
    cases.push_back({"datelines of bigraph:m=8,n=4", [] {
                         TestFabricDateline("bigraph:m=8,n=4", {8, 24});
                     }});
    cases.push_back({"second lossless classes", TestFabricSecondClass});
    addFabricIncast(15, 100 * GIGA, 1000000, 4158, 2000000, true);
    addFabricIncast(15, 400 * GIGA, 1000000, 4158, 8000000, true);
    addFabricIncast(31, 400 * GIGA, 100000, 9216, 4000000, true);
    addFabricIncast(3, 25 * GIGA, 10000000, 1106, 1000000, true);
    addFabricIncast(15, 100 * GIGA, 10000000, 4158, 300000, false);
    cases.push_back({"pauses on the port that frames leave by", TestFabricReflection});
    cases.push_back({"headroom for frames of 9216 bytes", [] { TestFabricHeadroom(9216); }});
    cases.push_back({"headroom for frames of 1500 bytes", [] { TestFabricHeadroom(1500); }});
    cases.push_back({"a pause is obeyed after the response time", TestFabricPauseResponse});
    cases.push_back({"the headroom suffices to the byte", TestFabricExactHeadroom});
    cases.push_back({"watchdog against pause storms", TestFabricWatchdog});
    cases.push_back({"a pause is renewed before it expires", TestFabricLongPause});
    addFabricPause(400 * GIGA, 65535);
    addFabricPause(100 * GIGA, 1000);
    addFabricPause(3 * GIGA, 333);
    return cases;
}

const Suite g_suite("fabric-pause", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::fabric_pause_test
