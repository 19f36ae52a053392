/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chakra-test-common.h"
#include "formats-test-common.h"
#include "graph/graph-timing.h"

namespace ns3::training::tests::formats_agreement_test
{

using namespace chakra_files;

/** @return a GOAL file of two ranks */
std::string
WriteGoal(const std::string& first, const std::string& second)
{
    return WriteFile("two.goal",
                     "num_ranks 2\nrank 0 {\n" + first + "\n}\nrank 1 {\n" + second + "\n}\n");
}

/** @return two traces of Chakra, each of the nodes of a rank */
std::string
WriteRanks(const std::string& name,
           const std::vector<std::string>& first,
           const std::vector<std::string>& second)
{
    return "chakra:" + Write(name, {Trace(first), Trace(second)});
}

/** @return a message of Chakra */
std::string
Message(bool sends, uint64_t bytes, uint64_t tag = 0)
{
    return Number(3, sends ? SEND : RECEIVE) + MakeAttribute("comm_size", bytes) +
           MakeAttribute(sends ? "comm_dst" : "comm_src", sends ? 1 : 0) +
           MakeAttribute("comm_tag", tag);
}

/** @return a trace of Kineto with one kernel of NCCL, of a rank of two */
std::string
Kineto(const std::string& what, const std::string& group, uint32_t size, uint32_t world = 2)
{
    return R"({"distributedInfo": {"world_size": )" + std::to_string(world) +
           R"(}, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "ts": 5, )"
           R"("dur": 1, "args": {"stream": 7, )" +
           what + R"(, "dtype": "Float", "Group size": )" + std::to_string(size) +
           R"(, "Process Group Ranks": ")" + group + "\"}}]}";
}

/** @return paths of the traces of two ranks */
std::string
WriteKineto(const std::string& name, const std::string& first, const std::string& second)
{
    WriteFile(name + "-0.json", first);
    WriteFile(name + "-1.json", second);
    return "kineto:" + CreateTempDirFilename(name + "-{rank}.json");
}

void
TestMessages()
{
    ExpectRefusal(WriteGoal("a: calc 1\nb: send 1000000b to 1", "a: recv 10b from 0"),
                  "two.goal:4: rank 0 sends 1000000 bytes, but ");
    ExpectRefusal(WriteGoal("a: calc 1\nb: send 1000000b to 1", "a: recv 10b from 0"),
                  "two.goal:7: rank 1 receives 10 bytes (allowed: the same size on both sides)");
    // The reader of the receive comes first, and sizes cross.
    ExpectRefusal(WriteGoal("recv 10b from 1", "send 11b to 0"),
                  "two.goal:3: rank 0 receives 10 bytes, but ");
    ExpectRefusal(WriteGoal("a: send 10b to 1\nb: send 20b to 1\nb requires a",
                            "a: recv 20b from 0\nb: recv 10b from 0\nb requires a"),
                  "two.goal:3: rank 0 sends 10 bytes, but ");
    ExpectRefusal(WriteGoal("send 10b to 1 tag 3", "recv 10b from 0 tag 4"), "of the same tag");
    ExpectRefusal(WriteGoal("send 10b to 1", "calc 1"), "two.goal:3: rank 0 sends 10 bytes");
    ExpectRefusal(WriteGoal("calc 1", "recv 10b from 0"), "two.goal:6: rank 1 receives 10 bytes");
    const std::string sizes = WriteRanks("size",
                                         {Number(1, 7) + Message(true, 1 << 20)},
                                         {Number(1, 9) + Message(false, 1 << 10)});
    ExpectRefusal(sizes, "size.0.et: node 7 sends 1048576 bytes, but ");
    ExpectRefusal(sizes, "size.1.et: node 9 receives 1024 bytes");
    const std::string peers = R"(, "Src Rank": 0, "Dst Rank": 1)";
    const auto message = [&peers](const std::string& name, const std::string& count) {
        return Kineto(R"("Collective name": ")" + name + R"(", "In msg nelems": )" + count + peers,
                      "[0, 1]",
                      2);
    };
    ExpectRefusal(WriteKineto("p2p", message("send", "8"), message("recv", "4")),
                  "p2p-0.json: kernel at 5000 ns sends 32 bytes, but ");
    // Two sizes of a tag whose order is that of the file, but not that of time
    const auto apart =
        ReadWorkloadFormat(WriteGoal("a: calc 9\nb: send 10b to 1\nc: send 20b to 1\nb requires a",
                                     "recv 10b from 0\nrecv 20b from 0"),
                           0,
                           false);
    const auto tasks = GetTasks(*apart.graph, 1);
    NS_TEST_ASSERT_MSG_EQ(tasks.size(), 2, "receives");
    NS_TEST_EXPECT_MSG_NE(tasks[0].tag, tasks[1].tag, "a tag for each size");
    NS_TEST_EXPECT_MSG_EQ(TimeGraph(*apart.graph, 1).stuck, "", "ends");
}

void
TestCollectives()
{
    const auto call = [](uint64_t id, uint64_t type, uint64_t bytes, const std::string& more = "") {
        return Node(id, COLLECTIVE, Collective(type, bytes) + more);
    };
    const std::string bytes = WriteRanks("bytes", {call(1, 0, 8)}, {call(2, 0, 4)});
    ExpectRefusal(bytes, "bytes.0.et: node 1 calls all-reduce of 8 bytes, but ");
    ExpectRefusal(bytes, "bytes.1.et: node 2 calls all-reduce of 4 bytes");
    ExpectRefusal(
        WriteRanks("order", {call(1, 0, 8), call(2, 6, 8)}, {call(1, 6, 8), call(2, 0, 8)}),
        "order.1.et: node 1 calls all-to-all of 8 bytes");
    ExpectRefusal(WriteRanks("fewer", {call(1, 0, 8), call(2, 0, 8)}, {call(1, 0, 8)}),
                  "fewer.1.et has only 1 collectives of the group");
    ExpectRefusal(WriteRanks("more", {call(1, 0, 8)}, {call(1, 0, 8), call(2, 0, 8)}),
                  "more.1.et: node 2 calls all-reduce of 8 bytes, but ");
    ExpectRefusal(WriteRanks("none", {Node(0, COMPUTE, "")}, {call(1, 0, 8)}),
                  "none.0.et has only 0 collectives");
    ExpectRefusal(WriteRanks("root",
                             {call(1, 5, 8, MakeAttribute("root", 0))},
                             {call(1, 5, 8, MakeAttribute("root", 1))}),
                  "root.0.et: node 1 calls broadcast of 8 bytes, root 0, but ");
    ExpectRefusal(WriteRanks("far",
                             {call(1, 5, 8, MakeAttribute("root", 2))},
                             {call(1, 5, 8, MakeAttribute("root", 2))}),
                  "root 2 (allowed: its place in the group, below 2");
    const auto sum = [](const std::string& count) {
        return Kineto(R"("Collective name": "allreduce", "In msg nelems": )" + count, "[0, 1]", 2);
    };
    ExpectRefusal(WriteKineto("sum", sum("8"), sum("4")),
                  "sum-1.json: kernel at 5000 ns calls all-reduce of 16 bytes");
    // Unequal parts of an all-to-all differ by rank.
    const auto exchange = [](const std::string& count, const std::string& splits) {
        return Kineto(R"("Collective name": "all_to_allv", "In msg nelems": )" + count +
                          R"(, "In split size": ")" + splits + "\"",
                      "[0, 1]",
                      2);
    };
    ReadWorkloadFormat(WriteKineto("uneven", exchange("8", "[2, 6]"), exchange("4", "[2, 2]")),
                       0,
                       false);
}

void
TestGroups()
{
    const std::vector<std::string> nodes{
        Node(1, COLLECTIVE, Collective(0, 8) + MakeAttribute("comm_group", 3))};
    const std::string traces = WriteRanks("groups", nodes, nodes);
    for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
             {R"({"3": [0, 0, 1]})", "groups.json: group '3' has a rank twice"},
             {R"({"3": []})", "node 1 'n': group '3' has no ranks"},
             {R"({"3": [0, 1], "3": [1, 0]})", "groups.json: group '3' is there twice"},
             {R"({"3": [0]})", "rank 1 is not in the group"}})
    {
        ExpectRefusal(traces + ",groups=" + WriteFile("groups.json", text), part);
    }
    const std::string sum = R"("Collective name": "allreduce", "In msg nelems": 8)";
    for (const auto& [list, size, part] :
         std::vector<std::tuple<std::string, uint32_t, std::string>>{
             {"[0, 0]", 2, "a rank twice"},
             {"[]", 2, "no rank"},
             {"[0, -1]", 2, "rank -1"},
             {"[0, 1]", 8, "2 ranks (allowed: its Group size 8)"},
             {"[0, 1]", 1, "2 ranks (allowed: its Group size 1)"},
             {"[0, 2]", 2, "rank 2 (allowed: ranks below 2)"}})
    {
        ExpectRefusal(WriteFile("group.json", Kineto(sum, list, size)),
                      "group.json: kernel 'ncclDevKernel' at 5000 ns: Process Group Ranks has " +
                          part);
    }
    // All ranks must name the group likewise.
    ExpectRefusal(WriteKineto("apart", Kineto(sum, "[0, 1]", 2), Kineto(sum, "[1]", 1)),
                  "collectives of the group");
}

void
TestMissingRanks()
{
    const std::string trace = Trace({Node(1, COLLECTIVE, Collective(0, 8))});
    WriteFile("hole.3.et", trace);
    WriteFile("hole.2.et.gz", MakeGzip(trace));
    const std::string hole = "chakra:" + WriteFile("hole.0.et", trace);
    ExpectRefusal(hole, "hole.1.et: is missing or empty, and there is ");
    WriteFile("hole.1.et", "");
    ExpectRefusal(hole, "hole.1.et: is missing or empty, and there is ");
    WriteFile("hole.1.et", trace);
    NS_TEST_EXPECT_MSG_EQ(ReadWorkloadFormat(hole, 0, false).graph->GetRanks(), 4, "all");
    ExpectRefusal(hole, "hole.0.et and so on (allowed: 4)", 2);
    ExpectRefusal(hole, "hole.4.et: cannot be read", 5);
    const std::string kernel =
        Kineto(R"("Collective name": "allreduce", "In msg nelems": 8)", "[0, 1]", 2);
    WriteFile("gap-2.json", kernel);
    const std::string gap = WriteKineto("gap", kernel, "");
    ExpectRefusal(gap, "gap-1.json: is missing or empty");
    WriteFile("gap-1.json", kernel);
    ExpectRefusal(gap, "gap-0.json: world_size 2 with traces of 3 ranks");
}

const Suite g_suite("formats-agreement",
                    Duration::QUICK,
                    {{"messages whose two sides differ are refused with both places", TestMessages},
                     {"ranks of a group that call other collectives are refused", TestCollectives},
                     {"groups that are empty or have a rank twice are refused", TestGroups},
                     {"a rank whose file is missing is named", TestMissingRanks}});

} // namespace ns3::training::tests::formats_agreement_test
