/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-manifest.h"
#include "file-test-common.h"
#include "run/job-check.h"
#include "run/work-estimate.h"

#include "ns3/cluster-options.h"
#include "ns3/parallel-command-line.h"
#include "ns3/parallel-plan.h"
#include "ns3/training-run.h"
#include "ns3/transformer-model.h"

#include <map>
#include <memory>

namespace ns3::training::tests::job_check_test
{

/** What the traffic of a model depends on, written down again. */
struct Shape
{
    uint64_t layers;
    uint64_t hidden;
    uint64_t sequence;
    uint64_t keyValues;   ///< numbers of a token's keys and values
    uint64_t layer;       ///< parameters of a layer, without experts
    uint64_t embedding;   ///< parameters of the input embedding
    uint64_t output;      ///< parameters of the output layer and its norm
    uint64_t tied;        ///< weights that both share, or 0
    uint64_t experts;     ///< parameters of the experts of a layer
    uint64_t expertsUsed; ///< by a token
};

/** @return GPT of h numbers, with a vocabulary of 51200 and sequences of 2048 */
Shape
Gpt(uint64_t layers, uint64_t h)
{
    return {layers,
            h,
            2048,
            2 * h,
            12 * h * h + 13 * h,
            (51200 + 2048) * h,
            2 * h,
            51200 * h,
            0,
            0};
}

/** @return Llama 3 with 8 heads of keys of 128 numbers each, and f numbers inside */
Shape
Llama(uint64_t layers, uint64_t h, uint64_t f)
{
    const uint64_t layer = 2 * h * h + 2 * h * 1024 + 3 * h * f + 2 * h;
    return {layers, h, 8192, 2048, layer, 128256 * h, 128256 * h + h, 0, 0, 0};
}

/** A model, and what the formulas depend on. */
struct Model
{
    std::string name;
    Shape shape;
};

/** A job. */
struct Job
{
    Model model;
    std::function<void(ParallelOptions&)> set;
    uint64_t chunks{1}; ///< stages of a rank
};

/** @return the jobs of the table in doc/parallel.rst */
std::vector<Job>
MakeJobs()
{
    const Model gpt175{"gpt3-175b", Gpt(96, 12288)};
    const Model gpt13{"gpt3-13b", Gpt(40, 5120)};
    const Model llama8{"llama3-8b", Llama(32, 4096, 14336)};
    const Model llama70{"llama3-70b", Llama(80, 8192, 28672)};
    const Model mixtral{"mixtral-8x7b",
                        {32,
                         4096,
                         4096,
                         2048,
                         2 * 4096 * 4096 + 2 * 4096 * 1024 + 2 * 4096 + 8 * 4096,
                         32000 * 4096,
                         32000 * 4096 + 4096,
                         0,
                         8ULL * 3 * 4096 * 14336,
                         2}};
    using O = ParallelOptions&;
    std::vector<Job> jobs;
    const auto add = [&jobs](const Model& model, const std::function<void(O)>& set) {
        jobs.push_back({model, set});
    };
    add(gpt175, [](O o) { o.tensor = 8, o.pipeline = 8, o.data = 2, o.globalBatch = 16; });
    add(gpt175,
        [](O o) { o.tensor = 8, o.pipeline = 8, o.globalBatch = 8, o.sequenceParallel = true; });
    add(gpt175, [](O o) {
        o.tensor = 8, o.pipeline = 4, o.globalBatch = 8, o.schedule = "interleaved:v=2";
    });
    jobs.back().chunks = 2;
    add(gpt175, [](O o) { o.tensor = 8, o.pipeline = 4, o.globalBatch = 4, o.recompute = "full"; });
    add(gpt175,
        [](O o) { o.tensor = 4, o.pipeline = 2, o.globalBatch = 2, o.recompute = "selective"; });
    add(gpt13, [](O o) { o.tensor = 8, o.globalBatch = 2; });
    add(gpt13, [](O o) { o.data = 8, o.globalBatch = 16; });
    add(gpt13, [](O o) { o.data = 8, o.globalBatch = 16, o.zero = 1; });
    add(gpt13, [](O o) { o.data = 8, o.globalBatch = 16, o.zero = 2; });
    add(gpt13, [](O o) { o.data = 8, o.globalBatch = 16, o.zero = 3; });
    add(gpt13,
        [](O o) { o.tensor = 2, o.data = 4, o.globalBatch = 8, o.microBatch = 2, o.zero = 1; });
    add(llama8, [](O o) { o.data = 16, o.globalBatch = 16, o.zero = 3; });
    add(llama8, [](O o) { o.context = 4, o.globalBatch = 1; });
    add(llama8, [](O o) { o.context = 4, o.tensor = 2, o.globalBatch = 2, o.cpCommType = "a2a"; });
    add(llama8, [](O o) { o.context = 8, o.globalBatch = 1, o.cpCommType = "all_gather"; });
    add(llama70, [](O o) {
        o.tensor = 8, o.pipeline = 4, o.context = 2, o.data = 2, o.globalBatch = 16;
        o.sequenceParallel = true, o.zero = 1;
    });
    add(llama70, [](O o) {
        o.tensor = 4, o.pipeline = 4, o.globalBatch = 8, o.schedule = "gpipe", o.data = 2;
    });
    add(mixtral, [](O o) { o.data = 8, o.expert = 8, o.globalBatch = 8; });
    add(mixtral, [](O o) { o.data = 16, o.expert = 8, o.globalBatch = 32, o.zero = 1; });
    add(mixtral, [](O o) {
        o.tensor = 2, o.pipeline = 4, o.data = 4, o.expert = 4, o.globalBatch = 32;
        o.sequenceParallel = true;
    });
    for (const auto& [expert, parts] : std::vector<std::pair<uint64_t, uint64_t>>{{8, 1}, {2, 4}})
    {
        add(mixtral, [expert = expert, parts = parts](O o) {
            o.tensor = 2, o.data = 4, o.expert = expert, o.expertTensor = parts, o.zero = 1;
            o.sequenceParallel = true, o.globalBatch = 8;
        });
    }
    add(mixtral, [](O o) { o.data = 4, o.expert = 2, o.expertTensor = 2, o.globalBatch = 8; });
    return jobs;
}

/// Kind of a group, its members, and operation.
using Key = std::tuple<std::string, std::string, std::string>;

/** Bytes and number of collectives. */
struct Sum
{
    uint64_t bytes{0};
    uint64_t count{0};

    void Add(uint64_t number, uint64_t each)
    {
        bytes += number * each;
        count += number;
    }
};

/// Traffic of rank 0 in an iteration. The number of buckets of data parallelism is not compared.
using Traffic = std::map<Key, Sum>;

/** The formulas of Megatron-LM, ZeRO, ring attention and Ulysses. */
Traffic
Expect(const Job& job, const ParallelOptions& o)
{
    const Shape& shape = job.model.shape;
    Traffic all;
    const uint64_t layers = shape.layers / o.pipeline; // of rank 0
    const uint64_t micro = o.globalBatch / o.microBatch / o.data;
    const uint64_t tokens = o.microBatch * shape.sequence / o.context;
    const uint64_t payload = 2 * tokens * shape.hidden;
    const bool hasOutput = o.pipeline == 1;
    const bool isFull = o.recompute == "full";
    const auto add = [&all](const Key& key, uint64_t number, uint64_t bytes) {
        all[key].Add(number, bytes);
    };
    const uint64_t parts = o.expertTensor > 0 ? o.expertTensor : o.tensor; // of an expert
    const bool sharesTokens = shape.experts > 0 && (o.sequenceParallel || parts != o.tensor);
    if (sharesTokens && parts > 1)
    {
        const char* members = parts == o.tensor ? "parts of each layer" : "parts of experts";
        const uint64_t bytes = payload * shape.expertsUsed * parts / o.tensor;
        for (const char* operation : {"all-gather", "reduce-scatter"})
        {
            add({"tensor", members, operation}, 2 * layers * micro, bytes);
        }
    }
    if (o.tensor > 1)
    {
        const uint64_t blocks = sharesTokens ? layers : 2 * layers;
        const uint64_t reductions = (isFull ? 3 : 2) * blocks + 1 + (hasOutput ? 1 : 0);
        const uint64_t gathers = (isFull ? 4 : 3) * blocks + (hasOutput ? 1 : 0);
        const std::string members = "parts of each layer";
        const Key reduce{"tensor", members, o.sequenceParallel ? "reduce-scatter" : "all-reduce"};
        add(reduce, micro * reductions, payload);
        if (o.sequenceParallel)
        {
            add({"tensor", members, "all-gather"}, micro * gathers, payload);
        }
    }
    if (o.pipeline > 1)
    {
        // Forward from each stage; backward from those that are not the first.
        add({"pipeline", "stages", "send"},
            micro * (2 * job.chunks - 1),
            payload / (o.sequenceParallel ? o.tensor : 1));
    }
    const auto addData = [&](const std::string& members, uint64_t parameters, uint64_t size) {
        if (size == 1 || parameters == 0)
        {
            return;
        }
        const uint64_t times = o.zero >= 2 ? micro : 1;
        if (o.zero == 0)
        {
            add({"data", members, "all-reduce"}, 1, 4 * parameters);
            return;
        }
        add({"data", members, "reduce-scatter"}, 1, (o.zero == 3 ? 2 : 4) * parameters * times);
        add({"data", members, "all-gather"}, 1, 2 * parameters * (o.zero == 3 ? 2 * micro : 1));
    };
    const uint64_t parameters = layers * (shape.layer / o.tensor) +
                                (shape.embedding + (hasOutput ? shape.output : 0)) / o.tensor;
    addData("replicas", parameters, o.data * o.context);
    addData("replicas of experts",
            layers * (shape.experts / parts / o.expert),
            o.tensor * o.data * o.context / parts / o.expert);
    if (shape.tied > 0 && o.pipeline > 1)
    {
        add({"data", "stages with the embedding", "all-reduce"}, 1, 4 * shape.tied / o.tensor);
    }
    if (o.context > 1)
    {
        const std::string members = "parts of a sequence";
        const uint64_t keyValues = 2 * tokens * shape.keyValues / o.tensor;
        const uint64_t passes = layers * micro;
        if (o.cpCommType == "p2p")
        {
            add({"context", members, "send"}, passes * (o.context - 1), keyValues);
            add({"context", members, "send"}, passes * (o.context - 1), 2 * keyValues);
        }
        else if (o.cpCommType == "a2a")
        {
            add({"context", members, "all-to-all"}, passes * 4, payload / o.tensor);
            add({"context", members, "all-to-all"}, passes * 4, keyValues / 2);
        }
        else
        {
            add({"context", members, "all-gather"}, passes * 2, keyValues * o.context);
            add({"context", members, "reduce-scatter"}, passes, keyValues * o.context);
        }
    }
    if (o.expert > 1)
    {
        add({"expert", "experts", "all-to-all"},
            4 * layers * micro,
            payload * shape.expertsUsed / (o.sequenceParallel ? o.tensor : 1));
    }
    return all;
}

/** @return what the check of a job lists */
Traffic
Find(const JobCheck& check)
{
    Traffic all;
    for (const CheckedGroup& group : check.groups)
    {
        for (const CheckedCollective& each : group.collectives)
        {
            all[{GetName(group.kind), group.members, each.operation}].Add(each.count, each.bytes);
        }
    }
    return all;
}

/** @return a network of one switch */
ClusterOptions
MakeCluster()
{
    ClusterOptions cluster;
    cluster.rate = DataRate("400Gbps");
    return cluster;
}

/** Bytes and number of every collective. */
void
TestJobCheckTraffic()
{
    const auto jobs = MakeJobs();
    NS_TEST_EXPECT_MSG_EQ(jobs.size(), 23, "configurations");
    for (std::size_t index = 0; index < jobs.size(); index++)
    {
        ParallelOptions options;
        jobs[index].set(options);
        const auto plan =
            std::make_shared<ParallelPlan>(FindTransformer(jobs[index].model.name), options);
        const JobCheck check = CheckJob(plan, {1.5e14, 2e12}, MakeCluster());
        const Traffic expected = Expect(jobs[index], options);
        const Traffic found = Find(check);
        const std::string what = "configuration " + std::to_string(index + 1);
        NS_TEST_EXPECT_MSG_EQ(found.size(), expected.size(), what);
        for (const auto& [key, sum] : expected)
        {
            const std::string& kind = std::get<0>(key);
            const std::string text =
                what + ": " + kind + ", " + std::get<1>(key) + ", " + std::get<2>(key);
            NS_TEST_ASSERT_MSG_EQ(found.count(key), 1, text);
            NS_TEST_EXPECT_MSG_EQ(found.at(key).bytes, sum.bytes, text);
            if (kind != "data")
            {
                NS_TEST_EXPECT_MSG_EQ(found.at(key).count, sum.count, text);
            }
        }
        const uint64_t ranks = options.tensor * options.pipeline * options.data * options.context;
        NS_TEST_EXPECT_MSG_EQ(check.worldSize, ranks, what);
        NS_TEST_EXPECT_MSG_GT(check.lowerBound, 0, what);
        NS_TEST_EXPECT_MSG_GT(check.packetHops, 0, what);
    }
}

/** Closed forms of makespans on a network without cost. */
void
CheckSchedules()
{
    const std::vector<std::tuple<const char*, double>> all{{"gpipe", 33},
                                                           {"1f1b", 33},
                                                           {"1f1b:messages=asynchronous", 33},
                                                           {"interleaved:v=2", 28.5},
                                                           {"interleaved:v=4", 26.25},
                                                           {"zb1p", 27},
                                                           {"zbv", 25.5},
                                                           {"dualpipev", 25.5}};
    for (const auto& [schedule, passes] : all)
    {
        ParallelJobOptions job;
        job.model = "llama3-8b";
        job.parallel.pipeline = 4;
        job.parallel.data = 1;
        job.parallel.globalBatch = 8;
        job.parallel.schedule = schedule;
        const JobCheck check = CheckJob(job.MakePlan(0), job.GetRates("a100", 1), ClusterOptions());
        NS_TEST_EXPECT_MSG_EQ_TOL(check.makespan, passes, 1e-9, schedule);
        NS_TEST_EXPECT_MSG_EQ_TOL(check.work, 24, 1e-9, schedule);
        ExpectPart(check.ToText(), std::string("schedule ") + schedule + " without communication");
        ExpectPart(check.ToJson().Write(), "\"makespan_forward_passes\":", schedule);
    }
}

/** Operators are listed, and those that were measured are told apart. */
void
CheckOperators()
{
    TrainingRunOptions options;
    options.model.model = "llama3-8b";
    options.model.parallel.globalBatch = 1;
    options.cluster.ranks = 1;
    const std::string header = "operator,shape,dtype,time\n";
    options.model.kernels =
        WriteFile("kernels.csv", header + "gemm,8192x6144x4096,bf16,7us\ngemm,1x1x1,bf16,1us\n");
    const JobCheck check = CheckJob(options);
    ExpectPart(check.ToText(),
               "kernels: partly estimated: 26 of 27 operators not measured, embedd");
    ExpectPart(check.ToJson().Write(),
               R"("operator":"gemm","shape":"8192x6144x4096","dtype":"bf16","count":32,)");
    ExpectPart(check.ToJson().Write(), R"("time_s":7e-06,"bound":"measured"})");
    ExpectPart(check.ToJson().Write(), R"("kernels":"partly estimated: 26 of 27)");
    ExpectPart(MakeJobPlan(options).times, "kernels.csv: partly estimated: 26 of 27 operators");
    NS_TEST_EXPECT_MSG_EQ(InputManifest::Get(options.model.kernels).used, 1, "a row");
    NS_TEST_EXPECT_MSG_EQ(InputManifest::Get(options.model.kernels).read, 2, "of two");
    std::string all = header;
    for (const CheckedOperator& each : check.operators)
    {
        const std::string row = each.kernel + "," + each.shape + "," + each.format + ",1us\n";
        all += all.find(row) == std::string::npos ? row : "";
    }
    options.model.kernels = WriteFile("all.csv", all);
    ExpectPart(CheckJob(options).ToText(), "kernels: all operators measured");
    options.model.kernels.clear();
    NS_TEST_EXPECT_MSG_EQ(CheckJob(options).ToText().find("kernels:"), std::string::npos, "none");
}

void
TestJobCheckFigures()
{
    // Data parallel without overlap: computation, then the gradients of all layers. The
    // bandwidth of a rank is the bound of a ring: 2 (n - 1) / n times the vector.
    ParallelJobOptions job;
    job.model = "llama3-8b";
    job.parallel.data = 4;
    job.parallel.overlapGradReduce = false;
    job.efficiency = 0.5;
    job.parallel.attention = "unfused";
    const auto plan = job.MakePlan(4);
    const TransformerRates rates = job.GetRates("a100", 1);
    NS_TEST_EXPECT_MSG_EQ_TOL(rates.operations, 135.6e12, 1, "half of what products reach");
    const JobCheck check = CheckJob(plan, rates, MakeCluster());
    const double parameters = 8030261248;
    NS_TEST_EXPECT_MSG_EQ(check.parameters, 8030261248, "parameters");
    // Parameters and gradients of 2 and 4 bytes, Adam 12; activations of 32 layers: 10 of norms
    // and dropout, 4 of queries and of what the projection takes in, 1 of the keys and values of 8
    // heads, 21 of the network, as its inner size is 3.5 times the hidden one.
    const double each = 10 + 4 + 1 + 3 * 2 * 3.5;
    const double activations = 32.0 * 8192 * 4096 * (each + 5.0 * 32 * 8192 / 4096);
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(check.memory),
                              18 * parameters + activations,
                              1e3,
                              "memory");
    ParallelJobOptions flash = job;
    flash.parallel.attention = "flash";
    NS_TEST_EXPECT_MSG_EQ_TOL(
        static_cast<double>(CheckJob(flash.MakePlan(4), rates, MakeCluster()).memory),
        18 * parameters + 32.0 * 8192 * 4096 * each,
        1e3,
        "memory without scores");
    const double communication = 2 * 0.75 * 4 * parameters / 50e9;
    const double packets = 4 * (2 * 0.75 * 4 * parameters) / 4096 * 2;
    NS_TEST_EXPECT_MSG_EQ_TOL(check.packetHops, packets, packets * 1e-9, "packet-hops");
    job.parallel.data = 1;
    const JobCheck alone = CheckJob(job.MakePlan(1), rates, MakeCluster());
    NS_TEST_EXPECT_MSG_EQ(alone.groups.size(), 0, "nobody to talk to");
    NS_TEST_EXPECT_MSG_EQ_TOL(check.lowerBound,
                              alone.lowerBound + communication,
                              2e-6,
                              "lower bound");
    // Adam divided by 4, then gradients, then parameters.
    const double divided[] = {0, 9 * parameters, 12 * parameters, 12.5 * parameters};
    job.parallel.data = 4;
    for (uint64_t zero : {1, 2, 3})
    {
        job.parallel.zero = zero;
        job.parallel.gradientBytes = 4;
        const JobCheck less = CheckJob(job.MakePlan(4), rates, MakeCluster());
        const double saved = zero == 3 ? divided[2] + 1.5 * parameters : divided[zero];
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(check.memory - less.memory),
                                  saved,
                                  1e3,
                                  "ZeRO " << zero);
    }
    ExpectPart(check.ToJson().Write(),
               R"("world_size":4,"parameters":8030261248,"groups":[{"kind":"data","size":4,)");
    ExpectPart(check.ToText(), "all-reduce");
    NS_TEST_EXPECT_MSG_EQ(check.ToJson().Write().find("schedule"), std::string::npos, "none");
    CheckSchedules();
    CheckOperators();
    // A workload: the gradients of ResNet-50 in buckets, and tables of DLRM that are exchanged.
    TrainingRunOptions options;
    options.model.model = "resnet50";
    options.cluster.ranks = 8;
    const JobCheck resnet = CheckJob(MakeJobPlan(options), options.cluster);
    NS_TEST_EXPECT_MSG_EQ(resnet.parameters, 25557032, "ResNet-50");
    NS_TEST_EXPECT_MSG_EQ(resnet.memory, 8 * 25557032, "ResNet-50");
    const Traffic sums = Find(resnet);
    NS_TEST_EXPECT_MSG_EQ(sums.size(), 1, "all-reduces only");
    NS_TEST_EXPECT_MSG_EQ(sums.at({"data", "ranks", "all-reduce"}).bytes, 4 * 25557032, "sums");
    options.model.model = "dlrm-hybrid-parallel";
    const Traffic dlrm = Find(CheckJob(MakeJobPlan(options), options.cluster));
    NS_TEST_EXPECT_MSG_EQ(dlrm.count({"tensor", "ranks", "all-to-all"}), 1, "exchanges");
}

/** Sizes that do not fit. */
struct JobCheckRefusalTestCase
{
    using O = ParallelJobOptions&;

    /** @param ranks of the cluster @param part of the message @param change makes options wrong */
    void Expect(uint64_t ranks, const std::string& part, const std::function<void(O)>& change)
    {
        ParallelJobOptions job;
        job.model = "gpt3-13b";
        change(job);
        const auto plan = [&] {
            job.GetRates("a100", 1);
            job.MakePlan(ranks);
        };
        ExpectPart(GetRefusal(plan), part);
    }

    void Run()
    {
        Expect(12,
               "ranks 12 (allowed: multiples of 8, tensor 8 x pipeline 1 x context 1)",
               [](O o) { o.parallel.tensor = 8; });
        Expect(4, "ranks 4 (allowed: 3, tensor 1 x", [](O o) { o.parallel.data = 3; });
        Expect(1, "model gpt3-175; did you mean gpt3-1", [](O o) { o.model = "gpt3-175"; });
        Expect(1, "precision fp8 on a100 (allowed: bf16)", [](O o) { o.precision = "fp8"; });
        Expect(3, "40 layers do not divide by 3", [](O o) { o.parallel.pipeline = 3; });
        ParallelJobOptions job;
        job.model = "gpt3-13b";
        job.parallel.tensor = 8;
        NS_TEST_EXPECT_MSG_EQ(job.MakePlan(16)->GetOptions().data, 2, "data from ranks");
        NS_TEST_EXPECT_MSG_EQ(job.MakePlan(0)->GetOptions().data, 1, "as many as needed");
    }
};

void
Compare(const std::function<void(ParallelOptions&)>& set)
{
    TrainingRunOptions options;
    options.model.model =
        WriteFile("small.json", R"({"layers": 4, "hidden": 256, "heads": 8, "feed_forward": 512,
            "vocabulary": 1024, "sequence": 256, "num_experts": 4, "num_experts_per_tok": 2})");
    set(options.model.parallel);
    options.cluster.ranks = options.model.MakePlan(0)->GetRanks();
    options.payload = "real"; // sums and messages are compared bit by bit
    options.iterations = 1;
    ParallelJobOptions model = options.model;
    model.parallel.bucket = options.bucket;
    const JobCheck check = CheckJob(model.MakePlan(0), model.GetRates("a100", 1), options.cluster);
    const TrainingRunResult result = TrainingRun(options).Run();
    NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", "numbers");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(result.mean.iterationTimeS, check.lowerBound, "lower bound");
    NS_TEST_EXPECT_MSG_LT(result.mean.iterationTimeS, 2 * check.lowerBound, "a close one");
    // Two iterations; acknowledgements and the last packets of messages are not counted.
    const double hops = static_cast<double>(result.cost.packetHops) / 2;
    NS_TEST_EXPECT_MSG_GT_OR_EQ(hops, check.packetHops * 0.999, "packet-hops");
    NS_TEST_EXPECT_MSG_LT(hops, check.packetHops * 1.5, "packet-hops");
}

/** Simulations of small jobs. */
void
TestJobCheckRun()
{
    using O = ParallelOptions&;
    Compare([](O o) { o.data = 4; });
    Compare([](O o) { o.tensor = 4, o.sequenceParallel = true, o.data = 1; });
    Compare([](O o) { o.pipeline = 4, o.globalBatch = 8, o.data = 1; });
    Compare([](O o) { o.data = 4, o.zero = 3, o.shard = 2; });
    Compare([](O o) { o.data = 4, o.expert = 4; });
    Compare([](O o) { o.tensor = 2, o.pipeline = 2, o.data = 2, o.zero = 1; });
}

const Suite g_suite(
    "job-check",
    Duration::EXTENSIVE,
    {{"23 configurations have the collectives of the formulas", TestJobCheckTraffic},
     {"lower bound, memory and packet-hops equal closed forms", TestJobCheckFigures},
     {"simulated jobs have the packet-hops and the lower bound of their check", TestJobCheckRun},
     {"sizes that do not multiply, and unknown models, are refused",
      RunTest<JobCheckRefusalTestCase>}});

} // namespace ns3::training::tests::job_check_test
