/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "living-job-test-common.h"

#include "ns3/failure-sequence.h"
#include "ns3/job-life.h"
#include "ns3/random-variable-stream.h"
#include "ns3/topology-builder.h"

#include <algorithm>
#include <chrono>

namespace ns3::training::tests::living_job_test
{

/** Checkpoints without failures, by closed forms. */
void
TestCheckpointOnly()
{
    for (uint32_t ranks : {1U, 3U})
    {
        auto blocking = MakeComputation(ranks, 6);
        AddDisks(blocking, 2, 100000, false);
        LifeFigures life = Run(blocking);
        Expect(life, {60000, 3000, 0, 0, 0, 0});
        NS_TEST_EXPECT_MSG_EQ(life.checkpoints, 3, "stored");
        NS_TEST_EXPECT_MSG_EQ(life.writes.size(), 0, "nothing goes on beside the training");

        // Copies of 0.5 ms, writes of 12 ms: from the second checkpoint on each waits 2 ms for
        // the one before, and the job for the last one.
        auto asynchronous = MakeComputation(ranks, 4);
        AddDisks(asynchronous, 1, 1200000, true);
        life = Run(asynchronous);
        Expect(life, {40000, 500 + 3 * 2500 + 12000, 0, 0, 0, 0});
        NS_TEST_ASSERT_MSG_EQ(life.writes.size(), 4, "writes");
        NS_TEST_EXPECT_MSG_EQ(life.writes[0].start, MicroSeconds(10500), "the first one");
        NS_TEST_EXPECT_MSG_EQ(life.writes[0].end, MicroSeconds(22500), "12 ms");
        NS_TEST_EXPECT_MSG_EQ(life.writes[3].end, MicroSeconds(60000), "the last one");
        NS_TEST_EXPECT_MSG_EQ(life.ledger.GetEffectiveRatio(), 40.0 / 60, "ratio");
    }
    auto never = MakeComputation(2, 3);
    AddDisks(never, 4, 100000, false);
    Expect(Run(never), {30000, 0, 0, 0, 0, 0});
    auto few = MakeComputation(3, 2); // the third rank has nothing to save
    AddDisks(few, 1, 1, false);
    few.life.bytes = 2;
    few.life.fail = {"rank2:15ms"};
    const LifeFigures life = Run(few);
    NS_TEST_EXPECT_MSG_EQ(life.checkpoints, 2, "stored");
    NS_TEST_EXPECT_MSG_EQ(life.ledger.GetTime(LifeUse::RESTART), NanoSeconds(10), "a byte");
}

/** @return 6 iterations with checkpoints of 1 ms after each second one */
TrainingRunOptions
MakeBlocking()
{
    auto options = MakeComputation(4, 6);
    AddDisks(options, 2, 100000, false);
    options.life.detection = MilliSeconds(2);
    options.life.rendezvous = MilliSeconds(3);
    options.life.repair = MilliSeconds(20);
    options.life.spares = 1;
    return options;
}

/** @return the life of a job with these failures */
LifeFigures
RunWith(TrainingRunOptions& options, const std::vector<std::string>& fail)
{
    options.life.fail = fail;
    return Run(options);
}

void
Blocking()
{
    auto options = MakeBlocking();
    // At work, 21 to 35 ms: a spare is there. Restart 37 to 41 ms, iterations to 61 ms.
    // In the checkpoint: the node of the first failure is a spare since 55 ms. Restart from 63.5
    // ms. In that restart: no spare until 61.5 + 20 ms. Restart to 85.5 ms, then 42 ms without
    // failure.
    const LifeFigures life = RunWith(options, {"node1:35ms,node3:65ms", "rank2:61500us"});
    Expect(life, {60000, 3000, 14000 + 20500, 6000, 14500, 4000 + 1500 + 4000});
    NS_TEST_EXPECT_MSG_EQ(life.failures, 3, "failures");
    NS_TEST_EXPECT_MSG_EQ(life.restarts, 2, "restarts that succeeded");
    NS_TEST_EXPECT_MSG_EQ(life.checkpoints, 3, "checkpoints");
    std::vector<std::string> failed;
    for (const LifeSpan& span : life.ledger.GetSpans())
    {
        if (span.use == LifeUse::DETECTION)
        {
            failed.push_back(span.node);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(failed,
                          (std::vector<std::string>{"node1", "rank2", "node3"}),
                          "what has failed, in order");

    options.life = LifeOptions(); // without checkpoints all is lost each time
    options.life.rendezvous = MilliSeconds(3);
    options.life.fail = {"node0:25ms", "node0:50ms"};
    Expect(Run(options), {60000, 0, 25000 + 22000, 0, 0, 6000});
}

void
Asynchronous()
{
    auto options = MakeComputation(2, 4);
    AddDisks(options, 1, 1200000, true);
    // The second checkpoint is on its way from 23 to 35 ms, so that the first one is loaded.
    LifeFigures life = RunWith(options, {"node0:30ms"});
    Expect(life, {40000, 500 + 500 + 2500 + 2500 + 12000, 10000 + 2500 + 7000, 0, 0, 12000});
    NS_TEST_EXPECT_MSG_EQ(life.checkpoints, 4, "the one on its way does not count");
    // The first checkpoint is stored at 22.5 ms: that is before the failure.
    life = RunWith(options, {"node0:22500us"});
    Expect(life, {40000, 500 + 500 + 2500 + 2500 + 12000, 10000 + 2000, 0, 0, 12000});
    // A picosecond before, it is not: all is lost, and there is nothing to load.
    life = RunWith(options, {"node0:22499999999ps"});
    NS_TEST_EXPECT_MSG_EQ(life.ledger.GetTime(LifeUse::LOST), PicoSeconds(22499999999), "all");
    NS_TEST_EXPECT_MSG_EQ(life.ledger.GetTime(LifeUse::RESTART), Time(0), "nothing to load");
    // In the write after the last iteration, at 48 to 60 ms: back to the checkpoint of 35 ms, the
    // iterations 2 and 3 again.
    life = RunWith(options, {"node1:50ms"});
    Expect(life, {40000, 500 + 2500 + 2500 + 500 + 12000, 10000 + 2500 + 2000, 0, 0, 12000});
}

void
OddTimes()
{
    auto options = MakeBlocking();
    options.life.fail = {"rank0:0s"};
    Expect(Run(options), {60000, 3000, 0, 2000, 0, 3000});
    LifeFigures life = RunWith(options, {"rank0:63ms"}); // the job has ended before
    Expect(life, {60000, 3000, 0, 0, 0, 0});
    NS_TEST_EXPECT_MSG_EQ(life.failures, 0, "none stops the job");
    life = RunWith(options, {"rank0:62999999ns"}); // in the last nanosecond, since 42 ms
    NS_TEST_EXPECT_MSG_EQ(life.ledger.GetTime(LifeUse::LOST), NanoSeconds(20999999), "lost");
    NS_TEST_EXPECT_MSG_EQ(life.ledger.GetEnd(), NanoSeconds(62999999 + 6000000 + 21000000), "end");
    // Two at a time, one spare: the other node is back after its repair.
    life = RunWith(options, {"node0:15ms", "node1:15ms"});
    Expect(life, {60000, 3000, 15000, 2000, 18000, 3000});
    NS_TEST_EXPECT_MSG_EQ(life.failures, 2, "both count");
    // The same node, also while it is down: that is one failure.
    life = RunWith(options, {"node0:15ms", "rank0:15ms", "host0-switch0:16ms"});
    Expect(life, {60000, 3000, 15000, 2000, 0, 3000});
    NS_TEST_EXPECT_MSG_EQ(life.failures, 1, "a node that is down does not fail");
    // During the detection, which begins again; and while the job waits.
    options.life.spares = 0;
    life = RunWith(options, {"node0:15ms", "node1:16ms", "node2:30ms"});
    // 15 to 18 ms, waiting to 30 ms, detection to 32 ms, waiting to 50 ms.
    Expect(life, {60000, 3000, 15000, 5000, 12000 + 18000, 3000});
    NS_TEST_EXPECT_MSG_EQ(life.failures, 3, "failures");
}

void
Links()
{
    auto options = MakeBlocking();
    options.life.fail = {"host3-switch0:25ms"}; // its node is replaced
    Expect(Run(options), {60000, 3000, 4000, 2000, 0, 4000});
    options.life.fail = {"switch0-host3:25ms"};
    Expect(Run(options), {60000, 3000, 4000, 2000, 0, 4000});
    options.cluster.topology = "fat-tree:k=4";
    const TopologyGraph topology =
        BuildTopology(options.cluster.topology, 4, options.cluster.rate, options.cluster.delay);
    const auto link =
        std::find_if(topology.links.begin(), topology.links.end(), [&](const auto& each) {
            return each.a >= topology.hosts && each.b >= topology.hosts;
        });
    options.life.fail = {topology.GetName(link->a) + "-" + topology.GetName(link->b) + ":25ms"};
    Expect(Run(options), {60000, 3000, 4000, 2000, 18000, 4000}); // spares do not help
}

void
TestWorkedLife()
{
    Blocking();
    Asynchronous();
    OddTimes();
    Links();
}

/** Lives a job of 12 nodes, each of which fails once. */
void
Live(bool isAsynchronous, UniformRandomVariable& random)
{
    constexpr uint32_t NODES = 12;
    auto options = MakeComputation(NODES, 24);
    const uint64_t share = isAsynchronous ? 1200000 : 100000;
    AddDisks(options, 3, share, isAsynchronous);
    options.life.rendezvous = MicroSeconds(random.GetInteger(0, 9000));
    options.life.repair = MicroSeconds(random.GetInteger(0, 60000));
    options.life.spares = random.GetInteger(0, 2);
    std::vector<Failure> failures;
    for (uint32_t node = 0; node < NODES; node++)
    {
        // After the first checkpoint: without one a restart loads nothing here.
        const uint64_t time = random.GetInteger(45000, 400000);
        options.life.fail.push_back("node" + std::to_string(node) + ":" + std::to_string(time) +
                                    "us");
        failures.push_back({std::chrono::microseconds(time), node, 0});
    }
    std::stable_sort(failures.begin(), failures.end(), [](const auto& a, const auto& b) {
        return a.time < b.time;
    });
    const LifeFigures ours = Run(options);
    // LiveJob() has no last iteration, and would go on to work during the last write.
    const Time write = isAsynchronous ? MicroSeconds(12000) : Time(0);
    LifeSpans spans;
    spans.interval = std::chrono::milliseconds(30);
    spans.checkpoint = std::chrono::microseconds(isAsynchronous ? 500 : 1000);
    spans.drain = std::chrono::microseconds(write.GetMicroSeconds());
    spans.restart = std::chrono::microseconds(options.life.rendezvous.GetMicroSeconds()) +
                    std::chrono::microseconds(share / 100);
    spans.repair = std::chrono::microseconds(options.life.repair.GetMicroSeconds());
    spans.spares = static_cast<uint32_t>(options.life.spares);
    spans.duration = std::chrono::nanoseconds((ours.ledger.GetEnd() - write).GetNanoSeconds());
    std::size_t next = 0;
    const LifeAccount account =
        LiveJob(spans, [&] { return next < failures.size() ? failures[next++] : Failure(); });
    const auto expect = [&](LifeUse use, LifeTime expected, const Time& more) {
        NS_TEST_EXPECT_MSG_EQ(ours.ledger.GetTime(use),
                              NanoSeconds(expected.count()) + more,
                              training::GetName(use));
    };
    expect(LifeUse::PRODUCTIVE, account.productive, Time(0));
    expect(LifeUse::CHECKPOINT, account.checkpoint, write);
    expect(LifeUse::LOST, account.lost, Time(0));
    expect(LifeUse::WAITING, account.waiting, Time(0));
    expect(LifeUse::RESTART, account.restart, Time(0));
    NS_TEST_EXPECT_MSG_EQ(ours.failures, account.failures, "failures");
}

/**
 * Lives by packets have the accounts of LiveJob(), which computes them without events of a network.
 */
void
TestSameLife()
{
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(7);
    for (uint32_t life = 0; life < 12; life++)
    {
        Live(life % 2 == 1, *random);
    }
}

const Suite g_suite("living-job",
                    Duration::QUICK,
                    {{"checkpoints without failures", TestCheckpointOnly},
                     {"lives with failures, by hand", TestWorkedLife},
                     {"the accounts of LiveJob", TestSameLife}});

} // namespace ns3::training::tests::living_job_test
