/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include <algorithm>
#include <map>

namespace ns3::training::tests::fabric_port_test
{

/**
 * Priorities 6 and 7 are strict; the others share the line by bytes, whatever their frame sizes.
 * @param sizes frame size of each priority with traffic
 */
void
TestFabricScheduler(const std::map<uint8_t, uint32_t>& sizes)
{
    constexpr uint64_t BACKLOG = 2000000;
    constexpr double QUANTUM = 9216;
    Recorder a;
    Recorder b;
    a.port.Connect(b.port, 100000000000, NanoSeconds(10));
    b.port.Connect(a.port, 100000000000, NanoSeconds(10));
    a.port.Send(MakeFrame(1500, 2)); // occupies the line while the queues fill
    uint64_t frames = 1;
    for (const auto& [priority, bytes] : sizes)
    {
        for (uint64_t sum = 0; sum < BACKLOG; sum += bytes)
        {
            a.port.Send(MakeFrame(bytes, priority));
            frames++;
        }
    }
    // Priorities 6 and 7 come late, in the middle of the others.
    In(50000000, [&]() {
        for (uint8_t priority : {6, 7, 6, 7})
        {
            a.port.Send(MakeFrame(9000, priority));
        }
    });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(b.arrivals.size(), frames + 4, "all arrive");
    std::map<uint8_t, double> sent;
    std::vector<uint8_t> strict;
    for (std::size_t i = 1; i < b.arrivals.size(); i++)
    {
        const Arrival& arrival = b.arrivals[i];
        if (arrival.priority >= 6)
        {
            strict.push_back(arrival.priority);
            // Each waits for at most the frame in transmission, then they go one by one.
            NS_TEST_EXPECT_MSG_LT_OR_EQ(arrival.time,
                                        50000000 + 10000 + LineTime(10000, 100000000000) +
                                            static_cast<int64_t>(strict.size()) *
                                                LineTime(9020, 100000000000),
                                        "strict priority");
            continue;
        }
        sent[arrival.priority] += arrival.bytes;
        if (sent[arrival.priority] + QUANTUM > BACKLOG)
        {
            break; // one class has no more frames from here on
        }
        double least = BACKLOG;
        double most = 0;
        for (const auto& [priority, bytes] : sizes)
        {
            least = std::min(least, sent[priority]);
            most = std::max(most, sent[priority]);
        }
        NS_TEST_ASSERT_MSG_LT_OR_EQ(most - least, 2 * QUANTUM, "bytes are shared equally");
    }
    const bool ordered = strict == std::vector<uint8_t>{7, 7, 6, 6};
    NS_TEST_EXPECT_MSG_EQ(ordered, true, "7 before 6, both before all others");
    NS_TEST_EXPECT_MSG_EQ_TOL(
        static_cast<double>(b.arrivals.back().time),
        static_cast<double>(
            LineTime(a.port.GetCounters().transmittedBytes + 20 * (frames + 4), 100000000000)),
        20000.0,
        "the line never idles");
    Simulator::Destroy();
}

/** A frame source that is pulled on demand and the port's own queue share the line. */
void
TestFabricSourceSharing(uint8_t priority)
{
    Fabric fabric = FabricHelper().Install(MakeChain({Hop{100000000000, 1000}}));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    Blaster rdma(fabric.devices[0], 1, 4158, LOSSLESS, UINT64_MAX);
    rdma.Start(0);
    In(0, [&]() {
        for (uint32_t i = 0; i < 1000; i++)
        {
            fabric.devices[0]->GetPort().Send(MakeFrame(1500, priority));
        }
    });
    Simulator::Stop(MicroSeconds(200));
    Simulator::Run();
    double bytes[2] = {};
    for (const Arrival& arrival : arrivals)
    {
        bytes[arrival.bytes == 4158] += arrival.bytes;
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(bytes[0], bytes[1], 2 * 9216.0, "equal bytes");
    NS_TEST_EXPECT_MSG_EQ_TOL(bytes[0] + bytes[1] + 20.0 * arrivals.size(),
                              2500000.0,
                              5000.0,
                              "200 us of the line");
    Simulator::Destroy();
}

/** A source whose acknowledgements are queued in the port. */
class AnsweringBlaster : public Blaster
{
  public:
    using Blaster::Blaster;

    bool IsOwn(const Frame& frame) const override
    {
        return frame.bytes == 64;
    }
};

/** What a source itself has queued precedes what it creates. */
void
TestOwnFrames()
{
    Fabric fabric = FabricHelper().Install(MakeChain({Hop{100000000000, 1000}}));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    AnsweringBlaster rdma(fabric.devices[0], 1, 4158, LOSSLESS, 100);
    rdma.Start(0);
    In(100, [&]() { // while the first frame is on the line
        for (uint32_t i = 0; i < 3; i++)
        {
            fabric.devices[0]->GetPort().Send(MakeFrame(64, LOSSLESS));
        }
    });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(arrivals.size(), 103, "all arrive");
    for (std::size_t i = 0; i < 5; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(arrivals[i].bytes, (i == 0 || i == 4 ? 4158 : 64), "frame " << i);
    }
    Simulator::Destroy();
}

constexpr uint32_t FRAMES = 20000; ///< sent in each direction

/** @param rate loss probability @return arrivals at hosts 0 and 1 */
std::vector<Arrivals>
Exchange(double rate)
{
    FabricHelper helper;
    Fabric fabric = helper.Install(MakeChain({Hop{100000000000, 1000000}}));
    LoseFrames(fabric, rate);
    std::vector<Arrivals> arrivals(2);
    for (uint32_t host = 0; host < 2; host++)
    {
        NoteArrivals(fabric.devices[host], arrivals[host]);
        for (uint32_t i = 0; i < FRAMES; i++)
        {
            Frame* frame = MakeFrame(100, LOSSLESS, host, 1 - host);
            frame->psn = i;
            fabric.devices[host]->GetPort().Send(frame);
        }
    }
    Simulator::Run();
    for (uint32_t host = 0; host < 2; host++)
    {
        NS_TEST_EXPECT_MSG_EQ(arrivals[host].size() +
                                  fabric.devices[1 - host]->GetPort().GetCounters().lostFrames,
                              FRAMES,
                              "received or lost");
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
    return arrivals;
}

/**
 * Random loss: its rate, independence of both directions, and repeatability for equal seeds only.
 */
void
TestFabricLoss()
{
    for (const double rate : {0.0, 0.01, 0.5, 1.0})
    {
        for (const Arrivals& arrivals : Exchange(rate))
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(FRAMES - arrivals.size()),
                                      FRAMES * rate,
                                      5 * std::sqrt(FRAMES * rate * (1 - rate)),
                                      "frames lost at rate " << rate);
        }
    }
    const auto first = Exchange(0.01);
    const auto again = Exchange(0.01);
    NS_TEST_EXPECT_MSG_EQ(first, again, "equal seeds, equal losses");
    std::vector<uint32_t> psns[2];
    for (uint32_t host = 0; host < 2; host++)
    {
        for (const Arrival& arrival : first[host])
        {
            psns[host].push_back(arrival.psn);
        }
    }
    NS_TEST_EXPECT_MSG_NE(psns[0], psns[1], "directions are independent");
    RngSeedManager::SetRun(2);
    const auto other = Exchange(0.01);
    NS_TEST_EXPECT_MSG_NE(first, other, "another run, other losses");
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const auto addFabricScheduler = [&cases](const std::map<uint8_t, uint32_t>& sizes) {
        cases.push_back({"scheduler of " + std::to_string(sizes.size()) + " classes",
                         [=] { TestFabricScheduler(sizes); }});
    };
    addFabricScheduler({{0, 1500}, {3, 500}});
    addFabricScheduler({{3, 9216}, {4, 64}});
    addFabricScheduler({{0, 64}, {1, 9216}, {3, 4158}, {5, 1499}});
    cases.push_back({"queued frames and frames on demand share a port by bytes",
                     [] { TestFabricSourceSharing(LOSSY); }});
    cases.push_back({"so they do in one class", [] { TestFabricSourceSharing(LOSSLESS); }});
    cases.push_back({"acknowledgements of queue pairs go first", TestOwnFrames});
    cases.push_back({"random loss", TestFabricLoss});
    return cases;
}

const Suite g_suite("fabric-port", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::fabric_port_test
