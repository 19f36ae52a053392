/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "graph-test-common.h"
#include "record/network-figures.h"
#include "record/path-figures.h"
#include "record/uec-figures.h"

#include "ns3/bucket-scheduler.h"
#include "ns3/config.h"
#include "ns3/in-network-figures.h"
#include "ns3/result-store.h"
#include "ns3/task-runner.h"
#include "ns3/training-run.h"
#include "ns3/uinteger.h"

#include <regex>

namespace ns3::training::tests::training_run_repeat_test
{

using Options = TrainingRunOptions;
using O = Options&;
using Change = std::function<void(O)>;

/** @return options of a run of 4 ranks with two buckets and nine iterations */
Options
MakeOptions()
{
    BucketScheduler::UseByDefault(); // newer ns-3 resets global values after a test case
    Options options;
    options.workload = MakePath("workload.csv");
    std::ofstream(options.workload) << "layer,parameters,forward_us,backward_us\n"
                                       "conv,3000,20,40\n"
                                       "fc,30000,10,20\n";
    options.bucket = 100000;
    options.warmup = 1;
    options.iterations = 8;
    options.cluster.ranks = 4;
    return options;
}

/** @return the results of a run */
TrainingRunResult
RunRepeated(Options options, const std::string& repeat)
{
    options.repeat = repeat;
    return TrainingRun(options).Run();
}

/** @return the text of a field */
std::string
ToJson(const RecordField<IterationRecord>& field, const IterationRecord& record)
{
    auto json = JsonValue::Object();
    SetMembers(json, std::vector<RecordField<IterationRecord>>{field}, record);
    return json.Write();
}

/** @param what for messages @param change of the options, by which iterations are derived */
void
Check(const std::string& what, const Change& change)
{
    Options options = MakeOptions();
    change(options);
    const TrainingRunResult all = RunRepeated(options, "simulate");
    const TrainingRunResult some = RunRepeated(options, "derive");
    const uint64_t iterations = options.warmup + options.iterations;
    NS_TEST_ASSERT_MSG_EQ(some.repetition.has_value(), true, what);
    NS_TEST_EXPECT_MSG_GT(some.repetition->derivedIterations,
                          0,
                          what << ": " << some.repetition->reason);
    NS_TEST_EXPECT_MSG_EQ(some.repetition->derivedIterations + some.repetition->simulatedIterations,
                          iterations,
                          what);
    NS_TEST_ASSERT_MSG_EQ(some.iterations.size(), iterations, what);
    uint64_t derived = 0;
    for (uint32_t i = 0; i < iterations; i++)
    {
        derived += some.iterations[i].derived ? 1 : 0;
        NS_TEST_EXPECT_MSG_EQ(all.iterations[i].derived, false, what);
        IterationRecord record = some.iterations[i];
        record.derived = false;
        for (const auto& field : IterationRecord::GetFields())
        {
            NS_TEST_EXPECT_MSG_EQ(ToJson(field, record),
                                  ToJson(field, all.iterations[i]),
                                  what << ", iteration " << i << ", " << field.name);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(derived, some.repetition->derivedIterations, what);
    NS_TEST_EXPECT_MSG_EQ(some.endS, all.endS, what << ", end");
    NS_TEST_EXPECT_MSG_EQ(MeanToJson(some.mean).Write(), MeanToJson(all.mean).Write(), what);
    NS_TEST_EXPECT_MSG_EQ(some.cost.packetHops, all.cost.packetHops, what << ", packet-hops");
    NS_TEST_EXPECT_MSG_EQ((some.cost.skippedHops > all.cost.skippedHops),
                          (all.cost.packetHops > 0),
                          what << ", skipped");
    NS_TEST_EXPECT_MSG_EQ(some.repetition->reason, "", what);
    const auto compare = [&](const Figures* one, const Figures* other) {
        NS_TEST_EXPECT_MSG_EQ((one ? one->ToJson().Write() : ""),
                              (other ? other->ToJson().Write() : ""),
                              what);
    };
    compare(some.figures.Find<PathFigures>(), all.figures.Find<PathFigures>());
    compare(some.figures.Find<InNetworkFigures>(), all.figures.Find<InNetworkFigures>());
    compare(some.figures.Find<EnergyFigures>(), all.figures.Find<EnergyFigures>());
    compare(some.figures.Find<NetworkFigures>(), all.figures.Find<NetworkFigures>());
    compare(some.figures.Find<UecFigures>(), all.figures.Find<UecFigures>());
    NS_TEST_EXPECT_MSG_EQ(some.warnings, all.warnings, what << ", warnings");
}

/** Checks jobs of all kinds. */
void
CheckAll()
{
    for (const std::string algorithm : {"ring", "rabenseifner", "double-binary-tree"})
    {
        Check(algorithm, [&](O o) { o.cluster.algorithm = algorithm, o.iterations = 20; });
    }
    for (uint64_t ranks : {1, 2, 3})
    {
        Check(std::to_string(ranks) + " ranks, odd MTU, a price", [&](O o) {
            o.cluster.ranks = ranks, o.cluster.mtu = 1001, o.energy.priceGpuHour = 2;
        });
    }
    for (const std::string control : {"none", "dcqcn:preset=hpcc"})
    {
        Check(control, [&](O o) { o.cluster.congestionControl = control; });
    }
    for (const std::string algorithm : {"switchml", "switch-ps", "sharp"})
    {
        Check(algorithm, [&](O o) { o.cluster.algorithm = algorithm; });
    }
    Check("a straggler that is always the same",
          [](O o) { o.stragglers = {"1:1.5"}, o.overlap = false; });
    Check("most of the warm-up", [](O o) { o.warmup = 12, o.iterations = 1; });
    Check("groups", [](O o) {
        o = Options();
        o.iterations = 8, o.cluster.ranks = 4, o.workload = "mlp-hybrid-parallel:group=2";
    });
}

/** Jobs of all kinds: what is derived is what would have been simulated, bit by bit. */
void
TestEqualResults()
{
    // With 16 the phases of most queue pairs come together after 16 iterations.
    Config::SetDefault("ns3::training::RdmaNic::AckInterval", UintegerValue(4));
    CheckAll();
    Config::SetDefault("ns3::training::RdmaNic::AckInterval", UintegerValue(16));
}

/** Results files and timelines have what the simulation would have written. */
struct EqualFilesTestCase
{
    /** @return the rows of a table, in the order of these columns */
    static std::string ReadTable(const std::string& path,
                                 const std::string& columns,
                                 const std::string& table)
    {
        std::string text;
        for (const auto& row :
             ResultStore::Query(path,
                                "SELECT " + columns + " FROM " + table + " ORDER BY " + columns))
        {
            for (const std::string& value : row)
            {
                text += value + " ";
            }
            text += "\n";
        }
        return text;
    }

    /** @param options of a run without files */
    void Check(const std::string& what, Options options)
    {
        options.iterations = 40;
        const auto record = [&](const std::string& repeat) {
            options.results = MakePath(what + "-" + repeat + ".sqlite");
            options.trace = MakePath(what + "-" + repeat + ".json");
            RunRepeated(options, repeat);
            return std::make_pair(options.results, options.trace);
        };
        const auto [all, allTrace] = record("simulate");
        const auto [some, someTrace] = record("derive");
        const auto count = [](const std::string& path, const std::string& where) {
            return std::stoul(
                ResultStore::Query(path, "SELECT count(*) FROM iteration WHERE " + where)
                    .at(0)
                    .at(0));
        };
        NS_TEST_EXPECT_MSG_EQ(count(all, "derived"), 0, what);
        NS_TEST_EXPECT_MSG_GT(count(some, "derived"), 0, what);
        NS_TEST_EXPECT_MSG_EQ(count(some, "1"), options.warmup + options.iterations, what);
        const std::vector<std::pair<std::string, std::string>> tables{
            {"iteration, warmup, start_s, end_s, iteration_time_s", "iteration"},
            {"rank, iteration, phase, start_s, end_s", "compute_phase"},
            {"rank, iteration, sequence, bytes, start_s, turn_s, end_s, communicator",
             "collective"},
            {"source, destination, tag, bytes, start_s, end_s, collective, step", "message"},
            {"iteration, node, port, priority, bytes, frames, marks, utilization",
             "link_iteration"},
            {"node, port, bytes, frames, busy_s, utilization", "link_counter"},
            {"step, rank, task, start_s, end_s", "critical_path"}};
        for (const auto& [columns, table] : tables)
        {
            const std::string expected = ReadTable(all, columns, table);
            NS_TEST_EXPECT_MSG_EQ(expected.empty(), false, what << ", " << table);
            NS_TEST_EXPECT_MSG_EQ(ReadTable(some, columns, table), expected, what << ", " << table);
        }
        const auto marks = [](const std::string& path, const std::string& table) {
            return ResultStore::Query(path, "SELECT count(*) FROM " + table + " WHERE derived")
                .at(0)
                .at(0);
        };
        for (const std::string table : {"collective", "message", "compute_phase"})
        {
            NS_TEST_EXPECT_MSG_EQ(marks(all, table), "0", what << ", " << table);
            NS_TEST_EXPECT_MSG_NE(marks(some, table), "0", what << ", " << table);
        }
        const std::string marked = ReadFile(someTrace);
        const std::string plain =
            std::regex_replace(marked, std::regex("\"derived\":true"), "\"derived\":false");
        NS_TEST_EXPECT_MSG_NE(plain, marked, what << ": the timeline tells what is derived");
        NS_TEST_EXPECT_MSG_EQ(plain, ReadFile(allTrace), what);
    }

    void Run()
    {
        Check("loop", MakeOptions());
        Options options = MakeOptions();
        options.workload = TrainingRunOptions::AUTOMATIC;
        options.model.model = MakePath("model.json");
        std::ofstream(options.model.model) << R"({"layers": 4, "hidden": 256, "heads": 4,
            "feed_forward": 1024, "vocabulary": 64, "sequence": 64})";
        options.model.parallel.pipeline = 2;
        options.model.parallel.data = 2;
        options.model.parallel.globalBatch = 8;
        options.bucket = DEFAULT_BUCKET_BYTES;
        Check("pipeline", options);
    }
};

/** What need not repeat itself is simulated, and the results say why. */
struct NothingTestCase
{
    /** @param reason part of the expected reason @param change of the options */
    void Check(const std::string& reason, const Change& change)
    {
        Options options = MakeOptions();
        options.iterations = 4;
        change(options);
        const TrainingRunResult all = RunRepeated(options, "simulate");
        const TrainingRunResult some = RunRepeated(options, "derive");
        NS_TEST_EXPECT_MSG_EQ(some.repetition->derivedIterations, 0, reason);
        NS_TEST_EXPECT_MSG_EQ(some.repetition->simulatedIterations, some.iterations.size(), reason);
        ExpectPart(some.repetition->reason, reason);
        ExpectPart(some.ToJson().Write(), "\"not_derived\"", reason);
        NS_TEST_EXPECT_MSG_EQ_TOL(some.endS / all.endS, 1, 1e-3, reason);
        hasDerivedCollectives = some.repetition->derivedCollectives > 0;
        areEqual = some.endS == all.endS && some.cost.packetHops == all.cost.packetHops &&
                   some.cost.skippedHops == all.cost.skippedHops;
    }

    /** Checks that collectives are not derived, either. */
    void CheckAll(const std::string& reason, const Change& change)
    {
        Check(reason, change);
        NS_TEST_EXPECT_MSG_EQ(hasDerivedCollectives, false, reason);
        NS_TEST_EXPECT_MSG_EQ(areEqual, true, reason);
    }

    void Run()
    {
        const std::string jitter = "lognormal:cv=0.01";
        CheckAll("drawn at random", [&](O o) { o.computeJitter = jitter; });
        CheckAll("drawn at random", [&](O o) { // groups in servers
            o = Options();
            o.iterations = 4;
            o.workload = "mlp-hybrid-parallel:group=4";
            o.cluster.topology = "rail-optimized:servers=2,gpus=4";
            o.cluster.ranks = 8;
            o.computeJitter = jitter;
        });
        CheckAll("times of hosts", [](O o) {
            o.cluster.hostJitter = "lognormal:cv=0.1", o.cluster.hostLatency = MicroSeconds(1);
        });
        CheckAll("links fail", [](O o) { o.cluster.loss = 1e-3; });
        CheckAll("other traffic", [](O o) { o.cluster.background = "fixed:load=0.1"; });
        CheckAll("--pcap", [](O o) { o.cluster.pcap = MakePath("capture"); });
        Check("transport uec is not known", [](O o) { o.cluster.transport = "uec"; });
        NS_TEST_EXPECT_MSG_EQ(hasDerivedCollectives, true, "about, as paths are drawn");
        Check("path choice spray", [](O o) { o.cluster.path = "spray"; });
        Check("atp", [](O o) { o.cluster.algorithm = "atp"; });
        Check("samples",
              [](O o) { o.results = MakePath("sampled.sqlite"), o.sample = MicroSeconds(100); });
        Check("too few iterations", [](O o) { o.iterations = 1; });
        Check("at random", [](O o) { // all to one at once
            o.cluster.ranks = 8, o.cluster.algorithm = "parameter-server";
            o.cluster.congestionControl = "dcqcn:preset=hpcc"; // marks early
        });
    }

    bool hasDerivedCollectives{false}; // of the last check
    bool areEqual{false};              // of the last check: end and packets
};

/** @param options of a run whose iterations are the same from the first one on */
void
CheckExact(Options options)
{
    const TrainingRunResult many = RunRepeated(options, "derive");
    options.iterations = 8;
    const TrainingRunResult few = RunRepeated(options, "derive");
    NS_TEST_EXPECT_MSG_EQ(many.iterations.size(), 65, "all are there");
    NS_TEST_EXPECT_MSG_EQ(many.repetition->simulatedIterations,
                          few.repetition->simulatedIterations,
                          "simulated");
    NS_TEST_EXPECT_MSG_EQ(many.cost.packetHops - many.cost.skippedHops,
                          few.cost.packetHops - few.cost.skippedHops,
                          "simulated packets");
    NS_TEST_EXPECT_MSG_EQ(many.repetition->Format(),
                          "iterations: " + std::to_string(many.repetition->simulatedIterations) +
                              " simulated, " + std::to_string(many.repetition->derivedIterations) +
                              " derived\n",
                          "text");
}

/** Eight times the iterations take hardly more packets. */
void
TestLonger()
{
    Options options = MakeOptions();
    const TrainingRunResult few = RunRepeated(options, "derive");
    options.iterations = 64;
    const TrainingRunResult about = RunRepeated(options, "derive");
    const auto getSimulated = [](const TrainingRunResult& result) {
        return static_cast<double>(result.cost.packetHops - result.cost.skippedHops);
    };
    NS_TEST_EXPECT_MSG_LT(getSimulated(about), 1.2 * getSimulated(few), "a period of 16");
    NS_TEST_EXPECT_MSG_GT(about.repetition->derivedIterations, 0, "about the same");
    NS_TEST_EXPECT_MSG_EQ(about.repetition->reason.empty(), false, "and not exact");
    const TrainingRunResult all = RunRepeated(options, "simulate");
    NS_TEST_EXPECT_MSG_EQ_TOL(about.endS / all.endS, 1, 1e-3, "end");
    Config::SetDefault("ns3::training::RdmaNic::AckInterval", UintegerValue(1));
    CheckExact(options);
    Config::SetDefault("ns3::training::RdmaNic::AckInterval", UintegerValue(16));
}

/** A runner of tasks that forgets iterations. */
struct ShorterRunnerTestCase
{
    /**
     * @param window of the runner
     * @param keep iterations from the second one on
     * @return lengths of the tasks that start, of 10 iterations with tasks of 1 ns and 2 ns
     */
    static std::string Run(std::size_t window, uint32_t keep)
    {
        const WrittenGraph graph(1, {}, [](TaskWriter& writer, uint32_t) {
            writer.Compute(0, NanoSeconds(1));
            writer.Compute(0, NanoSeconds(2));
        });
        std::vector<uint64_t> running;
        std::string started;
        TaskRunner runner(graph.MakeSource(0, 10),
                          window,
                          [&](const GraphTask& each, const TaskTrace::Pointer&) {
                              running.push_back(each.id);
                              started += each.kind == TaskKind::MARK
                                             ? "|"
                                             : std::to_string(each.length.GetNanoSeconds());
                          });
        runner.Run();
        for (uint32_t ends = 0; !runner.IsFinished() && started.size() < 100; ends++)
        {
            if (ends == 3) // the first iteration is over, and the second has begun
            {
                started += " " + std::to_string(runner.GetReach()) + " ";
                runner.EndAfter(keep);
            }
            const uint64_t id = running.front();
            running.erase(running.begin());
            runner.Complete(id, nullptr);
        }
        return started;
    }

    void Run()
    {
        for (std::size_t window : {1, 2, 5, 256})
        {
            const std::string what = "window of " + std::to_string(window);
            NS_TEST_EXPECT_MSG_EQ(Run(window, 1), "12|1 1 2|", what);
            NS_TEST_EXPECT_MSG_EQ(Run(window, 3), "12|1 1 2|12|12|", what);
            NS_TEST_EXPECT_MSG_EQ(Run(window, 9),
                                  "12|1 1 2|12|12|12|12|12|12|12|12|",
                                  what << ", all of them");
        }
    }
};

const Suite g_suite(
    "training-run-repeat",
    Duration::EXTENSIVE,
    {{"a job that becomes shorter while it runs", RunTest<ShorterRunnerTestCase>},
     {"derived iterations are those of the simulation, bit by bit", TestEqualResults},
     {"files with derived iterations are those of the simulation", RunTest<EqualFilesTestCase>},
     {"nothing is derived with randomness, faults and other traffic", RunTest<NothingTestCase>},
     {"eight times the iterations are simulated with as many packets", TestLonger}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::training_run_repeat_test
