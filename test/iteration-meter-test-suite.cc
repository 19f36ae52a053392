/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/iteration-meter.h"
#include "ns3/simulator.h"

#include <vector>

namespace iteration_meter_test
{

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

/** Two iterations of a rank: at each time, what it does. */
struct IterationMeterTest
{
    static void Step(IterationMeterTest* self)
    {
        IterationMeter& meter = self->meter;
        switch (Simulator::Now().GetNanoSeconds())
        {
        case 0:
            meter.Start();
            meter.BeginComputing(nullptr);
            return;
        case 10:
            meter.BeginCollective();
            meter.BeginComputing(nullptr); // of another stream
            return;
        case 20:
            meter.EndComputing(NanoSeconds(0));
            meter.BeginSend();
            return;
        case 25:
            meter.EndComputing(NanoSeconds(10));
            return;
        case 30:
            meter.EndCollective();
            return;
        case 40:
            meter.BeginComputing(nullptr);
            meter.AddWait(NanoSeconds(3));
            return;
        case 50:
            self->measured.push_back(meter.End({NanoSeconds(43)}));
            meter.Start();
            return;
        case 60:
            meter.EndSend();
            meter.EndComputing(NanoSeconds(43));
            return;
        case 70:
            self->measured.push_back(meter.End({}));
            return;
        }
    }

    void Run()
    {
        for (const int64_t time : {0, 10, 20, 25, 30, 40, 50, 60, 70})
        {
            Simulator::Schedule(NanoSeconds(time), &IterationMeterTest::Step, this);
        }
        Simulator::Run();
        Simulator::Destroy();
        const RankIteration& first = measured.at(0);
        NS_TEST_EXPECT_MSG_EQ(first.end - first.start, NanoSeconds(50), "its length");
        NS_TEST_EXPECT_MSG_EQ(first.computeTime, NanoSeconds(32), "0 to 25, 43 to 50");
        NS_TEST_EXPECT_MSG_EQ(first.collectiveTime, NanoSeconds(20), "10 to 30");
        NS_TEST_EXPECT_MSG_EQ(first.communicationTime, NanoSeconds(40), "10 to 50");
        NS_TEST_EXPECT_MSG_EQ(first.otherIdle, NanoSeconds(18), "25 to 40, and the wait");
        const RankIteration& second = measured.at(1);
        NS_TEST_EXPECT_MSG_EQ(second.start, NanoSeconds(50), "follows");
        NS_TEST_EXPECT_MSG_EQ(second.computeTime, NanoSeconds(10), "50 to 60");
        NS_TEST_EXPECT_MSG_EQ(second.collectiveTime, Time(0), "there is none");
        NS_TEST_EXPECT_MSG_EQ(second.communicationTime, NanoSeconds(10), "50 to 60");
    }

    IterationMeter meter;
    std::vector<RankIteration> measured;
};

const Suite g_suite("iteration-meter",
                    Duration::QUICK,
                    {{"computing and communicating in two iterations",
                      RunTest<IterationMeterTest>}});

} // namespace iteration_meter_test
