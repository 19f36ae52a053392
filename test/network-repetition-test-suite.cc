/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/network-repetition.h"
#include "ns3/simulator.h"

#include <vector>

namespace ns3::training::tests::network_repetition_test
{

using Span = NetworkRepetition::Span;

/** @return a span of one port */
Span
MakeSpan(uint64_t state, double rate, uint64_t bytes)
{
    Span span;
    span.state = {state};
    span.rates = {rate};
    span.ports.resize(1);
    span.ports[0].transmittedBytes = bytes;
    return span;
}

void
TestComparisons()
{
    NS_TEST_EXPECT_MSG_EQ(NetworkRepetition::IsWithin(0.1, 90, 100), true, "a tenth");
    NS_TEST_EXPECT_MSG_EQ(NetworkRepetition::IsWithin(0.1, 100, 89), false, "more");
    NS_TEST_EXPECT_MSG_EQ(NetworkRepetition::IsWithin(0.1, -100, -91), true, "of the larger one");
    NS_TEST_EXPECT_MSG_EQ(NetworkRepetition::IsWithin(0, 0, 0), true, "nothing");

    struct Example
    {
        Span other;
        bool same;
        bool about;
        const char* name;
    };

    Span longer = MakeSpan(5, 1e9, 1000000);
    longer.raisesPeaks = true;
    const Span one = MakeSpan(5, 1e9, 1000000);
    for (const Example& example :
         {Example{one, true, true, "equal"},
          Example{MakeSpan(5, 1e9 + 0.5, 1000000), true, true, "rates within the tolerance"},
          Example{MakeSpan(5, 1e9 + 1e5, 1000000), false, true, "rates about the same"},
          Example{MakeSpan(5, 1.01e9, 1000000), false, false, "another rate"},
          Example{MakeSpan(6, 1e9, 1000000), false, true, "another state"},
          Example{MakeSpan(5, 1e9, 1009999), false, true, "acknowledgements"},
          Example{MakeSpan(5, 1e9, 1010000), false, false, "data"},
          Example{longer, false, true, "longer queues"}})
    {
        NS_TEST_EXPECT_MSG_EQ(NetworkRepetition::AreSame(one, example.other),
                              example.same,
                              example.name);
        NS_TEST_EXPECT_MSG_EQ(NetworkRepetition::AreAbout(one, example.other),
                              example.about,
                              example.name);
    }
}

/** A host sends three frames every ten microseconds. */
void
TestSpans()
{
    constexpr uint32_t BYTES = 1000;
    FabricHelper helper;
    Fabric fabric = helper.Install(MakeChain({{100 * GIGA, 1000000}, {10 * GIGA, 1000000}}));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    NetworkRepetition repetition(fabric, 2, "dcqcn");
    std::vector<Span> spans;
    for (int64_t begin : {0, 10, 20})
    {
        In(begin * 1000000, [&fabric] {
            for (int i = 0; i < 3; i++)
            {
                fabric.devices[0]->GetPort().Send(MakeFrame(BYTES, LOSSLESS));
            }
        });
        In(begin * 1000000 + 9500000, [&] { spans.push_back(repetition.Take()); });
    }
    In(20500000, [&] { spans.push_back(repetition.Take()); }); // while frames are under way
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(spans.size(), 4, "spans");
    NS_TEST_EXPECT_MSG_EQ(spans[0].isIdle, true, "between frames");
    NS_TEST_EXPECT_MSG_EQ(spans[0].raisesPeaks, true, "the first queues");
    NS_TEST_EXPECT_MSG_EQ(spans[1].raisesPeaks, false, "the same queues");
    NS_TEST_EXPECT_MSG_EQ(NetworkRepetition::AreSame(spans[0], spans[1]), true, "the same");
    NS_TEST_EXPECT_MSG_EQ(spans[2].isIdle, false, "frames are under way");
    NS_TEST_EXPECT_MSG_EQ(NetworkRepetition::AreSame(spans[1], spans[2]), false, "another state");
    NS_TEST_EXPECT_MSG_EQ(NetworkRepetition::AreSame(spans[1], spans[3]), false, "a part");
    for (const Span& span : {spans[0], spans[1]})
    {
        NS_TEST_EXPECT_MSG_EQ(span.GetSum().transmittedFrames, 6, "three frames on two links");
        NS_TEST_EXPECT_MSG_EQ(span.GetSum().transmittedBytes, 6 * BYTES, "their bytes");
        NS_TEST_EXPECT_MSG_EQ(span.GetSum().receivedFrames, 6, "all arrive");
    }
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().transmittedFrames, 18, "three times");
    repetition.Repeat(spans[1]);
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().transmittedFrames, 24, "once more, without packets");
    NS_TEST_EXPECT_MSG_EQ(arrivals.size(), 9, "without packets");
    Simulator::Destroy();
}

void
TestCongestionControls()
{
    const Fabric fabric;
    const NetworkRepetition dcqcn(fabric, 0, "dcqcn");
    NS_TEST_EXPECT_MSG_EQ(dcqcn.ReactsToMarks(), true, "DCQCN");
    NS_TEST_EXPECT_MSG_EQ(dcqcn.HasHiddenState(), false, "DCQCN hears of congestion only");
    const NetworkRepetition none(fabric, 0, "none");
    NS_TEST_EXPECT_MSG_EQ(none.ReactsToMarks(), false, "none");
    const NetworkRepetition hpcc(fabric, 0, "hpcc");
    NS_TEST_EXPECT_MSG_EQ(hpcc.HasHiddenState(), true, "HPCC hears of each packet");
    NS_TEST_EXPECT_MSG_EQ(hpcc.MarksAtRandom(), false, "there is no switch");
}

const Suite g_suite("network-repetition",
                    Duration::QUICK,
                    {{"comparisons of spans", TestComparisons},
                     {"spans of a network", TestSpans},
                     {"what congestion controls hear", TestCongestionControls}});

} // namespace ns3::training::tests::network_repetition_test
