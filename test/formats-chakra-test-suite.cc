/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chakra-test-common.h"
#include "formats-test-common.h"
#include "graph/graph-timing.h"

#include "ns3/nstime.h"

namespace ns3::training::tests::formats_chakra_test
{

using namespace chakra_files;

void
CheckSchemas()
{
    // A computation of 5 us, and then a message of 8 bytes to the other rank.
    const auto today = [](bool sends) {
        const std::string peer = MakeAttribute(sends ? "comm_dst" : "comm_src", sends ? 1 : 0, 7);
        return std::vector<std::string>{
            Node(0, COMPUTE, Number(7, 5)),
            Node(1,
                 sends ? SEND : RECEIVE,
                 // Packed dependencies; before the attributes, and an unknown field
                 Bytes(5, Varint(0)) + Number(99, 3) + peer + MakeAttribute("comm_size", 8, 13) +
                     MakeAttribute("comm_tag", 2, 7) + MakeAttribute("comm_type", sends ? 5 : 6))};
    };
    const auto old = [](bool sends) {
        return Trace({Number(1, 7) + Bytes(2, "c") + Number(3, 3) + Number(7, 5) + Number(12, 1),
                      Number(1, 8) + Bytes(2, "m") + Number(3, sends ? 4 : 5) +
                          // Parents that are not packed
                          Varint(4 << 3) + Varint(7) + Number(sends ? 17 : 16, sends ? 1 : 0) +
                          (sends ? "" : Varint(16 << 3) + Varint(0)) + Number(18, 8) +
                          Number(19, 2)});
    };
    const auto with = [](std::vector<std::string> messages) {
        messages.insert(messages.begin(), METADATA);
        return Trace(messages);
    };
    const std::vector<std::string> paths{
        Write("today", {with(today(true)), with(today(false))}),
        Write("bare", {Trace(today(true)), Trace(today(false))}),
        Write("old", {old(true), old(false)}),
    };
    for (const std::string& path : paths)
    {
        NS_TEST_ASSERT_MSG_EQ(FindWorkloadFormat(path), "chakra", path);
        const auto read = ReadWorkloadFormat(path, 0, false);
        NS_TEST_ASSERT_MSG_EQ(read.graph->GetRanks(), 2, path);
        NS_TEST_EXPECT_MSG_EQ(read.problems.size(), 0, path);
        const auto tasks = GetTasks(*read.graph, 0);
        NS_TEST_ASSERT_MSG_EQ(tasks.size(), 2, path);
        NS_TEST_EXPECT_MSG_EQ(tasks[0].length, MicroSeconds(5), path);
        NS_TEST_EXPECT_MSG_EQ(tasks[1].kind, TaskKind::SEND, path);
        NS_TEST_EXPECT_MSG_EQ(tasks[1].peer, 1, path);
        NS_TEST_EXPECT_MSG_EQ(tasks[1].bytes, 8, path);
        NS_TEST_EXPECT_MSG_EQ(tasks[1].tag, 0, path); // the first one between two ranks
        NS_TEST_ASSERT_MSG_EQ(tasks[1].after.size(), 1, path);
        NS_TEST_EXPECT_MSG_EQ(tasks[1].after[0], tasks[0].id, path);
        CommunicationTimes times;
        times.message = [](const GraphTask&) { return MicroSeconds(3); };
        const auto timing = TimeGraph(*read.graph, 2, times);
        NS_TEST_EXPECT_MSG_EQ(timing.stuck, "", path);
        NS_TEST_EXPECT_MSG_EQ(timing.end, MicroSeconds(2 * 5 + 3), path);
    }
    WriteFile("packed.1.et.gz", MakeGzip(with(today(false))));
    const std::string packed = WriteFile("packed.0.et.gz", MakeGzip(with(today(true))));
    NS_TEST_EXPECT_MSG_EQ(FindWorkloadFormat(packed), "chakra", "packed");
    NS_TEST_EXPECT_MSG_EQ(ReadWorkloadFormat(packed, 2, false).graph->GetRanks(), 2, "packed");
    NS_TEST_EXPECT_MSG_EQ(FindWorkloadFormat(CreateTempDirFilename("packed")), "chakra", "prefix");
    ExpectRefusal(packed, "packed.2.et: cannot be read (allowed: traces of all 3 ranks)", 3);
}

void
CheckCollectives()
{
    using Operation = CollectiveOperation;
    // The size of an all-gather is that of a part; others are of the vector of a rank.
    const std::vector<std::pair<Operation, uint64_t>> expected{{Operation::ALL_REDUCE, 100},
                                                               {Operation::REDUCE, 100},
                                                               {Operation::ALL_GATHER, 200},
                                                               {Operation::ALL_TO_ALL_V, 100},
                                                               {Operation::ALL_TO_ALL_V, 200},
                                                               {Operation::BROADCAST, 100},
                                                               {Operation::ALL_TO_ALL, 100},
                                                               {Operation::REDUCE_SCATTER, 100},
                                                               {Operation::REDUCE_SCATTER, 100},
                                                               {Operation::BARRIER, 0}};
    std::vector<std::string> nodes{METADATA};
    for (uint32_t type = 0; type < expected.size(); type++)
    {
        nodes.push_back(Node(type + 1, COLLECTIVE, Collective(type, 100)));
    }
    const auto read = ReadWorkloadFormat(Write("all", {Trace(nodes), Trace(nodes)}), 0, false);
    const auto tasks = GetTasks(*read.graph, 0);
    NS_TEST_ASSERT_MSG_EQ(tasks.size(), expected.size(), "collectives");
    for (std::size_t i = 0; i < tasks.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(training::GetName(tasks[i].operation),
                              training::GetName(expected[i].first),
                              i);
        NS_TEST_EXPECT_MSG_EQ(tasks[i].bytes, expected[i].second, i);
    }
    // The old schema numbers them in another way: 1 all-reduce, 2 all-to-all, 3 all-gather, ...
    const std::vector<Operation> byOldNumber{Operation::ALL_REDUCE,
                                             Operation::ALL_TO_ALL,
                                             Operation::ALL_GATHER,
                                             Operation::REDUCE_SCATTER};
    for (uint32_t type = 0; type <= 5; type++)
    {
        const std::string trace = Trace({Number(1, 1) + Bytes(2, "c") + Number(3, 6) +
                                         Varint(13 << 3) + Varint(type) + Number(18, 64)});
        const std::string path = Write("old-collective", {trace, trace});
        if (type == 0 || type == 5)
        {
            ExpectRefusal(path, "comm_type -1 (allowed: 0 to 9)");
            continue;
        }
        const auto old = GetTasks(*ReadWorkloadFormat(path, 0, false).graph, 0);
        NS_TEST_EXPECT_MSG_EQ(training::GetName(old.at(0).operation),
                              training::GetName(byOldNumber[type - 1]),
                              type);
    }
}

void
CheckGroups()
{
    const auto expect = [](const std::string& spec, const std::vector<uint32_t>& ranks) {
        const auto read = ReadWorkloadFormat(spec, 0, false);
        for (uint32_t rank : ranks)
        {
            const auto tasks = GetTasks(*read.graph, rank);
            NS_TEST_EXPECT_MSG_EQ(read.graph->GetGroup(tasks.back().groups, rank),
                                  ranks,
                                  spec << ", rank " << rank);
        }
    };
    const auto write = [&](const std::string& name,
                           const std::string& even,
                           const std::string& odd,
                           const std::string& first) {
        std::vector<std::string> traces;
        for (uint32_t rank = 0; rank < 4; rank++)
        {
            traces.push_back(
                Trace({METADATA,
                       Node(1, 1, first),
                       Node(2, COLLECTIVE, Collective(0, 8) + (rank % 2 == 0 ? even : odd))}));
        }
        return Write(name, traces);
    };
    const std::string file = WriteFile("groups.json", R"({"1": [0, 2], "tp_1": [1, 3], "0": []})");
    const std::string numbers =
        write("numbers", MakeAttribute("comm_group", 1, 7), Text("pg_name", "tp_1"), "");
    expect("chakra:" + numbers + ",groups=" + file, {0, 2});
    expect("chakra:" + numbers + ",groups=" + file, {1, 3});
    ExpectLenient(numbers,
                  "node 2 'n': group '1' (allowed: none is defined",
                  "node 2 'n': a group that is not defined, which is all ranks, 4 times");
    WriteFile("beside.json", R"({"1": [0, 2], "tp_1": [1, 3]})");
    expect(write("beside", MakeAttribute("comm_group", 1, 7), Text("pg_name", "tp_1"), ""), {0, 2});
    const std::string list =
        R"("[{"pg_name": "even", "ranks": [0, 2]}, {"pg_name": "odd", "ranks": [1, 3]},)"
        R"( {"pg_name": "all", "ranks": []}]")";
    const std::string metadata = Bytes(8, Bytes(1, "'" + list + "'"));
    expect(write("metadata", Text("pg_name", "even"), Text("pg_name", "odd"), metadata), {0, 2});
    expect(write("world", Text("pg_name", "all"), Text("pg_name", "0"), metadata), {0, 1, 2, 3});
    ExpectRefusal(write("other", Text("pg_name", "odd"), Text("pg_name", "odd"), metadata),
                  "rank 0 is not in the group");
    const std::string wrong = WriteFile("wrong.json", R"({"1": [0, 9]})");
    ExpectRefusal("chakra:" + numbers + ",groups=" + wrong, "group '1' has rank '9'");
}

/** Both schemas, and the ways in which traces are written. */
void
TestChakraRead()
{
    CheckSchemas();
    CheckCollectives();
    CheckGroups();
}

std::string
WriteTrace(const std::vector<std::string>& messages)
{
    return WriteFile("wrong.0.et", Trace(messages));
}

/** Expects a trace to be read, with a problem. */
void
ExpectProblem(const std::vector<std::string>& messages, const std::string& part)
{
    const auto read = ReadWorkloadFormat(WriteTrace(messages), 1, false);
    NS_TEST_ASSERT_MSG_EQ(read.problems.size(), 1, part);
    ExpectPart(read.problems[0], part);
}

void
TestChakraDamage()
{
    const auto after = [](uint64_t id) { return Bytes(5, Varint(id)); };
    const auto behind = [](uint64_t id) { return Bytes(4, Varint(id)); };
    // Cycles
    const std::vector<std::string> cycle{METADATA,
                                         Node(10, COMPUTE, after(12)),
                                         Node(11, COMPUTE, after(10)),
                                         Node(12, COMPUTE, after(11)),
                                         Node(13, COMPUTE, after(12))};
    ExpectLenient(WriteTrace(cycle),
                  "a cycle: node 10 waits for 12 waits for 11 waits for 10",
                  "node 12: a cycle of waits, in which its youngest node waits for nobody, 1 time");
    // Node 12 does not wait any more, so the order is 12, 10, 11, 13 or a part of it.
    const auto broken = ReadWorkloadFormat(WriteTrace(cycle), 0, true);
    NS_TEST_EXPECT_MSG_EQ(TimeGraph(*broken.graph, 1).stuck, "", "broken cycle");
    ExpectProblem({METADATA, Node(1, COMPUTE, behind(2)), Node(2, COMPUTE, behind(1))},
                  "so only data dependencies count, 1 time");
    ExpectRefusal(
        "chakra:" + WriteTrace({Node(1, COMPUTE, behind(2)), Node(2, COMPUTE, behind(1))}) +
            ",dependencies=all",
        "a cycle: node 1 waits for 2 waits for 1");
    // Missing parents
    ExpectProblem(
        {METADATA, Node(1, COMPUTE, after(7)), Node(2, COMPUTE, after(8))},
        "node 1: waits for a node that the trace does not have, which is left out, 2 times");
    ExpectRefusal("chakra:" + WriteTrace({Node(1, COMPUTE, after(7))}) + ",missing-parent=error",
                  "node 1: waits for a node that the trace does not have");
    ExpectProblem({METADATA, Node(1, COMPUTE, behind(7)), Node(2, COMPUTE, after(1))},
                  "control dependencies are incomplete or a cycle");
    // Missing and impossible values
    ExpectLenient(WriteTrace({METADATA, Node(17, COLLECTIVE, MakeAttribute("comm_type", 0), "x")}),
                  "node 17 'x': no comm_size",
                  "no comm_size, so it is a local computation");
    ExpectLenient(WriteTrace({METADATA, Node(17, SEND, MakeAttribute("comm_size", 4), "x")}),
                  "node 17 'x': no comm_dst",
                  "no comm_dst, so it is a local computation");
    ExpectRefusal(
        WriteTrace({Node(1, SEND, MakeAttribute("comm_size", 4) + MakeAttribute("comm_dst", 5))}),
        "comm_dst 5 (allowed: 0 to 0)");
    ExpectRefusal(WriteTrace({Node(1, COLLECTIVE, Collective(0, uint64_t{1} << 62))}),
                  "comm_size 4611686018427387904");
    ExpectRefusal(WriteTrace({Node(1, COLLECTIVE, Collective(10, 1))}), "comm_type 10");
    ExpectLenient(WriteTrace({METADATA, Node(1, 42, "")}),
                  "node 1 'n': type 42 (allowed",
                  "an unknown type of node");
    ExpectRefusal(WriteTrace({Node(1, COMPUTE, ""), Node(1, COMPUTE, "")}), "node 1 twice");
    // Times in ns instead of us
    ExpectRefusal(WriteTrace({Node(1, COMPUTE, Number(7, 86400000001))}), "unit=ns if these are");
    ExpectProblem({METADATA, Node(1, COMPUTE, Number(7, 60000001))}, "longer than a minute");
    const auto nano = ReadWorkloadFormat(
        "chakra:" + WriteTrace({Node(1, COMPUTE, Number(7, 60000001))}) + ",unit=ns",
        1,
        false);
    NS_TEST_EXPECT_MSG_EQ(TimeGraph(*nano.graph, 1).end, NanoSeconds(60000001), "ns");
    NS_TEST_EXPECT_MSG_EQ(nano.problems.size(), 0, "ns");
    // A collective of the CPU
    ExpectProblem(
        {METADATA, Node(1, COLLECTIVE, Collective(0, 8) + MakeAttribute("is_cpu_op", 1, 27))},
        "a collective of the CPU");
    // Truncated: at every byte, but between two messages
    const std::string first = Trace({METADATA, Node(1, COMPUTE, Number(7, 300))});
    const std::string whole = first + Trace({Node(2, COMPUTE, after(1))});
    for (std::size_t size = first.size() + 1; size < whole.size(); size++)
    {
        ExpectRefusal("chakra:" + WriteFile("cut.0.et", whole.substr(0, size)),
                      "message 2 at byte " + std::to_string(first.size()));
    }
    ExpectRefusal("chakra:" + WriteFile("cut.0.et", Trace({METADATA}) + std::string(12, '\xff')),
                  "message 1 at byte " + std::to_string(METADATA.size() + 1) + " has a number of");
    ExpectRefusal("chakra:/nowhere", "/nowhere.0.et: cannot be read");
}

void
TestChakraSize()
{
    constexpr uint64_t COUNT = 1000000;
    std::string bytes = Trace({METADATA});
    for (uint64_t id = 1; id <= COUNT; id++)
    {
        // Two chains, the later node first
        const uint64_t earlier = id + 2 <= COUNT ? id + 2 : 0;
        bytes += Trace(
            {Node(id, COMPUTE, Number(7, 1) + (earlier > 0 ? Bytes(5, Varint(earlier)) : ""))});
    }
    const auto read = ReadWorkloadFormat(WriteFile("long.0.et", bytes), 1, false);
    NS_TEST_EXPECT_MSG_EQ(TimeGraph(*read.graph, 1).end, MicroSeconds(COUNT), "one stream");

    std::vector<std::string> pairs{METADATA};
    for (uint64_t id = 1; id <= 2002; id++)
    {
        pairs.push_back(Node(id, COMPUTE, Bytes(5, Varint(id % 2 == 1 ? id + 1 : id - 1))));
    }
    const std::string path = WriteFile("cycles.0.et", Trace(pairs));
    ExpectPart(GetRefusal([&] { ReadWorkloadFormat(path, 1, true); }), "up to 1000 cycles");
    pairs.resize(1 + 2000);
    ExpectLenient(WriteFile("cycles.0.et", Trace(pairs)), "a cycle", "1000 times");
}

const Suite g_suite(
    "formats-chakra",
    Duration::EXTENSIVE,
    {{"Chakra traces of both schemas become the tasks that they describe", TestChakraRead},
     {"damaged Chakra traces are refused or run under a stated rule", TestChakraDamage},
     {"a trace of a million nodes is read and one of many cycles ends", TestChakraSize}});

} // namespace ns3::training::tests::formats_chakra_test
