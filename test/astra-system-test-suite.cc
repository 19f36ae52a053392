/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "run/astra-system.h"

#include "ns3/collective-algorithm.h"
#include "ns3/nstime.h"
#include "ns3/program-options.h"
#include "ns3/schedule-verifier.h"
#include "ns3/topology-builder.h"

#include <map>

namespace ns3::training::tests::astra_system_test
{

using Operation = CollectiveOperation;

/// Of 24 ranks.
const std::string TORUS = "torus:2x3x4";

/** @return a schedule on a topology with a rank on every host, or without a topology */
CollectiveSchedule
Plan(const std::string& algorithm,
     Operation operation,
     uint32_t ranks,
     const std::string& topology = "")
{
    CollectiveRequest request;
    request.operation = operation;
    request.ranks = ranks;
    request.bytes = 1 << 20;
    request.segments = 1;
    TopologyGraph graph;
    if (!topology.empty())
    {
        graph = BuildTopology(topology, ranks, DataRate("100Gbps"), NanoSeconds(500));
        request.topology = &graph;
    }
    return BuildSchedule(algorithm, request);
}

/** @return for each pair of ranks the part of the vector that one sends the other, in millionths */
std::map<std::pair<uint32_t, uint32_t>, uint64_t>
CountParts(const CollectiveSchedule& schedule)
{
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> parts;
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        for (uint32_t i = 0; i < schedule.GetStoredActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            uint64_t chunks = 0;
            action.ForEachChunk([&](uint32_t) { chunks++; });
            if (action.kind == ScheduleAction::Kind::SEND)
            {
                parts[{rank, action.peer}] += chunks * 1000000;
            }
        }
    }
    for (auto& [pair, part] : parts)
    {
        part /= schedule.chunks;
    }
    return parts;
}

/** Expects schedules to be right, for all operations that have a key. */
void
ExpectRight(const std::string& names, const std::string& sizes, uint32_t ranks)
{
    for (const std::string more :
         {"", ",splits=3", ",splits=4,active=2", ",optimization=baseline,splits=2,active=9"})
    {
        for (const Operation operation : {Operation::ALL_REDUCE,
                                          Operation::REDUCE_SCATTER,
                                          Operation::ALL_GATHER,
                                          Operation::ALL_TO_ALL,
                                          Operation::ALL_TO_ALL_V})
        {
            const bool isAllToAll =
                operation == Operation::ALL_TO_ALL || operation == Operation::ALL_TO_ALL_V;
            const std::string key = isAllToAll ? "all-to-all" : training::GetName(operation);
            const std::string spec =
                "per-dimension:" + key + "=" + names + ",sizes=" + sizes + more;
            NS_TEST_EXPECT_MSG_EQ(VerifySchedule(Plan(spec, operation, ranks)),
                                  "",
                                  training::GetName(operation) << " " << spec);
        }
    }
}

/** @param algorithms for each dimension of a torus @param other algorithm of the same messages */
void
ExpectSame(Operation operation, const std::string& algorithms, const std::string& other)
{
    const std::string one = "per-dimension:" + algorithms;
    const bool areEqual = CountParts(Plan(one, operation, 24, TORUS)) ==
                          CountParts(Plan(other, operation, 24, TORUS));
    NS_TEST_EXPECT_MSG_EQ(areEqual, true, one << " sends as " << other);
}

void
Refuse(const std::string& algorithm, const std::string& part)
{
    ExpectPart(GetRefusal([&] { Plan(algorithm, Operation::ALL_REDUCE, 24, TORUS); }), part);
}

void
TestPerDimension()
{
    ExpectRight("ring+direct", "3x5", 15);
    ExpectRight("direct:window=2+ring+ring", "2x3x4", 24);
    ExpectRight("ring", "auto", 7);
    ExpectRight("direct+ring", "1x6", 6);
    for (const std::string names : {"rabenseifner+double-binary-tree",
                                    "bidirectional-ring+hou",
                                    "circulant+recursive-doubling"})
    {
        for (const std::string sizes : {"4x8", "3x5", "8x2"})
        {
            const uint32_t ranks = sizes == "4x8" ? 32 : sizes == "3x5" ? 15 : 16;
            const std::string spec =
                "per-dimension:splits=2,all-reduce=" + names + ",sizes=" + sizes;
            NS_TEST_EXPECT_MSG_EQ(VerifySchedule(Plan(spec, Operation::ALL_REDUCE, ranks)),
                                  "",
                                  spec);
        }
    }
    // The same messages as algorithms that are written for one purpose
    using O = Operation;
    ExpectSame(O::ALL_REDUCE, "all-reduce=ring+ring+ring", "hierarchical");
    ExpectSame(O::ALL_GATHER, "all-gather=ring+ring+ring", "hierarchical");
    ExpectSame(O::ALL_REDUCE,
               "all-reduce=ring+ring+ring,optimization=baseline,splits=2",
               "dimension-wise");
    ExpectSame(O::ALL_TO_ALL, "all-to-all=ring+ring+ring", "hierarchical-all-to-all:along=ring");
    ExpectSame(O::ALL_TO_ALL, "all-to-all=direct+direct+direct", "hierarchical-all-to-all");
    ExpectSame(O::ALL_REDUCE, "all-reduce=ring", "ring");
    ExpectSame(O::BARRIER, "all-reduce=ring", "ring");
    ExpectSame(O::SEND_RECEIVE, "all-reduce=ring", "ring");
    // A group that is not the whole runs a ring.
    const auto some =
        Plan("per-dimension:all-reduce=direct+direct", Operation::ALL_REDUCE, 5, TORUS);
    NS_TEST_EXPECT_MSG_EQ(CountParts(some).size(), 5, "a ring of five");
    // A rank begins with as many splits as are active: each begins with a message to the next.
    for (uint32_t active = 1; active <= 5; active++)
    {
        const auto schedule = Plan("per-dimension:all-gather=ring+ring,sizes=2x3,splits=4,active=" +
                                       std::to_string(active),
                                   Operation::ALL_GATHER,
                                   6);
        uint32_t sends = 0;
        for (uint32_t root : schedule.GetRoots(0))
        {
            sends += schedule.Get(0, root).kind == ScheduleAction::Kind::SEND ? 1 : 0;
        }
        NS_TEST_EXPECT_MSG_EQ(sends, std::min(active, 4U), "active splits");
    }
    Refuse("per-dimension", "(allowed: with an algorithm, such as all-reduce=ring+direct)");
    Refuse("per-dimension:all-reduce=per-dimension", "collective algorithms with +");
    Refuse("per-dimension:all-reduce=ring+", "collective algorithms with +");
    Refuse("per-dimension:all-reduce=ring,sizes=4x", "sizes such as 4x8");
    Refuse("per-dimension:all-reduce=ring+ring,sizes=2x4",
           "24 ranks in dimensions of 8 (allowed: one algorithm for each dimension");
    Refuse("per-dimension:all-reduce=ring+ring", "all-reduce by 2 algorithms in 3 dimensions");
    Refuse("per-dimension:all-reduce=double-binary-tree+ring+ring",
           "dimension 0: the algorithm 'double-binary-tree' has no reduce-scatter");
    Refuse("per-dimension:all-reduce=ring+swing+ring", "dimension 1: swing: 3 ranks (allowed: ");
}

/** Files of the system layer. */
struct AstraSystemTestCase
{
    std::string Write(const std::string& text)
    {
        return WriteFile("system.json", text);
    }

    void ExpectLenient(const std::string& members,
                       const std::string& refusal,
                       const std::string& rule)
    {
        const std::string path = Write("{" + members + "}");
        ExpectPart(GetRefusal([&] { ReadAstraSystem(path, false); }), refusal);
        const AstraSystem system = ReadAstraSystem(path, true);
        NS_TEST_ASSERT_MSG_EQ(system.problems.size(), 1, members);
        ExpectPart(system.problems[0], rule);
    }

    void Refuse(const std::string& text, const std::string& part)
    {
        ExpectPart(GetRefusal([&] { ReadAstraSystem(Write(text), true); }), part);
    }

    void Run()
    {
        // inputs/system/analytical/hgx_h100_32gpu.json of astra-sim/astra-sim
        const std::string hgx = Write(R"({
  "scheduling-policy": "LIFO",
  "endpoint-delay": 1,
  "active-chunks-per-dimension": 2,
  "preferred-dataset-splits": 4,
  "all-reduce-implementation": ["ring", "ring"],
  "all-gather-implementation": ["ring", "halvingDoubling"],
  "reduce-scatter-implementation": ["oneRing"],
  "all-to-all-implementation": ["direct", "direct8"],
  "collective-optimization": "localBWAware",
  "local-mem-bw": 3350,
  "boost-mode": 0,
  "track-local-mem": 1,
  "roofline-enabled": 1,
  "peak-perf": 700,
  "local-mem-trace-filename" : "mem_trace/local_memory_trace"
})");
        const AstraSystem system = ReadAstraSystem(hgx, false);
        NS_TEST_EXPECT_MSG_EQ(system.problems.size(), 0, "problems");
        NS_TEST_EXPECT_MSG_EQ(system.MakeCollective({8, 4}),
                              "per-dimension:all-reduce=ring+ring,reduce-scatter=ring,"
                              "all-gather=ring+rabenseifner,all-to-all=direct+direct:window=8,"
                              "sizes=8x4,optimization=local,splits=4,active=2",
                              "collective");
        ExpectPart(
            GetRefusal([&] { system.MakeCollective({8}); }),
            "all-reduce-implementation has 2 algorithms (allowed: 1, one for each dimension");
        const std::string network = WriteFile("network.yml",
                                              "topology: [Switch, Ring]\nnpus_count: [8, 4]\n"
                                              "bandwidth: [400, 50]\nlatency: [936.25, 1000]\n");
        TrainingRunOptions job;
        ProgramOptions given("test", "a test");
        std::string collective = job.cluster.algorithm;
        given.AddString("collective", "its algorithm", collective);
        job.cluster.topology = "astra-network:" + network;
        ExpectPart(GetRefusal([&] { system.ApplyTo(given, job); }),
                   "roofline-enabled with workload auto (allowed: 0, or a trace of Chakra)");
        job.workload = "chakra:trace,streams=astra";
        system.ApplyTo(given, job);
        NS_TEST_EXPECT_MSG_EQ(job.cluster.algorithm, system.MakeCollective({8, 4}), "algorithm");
        NS_TEST_EXPECT_MSG_EQ(job.cluster.hostLatency, NanoSeconds(1), "endpoint delay");
        const std::string type = "ns3::training::ScheduledCommunicator::";
        NS_TEST_EXPECT_MSG_EQ(job.cluster.attributes.at(type + "Order"), "lifo", "order");
        NS_TEST_EXPECT_MSG_EQ(job.cluster.attributes.at(type + "ReduceRate"),
                              "8933333333333bps",
                              "3350 GB/s for three accesses");
        NS_TEST_EXPECT_MSG_EQ(job.workload,
                              "chakra:trace,streams=astra,peak=7e+14,memory=3.35e+12",
                              "roofline");
        // What is given counts more.
        TrainingRunOptions other;
        given.Parse({"--collective=swing"});
        other.workload = "chakra:trace";
        other.cluster.algorithm = collective;
        system.ApplyTo(given, other);
        NS_TEST_EXPECT_MSG_EQ(other.cluster.algorithm, "swing", "given");
        NS_TEST_EXPECT_MSG_EQ(other.cluster.attributes.size(), 0, "given");
        NS_TEST_EXPECT_MSG_EQ(other.cluster.hostLatency, Time(), "given");

        const AstraSystem least = ReadAstraSystem(Write("{}"), false);
        NS_TEST_EXPECT_MSG_EQ(least.MakeCollective({}),
                              "per-dimension:all-reduce=ring,reduce-scatter=ring,all-gather=ring,"
                              "all-to-all=ring,optimization=baseline,splits=1,active=1",
                              "defaults");
        NS_TEST_EXPECT_MSG_EQ(least.endpointDelay, NanoSeconds(10), "default");
        TrainingRunOptions plain;
        least.ApplyTo(ProgramOptions("test", "a test"), plain);
        NS_TEST_EXPECT_MSG_EQ(plain.cluster.attributes.count(type + "ReduceRate"), 0, "no memory");
        NS_TEST_EXPECT_MSG_EQ(plain.cluster.attributes.at(type + "Order"), "fifo", "default");

        ExpectLenient(R"("boost-mode": 1)",
                      "system.json: boost-mode is '1' (allowed: the keys that doc/formats.rst",
                      "boost-mode: something that is not simulated here, so it is taken as 0, 1");
        ExpectLenient(R"("colour": "red")",
                      "system.json: colour is 'red' (allowed: ",
                      "colour: an unknown key");
        ExpectLenient(R"("all-reduce-implementation-custom": ["et"])",
                      "all-reduce-implementation-custom is 'et' (allowed: ",
                      "an algorithm in a file, which --schedule reads");
        Refuse("", "system.json:1: ");
        Refuse("{} 1", "the end of the file");
        Refuse(R"({"endpoint-delay": -1})", "endpoint-delay is '-1' (allowed: 0 to 1e+09)");
        Refuse(R"({"endpoint-delay": [1]})", "endpoint-delay is '1' (allowed: a value)");
        Refuse(R"({"scheduling-policy": "RG"})",
               "scheduling-policy is 'RG' (allowed: EXPLICIT, FIFO, LIFO)");
        Refuse(R"({"preferred-dataset-splits": 0})", "is '0' (allowed: 1 to 256)");
        Refuse(R"({"preferred-dataset-splits": 1, "preferred-dataset-splits": 1})", "given twice");
        Refuse(R"({"all-reduce-implementation": "ring"})", "is 'ring' (allowed: a list)");
        Refuse(R"({"all-reduce-implementation": []})", "an algorithm for each dimension");
        for (const std::string name : {"one", "", "ring2", "direct0", "oneTree", "directx"})
        {
            Refuse(R"({"all-reduce-implementation": [")" + name + "\"]}",
                   "all-reduce-implementation is '" + name + "' (allowed: for each dimension ring");
        }
        Refuse(R"({"all-reduce-implementation": ["oneRing", "ring"]})", "is 'oneRing' (allowed: ");
        ExpectPart(GetRefusal([] { ReadAstraSystem("/nowhere", true); }), "cannot be read");
    }
};

const Suite g_suite("astra-system",
                    Duration::QUICK,
                    {{"an algorithm for each dimension", TestPerDimension},
                     {"system files of ASTRA-sim 2 set options of collectives and hosts",
                      RunTest<AstraSystemTestCase>}});

} // namespace ns3::training::tests::astra_system_test
