/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/value-suggestion.h"
#include "run/algorithm-advice.h"
#include "test-case.h"

#include "ns3/algorithm-chooser.h"
#include "ns3/cluster-command-line.h"
#include "ns3/collective-algorithm.h"
#include "ns3/collective-planner.h"
#include "ns3/program-options.h"
#include "ns3/simulator.h"
#include "ns3/training-cluster.h"

namespace ns3::training::tests::refusal_test
{

/// What is wrong with the schedule of the algorithm below; it has one in its test only.
enum class Wrong
{
    NOTHING,
    LOSES,
    BEYOND
};

Wrong g_wrong = Wrong::NOTHING;

bool
IsTested(const CollectiveRequest&)
{
    return g_wrong != Wrong::NOTHING;
}

/** Rank 0 sends to rank 1, which adds: the others learn nothing. Or a rank that does not exist. */
void
BuildWrong(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    using Kind = ScheduleAction::Kind;
    schedule.chunks = 1;
    const uint32_t sender = g_wrong == Wrong::BEYOND ? request.ranks : 0;
    schedule.Add(sender, Kind::SEND, 1, 0, 0);
    schedule.Add(1, Kind::RECEIVE_REDUCE, 0, 0, 0);
}

/** @return the refusal of a schedule */
std::string
Plan(uint32_t ranks)
{
    CollectiveRequest request;
    request.ranks = ranks;
    CollectivePlanner planner("wrong-in-a-test", request, false);
    return GetRefusal([&] { planner.Get(CollectiveOperation::ALL_REDUCE, 1024, 0); });
}

/** A wrong schedule of an extension is an error of the configuration. */
void
TestWrongSchedule()
{
    const Registry<CollectiveAlgorithm>::Entry wrong("wrong-in-a-test",
                                                     {"an algorithm of an extension that is wrong",
                                                      {CollectiveOperation::ALL_REDUCE},
                                                      &BuildWrong,
                                                      {},
                                                      {{"its test", &IsTested}}});
    for (const uint32_t ranks : {2U, 3U, 16U})
    {
        g_wrong = Wrong::LOSES;
        ExpectPart(Plan(ranks),
                   "algorithm wrong-in-a-test for all-reduce among " + std::to_string(ranks) +
                       " ranks: ");
        g_wrong = Wrong::BEYOND;
        ExpectPart(Plan(ranks),
                   "an action of rank " + std::to_string(ranks) + " (allowed: 0 to " +
                       std::to_string(ranks - 1) + ")");
    }
    g_wrong = Wrong::NOTHING;
    ExpectPart(Plan(4), "(allowed: its test)");
    Registry<CollectiveAlgorithm>::All().erase("wrong-in-a-test"); // others test all algorithms
}

/** Expects a suggestion before the parenthesis; empty: none. */
void
Expect(const std::string& text, const std::string& word)
{
    const auto start = text.find(" (allowed");
    const std::string expected =
        word.empty() ? text
                     : text.substr(0, start) + "; did you mean " + word + "?" + text.substr(start);
    NS_TEST_EXPECT_MSG_EQ(SuggestValue(text), expected, text);
}

void
TestSuggestion()
{
    Expect("--transport=rdmaa (allowed: rdma|tcp|uec)", "rdma");
    Expect("unknown topology 'fat-tre' (allowed: fat-tree, torus)", "fat-tree");
    Expect("--topology=fat-tree:kk=4: 'kk=4'; did you mean k? (allowed: k=2 to 128)", "");
    Expect("topology 'ring:hosst=4': 'hosst=4' (allowed: hosts=1 to 1024)", "hosts");
    Expect("--congestion-control=dqcn (allowed: auto, dcqcn, or the TypeId; --help explains)",
           "dcqcn");
    Expect("--congestion-control=dqcn (allowed with rdma: dcqcn, none)", "dcqcn");
    Expect("--x=a:pattern=rando: 'pattern=rando' (allowed: load=0 to 1, pattern=incast|random, "
           "n=1)",
           "pattern=random");
    Expect("--ranks=0 (allowed: 1 to 1048576)", "");
    Expect("--path=x (allowed: ecmp, spray)", "");
    Expect("--path=zzzzzzzz (allowed: ecmp, spray)", "");
    Expect("topology 'ring:hosts=0': 'hosts=0' (allowed: hosts=1 to 1024)", "");
    Expect("trace.csv: cannot be read", "");
    Expect("", "");
}

/** The number of ranks follows a topology of a fixed size. */
struct RanksOfTopologyTestCase
{
    void Run()
    {
        Expect({}, 16);
        Expect({"--topology=torus:8x8"}, 64);
        Expect({"--topology=torus:8x8", "--ranks=4"}, 4);
        Expect({"--topology=torus:8x8", "--ranks=16"}, 16);
        Expect({"--topology=torus"}, 16);
        Expect({"--topology=ring:5"}, 5);
        Expect({"--topology=fat-tree"}, 16);
        Expect({"--topology=fat-tree:k=2"}, 2);
        Expect({"--topology=fat-tree:k=8"}, 128);
        Expect({"--topology=single-switch"}, 16);
        Expect({"--topology=single-switch:hosts=1"}, 1);
        Expect({"--topology=leaf-spine"}, 16);
        Expect({"--topology=leaf-spine:leaves=3,hosts-per-leaf=5"}, 15);
        Expect({"--topology=rail-optimized:servers=4,gpus=8"}, 32);
        Expect({"--topology=rail-optimized:gpus=8"}, 16);
        for (const std::string file : {"/nowhere", "/dev/null"})
        {
            const auto refusal = GetRefusal([&] { Expect({"--topology=file:" + file}, 0); });
            ExpectPart(refusal, file);
        }
        Expect({"--topology=torus:8x8", "--background=fixed:hosts=others"}, 16);
        Expect({"--topology=torus:8x8", "--background=fixed"}, 64);
    }

    void Expect(const std::vector<std::string>& arguments, uint64_t ranks)
    {
        ClusterOptions cluster;
        ProgramOptions options("test", "a test");
        ClusterCommandLine commandLine(cluster);
        commandLine.AddTo(options);
        options.Parse(arguments);
        commandLine.FollowTopology(options);
        NS_TEST_EXPECT_MSG_EQ(cluster.ranks, ranks, (arguments.empty() ? "" : arguments[0]));
    }
};

constexpr uint64_t BYTES = 4 << 20;

/** @return what auto takes for 16 ranks */
std::string
Choose(const std::string& topology)
{
    ClusterOptions options;
    options.topology = topology;
    options.algorithm = AlgorithmChooser::NAME;
    std::string name;
    {
        const Cluster cluster(options);
        name = cluster.GetPlanner().Get(CollectiveOperation::ALL_REDUCE, BYTES, 0)->algorithm;
    }
    Simulator::Destroy();
    return name;
}

/** @return the advice after a collective that took a multiple of its lower bound */
std::string
Advise(const std::string& topology, const std::string& algorithm, double multiple)
{
    ClusterOptions options;
    options.topology = topology;
    options.algorithm = algorithm;
    std::string advice;
    {
        const Cluster cluster(options);
        const double bound = cluster.GetBounds().Get(CollectiveOperation::ALL_REDUCE, BYTES);
        advice = AdviseAlgorithm(cluster,
                                 {CollectiveOperation::ALL_REDUCE, BYTES, multiple * bound, bound});
    }
    Simulator::Destroy();
    return advice;
}

/** A slow collective gets an advice if another algorithm is expected to be faster. */
void
TestAlgorithmAdvice()
{
    const std::string advice = Advise("torus:4x4", "ring", 3);
    ExpectPart(advice, "all-reduce of 4MiB takes 3.00 times its lower bound; expected for ");
    ExpectPart(advice, " us with ring, ");
    ExpectPart(advice, " with " + Choose("torus:4x4") + " (see --collective=auto)");
    NS_TEST_EXPECT_MSG_EQ(Advise("torus:4x4", "ring", 1.4), "", "near its lower bound");
    NS_TEST_EXPECT_MSG_EQ(Advise("torus:4x4", Choose("torus:4x4"), 3), "", "there is no better");
    NS_TEST_EXPECT_MSG_EQ(Advise("torus:4x4", "auto", 3), "", "chosen already");
    NS_TEST_EXPECT_MSG_EQ(Advise("single-switch", "ring", 3), "", "a ring is best on one port");
    NS_TEST_EXPECT_MSG_EQ(Advise("single-switch", "switchml", 3), "", "in the network");
}

const Suite g_suite("refusal",
                    Duration::QUICK,
                    {{"an algorithm with a wrong schedule is refused in one line",
                      TestWrongSchedule},
                     {"refusals name the nearest allowed word, if one is near", TestSuggestion},
                     {"without --ranks, a topology of a fixed size has a rank on each host",
                      RunTest<RanksOfTopologyTestCase>},
                     {"a collective far above its lower bound names the algorithm that auto takes",
                      TestAlgorithmAdvice}});

} // namespace ns3::training::tests::refusal_test
