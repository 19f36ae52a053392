/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chakra-test-common.h"
#include "collective/algorithm-dimensions.h"
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

/** @return an attribute that says in which dimensions a collective is */
std::string
Involved(const std::vector<bool>& dimensions)
{
    std::string list;
    for (bool isIn : dimensions)
    {
        list += isIn ? '\1' : '\0';
    }
    return Bytes(10, Bytes(1, "involved_dim") + Bytes(28, Bytes(1, list)));
}

void
TestDimensions()
{
    const std::vector<uint32_t> network{2, 3, 2};
    const auto write = [](const std::vector<bool>& involved, const std::string& more = "") {
        return "chakra:" +
               Write(
                   "dimensions",
                   std::vector<std::string>(
                       12,
                       Trace({Node(1, COLLECTIVE, Collective(2, 8) + Involved(involved) + more)})));
    };
    const auto expect =
        [&](const std::vector<bool>& involved, uint32_t rank, const std::vector<uint32_t>& group) {
            const auto read = ReadWorkloadFormat(write(involved), 0, false, network);
            const auto tasks = GetTasks(*read.graph, rank);
            NS_TEST_ASSERT_MSG_EQ(tasks.size(), 1, "a collective");
            NS_TEST_EXPECT_MSG_EQ(read.graph->GetGroup(tasks[0].groups, rank), group, "its group");
            NS_TEST_EXPECT_MSG_EQ(tasks[0].bytes, 8 * group.size(), "the part of each rank");
        };
    expect({true, false, false}, 9, {8, 9});
    expect({false, true, false}, 9, {7, 9, 11});
    expect({false, false, true}, 9, {3, 9});
    expect({true, false, true}, 4, {4, 5, 10, 11});
    expect({true, true, true}, 4, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    const auto refuse = [&](const std::vector<bool>& involved,
                            const std::vector<uint32_t>& sizes,
                            const std::string& part) {
        ExpectPart(GetRefusal([&] { ReadWorkloadFormat(write(involved), 0, false, sizes); }), part);
    };
    refuse({true, false},
           network,
           "involved_dim has 2 dimensions, of which 1 are true (allowed: 3");
    refuse({true, true, true, true}, network, "(allowed: 3, as the network has");
    refuse({false, false, false}, network, "of which 0 are true");
    refuse({true, false}, {}, "--topology=astra-network");
    refuse({true, false}, {2, 3}, "(allowed: a network of 12 ranks");
    ReadWorkloadFormat(write({true, true}), 0, false); // all, of whatever network
    const std::string all = "per-dimension:all-reduce=ring+direct:window=2+rabenseifner,"
                            "all-gather=ring,sizes=2x3x2,splits=4";
    NS_TEST_EXPECT_MSG_EQ(SelectDimensions(all, {1, 3, 2}),
                          "per-dimension:sizes=3x2,all-reduce=direct:window=2+rabenseifner,"
                          "all-gather=ring,splits=4",
                          "two dimensions");
    NS_TEST_EXPECT_MSG_EQ(SelectDimensions(all, {2, 1, 1}),
                          "per-dimension:sizes=2,all-reduce=ring,all-gather=ring,splits=4",
                          "one dimension");
    NS_TEST_EXPECT_MSG_EQ(SelectDimensions("ring", {2, 1, 1}), "", "another algorithm");
}

/** Expects a file to be read with a problem that has a part. */
void
ExpectNoted(const std::string& spec, const std::string& part)
{
    std::string all;
    for (const std::string& problem : ReadWorkloadFormat(spec, 0, false).problems)
    {
        all += problem + "\n";
    }
    ExpectPart(all, part);
}

/** What a file has and a job has not is said. */
void
TestLeftOut()
{
    ExpectRefusal(WriteFile("more.goal", "num_ranks 1\nrank 0 {\ncalc 5\n}\nrank 1 {\n}\n"),
                  "more.goal:5: 'rank' (allowed: the end of the file behind rank 0");
    ExpectRefusal(WriteFile("prose.goal", "num_ranks 1\nrank 0 {\ncalc 5\n}\nwritten by hand"),
                  "prose.goal:5: 'written'");
    ExpectNoted(WriteGoal("send 8b to 1 nic 1", "recv 8b from 0"),
                "two.goal:3: label nic above 0, which has no effect");
    const std::string row = " -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 64 0\n";
    const std::string micro = WriteFile("micro.txt", "MICRO\n2\na" + row + "b" + row);
    ExpectNoted(micro, "rows behind the first one of a MICRO file, 1, which are left out");
    const std::string one = WriteFile(
        "one.txt",
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: 1 vpp: 1 ga: 1 "
        "all_gpus: 1 checkpoints: 0 checkpoint_initiates: 0\n1\na" +
            row);
    NS_TEST_EXPECT_MSG_EQ(ReadWorkloadFormat(one, 0, false).graph->GetRanks(), 1, "one rank");
    const auto pipeline = [](const std::string& rows) {
        return "pipeline-csv:" + WriteFile("order.csv", rows);
    };
    const std::string last = "1RECV_F0,1F0,1B0,1SEND_B0\n";
    ExpectNoted(pipeline("0F0,0SEND_F0,0RECV_B0,0B0\n" + last), "the order of sends and receives");
    ExpectRefusal(pipeline("0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1RECV_F0,1B0,1SEND_B0\n"),
                  "order.csv:2: '1RECV_F0' behind what needs it");
    ExpectRefusal(pipeline("0F0,0SEND_F0,0B0,0RECV_B0\n" + last), "'0RECV_B0' behind what needs");
    ExpectRefusal(pipeline("0SEND_F0,0F0,0RECV_B0,0B0\n" + last), "'0F0' behind what sends");
}

/** Each part of a file is used, ignored or assumed, whatever reads it. */
void
TestManifest()
{
    const std::string row = " -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 64 0\n";
    const std::string kernel =
        R"({"x": {"y": [1, {"z": 2}]}, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", )"
        R"("ts": 0, "dur": 9, "args": {"stream": 7, "other": {"stream": 3}}}]})";
    // Path, parts, used, ignored and assumed
    const std::vector<std::tuple<std::string, std::string, uint64_t, uint64_t, uint64_t>> cases{
        {"kineto:", WriteFile("some.json", kernel), 8, 2, 0},
        {"chakra:",
         Write(
             "manifest",
             {Trace(
                 {Node(1, COMPUTE, MakeAttribute("is_cpu_op", 0) + MakeAttribute("mystery", 3))})}),
         1,
         1,
         0},
        {"goal:",
         WriteGoal("send 8b to 1 nic 1", "a: recv 8b from 0 cpu 2\nb: calc 5 cpu 1"),
         3,
         1,
         1},
        {"astra:", WriteFile("some.txt", "MICRO\n3\na" + row + "b" + row + "c" + row), 1, 2, 2},
        {"aicb:",
         WriteFile("aicb.txt",
                   "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: 1 vpp: 1 "
                   "ga: 1 all_gpus: 2 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 8\n1\na" +
                       row),
         1,
         3,
         0}};
    for (const auto& [format, path, used, ignored, assumed] : cases)
    {
        ReadWorkloadFormat(format + path, 0, false);
        const std::string name = format == "chakra:" ? path.substr(0, path.size() - 5) : path;
        const auto& file = InputManifest::GetFiles().at(name);
        const auto sum = [](const auto& parts) {
            uint64_t all = 0;
            for (const auto& [what, part] : parts)
            {
                all += part.count;
            }
            return all;
        };
        NS_TEST_EXPECT_MSG_EQ(file.used, used, format << " used");
        NS_TEST_EXPECT_MSG_EQ(sum(file.ignored), ignored, format << " ignored");
        NS_TEST_EXPECT_MSG_EQ(sum(file.assumed), assumed, format << " assumed");
        NS_TEST_EXPECT_MSG_EQ(file.read,
                              file.used + sum(file.ignored) + sum(file.assumed),
                              format << " all parts");
        InputManifest::strict = true;
        ExpectRefusal(format + path, "strict");
        InputManifest::strict = false;
    }
}

const Suite g_suite("formats-agreement",
                    Duration::QUICK,
                    {{"messages whose two sides differ are refused with both places", TestMessages},
                     {"ranks of a group that call other collectives are refused", TestCollectives},
                     {"groups that are empty or have a rank twice are refused", TestGroups},
                     {"a rank whose file is missing is named", TestMissingRanks},
                     {"involved_dim of Chakra makes groups of dimensions", TestDimensions},
                     {"what a file has and a job leaves out is said", TestLeftOut},
                     {"the manifest of a file has all parts", TestManifest}});

} // namespace ns3::training::tests::formats_agreement_test
