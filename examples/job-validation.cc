/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Published times of whole training jobs next to ours. Rows of role calibration give what is not
 * known of the machine; the others follow from it.
 *
 *   ./ns3w run job-validation
 */

#include "hidden-global-values.h"

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// An unknown number.
constexpr double NONE = PublishedTable::UNKNOWN;
/// A vector is simulated whole up to this size, bytes.
constexpr uint64_t LARGE = 64 << 20;
/// Steps of a calibration, each of which reduces its error by far.
constexpr uint32_t ROUNDS = 3;

/** What a row shows. */
enum class Role
{
    PREDICTED,  ///< not used to choose a number
    CALIBRATION ///< a number was chosen with it
};

/** Parameters of the comparison. */
struct Setting
{
    std::string part{"all"};
    bool full{false};
    std::string json;
    RunFilesOptions files;
};

/** A graph up to the end of its first forward pass. */
class ForwardGraph : public TaskGraph
{
  public:
    /** @param whole the graph of a transformer without pipeline, which outlives this one */
    explicit ForwardGraph(const TaskGraph& whole)
        : m_whole(whole)
    {
    }

    uint32_t GetRanks() const override
    {
        return m_whole.GetRanks();
    }

    const std::vector<TaskGroups>& GetGroups() const override
    {
        return m_whole.GetGroups();
    }

    const std::vector<std::string>& GetNames() const override
    {
        return m_whole.GetNames();
    }

    std::unique_ptr<TaskSource> MakeSource(uint32_t rank, uint32_t iterations) const override
    {
        return std::make_unique<Source>(m_whole.MakeSource(rank, iterations));
    }

  private:
    /** Ends with the output layer. */
    class Source : public TaskSource
    {
      public:
        /** @param whole all tasks */
        explicit Source(std::unique_ptr<TaskSource> whole)
            : m_whole(std::move(whole))
        {
        }

        bool Next(GraphTask& task) override
        {
            if (m_hasEnded || !m_whole->Next(task))
            {
                return false;
            }
            m_hasEnded = task.kind == TaskKind::COMPUTE &&
                         task.name == static_cast<uint32_t>(LayerTask::OUTPUT);
            return true;
        }

      private:
        std::unique_ptr<TaskSource> m_whole;
        bool m_hasEnded{false};
    };

    const TaskGraph& m_whole;
};

/** @return time of the computations of a name at rank 0, s */
double
GetLength(const TaskGraph& graph, LayerTask name)
{
    Time length;
    const auto source = graph.MakeSource(0, 1);
    for (GraphTask task; source->Next(task);)
    {
        const bool counts =
            task.kind == TaskKind::COMPUTE && task.name == static_cast<uint32_t>(name);
        length += counts ? task.length : Time();
    }
    return length.GetSeconds();
}

/** Copies of the tokens of a rank. */
struct TokenCopies
{
    uint64_t nodes{0}; ///< of all tokens, at different nodes
    uint64_t ranks{0}; ///< at different ranks
};

/**
 * Routes the tokens of DeepEP's benchmark: to the best 8 of 256 experts, all at the 4 nodes with
 * the best experts.
 * @return the copies of 4096 tokens
 */
TokenCopies
CountTokenCopies(uint32_t nodes, uint32_t gpus)
{
    constexpr uint32_t TOKENS = 4096;
    constexpr uint32_t EXPERTS = 256;
    constexpr uint32_t CHOSEN = 8;
    constexpr uint32_t MOST_NODES = 4;
    using Score = std::pair<uint64_t, uint32_t>; // and the expert
    std::mt19937_64 random;
    TokenCopies copies;
    for (uint32_t token = 0; token < TOKENS; token++)
    {
        std::vector<Score> scores;
        for (uint32_t expert = 0; expert < EXPERTS; expert++)
        {
            scores.emplace_back(random(), expert);
        }
        std::sort(scores.rbegin(), scores.rend());
        std::set<uint32_t> allowed;
        for (auto score = scores.begin(); allowed.size() < std::min(nodes, MOST_NODES); score++)
        {
            allowed.insert(score->second / (EXPERTS / nodes));
        }
        std::set<uint32_t> usedNodes;
        std::set<uint32_t> usedRanks;
        uint32_t chosen = 0;
        for (auto score = scores.begin(); chosen < CHOSEN; score++)
        {
            const uint32_t node = score->second / (EXPERTS / nodes);
            if (allowed.count(node) > 0)
            {
                chosen++;
                usedNodes.insert(node);
                usedRanks.insert(score->second / (EXPERTS / nodes / gpus));
            }
        }
        copies.nodes += usedNodes.size();
        copies.ranks += usedRanks.size();
    }
    return copies;
}

/** Where the collectives of a kind of groups run: alone, or as one of equal size. */
struct Place
{
    ClusterOptions cluster; ///< on which they are measured
    uint64_t factor{1};     ///< bytes there for a byte of the group
};

/** Published jobs, and ours. */
class Comparison
{
  public:
    /** @param setting of the comparison */
    explicit Comparison(const Setting& setting)
        : m_setting(setting),
          m_table({{"figure", "", -76},
                   {"unit", "unit", 0, "", "  ", true},
                   {"role", "role", -11, "", "  ", true},
                   {"source", "source", 0, "", "  ", true},
                   {"published", "published", 10, "%.5g"},
                   {"expected", "expected", 10, "%.5g"},
                   {"ours", "ours", 10, "%.5g"},
                   {"error_percent", "error (%)", 10, "%+.1f"}},
                  setting.json == "-" ? PublishedTable::Printing::NEVER
                                      : PublishedTable::Printing::AT_ONCE)
    {
    }

    /** DeepSpeed: ZeRO-3 and ZeRO++ on 4 nodes with a NIC each. */
    void CompareZero();
    /** Megatron-LM: what replicas add to an iteration. */
    void CompareReplicas();
    /** MLPerf and Megatron Bridge: Llama 3.1 405B. */
    void CompareMlPerf();
    /** TorchTitan: FSDP on 8 and 128 GPUs, and two schedules. */
    void CompareTorchTitan();
    /** DeepEP: exchanges of tokens. */
    void CompareExperts();
    /** Likewise, those that forward tokens within a node. */
    void CompareNormalExperts();
    /** Megatron-LM: operations of ten models. */
    void CompareOperations();

    /** @return the results */
    JsonValue ToJson() const
    {
        auto document = JsonValue::Object();
        document.Set("rows", m_table.GetRows());
        return document;
    }

    /** @return the cost of all simulations */
    const RunCost& GetCost() const
    {
        return m_table.GetCost();
    }

  private:
    void Add(const std::string& figure,
             const std::string& unit,
             Role role,
             const std::string& source,
             double published,
             double expected,
             double ours);
    double Simulate(const ClusterOptions& cluster, CollectiveOperation operation, uint64_t bytes);
    double GetSeconds(const ClusterOptions& cluster, CollectiveOperation operation, uint64_t bytes);
    double GetSeconds(const TaskGraph& graph, const std::map<PlanGroups, Place>& places);
    void CompareFsdp();

    const Setting& m_setting;
    PublishedTable m_table;
    std::map<std::tuple<std::string, CollectiveOperation, uint64_t>, double> m_seconds;
};

ClusterOptions
MakeCluster(uint64_t ranks, const std::string& topology, double rate, const std::string& algorithm)
{
    ClusterOptions options;
    options.ranks = ranks;
    options.topology = topology;
    options.rate = DataRate(static_cast<uint64_t>(rate));
    options.algorithm = algorithm;
    return options;
}

void
Comparison::Add(const std::string& figure,
                const std::string& unit,
                Role role,
                const std::string& source,
                double published,
                double expected,
                double ours)
{
    m_table.AddRow({figure,
                    unit,
                    role == Role::CALIBRATION ? "calibration" : "predicted",
                    source,
                    published,
                    expected,
                    ours,
                    100 * (ours / published - 1)});
}

/** @return simulated time of a collective whose connections are open, s */
double
Comparison::Simulate(const ClusterOptions& cluster, CollectiveOperation operation, uint64_t bytes)
{
    const std::string name = cluster.topology + "|" + std::to_string(cluster.rate.GetBitRate()) +
                             "|" + std::to_string(cluster.ranks) + "|" + cluster.algorithm;
    const auto [known, isNew] = m_seconds.emplace(std::make_tuple(name, operation, bytes), 0);
    if (isNew)
    {
        const CollectiveRun run = RunCollectives(cluster, operation, {cluster.ranks * 4, bytes});
        m_table.AddCost(run.cost);
        known->second = run.measurements.back().seconds;
    }
    return known->second;
}

/** Likewise; the time of a large vector is on the line through those of two smaller ones. */
double
Comparison::GetSeconds(const ClusterOptions& cluster, CollectiveOperation operation, uint64_t bytes)
{
    if (m_setting.full || bytes <= LARGE)
    {
        return Simulate(cluster, operation, bytes);
    }
    const double half = Simulate(cluster, operation, LARGE / 2);
    const double whole = Simulate(cluster, operation, LARGE);
    return whole + (whole - half) * static_cast<double>(bytes - LARGE) / (LARGE / 2.0);
}

/** @return time of a graph whose collectives take the times of those simulated alone, s */
double
Comparison::GetSeconds(const TaskGraph& graph, const std::map<PlanGroups, Place>& places)
{
    CommunicationTimes times;
    times.collective = [&](const GraphTask& task, uint32_t) {
        const Place& place = places.at(static_cast<PlanGroups>(task.groups));
        return Seconds(GetSeconds(place.cluster, task.operation, task.bytes * place.factor));
    };
    return TimeGraph(graph, 1, times).end.GetSeconds();
}

void
Comparison::CompareZero()
{
    // V100s of DGX-2: NVSwitch with 150 GB/s a direction, 39 TFLOP/s as Megatron-LM reached.
    constexpr uint64_t NODES = 4;
    constexpr uint64_t GPUS = 16;
    constexpr double LOCAL = 1200e9;
    constexpr const char* SOURCE = "DeepSpeed, ZeRO++ log";
    m_table.PrintHeadings(
        "GPT-2 18B, 4 nodes of 16 V100 with one NIC of 100 Gbit/s each; times of layers from "
        "collectives simulated alone;\nexpected: bytes at the calibrated rate alone; of the "
        "optimizer: bytes "
        "in memory\n");
    TransformerModel model = FindTransformer("megatron-18.4b");
    model.sequence = 512;
    ParallelOptions base;
    base.data = NODES * GPUS;
    base.globalBatch = base.data;
    base.recompute = "full";
    base.zero = 3;
    ParallelOptions plus = base;
    plus.quantizedWeights = true;
    plus.quantizedGradients = true;
    plus.hpzPartition = GPUS;
    ParallelJobOptions job;
    const TransformerRates rates = job.GetRates("v100", 1);
    const auto getPlaces = [&](double rate) {
        const std::string nodes = "leaf-spine:leaves=4,spines=1,hosts-per-leaf=16,uplink=" +
                                  std::to_string(static_cast<uint64_t>(rate)) + "bps";
        std::map<PlanGroups, Place> places{
            {PlanGroups::DATA, {MakeCluster(base.data, nodes, LOCAL, "ring")}},
            {PlanGroups::SHARD, {MakeCluster(GPUS, "single-switch", LOCAL, "ring")}},
            // 16 groups share the NICs.
            {PlanGroups::REPLICA, {MakeCluster(NODES, "single-switch", rate, "direct"), GPUS}}};
        for (auto& [groups, place] : places)
        {
            place.cluster.congestionControl = "none"; // InfiniBand slows no flow down
        }
        return places;
    };
    const auto makeGraph = [&](const ParallelOptions& options) {
        return TransformerGraph(std::make_shared<const ParallelPlan>(model, options), rates);
    };
    const TransformerGraph baseline = makeGraph(base);
    const TransformerGraph quantized = makeGraph(plus);
    constexpr double LINE = 100e9;
    constexpr double FORWARD = 3.3562;
    constexpr double OPTIMIZER = 0.1395; // of ZeRO-3; ZeRO++ leaves it as it is
    const double atLine = GetSeconds(ForwardGraph(baseline), getPlaces(LINE));
    Add("ZeRO-3, forward, NICs at line rate",
        "ms",
        Role::PREDICTED,
        SOURCE,
        1e3 * FORWARD,
        NONE,
        1e3 * atLine);
    double rate = LINE;
    for (uint32_t round = 0; round < ROUNDS; round++)
    {
        rate *= GetSeconds(ForwardGraph(baseline), getPlaces(rate)) / FORWARD;
    }
    const auto places = getPlaces(rate);
    Add("rate of a NIC that the forward pass of ZeRO-3 implies",
        "Gbit/s",
        Role::CALIBRATION,
        SOURCE,
        NONE,
        NONE,
        rate * 1e-9);
    const double bytes = 2.0 * static_cast<double>(model.GetParameters());
    const double whole = 8 * bytes * (base.data - 1) / base.data / rate;
    const auto add = [&](const std::string& name,
                         const TransformerGraph& graph,
                         const std::array<double, 4>& published,
                         const std::array<double, 2>& expected,
                         Role role) {
        const double forward = GetSeconds(ForwardGraph(graph), places);
        const double update = GetLength(graph, LayerTask::UPDATE);
        const double passes = GetSeconds(graph, places) - update;
        const double iteration = passes + OPTIMIZER;
        Add(name + ", forward", "ms", role, SOURCE, published[0], 1e3 * expected[0], 1e3 * forward);
        Add(name + ", backward",
            "ms",
            Role::PREDICTED,
            SOURCE,
            published[1],
            1e3 * expected[1],
            1e3 * (passes - forward));
        Add(name + ", optimizer", "ms", role, SOURCE, published[2], 1e3 * update, 1e3 * OPTIMIZER);
        Add(name + ", iteration",
            "ms",
            Role::PREDICTED,
            SOURCE,
            published[3],
            NONE,
            1e3 * iteration);
        return iteration;
    };
    const double before = add("ZeRO-3",
                              baseline,
                              {3356.2, 6458.6, 139.5, 9955.9},
                              {whole, 2 * whole},
                              Role::CALIBRATION);
    const double after = add("ZeRO++",
                             quantized,
                             {1794.6, 1742.0, 142.4, 3680.6},
                             {whole / 2, NONE},
                             Role::PREDICTED);
    Add("speed-up of ZeRO++", "", Role::PREDICTED, SOURCE, 9955.9 / 3680.6, NONE, before / after);
}

void
Comparison::CompareReplicas()
{
    constexpr const char* SOURCE = "Megatron-LM, tables.tex";
    m_table.PrintHeadings(
        "\n128 replicas on A100s, 8 NICs of 200 Gbit/s a node; gradients reduced "
        "after the backward pass;\nexpected: bytes at line rate; the difference of "
        "two published times is known to 1 ms\n");

    struct Row
    {
        const char* name;
        uint64_t hidden;
        uint32_t heads;
        uint32_t layers;
        uint64_t tensor;
        double alone; ///< published, ms
        double all;   ///< published with replicas, ms
    };

    constexpr double NIC = 200e9;
    constexpr uint64_t REPLICAS = 128;
    constexpr uint64_t GRADIENT = 2; // without --fp32-allreduce, which is off by default
    for (const Row& row : {Row{"1B, tensor 1", 1920, 15, 24, 1, 1076, 1153},
                           Row{"2B, tensor 2", 2304, 18, 30, 2, 1026, 1101},
                           Row{"4B, tensor 4", 3072, 24, 36, 4, 1162, 1242},
                           Row{"8B, tensor 8", 4096, 32, 42, 8, 1343, 1380}})
    {
        TransformerModel model = FindTransformer("megatron-1.7b");
        model.hidden = row.hidden;
        model.feedForward = 4 * row.hidden;
        model.heads = row.heads;
        model.keyValueHeads = row.heads;
        model.layers = row.layers;
        model.sequence = 1024;
        ParallelOptions options;
        options.tensor = row.tensor;
        const ParallelPlan plan(model, options);
        // Groups have NICs of their own: those of their GPUs.
        const uint64_t gpus = 8 / row.tensor;
        const ClusterOptions cluster =
            MakeCluster(REPLICAS,
                        "rail-optimized:gpus=" + std::to_string(gpus) +
                            ",servers=" + std::to_string(REPLICAS / gpus) + ",local-rate=2400Gbps",
                        NIC,
                        "multi-ring");
        Add(std::string(row.name) + ": iteration without replicas",
            "ms",
            Role::CALIBRATION,
            SOURCE,
            row.alone,
            NONE,
            row.alone);
        const uint64_t bytes = GRADIENT * plan.GetParameters(0);
        const double seconds = GetSeconds(cluster, CollectiveOperation::ALL_REDUCE, bytes);
        const double expected = 16.0 * static_cast<double>(bytes) * (REPLICAS - 1) / REPLICAS /
                                (NIC * static_cast<double>(gpus));
        Add(std::string(row.name) + ": replicas add",
            "ms",
            Role::PREDICTED,
            SOURCE,
            row.all - row.alone,
            1e3 * expected,
            1e3 * seconds);
        Add(std::string(row.name) + ": iteration with replicas",
            "ms",
            Role::PREDICTED,
            SOURCE,
            row.all,
            row.alone + 1e3 * expected,
            row.alone + 1e3 * seconds);
    }
}

/** @return time of a schedule in times of a micro-batch, whose backward pass is twice as long */
double
GetMicroBatches(const std::string& schedule, uint32_t ranks, uint32_t microBatches)
{
    const PipelineSchedule made = MakePipelineSchedule(schedule, ranks, microBatches);
    const double part = static_cast<double>(ranks) / made.GetStages() / 3;
    PipelineDurations durations;
    durations.forward = part;
    durations.inputGradient = part;
    durations.weightGradient = part;
    return TimePipeline(made, durations).end;
}

void
Comparison::CompareMlPerf()
{
    constexpr const char* MLPERF = "MLPerf Training v5.0";
    constexpr const char* BRIDGE = "Megatron Bridge, performance summary";
    constexpr uint32_t STAGES = 8;
    constexpr uint32_t CHUNKS = 8;
    m_table.PrintHeadings(
        "\nLlama 3.1 405B, FP8, tensor 8, pipeline 8 with 8 chunks, context 2: a time for each "
        "micro-batch of the schedule,\nand one that is not hidden, from the two rows of MLPerf; "
        "expected: (p - 1) / v micro-batches of bubble\n");

    struct Row
    {
        uint32_t gpus;
        uint32_t microBatches;
        double seconds;
    };

    const std::array<Row, 2> rows{Row{512, 288, 55.102}, Row{2560, 56, 11.185}};
    const auto getUnits = [](uint32_t microBatches) {
        return GetMicroBatches("interleaved:v=8", STAGES, microBatches);
    };
    const auto getExpectedUnits = [](uint32_t microBatches) {
        return microBatches + (STAGES - 1.0) / CHUNKS;
    };
    const double slope = (rows[0].seconds - rows[1].seconds) /
                         (getUnits(rows[0].microBatches) - getUnits(rows[1].microBatches));
    const double fixed = rows[0].seconds - slope * getUnits(rows[0].microBatches);
    for (const Row& row : rows)
    {
        Add(std::to_string(row.gpus) + " GPUs, " + std::to_string(row.microBatches) +
                " micro-batches",
            "s",
            Role::CALIBRATION,
            MLPERF,
            row.seconds,
            fixed + slope * getExpectedUnits(row.microBatches),
            fixed + slope * getUnits(row.microBatches));
    }
    Add("time of a micro-batch", "s", Role::CALIBRATION, MLPERF, NONE, NONE, slope);
    Add("time that is not hidden", "s", Role::CALIBRATION, MLPERF, NONE, NONE, fixed);
    constexpr uint32_t GPUS = 1024;
    constexpr uint32_t BATCH = 1536;
    constexpr uint32_t MICRO_BATCHES = BATCH / (GPUS / 128);
    for (const double tokens : {311.0, 328.0, 326.0})
    {
        Add("1024 GPUs, 192 micro-batches: " + FormatDouble(tokens) +
                " tokens/s of a GPU in one release",
            "s",
            Role::PREDICTED,
            BRIDGE,
            8192.0 * BATCH / (GPUS * tokens),
            fixed + slope * getExpectedUnits(MICRO_BATCHES),
            fixed + slope * getUnits(MICRO_BATCHES));
    }
    // Either row from the other. Their configuration overlaps gradients and parameters
    // (OVERLAP_GRAD_REDUCE, OVERLAP_PARAM_GATHER_WITH_OPTIM_STEP), so nothing of them is exposed.
    for (const std::size_t known : {0, 1})
    {
        const Row& from = rows[known];
        const Row& to = rows[1 - known];
        Add(std::to_string(to.gpus) + " GPUs from " + std::to_string(from.gpus) +
                ": exchanges of replicas hidden",
            "s",
            Role::PREDICTED,
            MLPERF,
            to.seconds,
            NONE,
            from.seconds * getUnits(to.microBatches) / getUnits(from.microBatches));
    }
}

void
Comparison::CompareFsdp()
{
    constexpr const char* SOURCE = "TorchTitan, benchmarks";
    constexpr double BATCH = 2;
    const TransformerModel published = FindTransformer("llama3-8b");
    const auto getPlaces = [](uint64_t ranks) {
        const std::string topology =
            "rail-optimized:gpus=8,servers=" + std::to_string(ranks / 8) + ",local-rate=2966.4Gbps";
        return std::map<PlanGroups, Place>{
            {PlanGroups::DATA, {MakeCluster(ranks, topology, 400e9, "multi-ring")}}};
    };
    const auto getTokens = [&](uint64_t ranks, double operations) {
        ParallelOptions options;
        options.data = ranks;
        options.microBatch = static_cast<uint64_t>(BATCH);
        options.globalBatch = ranks * options.microBatch;
        options.zero = 3;
        options.gradientBytes = 4;
        options.recompute = "selective";
        TransformerModel model = published;
        model.sequence = 8192;
        TransformerRates rates = ParallelJobOptions().GetRates("h100", 1);
        rates.operations = operations;
        const TransformerGraph graph(std::make_shared<const ParallelPlan>(model, options), rates);
        return BATCH * static_cast<double>(model.sequence) / GetSeconds(graph, getPlaces(ranks));
    };
    for (const auto& [name, few, many] : {std::tuple{"bf16", 5762.0, 5605.0},
                                          {"bf16, compiled", 6667.0, 6514.0},
                                          {"fp8, compiled", 8532.0, 8380.0}})
    {
        double operations = 400e12;
        for (uint32_t round = 0; round < ROUNDS; round++)
        {
            operations *= few / getTokens(8, operations);
        }
        const std::string label = std::string("8B, FSDP, ") + name;
        Add(label + ", 8 GPUs",
            "tokens/s/GPU",
            Role::CALIBRATION,
            SOURCE,
            few,
            NONE,
            getTokens(8, operations));
        Add(label + ", 128 GPUs",
            "tokens/s/GPU",
            Role::PREDICTED,
            SOURCE,
            many,
            NONE,
            getTokens(128, operations));
    }
}

void
Comparison::CompareTorchTitan()
{
    m_table.PrintHeadings("\nTorchTitan, H100, 8 NICs of 400 Gbit/s a node; FSDP with 2 samples of "
                          "8192 tokens, gradients of 4 bytes\n");
    CompareFsdp();
    Add("405B, 512 GPUs: interleaved over 1F1B, 8 micro-batches and 2 chunks assumed",
        "",
        Role::PREDICTED,
        "TorchTitan, benchmarks",
        128.0 / 100,
        (8 + 7.0) / (8 + 7.0 / 2),
        GetMicroBatches("1f1b", 8, 8) / GetMicroBatches("interleaved:v=2", 8, 8));
}

void
Comparison::CompareExperts()
{
    constexpr const char* SOURCE = "DeepEP, README";
    constexpr uint64_t SCALES = 32; // values of 8 bits that share a scale
    constexpr uint64_t NUMBERS = 128 * 8 * 7168;
    const std::array<const char*, 2> names{"dispatch", "combine"};
    const std::array<uint64_t, 2> bytes{NUMBERS + NUMBERS / SCALES, 2 * NUMBERS};
    const std::array<double, 2> few{77, 114};
    const std::array<double, 2> many{118, 195};
    m_table.PrintHeadings(
        "\nExchanges of tokens, H800, a NIC of 400 Gbit/s a GPU; low latency: 128 "
        "tokens, 8 of the experts each;\ntime of the kernels and rate of NVLink "
        "from both rows of 8 ranks; expected: bytes at line rate\n");
    constexpr double RANKS = 8;
    const double local = static_cast<double>(bytes[1] - bytes[0]) * (RANKS - 1) / RANKS /
                         ((few[1] - few[0]) * 1e-6); // B/s
    const double kernels =
        few[0] - 1e6 * static_cast<double>(bytes[0]) * (RANKS - 1) / RANKS / local; // us
    Add("rate of NVLink", "GB/s", Role::CALIBRATION, SOURCE, NONE, NONE, local * 1e-9);
    Add("time of kernels beside the exchange",
        "us",
        Role::CALIBRATION,
        SOURCE,
        NONE,
        NONE,
        kernels);
    const auto exchange = [&](uint64_t ranks, uint64_t size, double link) {
        ClusterOptions cluster =
            MakeCluster(ranks,
                        "rail-optimized:gpus=8,servers=" + std::to_string(ranks / 8) +
                            ",local-rate=" + std::to_string(static_cast<uint64_t>(link)) + "bps",
                        400e9,
                        "direct");
        return 1e6 * Simulate(cluster, CollectiveOperation::ALL_TO_ALL, size);
    };
    for (std::size_t i = 0; i < names.size(); i++)
    {
        Add(std::string("low latency, ") + names[i] + ", 8 ranks",
            "us",
            Role::CALIBRATION,
            SOURCE,
            few[i],
            kernels + 1e6 * static_cast<double>(bytes[i]) * (RANKS - 1) / RANKS / local,
            kernels + exchange(8, bytes[i], 8 * local));
        Add(std::string("low latency, ") + names[i] + ", 16 ranks",
            "us",
            Role::PREDICTED,
            SOURCE,
            many[i],
            kernels + 1e6 * static_cast<double>(bytes[i]) / 2 / 50e9,
            kernels + exchange(16, bytes[i], 8 * local));
    }
    CompareNormalExperts();
}

void
Comparison::CompareNormalExperts()
{
    constexpr const char* SOURCE = "DeepEP, README";
    constexpr uint32_t GPUS = 8; // of a node
    constexpr double NVLINK = 160e9;
    constexpr double NIC = 50e9;
    m_table.PrintHeadings(
        "\nNormal kernels of DeepEP: 4096 tokens, to each of their nodes once by a NIC, and there "
        "to "
        "each of their GPUs by NVLink;\nrates count what stays, too; rates of the lines from the "
        "rows of 8 and of 32 ranks; expected: 160 and 50 GB/s\n");

    struct Row
    {
        uint32_t nodes;
        std::array<double, 2> published; ///< dispatch and combine
    };

    const std::array<Row, 4> rows{{{1, {153, 158}}, {4, {58, 57}}, {2, {43, 43}}, {8, {51, 50}}}};
    const std::array<const char*, 2> names{"dispatch", "combine"};
    const std::array<uint64_t, 2> token{7168 + 7168 / 32, 2 * 7168}; // with scales, bytes
    for (std::size_t i = 0; i < names.size(); i++)
    {
        double nvlink = NVLINK;
        double nic = NIC;
        for (const Row& row : rows)
        {
            const TokenCopies copies = CountTokenCopies(row.nodes, GPUS);
            const uint64_t across = copies.nodes * token[i];
            const uint64_t inside = copies.ranks * token[i];
            const uint64_t counted = row.nodes == 1 ? inside : across;
            const auto getSeconds = [&](uint64_t ranks, double rate, uint64_t bytes) {
                return ranks == 1
                           ? 0
                           : GetSeconds(MakeCluster(ranks, "single-switch", 8 * rate, "direct"),
                                        CollectiveOperation::ALL_TO_ALL,
                                        bytes);
            };
            // Kernels forward a token when it arrives, so the slower exchange counts.
            const auto getRate = [&] {
                return static_cast<double>(counted) * 1e-9 /
                       std::max(getSeconds(row.nodes, nic, across),
                                getSeconds(GPUS, nvlink, inside));
            };
            const bool givesNvlink = row.nodes == 1;
            const bool givesNic = row.nodes == 4;
            for (uint32_t round = 0; (givesNvlink || givesNic) && round < ROUNDS; round++)
            {
                (givesNvlink ? nvlink : nic) *= row.published[i] / getRate();
            }
            const double left = static_cast<double>(across) * (row.nodes - 1) / row.nodes;
            const double near = static_cast<double>(inside) * (GPUS - 1) / GPUS;
            Add(std::string("normal, ") + names[i] + ", " + std::to_string(row.nodes * GPUS) +
                    " ranks: rate of " + (row.nodes == 1 ? "NVLink" : "a NIC"),
                "GB/s",
                givesNvlink || givesNic ? Role::CALIBRATION : Role::PREDICTED,
                SOURCE,
                row.published[i],
                1e-9 * static_cast<double>(counted) / std::max(left / NIC, near / NVLINK),
                getRate());
        }
    }
}

void
Comparison::CompareOperations()
{
    constexpr const char* SOURCE = "Megatron-LM, SC 2021, table 1";
    constexpr uint64_t VOCABULARY = 51200;
    m_table.PrintHeadings(
        "\nIterations of ten models: computations of the graph at the published rate, which "
        "contains bubbles and communication;\npublished: by the paper's formula\n");

    struct Row
    {
        const char* model;
        uint32_t gpus;
        uint64_t batch;
        double rate; ///< of a GPU, TFLOP/s
    };

    for (const Row& row : {Row{"megatron-1.7b", 32, 512, 137},
                           Row{"megatron-3.6b", 64, 512, 138},
                           Row{"megatron-7.5b", 128, 512, 142},
                           Row{"megatron-18.4b", 256, 1024, 135},
                           Row{"megatron-39.1b", 512, 1536, 138},
                           Row{"megatron-76.1b", 1024, 1792, 140},
                           Row{"megatron-145.6b", 1536, 2304, 148},
                           Row{"megatron-310.1b", 1920, 2160, 155},
                           Row{"megatron-529.6b", 2520, 2520, 163},
                           Row{"megatron-1008b", 3072, 3072, 163}})
    {
        TransformerModel model = FindTransformer(row.model);
        ParallelOptions options;
        options.recompute = "full";
        const auto plan = std::make_shared<const ParallelPlan>(model, options);
        // One rank computes a sample; no time for memory.
        TransformerRates rates;
        rates.operations = row.rate * 1e12;
        rates.memory = 1e30;
        const double sample = TimeGraph(TransformerGraph(plan, rates), 1).end.GetSeconds();
        const double share = static_cast<double>(row.batch) / row.gpus;
        const auto layers = static_cast<double>(model.layers);
        const auto hidden = static_cast<double>(model.hidden);
        const auto sequence = static_cast<double>(model.sequence);
        const double published = 96 * sequence * layers * hidden * hidden *
                                 (1 + sequence / (6 * hidden) +
                                  static_cast<double>(VOCABULARY) / (16 * layers * hidden)) /
                                 rates.operations;
        Add(std::string(row.model) + ", " + std::to_string(row.gpus) + " GPUs",
            "s",
            Role::PREDICTED,
            SOURCE,
            share * published,
            NONE,
            share * sample);
    }
}

int
Compare(int argc, char* argv[])
{
    Setting setting;
    ProgramOptions options("job-validation", "Whole training jobs: published beside ours.");
    options.Group("Experiment");
    options.AddChoice("part",
                      "zero: ZeRO-3 and ZeRO++; replicas: of Megatron-LM; mlperf: Llama 3.1 405B; "
                      "torchtitan: FSDP and schedules; experts: exchanges of tokens; operations: "
                      "of ten models",
                      setting.part,
                      {"all", "zero", "replicas", "mlperf", "torchtitan", "experts", "operations"});
    options.AddBool("full",
                    "simulate all bytes of a collective; otherwise vectors above 64 MiB take the "
                    "time on the line through this size and half of it",
                    setting.full);
    options.AddJson(setting.json);
    setting.files.AddTo(options);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    Comparison comparison(setting);
    RunExperiment(
        options,
        setting.json,
        setting.files,
        setting.part,
        {{"zero", [&] { comparison.CompareZero(); }},
         {"replicas", [&] { comparison.CompareReplicas(); }},
         {"mlperf", [&] { comparison.CompareMlPerf(); }},
         {"torchtitan", [&] { comparison.CompareTorchTitan(); }},
         {"experts", [&] { comparison.CompareExperts(); }},
         {"operations", [&] { comparison.CompareOperations(); }}},
        [&] { return comparison.ToJson(); },
        comparison.GetCost());
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("job-validation", [&] { return Compare(argc, argv); });
}
