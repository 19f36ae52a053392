/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "iteration-test-common.h"
#include "options/repeated-runs.h"
#include "record/run-statistics.h"
#include "run-test-common.h"
#include "run/training-runs.h"

#include "ns3/data-rate.h"
#include "ns3/in-network-figures.h"
#include "ns3/random-variable-stream.h"
#include "ns3/result-store.h"
#include "ns3/training-run.h"

#include <cmath>

namespace ns3::training::tests::training_run_test
{

/** @return options of a run of three ranks and three iterations */
TrainingRunOptions
MakeOptions()
{
    TrainingRunOptions options;
    options.workload = MakePath("workload.csv");
    std::ofstream(options.workload) << "layer,parameters,forward_us,backward_us\n"
                                       "conv,30000,20,40\n"
                                       "fc,300000,10,20\n";
    options.iterations = 2;
    options.cluster.ranks = 3;
    return options;
}

/** A run gives the same results as its manually combined parts, and is repeatable. */
void
TestSameResults()
{
    TrainingRunOptions options = MakeOptions();
    std::vector<std::pair<uint32_t, double>> told;
    std::string records;
    {
        TrainingRun run(options);
        run.OnIteration([&](const IterationRecord& record) {
            told.emplace_back(record.iteration, run.GetProgress());
        });
        NS_TEST_EXPECT_MSG_EQ(run.GetPlan().buckets->GetBuckets().size(), 2, "buckets");
        ExpectPart(run.Describe(), "(0.3 M parameters, 2 buckets), batch 32, 3 ranks, ");
        NS_TEST_EXPECT_MSG_EQ(run.GetProgress(), 0, "not begun");
        const TrainingRunResult result = run.Run();
        NS_TEST_ASSERT_MSG_EQ(result.iterations.size(), 3, "iterations");
        NS_TEST_EXPECT_MSG_EQ(result.iterations[0].warmup, true, "warm-up");
        NS_TEST_EXPECT_MSG_EQ(result.iterations[1].warmup, false, "measured");
        NS_TEST_EXPECT_MSG_EQ(result.mean.iteration, 2, "iterations in the mean");
        NS_TEST_EXPECT_MSG_EQ(ToText({result.mean}), ToText({GetMean(result.iterations)}), "mean");
        NS_TEST_EXPECT_MSG_GT(result.mean.communicationTimeS, result.mean.lowerBoundS, "bound");
        NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", "nothing compared");
        NS_TEST_EXPECT_MSG_EQ(result.fallback, "", "nothing to fall back from");
        NS_TEST_EXPECT_MSG_EQ(result.figures.Find<InNetworkFigures>(), nullptr, "hosts alone");
        NS_TEST_EXPECT_MSG_GT(result.cost.packetHops, 100, "cost");
        records = ToText(result.iterations);
    }
    const std::vector<std::pair<uint32_t, double>> expected{{0, 1.0 / 3}, {1, 2.0 / 3}, {2, 1.0}};
    NS_TEST_EXPECT_MSG_EQ(told, expected, "told after each iteration");
    const LayeredModel model = LoadModel(options.workload, options.batch, 1);
    const auto byHand = RunParts(options.cluster, model, options.bucket, options.overlap);
    NS_TEST_EXPECT_MSG_EQ(ToText(byHand), records, "by hand");
    NS_TEST_EXPECT_MSG_EQ(ToText(TrainingRun(options).Run().iterations), records, "again");

    options.cluster.loss = 0.01;
    options.cluster.transport = "tcp";
    const std::string lossy = ToText(TrainingRun(options).Run().iterations);
    NS_TEST_EXPECT_MSG_NE(lossy, records, "losses cost time");
    NS_TEST_EXPECT_MSG_EQ(ToText(TrainingRun(options).Run().iterations), lossy, "again");
}

/** Workers make the optimizer's step, unless the network makes it. */
void
TestUpdate()
{
    TrainingRunOptions options = MakeOptions();
    const LayeredModel model = LoadModel(options.workload, options.batch, 1);
    NS_TEST_ASSERT_MSG_GT(model.update, Time(0), "a step of the workers");
    for (const std::string optimizer : {"none", "sgd", "momentum", "adam"})
    {
        options.cluster.algorithm = "switch-ps:optimizer=" + optimizer;
        Time expected = model.GetComputeTime();
        expected -= optimizer == "none" ? Time(0) : model.update;
        for (const IterationRecord& record : TrainingRun(options).Run().iterations)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(record.computeTimeS, expected.GetSeconds(), 1e-12, optimizer);
        }
    }
}

/** Output files of a run. */
void
TestFiles()
{
    TrainingRunOptions options = MakeOptions();
    options.payload = "real";
    options.cluster.algorithm = "auto";
    options.results = MakePath("run.sqlite");
    options.json = MakePath("run.json");
    options.trace = MakePath("run-trace.json");
    const auto query = [&](const std::string& sql) {
        return ResultStore::Query(options.results, sql).at(0).at(0);
    };
    const TrainingRunResult result = TrainingRun(options).Run();
    NS_TEST_EXPECT_MSG_EQ(result.mean.verified, true, "sums are right");
    NS_TEST_ASSERT_MSG_EQ(result.choices.size(), 2, "auto has chosen");
    NS_TEST_EXPECT_MSG_EQ(result.choices[0].first, "120000", "by size");
    JsonValue document = result.ToJson();
    document.Set("schema", 3); // of all programs' documents
    NS_TEST_EXPECT_MSG_EQ(ReadFile(options.json), document.Write(2) + "\n", "JSON");
    NS_TEST_EXPECT_MSG_EQ(query("SELECT program || state FROM run"), "training-jobfinished", "run");
    NS_TEST_EXPECT_MSG_EQ(query("SELECT configuration FROM run"),
                          result.configuration.Write(),
                          "configuration");
    NS_TEST_EXPECT_MSG_EQ(query("SELECT count(*) FROM iteration WHERE verified"), "3", "rows");
    NS_TEST_EXPECT_MSG_EQ(query("SELECT count(*) FROM collective"), "18", "rows");
    NS_TEST_EXPECT_MSG_EQ(query("SELECT count(*) FROM bucket WHERE ready_s <= start_s AND "
                                "start_s < end_s AND ranks = 3 AND layers <> ''"),
                          "6",
                          "buckets");
    NS_TEST_EXPECT_MSG_EQ(query("SELECT sum(bytes) FROM link_iteration"),
                          query("SELECT sum(bytes) FROM link_counter"),
                          "iterations have all traffic, as no frame is later than the last");
    ExpectPart(ReadFile(options.trace), "\"backward\"", "timeline");
    const std::string configuration = result.configuration.Write();
    for (const std::string part : {R"("ranks":3)", R"("payload":"real")", R"("warmup":1)"})
    {
        ExpectPart(configuration, part);
    }

    options.cluster.algorithm = "ring";
    options.cluster.loss = 1;
    const std::string text = GetStuck([&options] { TrainingRun(options).Run(); });
    ExpectPart(text, "waits in all-reduce 0");
    NS_TEST_EXPECT_MSG_EQ(query("SELECT state || reason FROM run WHERE run_id = 2"),
                          "failed" + text,
                          "stuck");
    ExpectPart(ReadFile(options.json), "\"state\": \"failed\",\n  \"reason\": " + QuoteJson(text));
}

/** @return the result of a run */
TrainingRunResult
Run(const TrainingRunOptions& options)
{
    TrainingRunResult result;
    {
        TrainingRun run(options);
        const JobPlan& plan = run.GetPlan();
        result = run.Run();
        NS_TEST_EXPECT_MSG_EQ(result.iterations.size(), 3, options.workload);
        for (const IterationRecord& record : result.iterations)
        {
            const std::string what =
                options.workload + ", iteration " + std::to_string(record.iteration);
            NS_TEST_EXPECT_MSG_EQ(record.computeTimeS,
                                  plan.compute.GetSeconds(),
                                  what << ": compute");
            NS_TEST_EXPECT_MSG_EQ_TOL(record.iterationTimeS,
                                      record.computeTimeS + record.idleS,
                                      1e-12,
                                      what << ": parts");
            NS_TEST_EXPECT_MSG_GT(record.lowerBoundS, 0, what);
            if (!record.warmup) // the first iteration leaves collectives to the next one
            {
                NS_TEST_EXPECT_MSG_LT(record.lowerBoundS,
                                      record.communicationTimeS,
                                      what << ": bound");
            }
            NS_TEST_EXPECT_MSG_EQ_TOL(record.busbwGBps * record.communicationTimeS * 1e9,
                                      plan.GetBusBytes(),
                                      1e-3,
                                      what << ": bus bandwidth");
        }
        const double iterationTimeS = result.mean.iterationTimeS;
        NS_TEST_EXPECT_MSG_EQ_TOL(result.iterations.back().iterationTimeS,
                                  iterationTimeS,
                                  0.01 * iterationTimeS,
                                  options.workload << ": steady to the end");
        NS_TEST_EXPECT_MSG_GT_OR_EQ(result.endS,
                                    result.iterations.back().endS,
                                    options.workload << ": results after the last iteration");
    }
    return result;
}

/**
 * Every workload has the same results with any collective algorithm, on hosts or in the network.
 */
void
TestEveryWorkload()
{
    for (const std::string workload :
         {"dlrm-hybrid-parallel", "mlp-model-parallel", "mlp-hybrid-parallel:group=4"})
    {
        TrainingRunOptions options;
        options.workload = workload;
        options.iterations = 2;
        options.cluster.ranks = 8;
        const auto ring = Run(options);
        options.cluster.transport = "tcp";
        Run(options);
        options.cluster.transport = "rdma";
        options.cluster.topology = "hierarchical-torus:1x2,nodes=4";
        Run(options);
        options.cluster.topology = "single-switch";
        options.cluster.algorithm = "switchml";
        const auto offloaded = Run(options);
        // The groups of the hybrid workload use communicators on hosts.
        const bool isOffloaded = options.workload != "mlp-hybrid-parallel:group=4";
        NS_TEST_EXPECT_MSG_EQ((offloaded.figures.Find<InNetworkFigures>()->sent > 0),
                              isOffloaded,
                              workload);
    }
    TrainingRunOptions options;
    options.workload = "dlrm-hybrid-parallel";
    options.cluster.ranks = 8;
    options.iterations = 2;
    const double usual = Run(options).mean.iterationTimeS;
    options.allToAll = "ring";
    NS_TEST_EXPECT_MSG_LT(usual, Run(options).mean.iterationTimeS, "not by way of others");
    options.allToAll = "direct";
    NS_TEST_EXPECT_MSG_EQ(Run(options).mean.iterationTimeS, usual, "direct in place of a ring");

    options.results = MakePath("dlrm.sqlite");
    options.trace = MakePath("dlrm-trace.json");
    Run(options);
    const auto query = [&](const std::string& sql) {
        return ResultStore::Query(options.results, sql).at(0).at(0);
    };
    // Two exchanges and seven sums of eight ranks in three iterations, numbered in order of
    // start.
    NS_TEST_EXPECT_MSG_EQ(query("SELECT count(*) FROM collective"), "216", "rows");
    NS_TEST_EXPECT_MSG_EQ(query("SELECT group_concat(DISTINCT sequence) FROM (SELECT * FROM "
                                "collective WHERE operation = 'all-to-all' ORDER BY sequence)"),
                          "0,4",
                          "exchanges");
    NS_TEST_EXPECT_MSG_EQ(query("SELECT min(n) || ' ' || max(n) FROM (SELECT count(*) AS n FROM "
                                "collective GROUP BY rank, iteration, sequence)"),
                          "1 1",
                          "each once");
    NS_TEST_EXPECT_MSG_EQ(query("SELECT count(*) FROM message WHERE tag >> 56 = 1"),
                          std::to_string(3 * 2 * 8 * 7),
                          "messages of direct exchanges");
    NS_TEST_EXPECT_MSG_EQ(query("SELECT count(*) FROM iteration"), "3", "rows");
    const std::string trace = ReadFile(options.trace);
    for (const std::string part : {"\"forward Embedding\"", "\"collectives, lane 2\""})
    {
        ExpectPart(trace, part);
    }
}

/** @param options of a run @param isDerived whether some of its collectives repeat themselves */
void
Check(TrainingRunOptions options, bool isDerived)
{
    options.iterations = 6;
    options.repeat = "simulate";
    const TrainingRunResult all = TrainingRun(options).Run();
    options.repeat = "derive";
    const TrainingRunResult derived = TrainingRun(options).Run();
    const std::string what = options.workload + " on " + options.cluster.topology;
    NS_TEST_EXPECT_MSG_EQ((derived.repetition->derivedCollectives > 0), isDerived, what);
    NS_TEST_EXPECT_MSG_EQ(all.repetition.has_value(), false, what);
    // Derived packet-hops count, and are skipped.
    const auto getSimulated = [](const RunCost& cost) {
        return cost.packetHops - cost.skippedHops;
    };
    NS_TEST_EXPECT_MSG_EQ((getSimulated(derived.cost) < getSimulated(all.cost)), isDerived, what);
    for (std::size_t i = 0; i < all.iterations.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(derived.iterations[i].iterationTimeS /
                                      all.iterations[i].iterationTimeS,
                                  1,
                                  (isDerived ? 1e-3 : 1e-12),
                                  what << ", iteration " << i);
    }
}

/** Collectives that repeat themselves, against the same run with all packets. */
void
TestRepeatedRun()
{
    TrainingRunOptions options = MakeOptions();
    options.bucket = 1 << 30;          // one collective
    options.cluster.transport = "uec"; // otherwise whole iterations are derived
    Check(options, true);
    options.stragglers = {"1:1.1"}; // ranks do not start together
    Check(options, false);
    options.stragglers.clear();
    options.cluster.loss = 1e-3; // losses do not repeat themselves
    Check(options, false);
    options.cluster.loss = 0;
    options.cluster.background = "fixed:load=0.1"; // nor does other traffic
    Check(options, false);
    options.cluster.background = "none";
    options.bucket = DEFAULT_BUCKET_BYTES;
    options.cluster.transport = "rdma";
    options.workload = "mlp-hybrid-parallel"; // groups of servers have links of their own
    options.cluster.ranks = 8;
    options.cluster.topology = "rail-optimized:servers=2,gpus=4";
    Check(options, true);
    options.cluster.topology = "single-switch"; // all groups share the links
    options.workload = "mlp-hybrid-parallel:group=4";
    Check(options, false);
}

double
GetTime(TrainingRunOptions options, const std::string& priority)
{
    options.gradientPriority = priority;
    options.payload = "real";
    const TrainingRunResult result = TrainingRun(options).Run();
    NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", priority << ": sums");
    NS_TEST_EXPECT_MSG_EQ(result.iterations.size(), 4, priority << ": iterations");
    for (const IterationRecord& record : result.iterations)
    {
        NS_TEST_EXPECT_MSG_EQ(record.verified, true, priority << ": verified");
    }
    return result.mean.iterationTimeS;
}

/** Gradients in the order in which layers need them, as packets: a workload and a transformer. */
void
TestByLayer()
{
    TrainingRunOptions options = MakeOptions();
    std::ofstream(options.workload) << "layer,parameters,forward_us,backward_us\n"
                                       "first,1000,1000,1000\n"
                                       "last,1250000,1000,1000\n";
    options.iterations = 3;
    options.cluster.rate = DataRate(100000000000);
    options.cluster.congestionControl = "none";
    options.bucket = 1;
    // After the backward pass the gradients of the last layer take 533 us. By layer, the
    // forward pass of the first one hides them.
    options.overlap = false;
    const double all = GetTime(options, "none");
    const double byLayer = GetTime(options, "layer");
    const double line = 2.0 * 2 / 3 * 5e6 * 8 / 100e9; // without headers
    NS_TEST_EXPECT_MSG_GT(all, 4e-3 + line, "all are waited for");
    NS_TEST_EXPECT_MSG_GT(byLayer, 4e-3, "compute time");
    NS_TEST_EXPECT_MSG_LT(byLayer, 4e-3 + 0.1 * line, "hidden by the first layer");

    options = MakeOptions();
    options.model.model = MakePath("model.json");
    std::ofstream(options.model.model) << R"({"layers": 3, "hidden": 256, "heads": 4,
            "feed_forward": 1024, "vocabulary": 64, "sequence": 64})";
    options.workload = TrainingRunOptions::AUTOMATIC;
    options.iterations = 3;
    options.cluster.ranks = 4;
    options.model.parallel.pipeline = 2;
    options.model.parallel.lastLayers = 1;
    options.bucket = 1;
    NS_TEST_EXPECT_MSG_GT(GetTime(options, "layer"), 0, "transformer: sums");
}

void
Refuse(const std::string& part, const std::function<void(TrainingRunOptions&)>& change)
{
    TrainingRunOptions options = MakeOptions();
    options.results = MakePath("refused.sqlite");
    change(options);
    const std::string text = GetRefusal([&] { TrainingRun run(options); });
    ExpectPart(text, part);
    ExpectPart(text, "(allowed: ");
    NS_TEST_EXPECT_MSG_EQ(std::ifstream(MakePath("refused.sqlite")).good(), false, part);
}

/** Options that the constructor refuses. */
void
TestRefusedRun()
{
    using O = TrainingRunOptions&;
    Refuse("gradient priority first (allowed: none, layer)",
           [](O o) { o.gradientPriority = "first"; });
    const auto byLayer = [](const std::function<void(O)>& change) {
        Refuse("gradient priority layer",
               [change](O o) { o.gradientPriority = "layer", change(o); });
    };
    byLayer([](O o) { o.workload = "dlrm-hybrid-parallel"; });
    byLayer([](O o) { o.repeat = "derive"; });
    byLayer([](O o) { o.cluster.algorithm = "switchml"; });
    byLayer([](O o) {
        o.workload = TrainingRunOptions::AUTOMATIC;
        o.model.model = "llama3-8b";
        o.model.parallel.zero = 1;
    });
    Refuse("iterations 0", [](O o) { o.iterations = 0; });
    Refuse("iterations 1000001", [](O o) { o.iterations = 1000001; });
    Refuse("warmup 1000001", [](O o) { o.warmup = 1000001; });
    Refuse("batch 0", [](O o) { o.batch = 0; });
    Refuse("batch 4294967296", [](O o) { o.batch = 1ULL << 32; });
    Refuse("bucket 0", [](O o) { o.bucket = 0; });
    Refuse("compute scale -1", [](O o) { o.computeScale = -1; });
    Refuse("payload none", [](O o) { o.payload = "none"; });
    const std::string text = WriteFile("notes.txt", "# comment\n\nsome words\n");
    Refuse("notes.txt:3: 'some words' begins no known format (allowed: aicb, astra, chakra, ",
           [&](O o) { o.workload = text; });
    Refuse("workload resnet51 (allowed: ", [](O o) { o.workload = "resnet51"; });
    Refuse("3 ranks in groups of 2", [](O o) { o.workload = "mlp-hybrid-parallel:group=2"; });
    Refuse("repeat derive with transport tcp",
           [](O o) { o.repeat = "derive", o.cluster.transport = "tcp"; });
    const auto parallel = [](O o) { o.workload = "mlp-model-parallel"; };
    Refuse("gradients normal with workload mlp-model-parallel",
           [&](O o) { parallel(o), o.gradients = "normal"; });
    Refuse("mlp-model-parallel and engines in NICs or sums in switches",
           [&](O o) { parallel(o), o.payload = "real", o.cluster.algorithm = "switchml"; });
    Refuse("pairwise", [&](O o) { parallel(o), o.cluster.algorithm = "pairwise"; });
    Refuse("all-to-all direct", [](O o) { o.allToAll = "direct"; });
    Refuse("all-to-all", [](O o) { o.workload = "dlrm-hybrid-parallel", o.allToAll = "swing"; });
    Refuse("ranks", [](O o) { o.cluster.ranks = 0; });
    Refuse("'rings'", [](O o) { o.cluster.algorithm = "rings"; });
    Refuse("all-reduce", [](O o) { o.cluster.algorithm = "pairwise"; });
    Refuse("/missing", [](O o) { o.json = "/missing/file"; });
    Refuse("/missing", [](O o) { o.trace = "/missing/file"; });
    Refuse("/missing", [](O o) { o.results = "/missing/file"; });
    Refuse("names the same file", [](O o) { o.json = o.results; });
    Refuse("names the same file", [](O o) { o.trace = o.results; });
    Refuse("--iterations=1000000: takes at least ",
           [](O o) { o.iterations = 1000000, o.computeScale = 1e6, o.workload = "vgg16"; });
}

void
CheckEstimates()
{
    const auto estimate = EstimateMean({1, 2, 3, 4, 5});
    NS_TEST_EXPECT_MSG_EQ_TOL(estimate.mean, 3, 1e-12, "mean");
    NS_TEST_EXPECT_MSG_EQ_TOL(estimate.halfWidth,
                              2.776445 * std::sqrt(2.5 / 5),
                              1e-4,
                              "half of the interval");
    NS_TEST_EXPECT_MSG_EQ(EstimateMean({7}).mean, 7, "one value");
    NS_TEST_EXPECT_MSG_EQ(EstimateMean({7}).halfWidth, 0, "one value has no interval");
    NS_TEST_EXPECT_MSG_EQ(EstimateMean({7, 7, 7}).halfWidth, 0, "equal values");
    // Quantiles of tables of Student's t, by degrees of freedom.
    for (const auto& [freedom, quantile] :
         std::vector<std::pair<uint32_t, double>>{{1, 12.70620},
                                                  {2, 4.302653},
                                                  {10, 2.228139},
                                                  {30, 2.042272},
                                                  {31, 2.039513},
                                                  {60, 2.000298},
                                                  {120, 1.979930},
                                                  {1000, 1.962339}})
    {
        // Half of the values are 1, the others -1: the variance is n / (n - 1).
        const uint32_t count = freedom + 1;
        std::vector<double> values;
        double squares = 0;
        for (uint32_t i = 0; i < count; i++)
        {
            values.push_back(i % 2 == 0 ? 1 : -1);
        }
        const double mean = count % 2 == 0 ? 0 : 1.0 / count;
        for (const double value : values)
        {
            squares += (value - mean) * (value - mean);
        }
        const double error = std::sqrt(squares / freedom / count);
        NS_TEST_EXPECT_MSG_EQ_TOL(EstimateMean(values).halfWidth / error,
                                  quantile,
                                  1e-4,
                                  freedom << " degrees of freedom");
    }
    // The interval contains the true mean in 95 % of the cases: binomial, five deviations.
    constexpr int CASES = 4000;
    auto normal = CreateObject<NormalRandomVariable>();
    normal->SetStream(3);
    int hits = 0;
    for (int i = 0; i < CASES; i++)
    {
        std::vector<double> values;
        for (int n = 0; n < 4; n++)
        {
            values.push_back(10 + normal->GetValue());
        }
        const auto interval = EstimateMean(values);
        hits += std::abs(interval.mean - 10) <= interval.halfWidth;
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(hits, 0.95 * CASES, 5 * std::sqrt(CASES * 0.95 * 0.05), "coverage");
}

void
TestRepeatedRuns()
{
    CheckEstimates();
    TrainingRunOptions options = MakeOptions();
    options.computeJitter = "lognormal:cv=0.2";
    options.stragglers = {"2:1.5"};
    options.results = MakePath("runs.sqlite");
    ProgramOptions program("test", "");
    RepeatedRuns repeated;
    repeated.AddTo(program);
    program.Parse({"--runs=4"});
    TrainingRuns runs;
    std::vector<double> times;
    repeated.ForEach([&](uint64_t number) {
        NS_TEST_EXPECT_MSG_EQ(RngSeedManager::GetRun(), number, "run number");
        runs.Add(number, TrainingRun(options).Run());
        return true;
    });
    NS_TEST_EXPECT_MSG_EQ(RngSeedManager::GetRun(), 1, "as before");
    options.results = "";
    for (uint64_t number = 1; number <= 4; number++)
    {
        RngSeedManager::SetRun(number);
        times.push_back(TrainingRun(options).Run().mean.iterationTimeS);
    }
    RngSeedManager::SetRun(1);
    const auto expected = EstimateMean(times);
    NS_TEST_EXPECT_MSG_EQ(runs.GetMean().iterationTimeS, expected.mean, "mean");
    NS_TEST_EXPECT_MSG_EQ(runs.GetHalfWidth().iterationTimeS, expected.halfWidth, "interval");
    NS_TEST_EXPECT_MSG_GT(expected.halfWidth, 0, "runs differ");
    const std::string seeds = "SELECT seed FROM run ORDER BY run_id";
    NS_TEST_EXPECT_MSG_EQ(ResultStore::Query(MakePath("runs.sqlite"), seeds),
                          (std::vector<std::vector<std::string>>{{"1"}, {"2"}, {"3"}, {"4"}}),
                          "each run is in the file");
    const std::string json = runs.ToJson().Write();
    for (const std::string part : {R"("confidence_95":{"iteration_time_s":)",
                                   R"("runs":[{"iteration_time_s":)",
                                   R"("run":4,)",
                                   R"("compute-jitter":"lognormal:cv=0.2")"})
    {
        ExpectPart(json, part);
    }
    const std::vector<std::pair<std::string, std::string>> refused{{"3:1.5", "a rank below 3"},
                                                                   {"1", "RANK:FACTOR"},
                                                                   {"1:0", "above 0"},
                                                                   {"1:nan", "above 0"},
                                                                   {"2:1.5", "given once"}};
    for (const auto& [straggler, part] : refused)
    {
        options.stragglers = {"2:1.5", straggler};
        ExpectPart(GetRefusal([&options] { const TrainingRun run(options); }), part);
    }
}

/** Jobs whose optimizer's step switches make, which buckets alone can leave out. */
void
TestStepsOfSwitches()
{
    TrainingRunOptions options = MakeOptions();
    options.cluster.algorithm = "switch-ps:optimizer=sgd";
    NS_TEST_EXPECT_MSG_EQ(TrainingRun(options).Run().mismatch, "", "buckets");
    options.workload = "dlrm";
    NS_TEST_EXPECT_MSG_EQ(TrainingRun(options).Run().iterations.size(), 3, "layers have no step");
    options.workload = WriteFile("steps.goal",
                                 "num_ranks 3\nrank 0 {\na: calc 1\n}\n"
                                 "rank 1 {\na: calc 1\n}\nrank 2 {\na: calc 1\n}\n");
    ExpectPart(GetRefusal([&options] { TrainingRun run(options); }),
               "(allowed: built-in workloads, or a CSV file)");
}

const Suite g_suite(
    "training-run",
    Duration::EXTENSIVE,
    {{"steps of the optimizer that switches make", TestStepsOfSwitches},
     {"a run has the results of its parts, and again those when repeated", TestSameResults},
     {"means of several runs, with their confidence", TestRepeatedRuns},
     {"an optimizer in the network takes no time of the workers", TestUpdate},
     {"results file, JSON and timeline of a run, and of one that is stuck", TestFiles},
     {"layer loops: iterations, results file, timeline, groups of ranks", TestEveryWorkload},
     {"repeat=derive: same times, fewer packets; none where ranks differ", TestRepeatedRun},
     {"gradients of the first layers go first", TestByLayer},
     {"a run refuses what it cannot do before it creates anything", TestRefusedRun}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::training_run_test
