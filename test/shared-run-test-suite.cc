/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "iteration-test-common.h"

#include "ns3/host-allocator.h"
#include "ns3/job-file.h"
#include "ns3/shared-run.h"
#include "ns3/topology-builder.h"
#include "ns3/training-run.h"

#include <algorithm>
#include <set>

namespace ns3::training::tests::shared_run_test
{

/// Hosts of ranks.
using Hosts = std::vector<uint32_t>;

/** @return a job of two iterations on given hosts, or packed on some */
SharedJob
MakeJob(const std::string& name, const Hosts& hosts, uint32_t ranks = 0)
{
    SharedJob job;
    job.name = name;
    job.training.iterations = 2;
    job.training.warmup = 0;
    job.placement = hosts.empty() ? "packed" : "list";
    job.hosts = hosts;
    job.training.cluster.ranks = hosts.empty() ? ranks : hosts.size();
    return job;
}

void
Expect(const Hosts& actual, const Hosts& expected, const std::string& what)
{
    NS_TEST_EXPECT_MSG_EQ(actual, expected, what);
}

/** Which hosts a job gets. */
void
TestHostAllocator()
{
    const TopologyGraph tree =
        BuildTopology("fat-tree:k=4", 16, DataRate("100Gbps"), NanoSeconds(500));
    HostAllocator allocator(tree, 16, 1);
    const Hosts list{9, 0, 3};
    Expect(allocator.Take("list", 3, list), list, "as given");
    Expect(allocator.Take("list", 2, {1, 3}), {}, "host 3 is taken");
    Expect(allocator.Take("packed", 4, {}), {1, 2, 4, 5}, "lowest free ones");
    // Two hosts under each switch: 6 and 7, 8, 10 and 11, 12 and 13, 14 and 15 are free.
    Expect(allocator.Take("spread", 6, {}), {6, 7, 8, 10, 12, 14}, "one under each first");
    Expect(allocator.Take("packed", 4, {}), {}, "three are free");
    const Hosts last = allocator.Take("random", 3, {});
    NS_TEST_EXPECT_MSG_EQ(std::set<uint32_t>(last.begin(), last.end()),
                          (std::set<uint32_t>{11, 13, 15}),
                          "all that are left");
    Expect(allocator.Take("random", 1, {}), {}, "none");
    allocator.GiveBack(list);
    Expect(allocator.Take("packed", 3, {}), {0, 3, 9}, "given back");
}

/** Jobs on disjoint links take the times that they take alone, to the picosecond. */
void
TestDisjointJobs()
{
    for (const std::string transport : {"rdma", "tcp", "uec"})
    {
        SharedRunOptions options;
        options.cluster.ranks = 7;
        options.cluster.transport = transport;
        options.jobs = {MakeJob("a", {0, 1, 2}), MakeJob("b", {}, 4)};
        options.jobs[0].training.iterations = 1;
        const SharedRunResult shared = RunShared(options);
        for (std::size_t i = 0; i < 2; i++)
        {
            const SharedJob& job = options.jobs[i];
            TrainingRunOptions own;
            own.cluster.ranks = job.training.cluster.ranks;
            own.cluster.transport = transport;
            own.warmup = 0;
            own.iterations = job.training.iterations;
            const auto times = GetTimes(TrainingRun(own).Run().iterations);
            NS_TEST_EXPECT_MSG_EQ(GetTimes(shared.jobs[i].iterations),
                                  times,
                                  "job " << job.name << " over " << transport);
            NS_TEST_EXPECT_MSG_EQ(times.size(), job.training.iterations, "iterations");
        }
        NS_TEST_EXPECT_MSG_EQ(shared.jobs[1].hosts, (Hosts{3, 4, 5, 6}), "the hosts that are left");
    }
}

/** Compares a job on the first hosts of a cluster, beside another one, with training-job. */
void
Compare(const std::string& what,
        uint32_t ranks,
        const std::function<void(TrainingRunOptions&)>& change)
{
    SharedRunOptions options;
    options.cluster.ranks = 11;
    options.jobs = {MakeJob(what, {}, ranks), MakeJob("other", {9, 10})};
    change(options.jobs[0].training);
    TrainingRunOptions own;
    own.cluster.ranks = ranks;
    own.warmup = 0;
    own.iterations = options.jobs[0].training.iterations;
    change(own);
    const auto times = GetTimes(TrainingRun(own).Run().iterations);
    const SharedRunResult shared = RunShared(options);
    NS_TEST_EXPECT_MSG_EQ(times.size(), own.iterations, what);
    NS_TEST_EXPECT_MSG_EQ(GetTimes(shared.jobs[0].iterations), times, what);
}

/** Jobs of any kind take the times that training-job measures, to the picosecond. */
void
TestKindsOfJobs()
{
    const std::string model =
        WriteFile("config.json", R"({"num_hidden_layers": 4, "hidden_size": 64,
            "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 256,
            "max_position_embeddings": 32})");
    const std::string trace =
        WriteFile("trace.goal",
                  "num_ranks 2\nrank 0 {\nl1: calc 5000\nl2: send 900000b to 1 tag 1\n"
                  "l2 requires l1\n}\nrank 1 {\nl1: recv 900000b from 0 tag 1\n}\n");
    using O = TrainingRunOptions&;
    Compare("stragglers and jitter", 3, [](O o) {
        o.stragglers = {"1:1.5"}, o.computeJitter = "normal:cv=0.2";
    });
    Compare("a slow rank", 1, [](O o) { o.stragglers = {"0:2"}; });
    Compare("layers by priority", 3, [](O o) { o.gradientPriority = "layer"; });
    Compare("a transformer", 8, [&](O o) {
        o.model.model = model;
        o.model.parallel.tensor = 2, o.model.parallel.pipeline = 2, o.model.parallel.zero = 1;
    });
    Compare("a trace", 2, [&](O o) { o.workload = trace; });
    SharedRunOptions open;
    open.cluster.ranks = 4;
    open.jobs = {MakeJob("trace", {}, 0)};
    open.jobs[0].training.workload = trace;
    NS_TEST_EXPECT_MSG_EQ(RunShared(open).jobs[0].hosts,
                          (Hosts{0, 1}),
                          "as many hosts as the trace has ranks");
}

/** Two jobs that share a link: each has half of it; with strict priority one has all of it. */
void
TestJobsOnOneLink()
{
    SharedRunOptions options;
    options.cluster.ranks = 4;
    options.cluster.topology = "two-switch:links=1";
    options.cluster.congestionControl = "none";
    // Each job sends through the link all the time, in both directions.
    options.jobs = {MakeJob("a", {0, 2}), MakeJob("b", {1, 3})};
    for (SharedJob& job : options.jobs)
    {
        job.training.computeScale = 0;
    }
    const SharedRunResult shared = RunShared(options);
    const double alone = RunAlone(options, 0, {0, 2}).jobs[0].GetIterationTime();
    // Two ranks send all 25557032 gradients of 4 bytes once, in packets of 4096 bytes.
    const double goodput = PacketSize::OfRdma(4096).GetGoodput();
    const double bound = 25557032 * 4.0 * 8 / 100e9 / goodput;
    NS_TEST_EXPECT_MSG_EQ_TOL(alone / bound, 1, 0.01, "alone at full rate");
    for (const SharedJobResult& job : shared.jobs)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(job.GetIterationTime() / alone, 2, 0.02, "half of the link");
    }
    options.jobs[0].priority = 5;
    for (const std::string device : {"SwitchDevice", "HostDevice"})
    {
        options.cluster.attributes["ns3::training::" + device + "::LosslessClasses"] = "40";
        options.cluster.attributes["ns3::training::" + device + "::StrictPriorities"] = "224";
    }
    const SharedRunResult strict = RunShared(options);
    NS_TEST_EXPECT_MSG_EQ_TOL(strict.jobs[0].GetIterationTime() / alone, 1, 0.02, "first");
    NS_TEST_EXPECT_MSG_EQ_TOL(strict.jobs[1].endS / (4 * alone), 1, 0.02, "then the other");
    // After a job on the hosts of the first one, which has left its queue pairs to it.
    SharedJob earlier = MakeJob("earlier", {0, 2});
    earlier.training.computeScale = 0;
    options.jobs.insert(options.jobs.begin(), earlier);
    options.jobs[1].arrival = Seconds(1);
    options.jobs[2].arrival = Seconds(1);
    const SharedRunResult later = RunShared(options);
    NS_TEST_EXPECT_MSG_LT(later.jobs[0].endS, 1, "over before the others");
    NS_TEST_EXPECT_MSG_EQ_TOL(later.jobs[1].GetIterationTime() / alone, 1, 0.02, "first");
    options.jobs[0].priority = 5;
    options.jobs[1].priority = std::nullopt;
    const SharedRunResult usual = RunShared(options);
    for (const uint32_t job : {1, 2})
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(usual.jobs[job].GetIterationTime() / alone,
                                  2,
                                  0.02,
                                  "both have the usual class");
    }
}

void
TestJobQueue()
{
    SharedRunOptions options;
    options.cluster.ranks = 4;
    options.jobs = {MakeJob("first", {}, 3),
                    MakeJob("large", {}, 4),
                    MakeJob("small", {}, 1),
                    MakeJob("late", {3, 2})};
    options.jobs[1].arrival = MicroSeconds(1);
    options.jobs[2].arrival = MicroSeconds(2);
    options.jobs[3].arrival = Seconds(1);
    const auto fifo = RunShared(options).jobs;
    NS_TEST_EXPECT_MSG_EQ(fifo[0].startS, 0, "finds hosts");
    NS_TEST_EXPECT_MSG_EQ(fifo[1].startS, fifo[0].endS, "waits for hosts");
    NS_TEST_EXPECT_MSG_EQ(fifo[2].startS, fifo[1].endS, "waits behind the one before it");
    NS_TEST_EXPECT_MSG_EQ(fifo[2].hosts, Hosts{0}, "the lowest free host");
    NS_TEST_EXPECT_MSG_EQ(fifo[3].startS, 1, "arrives in an empty cluster");
    options.backfill = true;
    const auto backfill = RunShared(options).jobs;
    NS_TEST_EXPECT_MSG_EQ_TOL(backfill[2].startS, 2e-6, 1e-12, "overtakes");
    NS_TEST_EXPECT_MSG_EQ(backfill[2].hosts, Hosts{3}, "the host that is left");
    NS_TEST_EXPECT_MSG_EQ(backfill[1].startS,
                          std::max(backfill[0].endS, backfill[2].endS),
                          "waits for all hosts");
    for (std::size_t i = 0; i < 4; i++)
    {
        const auto alone = RunAlone(options, i, backfill[i].hosts).jobs[0];
        for (const auto& job : {fifo[i], backfill[i]})
        {
            NS_TEST_EXPECT_MSG_EQ(job.iterations.size(), 2, "all iterations");
            // Connections of earlier jobs keep the state of their congestion control.
            NS_TEST_EXPECT_MSG_EQ_TOL(job.GetIterationTime() / alone.GetIterationTime(),
                                      1,
                                      1e-4,
                                      "hosts that others had are as good as new");
        }
    }
}

/** Files of jobs, and what a shared cluster refuses. */
struct JobFileTestCase
{
    void Run()
    {
        const auto jobs = Read("[[job]]\nranks = 4\n[[job]]\nname = \"b\"\nworkload = \"vgg16\"\n"
                               "batch = 8\ngpu = \"v100\"\niterations = 7\narrival = \"2ms\"\n"
                               "placement = \"list\"\nhosts = [3, 1]\npriority = 2\n");
        NS_TEST_ASSERT_MSG_EQ(jobs.size(), 2, refusal);
        NS_TEST_EXPECT_MSG_EQ(jobs[0].name, "job0", "name");
        NS_TEST_EXPECT_MSG_EQ(jobs[0].training.cluster.ranks, 4, "ranks");
        NS_TEST_EXPECT_MSG_EQ(jobs[0].placement, "packed", "placement");
        NS_TEST_EXPECT_MSG_EQ(jobs[0].priority.has_value(), false, "usual class");
        NS_TEST_EXPECT_MSG_EQ(jobs[1].training.workload, "vgg16", "workload");
        NS_TEST_EXPECT_MSG_EQ(jobs[1].training.batch, 8, "batch");
        NS_TEST_EXPECT_MSG_EQ(jobs[1].training.gpu, "v100", "GPU");
        NS_TEST_EXPECT_MSG_EQ(jobs[1].training.iterations, 7, "iterations");
        NS_TEST_EXPECT_MSG_EQ(jobs[1].arrival, MilliSeconds(2), "arrival");
        NS_TEST_EXPECT_MSG_EQ(jobs[1].hosts, (Hosts{3, 1}), "hosts");
        NS_TEST_EXPECT_MSG_EQ(jobs[1].training.cluster.ranks, 2, "as many as hosts");
        NS_TEST_EXPECT_MSG_EQ(*jobs[1].priority, 2, "class");
        const auto shares = Read("[[job]]\nranks = 4\nslots = 3\n[[job]]\nranks = 1\n"
                                 "slot-weight = 2\nservers = [5, 4]\n");
        NS_TEST_ASSERT_MSG_EQ(shares.size(), 2, refusal);
        NS_TEST_EXPECT_MSG_EQ(shares[0].slots, 3, "slots");
        NS_TEST_EXPECT_MSG_EQ(shares[0].slotWeight.has_value(), false, "usual weight");
        NS_TEST_EXPECT_MSG_EQ(*shares[1].slotWeight, 2, "weight");
        NS_TEST_EXPECT_MSG_EQ(shares[1].servers, (Hosts{5, 4}), "servers");
        ExpectRefusal("[[job]]\nranks = 4\nslots = 3\nslot-weight = 1\n",
                      "jobs.toml:1: slots=3 with slot-weight (allowed: one of them)");
        ExpectRefusal("[[job]]\nranks = 4\nslots = 40000\n", "jobs.toml:3: slots=40000");
        ExpectRefusal("[[job]]\nranks = 4\nslot-weight = 0\n", "jobs.toml:3: slot-weight=0");
        ExpectRefusal("[[job]]\nranks = 4\nservers = [4, 4]\n", "jobs.toml:3: servers (allowed");
        ExpectRefusal("", "jobs.toml: no jobs");
        ExpectRefusal("[[job]]\nranks = \n", "jobs.toml:2: ");
        ExpectRefusal("[[job]]\nname = \"a\"\n", "jobs.toml:1: job without ranks");
        ExpectRefusal("[[job]]\nranks = 0\n", "jobs.toml:2: ranks=0 (allowed: 1 to");
        ExpectRefusal("[[job]]\nranks = 2.5\n", "jobs.toml:2: ranks");
        ExpectRefusal("[[job]]\nranks = 2\nrank = 3\n", "jobs.toml:3: unknown key 'rank'");
        ExpectRefusal("[[jobs]]\nranks = 2\n", "unknown key 'jobs' (allowed: job)");
        ExpectRefusal("job = 3\n", "jobs.toml: no jobs");
        ExpectRefusal("job = [3]\n", "jobs.toml:1: job (allowed: tables [[job]])");
        ExpectRefusal("[[job]]\nranks = [2]\n", "jobs.toml:2: ranks (allowed: a text in quotes,");
        ExpectRefusal("[[job]]\nranks = 2\nname = \"\"\n", "jobs.toml:3: name (allowed: ");
        ExpectRefusal("[[job]]\nranks = 2\narrival = \"-1s\"\n", "jobs.toml:3: arrival");
        ExpectRefusal("[[job]]\nranks = 2\nplacement = \"dense\"\n", "jobs.toml:3: placement");
        ExpectRefusal("[[job]]\nplacement = \"list\"\n", "jobs.toml:1: placement=list without");
        ExpectRefusal("[[job]]\nplacement = \"list\"\nhosts = [1, 1]\n", "jobs.toml:3: hosts");
        ExpectRefusal("[[job]]\nranks = 2\nhosts = [1, 2]\n",
                      "jobs.toml:1: placement=packed with hosts (allowed: list)");
        ExpectRefusal("[[job]]\nranks = 3\nplacement = \"list\"\nhosts = [1, 2]\n",
                      "jobs.toml:1: ranks=3 (allowed: as many as hosts, 2)");
        ExpectRefusal("[[job]]\nranks = 1\nname = \"a\"\n[[job]]\nranks = 1\nname = \"a\"\n",
                      "second job 'a' (allowed: different names)");
        ExpectPart(GetRefusal([] { ReadJobs("/nowhere"); }), "jobs /nowhere (allowed: ");
        TestKeys();
        TestClusters();
    }

    /** Keys that are options of training-job, and files of single jobs. */
    void TestKeys()
    {
        const auto jobs =
            Read("[[job]]\nmodel = \"llama3-8b\"\ntensor = 4\npipeline = 2\ndata = 2\nzero = 1\n"
                 "schedule = \"interleaved:v=2\"\nsequence-parallel = true\nexpert-skew = 0.5\n"
                 "straggler = [\"0:1.5\", \"3:2\"]\ncompute-jitter = \"normal:cv=0.1\"\n"
                 "[[job]]\nranks = 2\nstraggler = \"1:3\"\n");
        NS_TEST_ASSERT_MSG_EQ(jobs.size(), 2, refusal);
        const ParallelOptions& parallel = jobs[0].training.model.parallel;
        NS_TEST_EXPECT_MSG_EQ(jobs[0].training.cluster.ranks, 16, "those of the model");
        NS_TEST_EXPECT_MSG_EQ(parallel.zero, 1, "ZeRO");
        NS_TEST_EXPECT_MSG_EQ(parallel.schedule, "interleaved:v=2", "schedule");
        NS_TEST_EXPECT_MSG_EQ(parallel.sequenceParallel, true, "truth value");
        NS_TEST_EXPECT_MSG_EQ(parallel.expertSkew, 0.5, "number");
        NS_TEST_EXPECT_MSG_EQ(jobs[0].training.stragglers.size(), 2, "list");
        NS_TEST_EXPECT_MSG_EQ(jobs[0].training.computeJitter, "normal:cv=0.1", "jitter");
        NS_TEST_EXPECT_MSG_EQ(jobs[1].training.stragglers.at(0), "1:3", "list of one");
        ExpectRefusal("[[job]]\nranks = 2\ntensor = 2\n",
                      "jobs.toml:1: tensor without a transformer (allowed: with model)");
        ExpectRefusal("[[job]]\nmodel = \"llama3-8b\"\nbatch = 2\n",
                      "jobs.toml:1: batch with model");
        ExpectRefusal("[[job]]\nmodel = \"llama3-8b\"\ntensor = 0\n",
                      "jobs.toml:3: tensor=0 (allowed: 1 to");
        ExpectRefusal("[[job]]\nmodel = \"llama3-8b\"\ntensor = 3\n", "jobs.toml:1: tensor=3");
        ExpectRefusal("[[job]]\nranks = 2\nschedule = \"ring.xml\"\n",
                      "jobs.toml:1: schedule=ring.xml (allowed: schedules of the pipelines");
        ExpectRefusal("[[job]]\nranks = 2\narrival = \"2000000s\"\n", "jobs.toml:1: arrival=");
        ExpectRefusal("[[job]]\nranks = 2\ntensro = 2\n", "did you mean tensor?");
        const std::string path = WriteFile("single.toml", "ranks = 3\n");
        const auto single = ReadJobs("", {path, path});
        NS_TEST_ASSERT_MSG_EQ(single.size(), 2, "a job for each file");
        NS_TEST_EXPECT_MSG_EQ(single[1].name, "job1", "numbered");
        NS_TEST_EXPECT_MSG_EQ(single[1].training.cluster.ranks, 3, "ranks");
    }

    void TestClusters()
    {
        using O = SharedRunOptions&;
        const auto refuse = [](const std::string& part, const std::function<void(O)>& change) {
            SharedRunOptions options;
            options.cluster.ranks = 4;
            options.jobs = {MakeJob("a", {0, 1})};
            change(options);
            ExpectPart(GetRefusal([&] { RunShared(options); }), part);
        };
        refuse("job a: host 4 (allowed: 0 to 3)", [](O o) { o.jobs[0].hosts[1] = 4; });
        refuse("job b: ranks=5 on 4 hosts", [](O o) { o.jobs = {MakeJob("b", {}, 5)}; });
        refuse("resnet", [](O o) { o.jobs[0].training.workload = "resnet"; });
        refuse("job b: 0 ranks", [](O o) { o.jobs = {MakeJob("b", {}, 0)}; });
        refuse("job a: straggler=2:2 (allowed: RANK:FACTOR with a rank below 2",
               [](O o) { o.jobs[0].training.stragglers = {"2:2"}; });
        refuse("collective sharp with jobs that share a cluster (allowed: algorithms that",
               [](O o) { o.cluster.algorithm = "sharp"; });
        refuse("nic-ring", [](O o) { o.cluster.algorithm = "nic-ring"; });
        refuse("codec bf16", [](O o) { o.cluster.codec = "bf16"; });
        refuse("job a: priority with transport uec",
               [](O o) { o.cluster.transport = "uec", o.jobs[0].priority = 1; });
    }

    std::vector<SharedJob> Read(const std::string& content)
    {
        const std::string path = WriteFile("jobs.toml", content);
        std::vector<SharedJob> jobs;
        refusal = GetRefusal([&] { jobs = ReadJobs(path); });
        return jobs;
    }

    void ExpectRefusal(const std::string& content, const std::string& part)
    {
        Read(content);
        ExpectPart(refusal, part);
    }

    std::string refusal;
};

const Suite g_suite(
    "shared-run",
    Duration::EXTENSIVE,
    {{"placements: packed, spread, random, list; hosts are taken once", TestHostAllocator},
     {"jobs on disjoint links: the same times as in clusters of their own", TestDisjointJobs},
     {"transformers, traces, stragglers, jitter and priorities: times of a job alone",
      TestKindsOfJobs},
     {"jobs that share a link: slowdown 2; with strict priority 1 and 2", TestJobsOnOneLink},
     {"jobs wait for hosts, in order of arrival or with backfill", TestJobQueue},
     {"files of jobs are read, or refused with their line", RunTest<JobFileTestCase>}});

} // namespace ns3::training::tests::shared_run_test
