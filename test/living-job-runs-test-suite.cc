/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "living-job-test-common.h"
#include "run-test-common.h"

namespace ns3::training::tests::living_job_runs_test
{

/** @return 3 ranks that sum real gradients, and fail three times */
TrainingRunOptions
MakeRing(const std::string& transport, const std::string& checkpoint)
{
    TrainingRunOptions options;
    options.workload = MakePath("ring.csv");
    std::ofstream(options.workload) << "layer,parameters,forward_us,backward_us\n"
                                       "conv,30000,20,40\n"
                                       "fc,300000,10,20\n";
    options.bucket = 200000;
    options.warmup = 1;
    options.iterations = 7;
    options.payload = "real";
    options.cluster.ranks = 3;
    options.cluster.transport = transport;
    options.life.checkpoint = checkpoint;
    options.life.every = 2;
    options.life.storageHosts = 2;
    options.life.storageRate = DataRate(80000000000);
    options.life.detection = MicroSeconds(50);
    options.life.rendezvous = MicroSeconds(100);
    options.life.fail = {"rank1:350us", "host2-switch0:2ms", "node0:3500us,node2:3500us"};
    return options;
}

/** Runs a job, whose sums must be right. */
void
Live(const TrainingRunOptions& options, const std::string& name)
{
    const TrainingRunResult result = TrainingRun(options).Run();
    CheckSpans(*result.figures.Find<LifeFigures>());
    NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", name);
    NS_TEST_ASSERT_MSG_EQ(result.iterations.size(),
                          options.warmup + options.iterations,
                          name << ": iterations");
    for (const IterationRecord& iteration : result.iterations)
    {
        NS_TEST_EXPECT_MSG_EQ(iteration.verified, true, name << ": sums were compared");
    }
    NS_TEST_EXPECT_MSG_GT(result.figures.Find<LifeFigures>()->failures, 1, name << ": failures");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(result.figures.Find<LifeFigures>()->checkpoints,
                                3,
                                name << ": checkpoints");
    NS_TEST_EXPECT_MSG_EQ(
        result.figures.Find<LifeFigures>()->ledger.GetTime(LifeUse::LOST).IsStrictlyPositive(),
        true,
        name << ": lost");
}

/**
 * Jobs that communicate: after failures of a rank, a node and a link all sums are right, over each
 * transport, with checkpoints on storage hosts.
 */
void
TestRealLife()
{
    for (const std::string transport : {"rdma", "uec", "tcp"})
    {
        for (const std::string checkpoint : {LifeOptions::BLOCKING, LifeOptions::ASYNCHRONOUS})
        {
            Live(MakeRing(transport, checkpoint), transport + " " + checkpoint);
        }
    }
    auto latency = MakeRing("rdma", LifeOptions::ASYNCHRONOUS);
    latency.cluster.hostLatency = MicroSeconds(20); // messages that are not posted yet
    latency.cluster.queuePairs = 3;
    latency.cluster.split = true;
    Live(latency, "host latency");
    auto charged = MakeRing("rdma", LifeOptions::BLOCKING);
    charged.cluster.hostModel = "nccl"; // chunks that hosts work on
    Live(charged, "host model");
    auto graph = MakeRing("rdma", LifeOptions::ASYNCHRONOUS);
    graph.workload = "dlrm-hybrid-parallel";
    graph.bucket = DEFAULT_BUCKET_BYTES;
    graph.life.bytes = 4000000;
    graph.life.fail = {"rank1:700us", "node0:3ms"};
    Live(graph, "a graph of several collectives");
}

/** @return time of the work and of standing still of a job with one checkpoint, s */
double
Measure(const std::string& checkpoint)
{
    TrainingRunOptions options;
    options.iterations = 4;
    options.warmup = 0;
    options.cluster.ranks = 3;
    options.cluster.congestionControl = "none";
    options.workload = MakePath("meet.csv");
    std::ofstream(options.workload) << "layer,parameters,forward_us,backward_us\n"
                                       "fc,3000000,100,200\n";
    options.life.checkpoint = checkpoint;
    if (checkpoint != LifeOptions::NONE)
    {
        options.life.every = 3;
        options.life.bytes = 12000000;
        options.life.storageRate = DataRate(100000000000000);
    }
    if (checkpoint == LifeOptions::ASYNCHRONOUS)
    {
        options.life.snapshotRate = DataRate(100000000000000);
    }
    const TrainingRunResult result = TrainingRun(options).Run();
    return result.iterations.back().endS;
}

/**
 * Shares share lines with gradients: a checkpoint over the network takes at least the time of its
 * bytes, and slows the iterations beside it.
 */
void
TestStorageTraffic()
{
    const double alone = Measure(LifeOptions::NONE);
    const double blocking = Measure(LifeOptions::BLOCKING);
    const double asynchronous = Measure(LifeOptions::ASYNCHRONOUS);
    // Three shares of 4 MB on one line of 100 Gbit/s, with headers; then storage without limit.
    const double line = 3 * 4e6 * 8 / 100e9;
    NS_TEST_EXPECT_MSG_GT(blocking - alone, line, "a blocking checkpoint takes its time");
    NS_TEST_EXPECT_MSG_LT(blocking - alone, 1.2 * line, "and no more");
    NS_TEST_EXPECT_MSG_GT(asynchronous, alone, "an asynchronous one slows the training");
    NS_TEST_EXPECT_MSG_LT(asynchronous, blocking, "but less");
}

/** @return why a run has ended early; or empty */
std::string
GetReason(const TrainingRunOptions& options)
{
    return GetStuck([&options] { TrainingRun(options).Run(); });
}

/** Failures that the job cannot outrun end the run. */
void
TestGivenUp()
{
    for (const std::string failures :
         {"rsc-1:factor=1e10", "rsc-1:factor=1e12", "rsc-1:factor=1e15,shape=0.5"})
    {
        auto options = MakeComputation(4, 6);
        AddDisks(options, 2, 100000, false);
        options.life.failures = failures;
        options.life.rendezvous = MilliSeconds(1);
        ExpectPart(GetReason(options),
                   "failures come faster than the job makes "
                   "progress: 100 since the start",
                   failures);
    }
    auto options = MakeComputation(4, 6);
    options.life.failures = "rsc-1:factor=1"; // in years
    NS_TEST_EXPECT_MSG_EQ(GetReason(options), "", "the job ends before the first failure");
}

/** @return ends of the spans that failures have ended, as text */
std::string
GetFailures(const LifeFigures& life)
{
    std::string text;
    for (const LifeSpan& span : life.ledger.GetSpans())
    {
        text += span.use == LifeUse::LOST
                    ? std::to_string(span.end.GetPicoSeconds()) + " " + span.detail + " "
                    : "";
    }
    return text;
}

/** Drawn failures come at the times of FailureSequence, for each run number at others. */
void
TestDrawnFailures()
{
    auto options = MakeComputation(8, 40);
    AddDisks(options, 2, 100000, false);
    options.life.failures = "llama3:factor=6e7";
    const LifeFigures first = Run(options);
    const LifeFigures again = Run(options);
    NS_TEST_EXPECT_MSG_GT(first.failures, 0, "there are failures");
    NS_TEST_EXPECT_MSG_EQ(GetFailures(first), GetFailures(again), "the same");
    RngSeedManager::SetRun(2);
    const TrainingRunResult other = TrainingRun(options).Run();
    NS_TEST_EXPECT_MSG_NE(GetFailures(first),
                          GetFailures(*other.figures.Find<LifeFigures>()),
                          "others");
}

/** What cannot be simulated is refused in one line. */
struct LivingJobRefusalTestCase
{
    using O = TrainingRunOptions&;

    void Run()
    {
        for (const std::string& text : Split("|rank0|rank4:1ms|node4:1ms|rank0:1|rank0:-1ms|"
                                             "rank-1:1ms|host0-host1:1ms|host0:1ms|"
                                             "host9-switch0:1ms|rank0:1ms,|rank0x:1ms"))
        {
            Expect("fail ", [&text](O o) { o.life.fail = {text}; });
        }
        const auto fails = [](O o) { o.life.fail = {"rank0:1ms"}; };
        const auto stores = [](O o) { o.life.checkpoint = LifeOptions::BLOCKING; };
        Expect("collective switchml", [&](O o) { fails(o), o.cluster.algorithm = "switchml"; });
        Expect("collective nic-ring", [&](O o) { fails(o), o.cluster.algorithm = "nic-ring"; });
        Expect("repeat derive", [&](O o) { fails(o), o.repeat = "derive"; });
        Expect("energy", [&](O o) { fails(o), o.energy.model = "h100"; });
        Expect("without failures", [](O o) { o.life.spares = 1; });
        Expect("without checkpoint", [](O o) { o.life.every = 2; });
        Expect("blocking", [](O o) { o.life.checkpoint = "sometimes"; });
        Expect("llama3", [](O o) { o.life.failures = "llama4"; });
        Expect("checkpoint-bytes", [&](O o) { stores(o), o.life.storageHosts = 0; });
        Expect("behind 4 ranks",
               [&](O o) { stores(o), o.life.bytes = 1000, o.cluster.topology = "ring:4"; });
    }

    /** Expects a refusal that contains a text. */
    void Expect(const std::string& part, const std::function<void(O)>& change)
    {
        auto options = MakeComputation(4, 2);
        change(options);
        const std::string text = GetRefusal([&options] { TrainingRun run(options); });
        ExpectPart(text, part);
        NS_TEST_EXPECT_MSG_EQ(text.find('\n'), std::string::npos, "one line");
    }
};

const Suite g_suite("living-job-runs",
                    Duration::EXTENSIVE,
                    {{"sums after restarts, over each transport", TestRealLife},
                     {"shares meet gradients on the lines", TestStorageTraffic},
                     {"failures that come too fast", TestGivenUp},
                     {"drawn failures", TestDrawnFailures},
                     {"refusals", RunTest<LivingJobRefusalTestCase>}});

} // namespace ns3::training::tests::living_job_runs_test
