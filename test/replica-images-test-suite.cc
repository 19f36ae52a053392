/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "derived-test-common.h"
#include "run-test-common.h"
#include "run/work-estimate.h"

#include "ns3/rank-images.h"

#include <cmath>
#include <vector>

namespace ns3::training::tests::replica_images_test
{

/** @return options of a job of so many ranks on a switch; all ranks have the same layers */
TrainingRunOptions
MakeOptions(uint32_t ranks, const Change& change)
{
    TrainingRunOptions options;
    options.workload = MakePath("images.csv");
    std::ofstream(options.workload) << "layer,parameters,forward_us,backward_us\n"
                                       "conv,320000,20,40\n"
                                       "fc,1600000,10,20\n";
    options.bucket = 4000000;
    options.iterations = 2;
    options.cluster.ranks = ranks;
    change(options);
    return options;
}

/** A job whose replicas are images, and which part of its ranks is simulated. */
struct ImageCase
{
    std::string name;
    uint32_t ranks;
    uint32_t simulated;
    Change change;
    bool isExact; ///< else switches choose among paths, which the number of a destination begins
};

/** Iterations and counters of derived replicas are those of the whole simulation. */
void
TestCase(const ImageCase& each)
{
    TrainingRunOptions options = MakeOptions(each.ranks, each.change);
    const Outcome whole = GetOutcome(options);
    options.replicas = "derive";
    const Outcome derived = GetOutcome(options);
    NS_TEST_EXPECT_MSG_EQ(whole.repetition.derivedRanks, 0, "all are simulated");
    NS_TEST_EXPECT_MSG_EQ(derived.repetition.derivedRanks, each.ranks - each.simulated, "ranks");
    NS_TEST_ASSERT_MSG_EQ(derived.iterations.size(), whole.iterations.size(), "iterations");
    const double time = derived.iterations.back().iterationTimeS;
    const double expected = whole.iterations.back().iterationTimeS;
    double most = 0;
    for (std::size_t i = 0; i < whole.iterations.size(); i++)
    {
        using Record = IterationRecord;
        for (const auto& field : {&Record::iterationTimeS,
                                  &Record::communicationTimeS,
                                  &Record::exposedCommunicationS,
                                  &Record::bubbleS,
                                  &Record::stragglerTimeS,
                                  &Record::meanComputeS})
        {
            const double value = whole.iterations[i].*field;
            const double error = std::abs(derived.iterations[i].*field - value);
            most = std::max(most, error / std::max(value, 1e-6));
        }
    }
    const bool isExact = ToText(derived.iterations) == ToText(whole.iterations);
    NS_TEST_EXPECT_MSG_EQ_TOL(time, expected, (each.isExact ? 0.001 : 0.003) * expected, "time");
    NS_TEST_EXPECT_MSG_EQ((most < 0.001 || !each.isExact), true, "times " << most);
    double mostOfCounters = 0;
    for (std::size_t i = 0; i < whole.counters.size(); i++)
    {
        const auto count = static_cast<double>(whole.counters[i]);
        const double error = std::abs(static_cast<double>(derived.counters[i]) - count);
        mostOfCounters = std::max(mostOfCounters, error / std::max(count, 1.0));
    }
    std::cout << each.name << ": " << isExact << " " << most << " " << mostOfCounters << " "
              << time / expected - 1 << "\n";
    NS_TEST_EXPECT_MSG_LT(mostOfCounters, each.isExact ? 0.001 : 0.01, "counters");
    NS_TEST_EXPECT_MSG_EQ((isExact && mostOfCounters == 0) || !each.isExact, true, "exact");
    const auto sent = static_cast<double>(whole.network.sentPackets);
    NS_TEST_EXPECT_MSG_EQ_TOL(derived.network.sentPackets, sent, 0.001 * sent, "packets");
    // Of the hops, those of derived ranks are not simulated.
    NS_TEST_EXPECT_MSG_EQ(
        (derived.skipped >= derived.hops / each.ranks * (each.ranks - each.simulated)),
        true,
        derived.skipped << " of " << derived.hops);
}

/** @return cases of all kinds of parallelism, transports and networks */
std::vector<ImageCase>
MakeCases()
{
    const auto rails = [](TrainingRunOptions& options) {
        options.cluster.topology = "rail-optimized:gpus=4,unit=16";
    };
    const auto uec = [](TrainingRunOptions& options) { options.cluster.transport = "uec"; };
    const auto path = [](const std::string& topology, const std::string& name) {
        return [topology, name](TrainingRunOptions& options) {
            options.cluster.topology = topology;
            options.cluster.path = name;
        };
    };
    using P = ParallelOptions&;
    return {
        {"data, a switch", 16, 1, [](auto&) {}, true},
        {"data, uec", 16, 1, uec, true},
        {"data, no congestion control",
         32,
         1,
         [](auto& o) { o.cluster.congestionControl = "none"; },
         true},
        {"data, an all-reduce in pieces", 16, 1, [](auto& o) { o.cluster.segments = 4; }, true},
        {"ZeRO 1", 16, 1, Model([](P p) { p.zero = 1; }), true},
        {"ZeRO 3", 16, 1, Model([](P p) { p.zero = 3; }), true},
        {"ZeRO 3, uec", 16, 1, Model([](P p) { p.zero = 3; }, uec), true},
        {"tensor, a switch", 32, 4, Model([](P p) { p.tensor = 4; }), true},
        {"tensor, rails", 32, 4, Model([](P p) { p.tensor = 4; }, rails), true},
        {"tensor and pipeline, rails",
         64,
         8,
         Model([](P p) { p.tensor = 4, p.pipeline = 2; }, rails),
         true},
        {"tensor and pipeline, rails, uec",
         32,
         8,
         Model([](P p) { p.tensor = 4, p.pipeline = 2; },
               [rails, uec](auto& o) { rails(o), uec(o); }),
         true},
        {"replicas in a row",
         32,
         8,
         Model([](P p) { p.tensor = 4, p.pipeline = 2, p.order = "tp-cp-pp-dp"; }, rails),
         true},
        {"replicas in a server, whose switch grants credits",
         16,
         4,
         Model([](P p) { p.tensor = 2, p.pipeline = 2, p.zero = 1; },
               [](auto& o) { o.cluster.topology = "rail-optimized:gpus=8,unit=2"; }),
         true},
        {"rows of replicas in servers",
         32,
         4,
         Model([](auto& p) { p.tensor = 2, p.pipeline = 2, p.zero = 1; },
               [](auto& o) {
                   o.cluster.topology = "rail-optimized:gpus=8,unit=4";
                   o.cluster.algorithm = "hierarchical";
               }),
         true},
        {"NCCL's hosts",
         16,
         4,
         Model([](P p) { p.tensor = 2, p.pipeline = 2; },
               [](auto& o) {
                   o.cluster.topology = "rail-optimized:gpus=8,unit=2";
                   o.cluster.hostModel = "nccl";
                   o.cluster.congestionControl = "none";
               }),
         true},
        {"servers without switches, whose GPUs share a NIC",
         16,
         4,
         Model([](P p) { p.tensor = 4; },
               [](auto& o) {
                   o.cluster.topology = "rail-optimized:gpus=4,local=mesh,nics=1";
                   o.cluster.hostModel = o.cluster.algorithm = "nccl";
                   o.cluster.congestionControl = "none";
               }),
         true},
        {"context", 16, 4, Model([](P p) { p.tensor = 2, p.context = 2; }), true},
        {"experts", 16, 2, Model([](P p) { p.expert = 2; }), true},
        {"experts and tensor", 32, 8, Model([](P p) { p.expert = 4, p.tensor = 2; }), true},
        {"experts over tensor-parallel ranks",
         32,
         4,
         Model([](P p) {
             p.expert = 4, p.expertTensor = 1, p.tensor = 2;
             p.sequenceParallel = true, p.mtpLayers = 1;
         }),
         true},
        {"leaves below a spine",
         16,
         4,
         [](auto& o) { o.cluster.topology = "leaf-spine:leaves=4,hosts-per-leaf=4,spines=1"; },
         true},
        {"tensor, leaves below a spine, four senders a link",
         16,
         4,
         Model([](P p) { p.tensor = 4; },
               [](auto& o) {
                   o.cluster.topology = "leaf-spine:leaves=4,hosts-per-leaf=4,spines=1";
                   o.cluster.congestionControl = "none";
               }),
         true},
        {"tensor, leaves below spines, adaptive",
         32,
         4,
         Model([](P p) { p.tensor = 4; }, path("leaf-spine:leaves=8,spines=4", "adaptive")),
         false},
        {"experts, leaves below spines, sprayed",
         32,
         8,
         Model([](P p) { p.expert = 4, p.tensor = 2; },
               path("leaf-spine:leaves=8,spines=4", "spray")),
         false},
        {"tensor and pipeline, a fat tree, sprayed",
         128,
         64,
         Model([](P p) { p.tensor = 4, p.pipeline = 4; }, path("fat-tree:k=8", "spray")),
         false},
        {"tensor, a fat tree, adaptive",
         128,
         16,
         Model([](P p) { p.tensor = 4; }, path("fat-tree:k=8", "adaptive")),
         false},
        {"tensor and ZeRO 3, rails below spines, adaptive",
         256,
         64,
         Model([](P p) { p.tensor = 8, p.zero = 3; },
               path("rail-optimized:gpus=8,unit=8,spines=8", "adaptive")),
         false},
        {"tensor, four planes",
         32,
         4,
         Model([](P p) { p.tensor = 4; },
               [](auto& o) {
                   o.cluster.topology = "leaf-spine:planes=4,leaves=8,hosts-per-leaf=4,spines=1";
                   o.cluster.congestionControl = "none";
               }),
         true},
        {"tensor and pipeline, two planes, striped",
         32,
         8,
         Model([](P p) { p.tensor = 2, p.pipeline = 2; },
               [](auto& o) {
                   o.cluster.topology = "leaf-spine:planes=2,leaves=8,hosts-per-leaf=4,spines=1";
                   o.cluster.portPairs = "stripe";
                   o.cluster.congestionControl = "none";
               }),
         true},
        {"tensor, four planes, adaptive",
         32,
         4,
         Model([](P p) { p.tensor = 4; },
               path("leaf-spine:planes=4,leaves=8,hosts-per-leaf=4,spines=4", "adaptive")),
         false},
        {"iterations that repeat",
         16,
         1,
         [](auto& o) { o.repeat = "derive", o.iterations = 40; },
         true},
    };
}

/** @param change of the options @return why replicas are not derived */
std::string
GetReason(uint32_t ranks, const Change& change)
{
    return GetRefusal([&] {
        TrainingRunOptions options = MakeOptions(ranks, change);
        options.replicas = "derive";
        TrainingRun(options).Run();
    });
}

/** @return a file of hosts with two links to a switch, the dear one first at half of them */
std::string
WriteParallelLinks()
{
    std::string text = R"({"hosts": 8, "switches": 1, "links": [)";
    for (uint32_t host = 0; host < 8; host++)
    {
        for (uint32_t number : {0, 1})
        {
            const bool isDear = (number == 0) == (host < 4);
            text += (host + number > 0 ? std::string(", ") : "") + R"({"a": )" +
                    std::to_string(host) + R"(, "b": 8, "cost": )" + (isDear ? "5" : "1") + "}";
        }
    }
    const std::string path = MakePath("parallel-links.json");
    std::ofstream(path) << text << "]}";
    return path;
}

/** What has no images is refused, with the reason. */
void
TestRefusals()
{
    using O = TrainingRunOptions&;
    const std::pair<Change, std::string> cases[] = {
        {[](O o) { o.cluster.transport = "tcp"; }, "transport tcp connects hosts by name"},
        {[](O o) { o.computeJitter = "normal:cv=0.1"; }, "compute times are drawn at random"},
        {[](O o) { o.stragglers = {"1:2"}; }, "stragglers are no images of other ranks"},
        {[](O o) { o.cluster.loss = 0.001; }, "links fail, or lose or delay frames"},
        {[](O o) { o.cluster.faults = {"host1-switch0:loss=0.1"}; }, "links fail, or lose"},
        {[](O o) { o.cluster.background = "random"; }, "other traffic uses the network"},
        {[](O o) { o.payload = "real"; }, "a real payload has numbers of all ranks"},
        {[](O o) { o.results = MakePath("images.sqlite"); }, "files have records of all ranks"},
        {[](O o) { o.cluster.buffer = 560000; }, "its memory may not do for all replicas"},
        {[](O o) { o.cluster.algorithm = "recursive-doubling"; },
         "in the all-reduce of 8 ranks by "},
        {[](O o) { o.cluster.algorithm = "double-binary-tree"; },
         "in the all-reduce of 8 ranks by "},
        {[](O o) { o.cluster.algorithm = "switchml"; }, "compute a collective"},
        {[](O o) { o.cluster.topology = "fat-tree:k=4"; }, "flows are hashed on paths between"},
        {[](O o) { o.cluster.topology = "leaf-spine:planes=4,leaves=1,spines=1"; },
         "messages begin at different ports between rank 0 and rank 1"},
        {[](O o) { o.cluster.topology = "torus:4x2"; }, "replicas share more than switches"},
        {[](O o) { o.cluster.topology = "dragonfly:p=1,a=4,h=1", o.cluster.path = "spray"; },
         "the links of switch1 are no images of those of switch0"},
        {[](O o) { o.cluster.topology = "leaf-spine:leaves=2,hosts-per-leaf=4"; },
         "flows are hashed on paths between"},
        {Model([](auto& p) { p.tensor = 4; },
               [](O o) { o.cluster.topology = "leaf-spine:leaves=2,hosts-per-leaf=4,spines=1"; }),
         "switches may have drawn which frames they mark"},
        {[](O o) { o.cluster.topology = "leaf-spine:leaves=3,hosts-per-leaf=3"; },
         "the links of host"},
        {[](O o) { o.cluster.topology = "file:" + WriteParallelLinks(); },
         "the links of host4 are no images of those of host3"},
        {[](O o) {
             o.cluster.topology = "leaf-spine:leaves=4,spines=2", o.cluster.path = "adaptive";
             o.cluster.congestionControl = "timely";
         },
         "rates follow queues"},
        {Model([](auto& p) { p.tensor = 8; }), "there is one replica"},
        {Model([](auto& p) { p.context = 2; },
               [](O o) { o.cluster.topology = "rail-optimized:gpus=2"; }),
         "flows are hashed on paths between"},
    };
    for (const auto& [change, reason] : cases)
    {
        ExpectPart(GetReason(8, change), reason);
    }
}

/** A shift by images is a permutation whose powers are those of other images. */
void
TestRankImages()
{
    NS_TEST_EXPECT_MSG_EQ(RankImages().GetCount(), 1, "all are simulated");
    NS_TEST_EXPECT_MSG_EQ(RankImages().GetSimulated(7), 7, "itself");
    const RankImages images(3, 8, 2, 4); // 48 ranks: 3 in a row, 8 replicas of them, twice
    NS_TEST_EXPECT_MSG_EQ(images.GetCount(), 4, "images");
    for (uint32_t rank = 0; rank < 48; rank++)
    {
        NS_TEST_EXPECT_MSG_EQ(images.GetImage(rank), rank / 3 % 8 / 2, "image");
        NS_TEST_EXPECT_MSG_EQ(images.Turn(rank, 4), rank, "a whole turn");
        NS_TEST_EXPECT_MSG_EQ(images.Turn(images.Turn(rank, 1), 2), images.Turn(rank, 3), "sum");
        NS_TEST_EXPECT_MSG_EQ(images.GetImage(images.Turn(rank, 1)),
                              (images.GetImage(rank) + 1) % 4,
                              "the next image");
        NS_TEST_EXPECT_MSG_EQ(images.Turn(images.GetSimulated(rank), images.GetImage(rank)),
                              rank,
                              "back");
        NS_TEST_EXPECT_MSG_EQ(rank % 3, images.Turn(rank, 1) % 3, "place in the replica");
        NS_TEST_EXPECT_MSG_EQ(rank / 24, images.Turn(rank, 1) / 24, "the same half");
    }
    const RankImages rows(1, 12, 2, 3); // two rows of three
    const uint32_t next[] = {2, 3, 4, 5, 0, 1, 8, 9, 10, 11, 6, 7};
    for (uint32_t rank = 0; rank < 12; rank++)
    {
        NS_TEST_EXPECT_MSG_EQ(rows.Turn(rank, 1), next[rank], "within its row");
        NS_TEST_EXPECT_MSG_EQ(rows.Turn(rank, 3), (rank + 6) % 12, "the other row");
        NS_TEST_EXPECT_MSG_EQ(rows.Turn(rows.Turn(rank, 3), 2), rows.Turn(rank, 5), "sum");
        NS_TEST_EXPECT_MSG_EQ(rows.Turn(rows.GetSimulated(rank), rows.GetImage(rank)),
                              rank,
                              "back");
        NS_TEST_EXPECT_MSG_EQ(rows.TurnBack(rows.Turn(rank, 4), 8), rank, "back by image 4");
    }
}

/** A check before the run counts the ranks that are simulated. */
void
TestEstimate()
{
    TrainingRunOptions options = MakeOptions(32, Model([](auto& p) { p.tensor = 4; }));
    const JobCheck whole = CheckJob(options);
    options.replicas = "derive";
    const JobCheck check = CheckJob(options);
    NS_TEST_EXPECT_MSG_EQ_TOL(8 * check.packetHops, whole.packetHops, 1, "hops of 4 of 32 ranks");
    NS_TEST_EXPECT_MSG_EQ_TOL(8 * check.tasks, whole.tasks, 1, "tasks");
    NS_TEST_EXPECT_MSG_EQ(check.worldSize, whole.worldSize, "the job has all");
}

/** @return a pipeline whose messages of both directions meet at switches with little memory */
Change
Pause(const std::string& topology)
{
    return Model([](auto& p) { p.pipeline = 4; },
                 [topology](TrainingRunOptions& o) {
                     o.cluster.topology = topology;
                     o.cluster.congestionControl = "none";
                     o.cluster.attributes["ns3::training::SwitchDevice::LosslessAlpha"] = "0.0001";
                     o.computeScale = 0.001;
                     o.model.parallel.globalBatch = 8 * o.model.parallel.data;
                 });
}

/** A switch of one replica may pause its senders: no other replica sends through it. */
void
TestPauses()
{
    TrainingRunOptions options = MakeOptions(16, Pause("rail-optimized:gpus=4"));
    const Outcome whole = GetOutcome(options);
    options.replicas = "derive";
    const Outcome derived = GetOutcome(options);
    NS_TEST_EXPECT_MSG_GT(whole.network.pauseFrames, 0, "senders are paused");
    NS_TEST_EXPECT_MSG_EQ(derived.repetition.derivedRanks, 12, "ranks");
    NS_TEST_EXPECT_MSG_EQ(derived.network.pauseFrames, whole.network.pauseFrames, "as often");
    NS_TEST_EXPECT_MSG_EQ(ToText(derived.iterations), ToText(whole.iterations), "times");
    NS_TEST_EXPECT_MSG_EQ((derived.counters == whole.counters), true, "counters");
    ExpectPart(GetReason(16, Pause("leaf-spine:leaves=1,hosts-per-leaf=16,spines=1")),
               " paused senders or dropped frames");
}

/** @return the tests */
std::vector<Case>
MakeTests()
{
    std::vector<Case> tests{{"shifts of ranks", &TestRankImages},
                            {"refusals", &TestRefusals},
                            {"estimate", &TestEstimate},
                            {"pauses by switches of one replica", &TestPauses}};
    for (const ImageCase& each : MakeCases())
    {
        tests.push_back({each.name, [each] { TestCase(each); }});
    }
    return tests;
}

const Suite g_suite("replica-images", Duration::EXTENSIVE, MakeTests(), TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::replica_images_test
