/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/compute-stream.h"
#include "test-case.h"

#include "ns3/simulator.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace compute_stream_test
{

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

/** A stream with other work before, during and after a computation. */
struct ComputeStreamTest
{
    static void Step(ComputeStreamTest* self)
    {
        ComputeStream& stream = self->stream;
        switch (Simulator::Now().GetNanoSeconds())
        {
        case 0:
            NS_TEST_EXPECT_MSG_EQ(stream.Occupy(NanoSeconds(10)), false, "nothing to delay");
            return;
        case 4:
            NS_TEST_EXPECT_MSG_EQ(stream.Start(NanoSeconds(20), 7), NanoSeconds(6), "waits");
            return;
        case 8:
        case 15:
            NS_TEST_EXPECT_MSG_EQ(stream.Occupy(NanoSeconds(3)), true, "delays");
            return;
        case 40:
            NS_TEST_EXPECT_MSG_EQ(stream.GetWait(), NanoSeconds(0), "other work is over");
            NS_TEST_EXPECT_MSG_EQ(stream.Start(NanoSeconds(5), 8), NanoSeconds(0), "at once");
            return;
        case 50:
            stream.Start(NanoSeconds(5), 9);
            stream.Occupy(NanoSeconds(30));
            stream.Stop();
            NS_TEST_EXPECT_MSG_EQ(stream.IsBusy(), false, "stopped");
            NS_TEST_EXPECT_MSG_EQ(stream.GetWait(), NanoSeconds(0), "other work as well");
            return;
        }
    }

    void Run()
    {
        for (const int64_t time : {0, 4, 8, 15, 40, 50})
        {
            Simulator::Schedule(NanoSeconds(time), &ComputeStreamTest::Step, this);
        }
        Simulator::Run();
        Simulator::Destroy();
        const Ends expected{{7, 36}, {8, 45}};
        NS_TEST_EXPECT_MSG_EQ((ends == expected), true, "ends of tasks");
    }

    using Ends = std::vector<std::pair<uint64_t, int64_t>>;
    Ends ends;
    ComputeStream stream{
        [this](uint64_t task) { ends.emplace_back(task, Simulator::Now().GetNanoSeconds()); }};
};

/** Collectives make a computation slower for a while, also one that waits. */
struct ComputePaceTest
{
    static void Again(ComputePaceTest* self)
    {
        NS_TEST_EXPECT_MSG_EQ(self->end, NanoSeconds(38), "waits 10 ns and loses 8 ns");
        NS_TEST_EXPECT_MSG_EQ(self->stream.GetStretch(), NanoSeconds(8), "lost");
        self->stream.Start(NanoSeconds(3), 2);
    }

    static void SetPace(ComputePaceTest* self, double pace)
    {
        self->stream.SetPace(pace);
    }

    void Run()
    {
        stream.Occupy(NanoSeconds(10));
        stream.Start(NanoSeconds(20), 1); // from 10 on
        // 4 ns at full pace, 8 ns of the next 16 ns, the last 8 ns at full pace.
        for (const auto& [time, pace] : std::map<int64_t, double>{{5, 4}, {8, 1}, {14, 2}, {30, 1}})
        {
            Simulator::Schedule(NanoSeconds(time), &ComputePaceTest::SetPace, this, pace);
        }
        Simulator::Schedule(NanoSeconds(50), &ComputePaceTest::Again, this);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(end, NanoSeconds(53), "as fast as before");
        NS_TEST_EXPECT_MSG_EQ(stream.GetStretch(), NanoSeconds(0), "nothing lost");
        Simulator::Destroy();
    }

    Time end;
    ComputeStream stream{[this](uint64_t) { end = Simulator::Now(); }};
};

const Suite g_suite("compute-stream",
                    Duration::QUICK,
                    {{"other work delays computations", RunTest<ComputeStreamTest>},
                     {"a pace stretches a part of a computation", RunTest<ComputePaceTest>}});

} // namespace compute_stream_test
