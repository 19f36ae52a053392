/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "schedule/schedule-file.h"
#include "topology/topology-report.h"

#include "ns3/chunk-layout.h"
#include "ns3/collective-algorithm.h"
#include "ns3/collective-measurement.h"
#include "ns3/collective-planner.h"
#include "ns3/host-model.h"
#include "ns3/schedule-verifier.h"
#include "ns3/simulator.h"
#include "ns3/topology-builder.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace ns3::training::tests::topology_collectives_test
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

/// Size of each vector: a multiple of four times every number of chunks here.
constexpr uint64_t VECTOR_BYTES = 4ULL * 64 * 9 * 25 * 49 * 11;

/** A topology and the schedule of an algorithm on it. */
struct Planned
{
    /** @param hosts of the ranks; empty: all */
    Planned(const std::string& spec,
            const std::string& algorithm,
            Operation operation = Operation::ALL_REDUCE,
            std::vector<uint32_t> hosts = {})
    {
        topology = BuildTopology(spec, 2, DataRate("128Gbps"), NanoSeconds(150));
        if (hosts.empty())
        {
            hosts.resize(topology.hosts);
            std::iota(hosts.begin(), hosts.end(), 0);
        }
        request.operation = operation;
        request.ranks = static_cast<uint32_t>(hosts.size());
        request.bytes = VECTOR_BYTES;
        request.topology = &topology;
        request.hosts = hosts;
        schedule = BuildSchedule(algorithm, request);
    }

    Planned(const Planned&) = delete;

    /** @return bytes sent by each rank */
    std::vector<uint64_t> GetSent() const
    {
        const ChunkLayout layout(schedule, VECTOR_BYTES);
        std::vector<uint64_t> sent(request.ranks, 0);
        for (uint32_t rank = 0; rank < request.ranks; rank++)
        {
            for (uint32_t i = 0; i < schedule.GetActions(rank); i++)
            {
                const ScheduleAction action = schedule.Get(rank, i);
                sent[rank] += action.kind == Kind::SEND ? layout.GetBytes(action) : 0;
            }
        }
        return sent;
    }

    TopologyGraph topology;      ///< topology of the ranks
    CollectiveRequest request;   ///< request for the schedule
    CollectiveSchedule schedule; ///< the schedule
};

void
Check(const std::string& spec, const std::string& algorithm)
{
    // 2 (N - 1) S is the minimum total of all ranks.
    for (Operation operation :
         {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER})
    {
        const std::string what = algorithm + " on " + spec + ", " + training::GetName(operation);
        const Planned planned(spec, algorithm, operation);
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(planned.schedule), "", what);
        const auto sent = planned.GetSent();
        NS_TEST_EXPECT_MSG_EQ(std::accumulate(sent.begin(), sent.end(), uint64_t{0}),
                              (operation == Operation::ALL_REDUCE ? 2 : 1) *
                                  (planned.request.ranks - 1) * VECTOR_BYTES,
                              what << ": bytes");
    }
    // A different order of ranks, not on all hosts.
    if (algorithm != "hdrm" && algorithm != "hierarchical")
    {
        const std::vector<uint32_t> hosts{7, 2, 0, 5, 3, 1, 4};
        const Planned planned(spec, algorithm, Operation::ALL_REDUCE, hosts);
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(planned.schedule), "", algorithm << " on " << spec);
    }
}

void
ExpectSteps(const std::string& spec, const std::string& algorithm, uint32_t steps)
{
    NS_TEST_EXPECT_MSG_EQ(Planned(spec, algorithm).schedule.GetSteps(),
                          steps,
                          algorithm << " on " << spec << ": steps");
}

/** Schedules are correct; their steps and bytes equal the closed forms. */
void
TestTopologySchedules()
{
    for (const std::string& spec : Split("torus:4x4|torus:3x5|mesh:3x3|torus:2x2x3|ring:8|"
                                         "single-switch:hosts=9|two-switch:hosts-per-switch=4|"
                                         "leaf-spine:leaves=3,spines=2,hosts-per-leaf=4|"
                                         "m-ary-n-tree:m=3,n=2|fat-tree:k=4|bigraph:m=3,n=8|"
                                         "full-mesh:hosts=8|dragonfly:a=2,p=2,h=1|"
                                         "hierarchical-torus:2x2,nodes=4|"
                                         "local-switch-torus:1x2,nodes=4,switches=2|"
                                         "rail-optimized:gpus=4,servers=3"))
    {
        for (const std::string& algorithm :
             Split("multitree|multitree:order=sorted,stop=last|"
                   "multitree:window=2|multi-ring|multi-ring:rings=1|"
                   "tacos|tacos:runs=2,chunks=3|hierarchical"))
        {
            Check(spec, algorithm);
        }
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(Planned(spec, "hierarchical:variant=leader").schedule),
                              "",
                              "leaders on " << spec);
    }
    Check("bigraph:m=1,n=2", "hdrm");
    Check("bigraph:m=2,n=8", "hdrm");
    Check("bigraph:m=4,n=16", "hdrm");

    ExpectSteps("torus:4x4", "multitree", 10);
    ExpectSteps("mesh:4x4", "multitree", 16);
    ExpectSteps("mesh:4x4", "multitree:stop=last", 20);
    ExpectSteps("bigraph:m=4,n=8", "multitree", 62);
    ExpectSteps("bigraph:m=4,n=8", "hdrm", 10);
    ExpectSteps("torus:4x4", "multi-ring", 30);
    ExpectSteps("mesh:4x4", "ring-2d", 12);
    ExpectSteps("torus:8x8", "ring-2d", 28);
    ExpectSteps("torus:3x4x5", "hierarchical", 2 * (2 + 3 + 4));
    ExpectSteps("rail-optimized:gpus=4,servers=3", "hierarchical", 2 * (3 + 2));
}

void
ExpectOfAll(const std::string& spec,
            const std::string& algorithm,
            Operation operation,
            uint64_t bytes)
{
    const Planned planned(spec, algorithm, operation);
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(planned.schedule), "", algorithm);
    for (uint64_t sent : planned.GetSent())
    {
        NS_TEST_EXPECT_MSG_EQ(sent, bytes, algorithm << ": bytes of a rank");
    }
}

/** @return bytes that rank 0 sends within its package of four in an all-gather */
uint64_t
GetLocalBytes(const std::string& spec, const std::string& algorithm)
{
    const Planned planned(spec, algorithm, Operation::ALL_GATHER);
    const ChunkLayout layout(planned.schedule, VECTOR_BYTES);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < planned.schedule.GetActions(0); i++)
    {
        const ScheduleAction action = planned.schedule.Get(0, i);
        bytes += action.kind == Kind::SEND && action.peer < 4 ? layout.GetBytes(action) : 0;
    }
    return bytes;
}

/**
 * The 2D ring sends twice the minimum on all four links; leaders send the traffic between servers.
 */
void
TestUnevenVolume()
{
    for (const std::string spec : {"torus:4x4", "mesh:4x4", "torus:2x2", "mesh:7x7"})
    {
        const Planned planned(spec, "ring-2d");
        const uint64_t k = planned.topology.shape.sides[0];
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(planned.schedule), "", spec);
        for (uint64_t sent : planned.GetSent())
        {
            NS_TEST_EXPECT_MSG_EQ(sent,
                                  4 * (k - 1) * VECTOR_BYTES / k,
                                  spec << ": bytes of a rank");
        }
    }
    const Planned oblong("torus:3x5", "ring-2d");
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(oblong.schedule), "", "3x5");
    NS_TEST_EXPECT_MSG_EQ(oblong.GetSent()[7],
                          2 * 2 * VECTOR_BYTES / 3 + 2 * 4 * VECTOR_BYTES / 5,
                          "rows and columns of the whole vector");

    // The whole vector within packages of four, then in both dimensions of their torus.
    const std::string packages = "local-switch-torus:2x3,nodes=4,switches=3";
    const uint64_t torus = 2 * VECTOR_BYTES / 2 + 2 * 2 * VECTOR_BYTES / 3;
    ExpectOfAll(packages,
                "dimension-wise",
                Operation::ALL_REDUCE,
                2 * 3 * VECTOR_BYTES / 4 + torus);
    for (const std::string hou : {"dimension-wise:local=hou", "dimension-wise:local=hou,stripes=3"})
    {
        ExpectOfAll(packages, hou, Operation::ALL_REDUCE, 2 * VECTOR_BYTES + torus);
        ExpectOfAll(packages, hou, Operation::ALL_GATHER, 23 * VECTOR_BYTES / 24);
    }
    // From the outer to the inner level a package carries the parts of six.
    const std::string outer = "dimension-wise:local=hou,stripes=3,gather-first=outer";
    ExpectOfAll(packages, outer, Operation::ALL_GATHER, 23 * VECTOR_BYTES / 24);
    NS_TEST_EXPECT_MSG_EQ(GetLocalBytes(packages, outer), 6 * 3 * VECTOR_BYTES / 24, outer);
    NS_TEST_EXPECT_MSG_EQ(GetLocalBytes(packages, "dimension-wise:local=hou"),
                          3 * VECTOR_BYTES / 24,
                          "from the inside out");

    // Three servers of four: 3 hops up and down, and a ring of leaders.
    const Planned leaders("rail-optimized:gpus=4,servers=3", "hierarchical:variant=leader");
    const auto sent = leaders.GetSent();
    for (uint32_t rank = 0; rank < 12; rank++)
    {
        const uint64_t up = rank % 4 == 0 ? 0 : VECTOR_BYTES;
        const uint64_t ring = rank % 4 == 0 ? 2 * 2 * VECTOR_BYTES / 3 : 0;
        const uint64_t down = rank % 4 == 3 ? 0 : VECTOR_BYTES;
        NS_TEST_EXPECT_MSG_EQ(sent[rank], up + ring + down, "rank " << rank);
    }

    // Each rank sends 2 (n - 1) / n of a quarter of the vector to other servers.
    const Planned levels("rail-optimized:gpus=4,servers=3", "hierarchical");
    const ChunkLayout layout(levels.schedule, VECTOR_BYTES);
    for (uint32_t rank = 0; rank < 12; rank++)
    {
        uint64_t outside = 0;
        for (uint32_t i = 0; i < levels.schedule.GetActions(rank); i++)
        {
            const ScheduleAction action = levels.schedule.Get(rank, i);
            if (action.kind == Kind::SEND && action.peer / 4 != rank / 4)
            {
                NS_TEST_EXPECT_MSG_EQ(action.peer % 4, rank % 4, "on its rail");
                outside += layout.GetBytes(action);
            }
        }
        NS_TEST_EXPECT_MSG_EQ(outside, 2 * 2 * VECTOR_BYTES / 3 / 4, "bytes to other servers");
    }
}

/// @return by action, all its direct and indirect predecessors
std::vector<std::set<uint32_t>>
GetAllBefore(const CollectiveSchedule& schedule, uint32_t rank)
{
    std::vector<std::set<uint32_t>> before(schedule.GetActions(rank));
    for (uint32_t i = 0; i < before.size(); i++)
    {
        for (uint32_t earlier : schedule.GetDependencies(rank, i))
        {
            before[i].insert(earlier);
            before[i].insert(before[earlier].begin(), before[earlier].end());
        }
    }
    return before;
}

/// A send waits for earlier steps: on the only interface, or on that to the same neighbor.
void
CheckOrder(const std::string& spec, bool oneInterface)
{
    const Planned planned(spec, "multitree");
    for (uint32_t rank = 0; rank < planned.request.ranks; rank++)
    {
        const auto before = GetAllBefore(planned.schedule, rank);
        for (uint32_t i = 0; i < before.size(); i++)
        {
            for (uint32_t j = 0; j < before.size(); j++)
            {
                const ScheduleAction a = planned.schedule.Get(rank, i);
                const ScheduleAction b = planned.schedule.Get(rank, j);
                if (a.kind == Kind::SEND && b.kind == Kind::SEND && a.step < b.step &&
                    (oneInterface || a.peer == b.peer))
                {
                    NS_TEST_EXPECT_MSG_EQ(before[j].count(i),
                                          1,
                                          spec << ", rank " << rank << ", step " << b.step
                                               << " does not wait for step " << a.step);
                }
            }
        }
    }
}

/// A send waits for all receives that are at least a window of steps earlier.
void
CheckWindow(const std::string& spec, uint32_t window)
{
    const Planned planned(spec, "multitree:window=" + std::to_string(window));
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(planned.schedule), "", spec);
    bool someRunAhead = false;
    for (uint32_t rank = 0; rank < planned.request.ranks; rank++)
    {
        const auto before = GetAllBefore(planned.schedule, rank);
        for (uint32_t i = 0; i < before.size(); i++)
        {
            for (uint32_t j = 0; j < before.size(); j++)
            {
                const ScheduleAction a = planned.schedule.Get(rank, i);
                const ScheduleAction b = planned.schedule.Get(rank, j);
                if (!a.IsReceive() || b.kind != Kind::SEND)
                {
                    continue;
                }
                if (a.step + window <= b.step)
                {
                    NS_TEST_EXPECT_MSG_EQ(before[j].count(i), 1, spec << ", rank " << rank);
                }
                someRunAhead |= a.step < b.step && before[j].count(i) == 0;
            }
        }
    }
    NS_TEST_EXPECT_MSG_EQ(someRunAhead, (window > 1), spec << ": not more than the window");
}

/**
 * MULTITREE's table of a node of the 2x2 torus equals that in the published program's comments. Its
 * interfaces preserve the order of steps.
 */
void
TestMultitreeTable()
{
    const Planned small("torus:2x2", "multitree");
    // Sends of node 0: step, flow, destination.
    using Entry = std::tuple<uint32_t, uint32_t, uint32_t>;
    std::vector<Entry> table;
    for (uint32_t i = 0; i < small.schedule.GetActions(0); i++)
    {
        const ScheduleAction action = small.schedule.Get(0, i);
        if (action.kind == Kind::SEND)
        {
            table.emplace_back(action.step, action.GetFirstChunk(), action.peer);
        }
    }
    const std::vector<Entry> published{{0, 3, 1},
                                       {1, 1, 1},
                                       {1, 2, 2},
                                       {2, 0, 2},
                                       {2, 0, 1},
                                       {3, 2, 1}};
    NS_TEST_EXPECT_MSG_EQ(table, published, "table of node 0");

    CheckOrder("torus:4x4", false);
    CheckOrder("mesh:3x4", false);
    CheckOrder("bigraph:m=2,n=8", true);
    CheckOrder("m-ary-n-tree:m=3,n=2", true);
    CheckWindow("torus:4x4", 1);
    CheckWindow("bigraph:m=2,n=8", 1);
    CheckWindow("bigraph:m=2,n=8", 3);
}

/// @return number of messages from rank 0 to rank 1
uint32_t
CountDirect(const CollectiveSchedule& schedule)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < schedule.GetActions(0); i++)
    {
        const ScheduleAction action = schedule.Get(0, i);
        count += action.kind == Kind::SEND && action.peer == 1;
    }
    return count;
}

/** Synthesis depends on the size: a slow link with little delay, or a fast one with much. */
void
TestSynthesisBySize()
{
    // Three routers in a triangle. The link of 0 and 1 is slow and short, the others fast and
    // long.
    TopologyGraph triangle;
    triangle.hosts = 3;
    triangle.switches = 3;
    for (uint32_t host = 0; host < 3; host++)
    {
        triangle.links.push_back({host, 3 + host, DataRate("1000Gbps"), NanoSeconds(1)});
    }
    triangle.links.push_back({3, 4, DataRate("1Gbps"), NanoSeconds(10)});
    triangle.links.push_back({3, 5, DataRate("100Gbps"), MicroSeconds(10)});
    triangle.links.push_back({5, 4, DataRate("100Gbps"), MicroSeconds(10)});
    CollectiveRequest request;
    request.ranks = 3;
    request.topology = &triangle;
    CollectivePlanner planner("tacos", request);
    const auto small = planner.Get(Operation::ALL_GATHER, 30, 0);
    const auto large = planner.Get(Operation::ALL_GATHER, 300000000, 0);
    NS_TEST_EXPECT_MSG_NE(small, large, "a plan for each size");
    NS_TEST_EXPECT_MSG_EQ(planner.Get(Operation::ALL_GATHER, 30, 0), small, "kept");
    NS_TEST_EXPECT_MSG_EQ(CountDirect(*small), 1, "small: the near way");
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(*large), "", "large");

    // By default the best of 20 attempts, of which the first is not the best on this mesh.
    const auto getSteps = [](const std::string& algorithm) {
        return Planned("mesh:3x5", algorithm, Operation::ALL_GATHER).schedule.GetSteps();
    };
    NS_TEST_EXPECT_MSG_EQ(getSteps("tacos"), getSteps("tacos:runs=20"), "20 attempts");
    NS_TEST_EXPECT_MSG_LT(getSteps("tacos"), getSteps("tacos:runs=1"), "better than one");
}

void
Expect(const std::string& spec,
       const std::string& algorithm,
       const std::string& message,
       Operation operation = Operation::ALL_REDUCE,
       const std::vector<uint32_t>& hosts = {})
{
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] { Planned(spec, algorithm, operation, hosts); }),
                          message,
                          algorithm << " on " << spec);
}

/** Algorithms report their requirements. */
void
TestNeeds()
{
    const std::string grid = "' (allowed: a torus or mesh of two dimensions)";
    const std::string full = "' (allowed: a rank on every host of the topology)";
    Expect("leaf-spine", "ring-2d", "ring-2d: 4 ranks on topology 'leaf-spine" + grid);
    Expect("torus:2x2x2", "ring-2d", "ring-2d: 8 ranks on topology 'torus:2x2x2" + grid);
    Expect("ring:8", "ring-2d", "ring-2d: 8 ranks on topology 'ring:8" + grid);
    Expect("torus:3x3",
           "ring-2d",
           "ring-2d: 8 ranks on topology 'torus:3x3" + full,
           Operation::ALL_REDUCE,
           {0, 1, 2, 3, 4, 5, 6, 7});
    Expect("mesh:3x3",
           "multi-ring:rings=2",
           "multi-ring:rings=2: 9 ranks on topology 'mesh:3x3' with 1 of them (allowed: at most "
           "as many rings as share no link)");
    Expect("torus:4x4",
           "multi-ring:rings=5",
           "multi-ring:rings=5: 16 ranks on topology 'torus:4x4' with 4 of them (allowed: at "
           "most as many rings as share no link)");
    const std::string sizes =
        "' (allowed: powers of two of hosts on a switch M and switches N, M up to N / 2)";
    Expect("torus:3x3",
           "hdrm",
           "hdrm: 9 ranks on topology 'torus:3x3' (allowed: a bigraph: two halves of switches, "
           "each linked to all of the other half)");
    for (const auto& [ranks, spec] : {std::pair("16", "bigraph:m=4,n=4"),
                                      std::pair("12", "bigraph:m=2,n=6"),
                                      std::pair("24", "bigraph:m=3,n=8")})
    {
        Expect(spec, "hdrm", std::string("hdrm: ") + ranks + " ranks on topology '" + spec + sizes);
    }
    Expect("bigraph:m=2,n=8",
           "hdrm",
           "hdrm: 2 ranks on topology 'bigraph:m=2,n=8" + full,
           Operation::ALL_REDUCE,
           {0, 1});
    Expect("leaf-spine:leaves=4,hosts-per-leaf=4",
           "hierarchical",
           "hierarchical: 6 ranks in 2 x 4 places (allowed: a rank in every place of the "
           "topology's levels, or variant=leader)",
           Operation::ALL_REDUCE,
           {0, 1, 2, 3, 4, 5});
    Expect("torus:4x4",
           "dimension-wise",
           "dimension-wise: 5 ranks in 2 x 4 places (allowed: a rank in every place of the "
           "topology's levels)",
           Operation::ALL_GATHER,
           {0, 1, 2, 3, 4});
    Expect("leaf-spine",
           "hierarchical:variant=leader",
           "hierarchical:variant=leader: all-gather (allowed: an all-reduce, with "
           "variant=leader)",
           Operation::ALL_GATHER);
    const auto& algorithms = Registry<CollectiveAlgorithm>::All();
    const auto notes = GetNotes(algorithms.at("ring-2d"));
    NS_TEST_ASSERT_MSG_EQ(notes.size(), 3, "operations and two needs");
    NS_TEST_EXPECT_MSG_EQ(notes[0], "for all-reduce", "operations");
    NS_TEST_EXPECT_MSG_EQ(notes[1], "needs a torus or mesh of two dimensions", "first need");
    NS_TEST_EXPECT_MSG_EQ(notes[2], "needs a rank on every host of the topology", "second need");
    NS_TEST_EXPECT_MSG_EQ(GetNotes(algorithms.at("ring")).size(), 1, "no need");
    NS_TEST_EXPECT_MSG_EQ(GetNotes(algorithms.at("ring"))[0], "for every operation", "all");
    Expect("torus:4x4",
           "multitree:order=up",
           "collective algorithm 'multitree:order=up': 'order=up' (allowed: order=id|sorted, "
           "stop=last|any, window=0 to 1000000, ports=0 to 1000000, each once)");
}

ClusterOptions
MakeOptions(const std::string& spec, const std::string& algorithm)
{
    ClusterOptions options;
    options.ranks = 16;
    options.topology = spec;
    options.algorithm = algorithm;
    return options;
}

CollectiveMeasurement
Run(const ClusterOptions& options, uint64_t bytes, bool isReal)
{
    CollectiveMeasurement result;
    {
        const Cluster cluster(options);
        GuardedRun run(cluster);
        result = MeasureCollective(cluster, run, Operation::ALL_REDUCE, bytes, isReal, 1);
    }
    Simulator::Destroy();
    return result;
}

/** MULTITREE's messages use the paths that it has found for them, if the option is set. */
void
TestSchedulePaths()
{
    // 16 hosts, leaves 16 to 19, tops 20 to 23; to the second leaf host r goes by top r.
    const Planned tree("m-ary-n-tree:m=4,n=2", "multitree");
    CollectivePlanner planner("multitree", tree.request);
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> ways;
    for (const RankPath& path : planner.GetPaths())
    {
        NS_TEST_EXPECT_MSG_EQ(ways.insert({{path.from, path.to}, path.nodes}).second,
                              true,
                              "twice from " << path.from << " to " << path.to);
    }
    NS_TEST_EXPECT_MSG_EQ(ways.size(), 240, "each pair");
    using Nodes = std::vector<uint32_t>;
    NS_TEST_EXPECT_MSG_EQ((ways[{0, 3}]), Nodes{16}, "on a leaf");
    NS_TEST_EXPECT_MSG_EQ((ways[{0, 4}]), (Nodes{16, 20, 17}), "by the first top");
    NS_TEST_EXPECT_MSG_EQ((ways[{2, 6}]), (Nodes{16, 22, 17}), "by the third top");
    NS_TEST_EXPECT_MSG_EQ(CollectivePlanner("ring", tree.request).GetPaths().size(), 0, "ring");
    const Planned rails("rail-optimized:gpus=4,servers=2", "multitree");
    NS_TEST_EXPECT_MSG_EQ(CollectivePlanner("multitree", rails.request).GetPaths().size(),
                          0,
                          "hosts with several ports");

    ClusterOptions options = MakeOptions("m-ary-n-tree:m=4,n=2", "multitree");
    options.congestionControl = "none";
    options.path = "schedule";
    const double pinned = Run(options, 4 << 20, false).efficiency;
    options.path = "ecmp";
    NS_TEST_EXPECT_MSG_GT(pinned, 0.98, "no two on a link");
    NS_TEST_EXPECT_MSG_LT(Run(options, 4 << 20, false).efficiency, 0.9, "by chance");

    options.algorithm = "ring";
    options.path = "schedule";
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] { const Cluster cluster(options); }),
                          "path schedule with the algorithm ring (allowed: multitree, where "
                          "hosts have one port)",
                          "ring");
    Simulator::Destroy();
}

/** Real payload is summed correctly over the network. */
void
TestRealNumbers(const std::string& spec, const std::string& algorithm)
{
    for (const std::string transport : {"rdma", "tcp"})
    {
        ClusterOptions options = MakeOptions(spec, algorithm);
        options.transport = transport;
        const CollectiveMeasurement result = Run(options, 40004, true);
        NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", transport);
        NS_TEST_EXPECT_MSG_EQ(result.verified, true, transport);
        NS_TEST_EXPECT_MSG_LT(result.lowerBound, result.seconds, transport);
    }
}

/**
 * Algorithms identify a topology by its links and properties: the same topology under another name,
 * here from a file, has the same schedules and the same host costs.
 */
struct PropertiesTestCase
{
    /** @return the schedule as text; or the refusal, without the topology's name */
    static std::string Plan(const TopologyGraph& topology,
                            const std::string& algorithm,
                            Operation operation)
    {
        CollectiveRequest request;
        request.operation = operation;
        request.ranks = topology.hosts;
        request.bytes = VECTOR_BYTES;
        request.topology = &topology;
        try
        {
            return WriteScheduleJson(BuildSchedule(algorithm, request));
        }
        catch (const ConfigurationError& error)
        {
            const std::string text = error.what();
            return text.substr(text.rfind(" (allowed"));
        }
    }

    void Check(const std::string& spec, const std::vector<std::string>& planned)
    {
        const auto named = BuildTopology(spec, 2, DataRate("128Gbps"), NanoSeconds(150));
        const std::string path = WriteFile("topology", WriteTopology(named));
        const auto other = BuildTopology("file:" + path, 2, DataRate("1Gbps"), NanoSeconds(1));
        for (const auto& [name, entry] : Registry<CollectiveAlgorithm>::All())
        {
            for (const std::string keys : {"", ":rings=1", ":order=sorted,stop=last"})
            {
                if ((keys == ":rings=1" && name != "multi-ring") ||
                    (keys.size() > 8 && name != "multitree"))
                {
                    continue;
                }
                const Operation operation = entry.operations.front();
                const std::string plan = Plan(named, name + keys, operation);
                NS_TEST_EXPECT_MSG_EQ(Plan(other, name + keys, operation),
                                      plan,
                                      name << keys << " on " << spec);
                if (std::find(planned.begin(), planned.end(), name) != planned.end())
                {
                    NS_TEST_EXPECT_MSG_EQ(plan[0], '{', name << " on " << spec << ": " << plan);
                }
            }
        }
        CollectiveRequest request;
        request.ranks = named.hosts;
        const auto ring = BuildSchedule("ring", request);
        const auto getHop = [&](const TopologyGraph& topology) {
            const auto& nccl = Registry<HostModelEntry>::Find("nccl");
            KeyValues keys;
            keys.Check("host model", nccl.keys);
            const auto model = nccl.make({topology, {}, topology.hosts, keys});
            return (model->IsLocal(0, 1) ? model->GetCost(ring, 8).localHop
                                         : model->GetCost(ring, 8).remoteHop);
        };
        NS_TEST_EXPECT_MSG_EQ(getHop(other), getHop(named), "first hop of a ring on " << spec);
    }

    void Run()
    {
        Check("bigraph:m=2,n=8", {"hdrm", "multi-ring"});
        Check("rail-optimized:gpus=4,servers=3", {"multi-ring", "hierarchical"});
        Check("full-mesh:hosts=8", {"multi-ring"});
        Check("mesh:3x4", {"ring-2d", "multitree"});
        Check("torus:4x4", {"ring-2d", "swing"});
        Check("two-switch:hosts-per-switch=4", {"multi-ring"});
        Check("m-ary-n-tree:m=3,n=2", {"multi-ring"});
        Check("local-switch-torus:2x2,nodes=4", {"dimension-wise"});
        Check("dragonfly:a=2,p=2,h=1", {"hierarchical"});

        // A single property makes the difference.
        auto plain = BuildTopology("m-ary-n-tree:m=3,n=2", 2, DataRate("1Gbps"), NanoSeconds(1));
        const std::string across = Plan(plain, "multi-ring:rings=1", Operation::ALL_REDUCE);
        plain.shape.ringAcrossGroups = false;
        NS_TEST_EXPECT_MSG_NE(Plan(plain, "multi-ring:rings=1", Operation::ALL_REDUCE),
                              across,
                              "a ring across leaves");
    }
};

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases{
        {"schedules made for a topology: proofs, steps, bytes", TestTopologySchedules},
        {"bytes of the 2D-ring, of leaders, of levels, and dimension by dimension",
         TestUnevenVolume},
        {"MULTITREE: table of a network interface, order, window", TestMultitreeTable},
        {"TACOS plans each size for itself", TestSynthesisBySize},
        {"MULTITREE: --path=schedule", TestSchedulePaths},
        {"algorithms say what topology they need", TestNeeds},
        {"plans follow from properties, not from the topology's name",
         RunTest<PropertiesTestCase>}};
    const std::vector<std::pair<std::string, std::string>> runs{
        {"torus:4x4", "multitree"},
        {"bigraph:m=2,n=8", "multitree:order=sorted,stop=last,window=2"},
        {"torus:4x4", "multi-ring"},
        {"mesh:4x4", "ring-2d"},
        {"bigraph:m=2,n=8", "hdrm"},
        {"leaf-spine", "tacos"},
        {"rail-optimized:gpus=4", "hierarchical"},
        {"leaf-spine:leaves=3", "hierarchical:variant=leader"},
        {"hierarchical-torus:2x2,nodes=4,rails=2", "dimension-wise"},
        {"local-switch-torus:2x2,nodes=4,switches=3", "dimension-wise:local=hou,stripes=3"}};
    for (const auto& [spec, algorithm] : runs)
    {
        cases.push_back(
            {algorithm + " on " + spec + ": real numbers over RDMA and TCP",
             [spec = spec, algorithm = algorithm] { TestRealNumbers(spec, algorithm); }});
    }
    return cases;
}

const Suite g_suite("topology-collectives", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::topology_collectives_test
