/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/simulator.h"
#include "ns3/traffic-manager.h"

#include <map>
#include <set>
#include <vector>

namespace ns3::training::tests::fabric_traffic_manager_test
{

/** A switch that sends all frames to its port 1. */
struct Manager : public TrafficManager
{
    Manager()
    {
        m_ecn = {0, 0, 0};
        m_wred = {0, 0, 0};
        m_trim = {0, 0, 0};
        m_marksLastHop = true;
        m_cutThrough = false;
        m_pauseResponse = Time(0);
        m_memory.size = 1 << 20;
        m_memory.lossyAlpha = 1;
        m_headroom.largestFrame = 1000;
        for (Recorder* peer : {&source, &sink})
        {
            FabricPort& port = AddPort();
            port.Connect(peer->port, 100 * GIGA, TimeStep(1000));
            peer->port.Connect(port, 100 * GIGA, TimeStep(1000));
        }
    }

    void Receive(Frame* frame, FabricPort&) override
    {
        SendFrom(frame, 1);
    }

    /** Six frames of 1000 bytes arrive at one time. @return those that the sink gets, by PSN */
    std::map<uint32_t, Ecn> Run()
    {
        ConfigureQueues();
        for (uint32_t psn = 0; psn < 6; psn++)
        {
            Frame* frame = MakeFrame(1000, LOSSY);
            frame->psn = psn;
            frame->ecn = ecn;
            frame->ingressPriority = LOSSY;
            Receive(frame, *m_ports[0]);
        }
        most = GetBuffer().GetUsed();
        Simulator::Run();
        std::map<uint32_t, Ecn> received;
        for (const Arrival& arrival : sink.arrivals)
        {
            received[arrival.psn] = arrival.ecn;
        }
        NS_TEST_EXPECT_MSG_EQ(GetBuffer().GetUsed(), 0, "no frame is left");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
        Simulator::Destroy();
        return received;
    }

    using TrafficManager::m_ecn;
    using TrafficManager::m_memory;
    using TrafficManager::m_wred;
    using TrafficManager::RestartQueues;

    Recorder source;
    Recorder sink;
    Ecn ecn{Ecn::ECT}; ///< of the frames
    uint64_t most{0};  ///< bytes in the buffer
};

/** The first frame leaves at once. Others are marked if more than 2000 bytes wait behind them. */
void
TestMarks()
{
    Manager manager;
    manager.m_ecn = {20, 20, 1};
    std::set<uint32_t> marked;
    const auto received = manager.Run();
    for (const auto& [psn, ecn] : received)
    {
        if (ecn == Ecn::CE)
        {
            marked.insert(psn);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(received.size(), 6, "all arrive");
    NS_TEST_EXPECT_MSG_EQ(marked, (std::set<uint32_t>{1, 2}), "with 4000 and 3000 bytes behind");
    NS_TEST_EXPECT_MSG_EQ(manager.most, 5000, "all but the first one wait");
    NS_TEST_EXPECT_MSG_EQ(manager.GetPort(1).GetCounters().markedFrames, 2, "counted");
}

/** Frames that cannot be marked are dropped if they find more than 2000 bytes in the queue. */
void
TestEarlyDrops()
{
    Manager marked;
    marked.m_wred = {20, 20, 1};
    NS_TEST_EXPECT_MSG_EQ(marked.Run().size(), 6, "those that can be marked are not dropped");
    Manager manager;
    manager.m_wred = {20, 20, 1};
    manager.ecn = Ecn::NOT_ECT;
    const auto received = manager.Run();
    NS_TEST_EXPECT_MSG_EQ(received.size(), 4, "one on the line, three in the queue");
    NS_TEST_EXPECT_MSG_EQ(received.rbegin()->first, 3, "the first ones");
    NS_TEST_EXPECT_MSG_EQ(manager.most, 3000, "the queue");
    NS_TEST_EXPECT_MSG_EQ(manager.GetPort(1).GetCounters().droppedFrames, 2, "the last ones");
}

/** A queue may take as much as is free: half of the memory. */
void
TestFullMemory()
{
    Manager manager;
    manager.m_memory.size = 4000;
    NS_TEST_EXPECT_MSG_EQ(manager.Run().size(), 3, "one on the line, two in the queue");
    NS_TEST_EXPECT_MSG_EQ(manager.most, 2000, "half of the memory");
    NS_TEST_EXPECT_MSG_EQ(manager.GetPort(1).GetCounters().droppedFrames, 3, "the last ones");
}

/** A restart loses what waits, and the memory is free again. */
void
TestRestart()
{
    Manager manager;
    In(100000, [&manager] { manager.RestartQueues(); }); // 80 ns for each frame
    NS_TEST_EXPECT_MSG_EQ(manager.Run().size(), 2, "the one on the line is the second one");
    NS_TEST_EXPECT_MSG_EQ(manager.GetPort(1).GetCounters().droppedFrames, 4, "the others");
}

const Suite g_suite("fabric-traffic-manager",
                    Duration::QUICK,
                    {{"marks by the queue behind a frame", TestMarks},
                     {"early drops", TestEarlyDrops},
                     {"full memory", TestFullMemory},
                     {"restart", TestRestart}});

} // namespace ns3::training::tests::fabric_traffic_manager_test
