/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/compute-stream.h"
#include "test-case.h"

#include "ns3/simulator.h"

#include <cstdint>
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

const Suite g_suite("compute-stream",
                    Duration::QUICK,
                    {{"other work delays computations", RunTest<ComputeStreamTest>}});

} // namespace compute_stream_test
