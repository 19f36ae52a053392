/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/double.h"
#include "ns3/shared-buffer.h"
#include "ns3/switch-device.h"
#include "ns3/topology-builder.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>

namespace ns3::training::tests::fabric_buffer_test
{

/**
 * n equally greedy queues settle at alpha * B / (1 + n * alpha) (Choudhury and Hahne): lossy
 * classes by egress queue, lossless classes by ingress usage.
 * @param alpha threshold factor
 */
void
TestFabricThreshold(uint32_t queues, double alpha)
{
    constexpr uint64_t SIZE = 9000000;
    constexpr uint32_t BYTES = 100;
    const double expected = alpha * SIZE / (1 + queues * alpha);

    SharedBuffer::Configuration configuration;
    configuration.size = SIZE;
    configuration.lossyAlpha = alpha;
    configuration.losslessAlpha = alpha;
    SharedBuffer lossy;
    lossy.Configure(configuration, std::vector<uint64_t>(queues, SIZE)); // no headroom
    std::vector<uint64_t> queue(queues, 0);
    Frame* frame = MakeFrame(BYTES, LOSSY);
    for (bool more = true; more;)
    {
        more = false;
        for (uint64_t& bytes : queue)
        {
            if (lossy.Admit(*frame, bytes))
            {
                bytes += BYTES;
                more = true;
            }
        }
    }
    for (uint64_t bytes : queue)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(bytes),
                                  expected,
                                  2.0 * BYTES * (1 + alpha),
                                  "a lossy queue");
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(lossy.GetThreshold(alpha)),
                              expected,
                              2.0 * BYTES * (1 + alpha),
                              "the threshold itself");
    for (uint64_t bytes : queue)
    {
        for (; bytes > 0; bytes -= BYTES)
        {
            lossy.Release(*frame);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(lossy.GetUsed(), 0, "empty again");
    NS_TEST_EXPECT_MSG_EQ(lossy.GetThreshold(1), SIZE, "and the pool whole");

    // Lossless: senders stop when paused; the pool is what guarantees and headroom leave over.
    constexpr uint64_t GUARANTEED = 1000;
    constexpr uint64_t HEADROOM = 2000;
    constexpr uint64_t RESUME_OFFSET = 3000;
    configuration.guaranteed = GUARANTEED;
    configuration.losslessClasses = 1 << LOSSLESS;
    configuration.resumeOffset = RESUME_OFFSET;
    SharedBuffer lossless;
    lossless.Configure(configuration, std::vector<uint64_t>(queues, HEADROOM));
    const uint64_t pool = SIZE - queues * (GUARANTEED + HEADROOM);
    NS_TEST_EXPECT_MSG_EQ(lossless.GetThreshold(1), pool, "the pool");
    frame->ingressPriority = LOSSLESS;
    std::vector<uint64_t> held(queues, 0);
    for (bool more = true; more;)
    {
        more = false;
        for (uint16_t port = 0; port < queues; port++)
        {
            if (!lossless.IsPausing(port, LOSSLESS))
            {
                frame->ingress = port;
                NS_TEST_ASSERT_MSG_EQ(lossless.Admit(*frame, 0), true, "never refused");
                held[port] += BYTES;
                more = true;
                const auto action = lossless.Decide(port, LOSSLESS);
                NS_TEST_EXPECT_MSG_EQ((action == SharedBuffer::Action::PAUSE),
                                      lossless.IsPausing(port, LOSSLESS),
                                      "the answer is remembered");
            }
        }
    }
    for (uint64_t bytes : held)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(bytes - GUARANTEED),
                                  alpha * static_cast<double>(pool) / (1 + queues * alpha),
                                  2.0 * BYTES * (1 + alpha),
                                  "use of an ingress port when it is paused");
    }
    // Frames in flight still fit, to the last byte of the headroom.
    for (uint16_t port = 0; port < queues; port++)
    {
        frame->ingress = port;
        uint64_t more = 0;
        while (lossless.Admit(*frame, 0))
        {
            more += BYTES;
        }
        held[port] += more;
        NS_TEST_EXPECT_MSG_GT_OR_EQ(more + BYTES, HEADROOM, "headroom");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(more, HEADROOM + BYTES, "no more than headroom");
    }
    for (uint16_t port = 0; port < queues; port++)
    {
        frame->ingress = port;
        bool resumed = false;
        const uint64_t start = held[port];
        for (; held[port] > 0; held[port] -= BYTES)
        {
            lossless.Release(*frame);
            const bool resumes = lossless.Decide(port, LOSSLESS) == SharedBuffer::Action::RESUME;
            NS_TEST_EXPECT_MSG_EQ((resumes && resumed), false, "one resume per pause");
            const uint64_t left = held[port] - BYTES;
            const uint64_t use = left > GUARANTEED ? left - GUARANTEED : 0;
            // The headroom empties first; the resume comes at the first moment far enough below.
            if (!resumed && start - left > HEADROOM)
            {
                NS_TEST_EXPECT_MSG_EQ(
                    resumes,
                    (use == 0 || use + RESUME_OFFSET <= lossless.GetThreshold(alpha)),
                    "resumes at the offset below the threshold");
            }
            resumed = resumed || resumes;
        }
        NS_TEST_EXPECT_MSG_EQ(resumed, true, "an empty port is not left paused");
    }
    NS_TEST_EXPECT_MSG_EQ(lossless.GetUsed(), 0, "empty again");
    NS_TEST_EXPECT_MSG_EQ(lossless.GetThreshold(1), pool, "and the pool whole");
    Frame::Free(frame);

    // Headroom that leaves nothing to share is refused.
    SharedBuffer small;
    const auto configure = [&] {
        small.Configure(configuration, {SIZE - 3 * GUARANTEED, GUARANTEED});
    };
    ExpectPart(GetRefusal(configure), std::to_string(SIZE));
    small.Configure(configuration, {SIZE - 3 * GUARANTEED, GUARANTEED - 1});
    NS_TEST_EXPECT_MSG_EQ(small.GetThreshold(1), 1, "one byte is left");

    // Sizes beyond 64 bits neither wrap around nor are undefined.
    constexpr uint64_t MAX_NUMBER = std::numeric_limits<uint64_t>::max();
    NS_TEST_EXPECT_MSG_GT_OR_EQ(small.GetThreshold(1e300), SIZE, "a factor above all memory");
    for (auto [guaranteed, headroom] :
         {std::pair(MAX_NUMBER, HEADROOM), std::pair(GUARANTEED, MAX_NUMBER)})
    {
        configuration.guaranteed = guaranteed;
        const auto reserve = [&, headroom = headroom] {
            SharedBuffer::GetReserved(configuration, {headroom, headroom});
        };
        ExpectPart(GetRefusal(reserve), "(allowed: up to 1e+18");
    }
    configuration.guaranteed = 0;
    configuration.resumeOffset = MAX_NUMBER;
    SharedBuffer slow;
    slow.Configure(configuration, {SIZE / 2});
    frame = MakeFrame(BYTES, LOSSLESS);
    frame->ingress = 0;
    frame->ingressPriority = LOSSLESS;
    uint32_t frames = 0;
    for (bool paused = false; !paused; frames++)
    {
        slow.Admit(*frame, 0);
        paused = slow.Decide(0, LOSSLESS) == SharedBuffer::Action::PAUSE;
    }
    for (; frames > 0; frames--)
    {
        slow.Release(*frame);
        NS_TEST_EXPECT_MSG_EQ((slow.Decide(0, LOSSLESS) == SharedBuffer::Action::RESUME),
                              (frames == 1),
                              "nothing is as far below the threshold but an empty port");
    }
    Frame::Free(frame);
    Simulator::Destroy();
}

/**
 * The same law in a switch: output queues overloaded by two senders each settle at the threshold.
 * @param queues number of congested outputs
 */
void
TestFabricCongestedQueues(uint32_t queues)
{
    constexpr uint32_t BYTES = 1000;
    constexpr double ALPHA = 0.5;
    constexpr uint64_t SIZE = 300000;
    FabricHelper helper;
    helper.SetSwitchAttribute("BufferSize", UintegerValue(SIZE));
    helper.SetSwitchAttribute("LosslessClasses", UintegerValue(0));
    helper.SetSwitchAttribute("LossyAlpha", DoubleValue(ALPHA));
    Fabric fabric = helper.Install(
        BuildTopology("single-switch", 3 * queues, DataRate("100Gbps"), NanoSeconds(100)));
    std::vector<std::unique_ptr<Blaster>> senders;
    for (uint32_t i = 0; i < 2 * queues; i++)
    {
        senders.push_back(std::make_unique<Blaster>(fabric.devices[queues + i],
                                                    i % queues,
                                                    BYTES,
                                                    LOSSY,
                                                    UINT64_MAX));
        senders.back()->Start(0);
    }
    Simulator::Stop(MicroSeconds(200));
    Simulator::Run();
    for (uint16_t i = 0; i < queues; i++)
    {
        const FabricPort& port = fabric.devicesOfSwitches[0]->GetPort(i);
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(port.GetQueueBytes(LOSSY)),
                                  ALPHA * SIZE / (1 + queues * ALPHA),
                                  3.0 * BYTES,
                                  "queue " << i);
        // The output never idles: 200 us minus the latency of the first frame.
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<int64_t>(port.GetCounters().transmittedFrames),
                                  200000000 / LineTime(BYTES + 20, 100000000000),
                                  3,
                                  "frames at line rate");
        NS_TEST_EXPECT_MSG_GT(port.GetCounters().droppedFrames, 0, "the rest is dropped");
    }
    Simulator::Destroy();
}

/**
 * ECN marking by queue length: none up to Kmin, all above Kmax, linear up to Pmax between them
 * (binomial test), and no frame that is not ECN capable.
 */
void
TestFabricMarking()
{
    constexpr uint32_t BYTES = 1000;
    constexpr uint32_t FRAMES = 2000;
    constexpr double KMIN = 400000;  // 4000 B per Gbit/s at 100 Gbit/s
    constexpr double KMAX = 1600000; // 16000
    constexpr double PMAX = 0.2;
    double expected = 0;
    double variance = 0;
    uint64_t marked = 0;
    uint64_t counted = 0;
    for (uint32_t round = 0; round < 10; round++)
    {
        Fabric fabric = FabricHelper().Install(
            BuildTopology("single-switch", 2, DataRate("100Gbps"), NanoSeconds(10)));
        SwitchDevice& device = *fabric.devicesOfSwitches[0];
        device.AssignStreams(100 + round);
        Arrivals arrivals;
        NoteArrivals(fabric.devices[1], arrivals);
        // Fills the queue while it is paused, then drains it: each length occurs once.
        device.GetPort(1).GetPauses().Override(LOSSY, true);
        for (uint32_t i = 0; i < FRAMES; i++)
        {
            Frame* frame = MakeFrame(BYTES, LOSSY);
            frame->psn = i;
            frame->ecn = i % 8 == 7 ? Ecn::NOT_ECT : Ecn::ECT;
            device.Receive(frame, device.GetPort(0));
        }
        NS_TEST_ASSERT_MSG_EQ(device.GetPort(1).GetQueueBytes(LOSSY), FRAMES * BYTES, "filled");
        device.GetPort(1).GetPauses().Override(LOSSY, false);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(arrivals.size(), FRAMES, "drained");
        for (uint32_t i = 0; i < FRAMES; i++)
        {
            NS_TEST_ASSERT_MSG_EQ(arrivals[i].psn, i, "in order");
            const double queue = (FRAMES - 1 - i) * BYTES; // queue behind the departing frame
            const bool ce = arrivals[i].ecn == Ecn::CE;
            if (i % 8 == 7)
            {
                NS_TEST_EXPECT_MSG_EQ(arrivals[i].ecn, Ecn::NOT_ECT, "never marked");
                continue;
            }
            if (queue > KMAX)
            {
                NS_TEST_EXPECT_MSG_EQ(ce, true, "above Kmax all are marked, queue " << queue);
            }
            else if (queue <= KMIN)
            {
                NS_TEST_EXPECT_MSG_EQ(ce, false, "up to Kmin none is marked, queue " << queue);
            }
            else
            {
                const double p = PMAX * (queue - KMIN) / (KMAX - KMIN);
                expected += p;
                variance += p * (1 - p);
                marked += ce;
            }
            counted += ce;
        }
        NS_TEST_EXPECT_MSG_EQ(device.GetPort(1).GetCounters().markedFrames, counted, "the counter");
        counted = 0;
        Simulator::Destroy();
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(marked),
                              expected,
                              4 * std::sqrt(variance),
                              "marks between Kmin and Kmax");
}

/** The copies of a multicast take the space of one frame, until the last one has left. */
void
TestFabricMulticastSpace()
{
    constexpr uint32_t BYTES = 1000;
    SharedBuffer buffer;
    SharedBuffer::Configuration configuration;
    configuration.size = 100000;
    configuration.losslessAlpha = 1;
    configuration.lossyAlpha = 1;
    configuration.losslessClasses = 1 << LOSSLESS;
    for (const uint8_t priority : {LOSSLESS, LOSSY})
    {
        buffer.Configure(configuration, {2 * BYTES, 2 * BYTES});
        std::vector<Frame*> copies;
        const uint64_t multicast = buffer.BeginMulticast();
        for (int copy = 0; copy < 3; copy++)
        {
            copies.push_back(MakeFrame(BYTES, priority));
            copies.back()->ingressPriority = priority;
            copies.back()->ingress = 1;
            buffer.Join(*copies.back(), multicast);
            NS_TEST_EXPECT_MSG_EQ(buffer.Admit(*copies.back(), 0), true, "admitted");
            NS_TEST_EXPECT_MSG_EQ(buffer.GetUsed(), BYTES, "one frame");
        }
        // A copy may leave before the others have joined.
        buffer.Release(*copies[0]);
        NS_TEST_EXPECT_MSG_EQ(+copies[0]->isCopy, 0, "no copy any more");
        buffer.Leave(multicast);
        buffer.Release(*copies[1]);
        NS_TEST_EXPECT_MSG_EQ(buffer.GetUsed(), BYTES, "the last one is there");
        NS_TEST_EXPECT_MSG_EQ(buffer.IsCurrent(multicast), true, "and its multicast");
        buffer.Release(*copies[2]);
        NS_TEST_EXPECT_MSG_EQ(buffer.GetUsed(), 0, "all have left");
        NS_TEST_EXPECT_MSG_EQ(buffer.IsCurrent(multicast), false, "it is over");
        // A restart ends multicasts, and their entries are used again.
        const uint64_t lost = buffer.BeginMulticast();
        buffer.Join(*copies[0], lost);
        buffer.Admit(*copies[0], 0);
        buffer.Configure(configuration, {2 * BYTES, 2 * BYTES});
        NS_TEST_EXPECT_MSG_EQ(buffer.IsCurrent(lost), false, "it ended with the restart");
        const uint64_t next = buffer.BeginMulticast();
        NS_TEST_EXPECT_MSG_NE(next, lost, "another one");
        buffer.Release(*copies[0]);
        NS_TEST_EXPECT_MSG_EQ(buffer.GetUsed(), 0, "which the old copy does not touch");
        buffer.Leave(next);
        for (Frame* copy : copies)
        {
            Frame::Free(copy);
        }
    }
}

void
TestFabricCell()
{
    constexpr uint64_t SIZE = 100000;
    for (const uint32_t cell : {1, 64, 208, 254})
    {
        for (const uint32_t bytes : {64, 208, 209, 4178})
        {
            for (const bool lossless : {false, true})
            {
                SharedBuffer::Configuration configuration;
                configuration.size = SIZE;
                configuration.losslessAlpha = 1e9; // up to the whole pool
                configuration.lossyAlpha = 1e9;
                configuration.losslessClasses = 1 << LOSSLESS;
                configuration.cellSize = cell;
                SharedBuffer buffer;
                buffer.Configure(configuration, {0});
                Frame* frame = MakeFrame(bytes, lossless ? LOSSLESS : LOSSY);
                frame->ingressPriority = frame->priority;
                frame->ingress = 0;
                frame->isEmitted = 0;
                const uint64_t space = (bytes + cell - 1) / cell * cell;
                uint64_t admitted = 0;
                while (buffer.Admit(*frame, 0))
                {
                    admitted++;
                }
                NS_TEST_EXPECT_MSG_EQ(admitted, SIZE / space, bytes << " in " << cell);
                NS_TEST_EXPECT_MSG_EQ(buffer.GetUsed(), admitted * space, "used");
                for (; admitted > 0; admitted--)
                {
                    buffer.Release(*frame);
                }
                NS_TEST_EXPECT_MSG_EQ(buffer.GetUsed(), 0, "free again");
                NS_TEST_EXPECT_MSG_EQ(buffer.GetThreshold(1), SIZE, "and the pool whole");
                Frame::Free(frame);
            }
        }
        // No frames of any size take more than the bound of their bytes on the line.
        const double most = SharedBuffer::GetCellBytes(1, cell);
        double worst = 1;
        for (uint32_t bytes = 64; bytes <= 9216; bytes++)
        {
            const uint32_t space = (bytes + cell - 1) / cell * cell;
            worst = std::max(worst, static_cast<double>(space) / (bytes + 20));
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(most, worst, 1e-12, cell);
    }
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    for (uint32_t queues : {1, 2, 8})
    {
        cases.push_back(
            {"dynamic threshold of " + std::to_string(queues) + " queues, alpha 0.125000",
             [queues] { TestFabricThreshold(queues, 0.125); }});
        cases.push_back(
            {"dynamic threshold of " + std::to_string(queues) + " queues, alpha 1.000000",
             [queues] { TestFabricThreshold(queues, 1); }});
    }
    cases.push_back({"queue length at 1 overloaded outputs", [] { TestFabricCongestedQueues(1); }});
    cases.push_back({"queue length at 3 overloaded outputs", [] { TestFabricCongestedQueues(3); }});
    cases.push_back({"ECN marking", TestFabricMarking});
    cases.push_back({"space of a multicast", TestFabricMulticastSpace});
    cases.push_back({"frames take whole cells", TestFabricCell});
    return cases;
}

const Suite g_suite("fabric-buffer", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::fabric_buffer_test
