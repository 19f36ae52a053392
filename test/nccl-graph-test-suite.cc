/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"

#include "ns3/collective-algorithm.h"
#include "ns3/schedule-verifier.h"

#include <set>

namespace ns3::training::tests::nccl_graph_test
{

using Operation = CollectiveOperation;
using Pairs = std::set<std::pair<uint32_t, uint32_t>>;

/// As NCCL 2.18 writes it for the second server, whose ranks are 4 to 7; dev is hexadecimal there.
constexpr const char* GRAPHS = R"(<graphs version="1">
  <!-- rings -->
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="20" speedinter="20" latencyinter="0" typeintra="NVL" typeinter="PIX" samechannels="0">
    <channel>
      <net dev="0"/><gpu dev="0" rank="4"/><gpu dev="1" rank="5"/><gpu dev="2" rank="6"/><gpu dev="3" rank="7"/><net dev="0"/>
    </channel>
    <channel>
      <net dev="1"/><gpu dev="2" rank="6"/><gpu dev="0" rank="4"/><gpu dev="3" rank="7"/><gpu dev="1" rank="5"/><net dev="1"/>
    </channel>
  </graph>
  <graph id="1" pattern="1" crossnic="0" nchannels="1" speedintra="20" speedinter="20" typeintra="NVL" typeinter="PIX" samechannels="1">
    <channel>
      <net dev="0"/><gpu dev="3" rank="7"/><gpu dev="1" rank="5"/><gpu dev="0" rank="4"/><gpu dev="2" rank="6"/><net dev="0"/>
    </channel>
  </graph>
</graphs>
)";

std::string
Write(const std::string& text)
{
    const std::string path = WriteFile("graph.xml", text);
    return "nccl-graph:file=" + path;
}

/** @return GRAPHS, changed in one place */
std::string
Change(const std::string& from, const std::string& to)
{
    std::string text = GRAPHS;
    return text.replace(text.find(from), from.size(), to);
}

CollectiveSchedule
Plan(const std::string& algorithm, Operation operation, uint32_t ranks)
{
    CollectiveRequest request;
    request.operation = operation;
    request.ranks = ranks;
    request.bytes = 1 << 20;
    request.root = ranks > 1 ? 1 : 0;
    CollectiveSchedule schedule = BuildSchedule(algorithm, request);
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule), "", algorithm << " " << ranks);
    return schedule;
}

/** @return who sends to whom messages with a number */
Pairs
GetPairs(const CollectiveSchedule& schedule, uint32_t message)
{
    Pairs pairs;
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        for (uint32_t i = 0; i < schedule.GetStoredActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            if (action.kind == ScheduleAction::Kind::SEND &&
                action.message == message * schedule.segments)
            {
                pairs.emplace(rank, action.peer);
            }
        }
    }
    return pairs;
}

void
ExpectPairs(const CollectiveSchedule& schedule, uint32_t message, const Pairs& pairs)
{
    NS_TEST_EXPECT_MSG_EQ(GetPairs(schedule, message), pairs, "message " << message);
}

void
Refuse(const std::string& text, const std::string& part, uint32_t ranks = 8)
{
    ExpectPart(GetRefusal([&] { Plan(Write(text), Operation::ALL_REDUCE, ranks); }), part);
}

void
CheckRings()
{
    const std::string rings = Write(GRAPHS);
    for (const Operation operation : {Operation::ALL_REDUCE,
                                      Operation::REDUCE_SCATTER,
                                      Operation::ALL_GATHER,
                                      Operation::BROADCAST,
                                      Operation::REDUCE})
    {
        for (uint32_t ranks : {1, 4, 8, 12})
        {
            Plan(rings, operation, ranks);
            Plan(rings + ",graph=tree", operation, ranks);
        }
    }
    const auto one = Plan(rings, Operation::ALL_REDUCE, 4);
    ExpectPairs(one, 0, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
    ExpectPairs(one, 1, {{2, 0}, {0, 3}, {3, 1}, {1, 2}});
    // The last GPU of a server sends to the first one of the next.
    const auto two = Plan(rings, Operation::ALL_REDUCE, 8);
    ExpectPairs(two, 0, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 0}});
    ExpectPairs(two, 1, {{2, 0}, {0, 3}, {3, 1}, {1, 6}, {6, 4}, {4, 7}, {7, 5}, {5, 2}});
    // With crossnic 2, odd servers exchange their channels.
    const auto crossed =
        Plan(Write(Change("crossnic=\"0\"", "crossnic=\"2\"")), Operation::ALL_GATHER, 8);
    ExpectPairs(crossed, 0, {{0, 1}, {1, 2}, {2, 3}, {3, 6}, {6, 4}, {4, 7}, {7, 5}, {5, 0}});
    // Chains of a broadcast begin at the root, those of a reduce end there.
    ExpectPairs(Plan(rings, Operation::BROADCAST, 4), 1, {{1, 2}, {2, 0}, {0, 3}});
    ExpectPairs(Plan(rings, Operation::REDUCE, 4), 1, {{2, 0}, {0, 3}, {3, 1}});
    // Files of clouds have devices only.
    const auto cloud = Plan(Write(R"(<graphs version="1">
<graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="12" speedinter="12" typeintra="SYS" typeinter="SYS" samechannels="0">
<channel><gpu dev="0x9"/><gpu dev="0"/><gpu dev="10"/></channel></graph></graphs>)"),
                            Operation::ALL_REDUCE,
                            3);
    ExpectPairs(cloud, 0, {{1, 0}, {0, 2}, {2, 1}});
}

void
CheckTrees()
{
    /** @return pairs in both directions */
    const auto both = [](Pairs pairs) {
        for (const auto& [from, to] : Pairs(pairs))
        {
            pairs.emplace(to, from);
        }
        return pairs;
    };
    // The chain is 3, 1, 0, 2. Of three servers the first tree has root 0, above 2, above 1; the
    // second one is shifted: root 1, above 0, above 2.
    const Pairs inside =
        both({{3, 1}, {1, 0}, {0, 2}, {7, 5}, {5, 4}, {4, 6}, {11, 9}, {9, 8}, {8, 10}});
    const auto with = [&](const Pairs& more) {
        Pairs pairs = both(more);
        pairs.insert(inside.begin(), inside.end());
        return pairs;
    };
    // Balanced: lower servers are attached to the second GPU of the chain, higher ones to the
    // first.
    const auto balanced = Plan(Write(GRAPHS) + ",graph=tree", Operation::ALL_REDUCE, 12);
    ExpectPairs(balanced, 0, with({{11, 3}, {7, 9}}));
    ExpectPairs(balanced, 1, with({{3, 7}, {11, 1}}));
    // Split: all to the second one
    const auto split = Plan(Write(Change("pattern=\"1\"", "pattern=\"2\"")) + ",graph=tree",
                            Operation::ALL_REDUCE,
                            12);
    ExpectPairs(split, 0, with({{11, 1}, {7, 9}}));
    // Tree: all to the first one
    const auto tree = Plan(Write(Change("pattern=\"1\"", "pattern=\"3\"")) + ",graph=tree",
                           Operation::ALL_REDUCE,
                           12);
    ExpectPairs(tree, 0, with({{11, 3}, {7, 11}}));
    // In one server, the two trees are the chain.
    const auto chain = Plan(Write(GRAPHS) + ",graph=tree", Operation::ALL_REDUCE, 4);
    ExpectPairs(chain, 0, both({{3, 1}, {1, 0}, {0, 2}}));
    ExpectPairs(chain, 1, both({{3, 1}, {1, 0}, {0, 2}}));
}

/** Rings and trees of a file. */
void
TestNcclGraph()
{
    CheckRings();
    CheckTrees();
    ExpectPart(GetRefusal([&] { Plan("nccl-graph", Operation::ALL_REDUCE, 4); }),
               "(allowed: with file=PATH)");
    Refuse(GRAPHS, "6 ranks with servers of 4 GPUs (allowed: ranks that fill servers", 6);
    ExpectPart(GetRefusal([&] { Plan("nccl-graph:file=/nowhere", Operation::ALL_REDUCE, 4); }),
               "/nowhere: cannot be read (allowed: a graph file of NCCL)");
    Refuse("<system/>", "graph.xml:1: no element graphs (allowed: a graph file of NCCL)");
    Refuse("<graphs>", "graph.xml:1: ");
    Refuse("<graphs/>", "no graph with id 0 (allowed: a file with graphs)");
    Refuse(Change("id=\"0\"", "id=\"2\""), "no graph with id 0 (allowed: 2, 1)");
    Refuse(Change("id=\"0\"", ""), "graph has id '' (allowed: 0 to ");
    Refuse(Change("pattern=\"4\"", "pattern=\"5\""), "graph 0: pattern 5 (allowed: 4, a ring)");
    Refuse(Change("nchannels=\"2\"", "nchannels=\"3\""), "2 channels with nchannels 3");
    Refuse(Change("rank=\"7\"", "rank=\"6\""), "channel 0 with 4 gpus (allowed: each gpu");
    Refuse(Change("rank=\"7\"", "rank=\"x\""), "gpu has rank 'x' (allowed: 0 to ");
    Refuse(Change("rank=\"7\"", ""), "channel 1 with 4 gpus");
    Refuse("<graphs><graph id=\"0\" pattern=\"4\" nchannels=\"1\"><channel><gpu dev=\"g\"/>"
           "</channel></graph></graphs>",
           "gpu has dev 'g' (allowed: hexadecimal numbers up to fffff)");
    Refuse(Change("<net dev=\"0\"/>", "<nic/>"), "element nic in a channel (allowed: net and");
}

const Suite g_suite("nccl-graph",
                    Duration::QUICK,
                    {{"graphs of NCCL become the rings and trees that they show", TestNcclGraph}});

} // namespace ns3::training::tests::nccl_graph_test
