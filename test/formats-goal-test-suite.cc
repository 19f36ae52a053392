/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats-test-common.h"
#include "graph/graph-timing.h"

#include "ns3/nstime.h"

namespace ns3::training::tests::formats_goal_test
{

/// A ping and its answer; the second computation of rank 0 starts with the first one's start.
constexpr const char* PING = R"(/* a comment
over two lines */ num_ranks 2
rank 0 {
  a: calc 100      // its CPU is 0
  b: send 8b to 1 tag 7
  c: recv 4b from 1 tag 8 cpu 1 nic 0
  d: calc 50 cpu 1
  b requires a
  d irequires a
}
rank 1 {
  x: recv 8b from 0 tag 7
  y: calc 30
  z: send 4b to 0 tag 8
  y requires x
  z requires y
}
)";

/// Any rank, or any tag, in the binary form.
constexpr uint32_t ANY = 0xffffffff;

/** @return a node of the binary form that has at most one later operation */
std::string
MakeNode(uint8_t type,
         uint32_t peer,
         uint64_t amount,
         uint32_t waiting,
         uint32_t index,
         uint32_t tag = 3)
{
    return MakeBytes(0, 4) + MakeBytes(type, 1) + MakeBytes(peer, 4) + MakeBytes(amount, 8) +
           MakeBytes(tag, 4) + MakeBytes(0, 2) + MakeBytes(waiting, 4) + MakeBytes(index, 4) +
           MakeBytes(0, 8);
}

/**
 * @param next operation that waits for the first one
 * @param from sender that the receive of rank 1 names
 * @return a job of two ranks in the binary form
 */
std::string
MakeBinary(uint8_t first,
           uint32_t peer,
           uint32_t next,
           uint32_t from = 0,
           uint32_t tag = 3,
           uint32_t sendTag = 3)
{
    const std::string rank0 = MakeBytes(2, 4) + MakeBytes(1, 4) + MakeBytes(0, 4) +
                              MakeNode(first, 0, 40, 1, 0) + MakeNode(1, peer, 16, 0, 0, sendTag) +
                              MakeBytes(next, 4);
    const std::string rank1 =
        MakeBytes(1, 4) + MakeBytes(1, 4) + MakeBytes(0, 4) + MakeNode(2, from, 16, 0, 0, tag);
    const uint64_t begin = 6 + 2 * 16; // from behind the magic number
    return MakeBytes(4223, 8) + MakeBytes(2, 4) + MakeBytes(1, 1) + MakeBytes(1, 1) +
           MakeBytes(begin, 8) + MakeBytes(begin + rank0.size(), 8) +
           MakeBytes(begin + rank0.size(), 8) + MakeBytes(begin + rank0.size() + rank1.size(), 8) +
           rank0 + rank1;
}

/** Operations, their order, and their times. */
void
TestGoalRead()
{
    std::string windows = PING;
    for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2)
    {
        windows.insert(at, "\r");
    }
    for (const std::string& content : {std::string(PING), windows, MakeGzip(PING)})
    {
        const std::string path = WriteFile("ping.goal", content);
        NS_TEST_ASSERT_MSG_EQ(FindWorkloadFormat(path), "goal", "recognized");
        const auto read = ReadWorkloadFormat(path, 0, false);
        NS_TEST_ASSERT_MSG_EQ(read.graph->GetRanks(), 2, "ranks");
        NS_TEST_EXPECT_MSG_EQ(read.problems.size(), 0, "problems");
        // Five tasks: the start of `a` is one of its own, because `d` waits for it.
        NS_TEST_EXPECT_MSG_EQ(GetTasks(*read.graph, 0).size(), 5, "tasks of rank 0");
        NS_TEST_EXPECT_MSG_EQ(GetTasks(*read.graph, 1).size(), 3, "tasks of rank 1");
        CommunicationTimes times;
        times.message = [](const GraphTask& task) {
            return NanoSeconds(static_cast<int64_t>(task.bytes));
        };
        const auto timing = TimeGraph(*read.graph, 1, times);
        NS_TEST_EXPECT_MSG_EQ(timing.stuck, "", "ends");
        NS_TEST_EXPECT_MSG_EQ(timing.ranks[0].end, NanoSeconds(100 + 8 + 30 + 4), "answer");
        NS_TEST_EXPECT_MSG_EQ(timing.ranks[1].end, NanoSeconds(100 + 8 + 30), "ping");
    }
    const auto binary = ReadWorkloadFormat(WriteFile("job.bin", MakeBinary(3, 1, 1)), 2, false);
    NS_TEST_ASSERT_MSG_EQ(binary.graph->GetRanks(), 2, "ranks");
    const auto tasks = GetTasks(*binary.graph, 0);
    NS_TEST_ASSERT_MSG_EQ(tasks.size(), 2, "tasks");
    NS_TEST_EXPECT_MSG_EQ(tasks[0].length, NanoSeconds(40), "calc");
    NS_TEST_EXPECT_MSG_EQ(tasks[1].kind, TaskKind::SEND, "send");
    NS_TEST_EXPECT_MSG_EQ(tasks[1].bytes, 16, "bytes");
    NS_TEST_EXPECT_MSG_EQ(tasks[1].tag, 0, "the first tag between two ranks");
    NS_TEST_ASSERT_MSG_EQ(tasks[1].after.size(), 1, "waits");
    NS_TEST_EXPECT_MSG_EQ(tasks[1].after[0], tasks[0].id, "for the computation");
}

/** Expects the text of rank 0 of two ranks to be refused. */
void
Expect(const std::string& statements, const std::string& part)
{
    const std::string text = "num_ranks 2\nrank 0 {\n" + statements + "\n}\nrank 1 {\n}\n";
    ExpectRefusal(WriteFile("wrong.goal", text), part);
}

void
TestGoalDamage()
{
    Expect("a: calc 1\nb: calc 1\na requires b\nb requires a",
           "2 operations of rank 0 wait for each other, operation 1");
    Expect("a: calc 1\na requires a", "1 operations of rank 0");
    Expect("a: calc 1\na irequires a", "1 operations of rank 0");
    Expect("a: calc 1\na requires b", ":4: 'b' (allowed: a label of the rank");
    Expect("send 8b to 2", ":3: '2' (allowed: a rank");
    Expect("send 8 to 1", ":3: '8' (allowed: bytes, a whole number followed by b");
    Expect("send 8b to -1", ":3: '-1' (allowed: a rank");
    Expect("send 8b to 1 tag -1", ":3: '-1' (allowed: a tag");
    Expect("calc 1 cpu 256", ":3: '256' (allowed: a CPU");
    Expect("compute 1", "allowed: ':', requires, irequires");
    Expect("calc 99999999999999999999", ":3: '99999999999999999999'");
    Expect("calc 2592000000000001", "last longer than 30 days");
    ExpectRefusal(WriteFile("one.goal", "num_ranks 2\nrank 0 {\n}\n"), ":4: '' (allowed: 'rank'");
    ExpectRefusal(WriteFile("order.goal", "num_ranks 2\nrank 1 {\n}\n"),
                  ":2: '1' (allowed: rank 0");
    ExpectRefusal(WriteFile("none.goal", "num_ranks 0\n"), "0 ranks");
    ExpectRefusal(WriteFile("open.goal", "num_ranks 1\nrank 0 {\ncalc 1 /* open"),
                  "'' (allowed: send");
    ExpectRefusal(WriteFile("ranks.goal", PING), "ranks 3 with", 3);
    ExpectRefusal(WriteFile("packed.goal", MakeGzip(PING).substr(0, 60)),
                  "packed.goal: byte 60: cannot be unpacked");

    // The binary form: byte offsets.
    const std::string whole = MakeBinary(3, 1, 1);
    for (std::size_t size = 8; size < whole.size(); size++)
    {
        const std::string path = WriteFile("cut.bin", whole.substr(0, size));
        ExpectRefusal(path, "ends before byte");
    }
    ExpectRefusal(WriteFile("type.bin", MakeBinary(9, 1, 1)), "type 9 (allowed: 1, 2, 3)");
    ExpectRefusal(WriteFile("peer.bin", MakeBinary(3, 5, 1)), "peer 5, tag 3");
    ExpectRefusal(WriteFile("any.bin", MakeBinary(3, ANY, 1)), "any of both in receives only");
    ExpectRefusal(WriteFile("any.bin", MakeBinary(3, 1, 1, 0, 3, ANY)),
                  "any of both in receives only");
    ExpectRefusal(WriteFile("next.bin", MakeBinary(3, 1, 2)), "operation 2 (allowed: below 2)");
    ExpectRefusal(WriteFile("self.bin", MakeBinary(3, 1, 0)), "1 operations of rank 0");
}

/** @return a job of four ranks: of rank 0, and what the others send */
std::string
Write(const std::string& receives, const std::vector<std::string>& sends)
{
    std::string text = "num_ranks 4\nrank 0 {\n" + receives + "\n}\n";
    for (std::size_t i = 0; i < sends.size(); i++)
    {
        text += "rank " + std::to_string(i + 1) + " {" + sends[i] + "}\n";
    }
    return WriteFile("any.goal", text);
}

/** @return senders of what rank 0 receives, in its order, and whether the job ends */
std::string
Find(const std::string& path)
{
    const auto read = ReadWorkloadFormat(path, 0, false);
    std::string found;
    for (const GraphTask& task : GetTasks(*read.graph, 0))
    {
        found += task.kind == TaskKind::RECEIVE ? std::to_string(task.peer) + " " : "";
    }
    const std::string stuck = TimeGraph(*read.graph, 1).stuck;
    return found + (stuck.empty() ? "ends" : stuck);
}

void
TestGoalWildcard()
{
    // One message is left by the receives that name theirs, wherever they are in the file.
    NS_TEST_EXPECT_MSG_EQ(Find(Write("recv 8b from -1 tag -1\nrecv 8b from 1 tag 5\n"
                                     "recv 8b from 3",
                                     {"send 8b to 0 tag 5", "send 8b to 0 tag 6", "send 8b to 0"})),
                          "2 1 3 ends",
                          "what is left");
    // What one takes leaves no choice to the next.
    NS_TEST_EXPECT_MSG_EQ(Find(Write("recv 8b from -1 tag -1\nrecv 8b from -1 tag 7\n"
                                     "recv 8b from 3 tag -1",
                                     {"send 8b to 0 tag 6", "send 8b to 0 tag 7", "send 8b to 0"})),
                          "1 2 3 ends",
                          "one after the other");
    // Several messages of one sender and tag: in their order.
    NS_TEST_EXPECT_MSG_EQ(Find(Write("a: recv 8b from -1\nb: calc 4\nc: recv 8b from -1\n"
                                     "b requires a\nc requires b",
                                     {"", "send 8b to 0 send 8b to 0", ""})),
                          "2 2 ends",
                          "one sender");
    // Receives that are alike: it does not matter which takes which.
    const std::vector<std::string> three{"send 8b to 0", "send 8b to 0", "send 8b to 0 tag 9"};
    NS_TEST_EXPECT_MSG_EQ(Find(Write("s: calc 2\na: recv 8b from -1 tag -1\n"
                                     "b: recv 8b from -1 tag -1\nc: recv 8b from -1 tag -1\n"
                                     "d: calc 4\nd requires a\nd requires b\nd requires c\n"
                                     "a requires s\nb requires s\nc requires s",
                                     three)),
                          "1 2 3 ends",
                          "alike");
    const auto read =
        ReadWorkloadFormat(Write("recv 8b from -1 tag -1", {"send 8b to 0", "", ""}), 0, false);
    NS_TEST_ASSERT_MSG_EQ(read.problems.size(), 1, "the rule is told");
    ExpectPart(read.problems[0], "takes what other receives leave, 1 time");

    // Otherwise the order of arrivals counts.
    const std::string depends = "any.goal:3: recv from any rank or of any tag: which message";
    ExpectRefusal(Write("a: recv 8b from -1 tag -1\nb: recv 8b from -1 tag -1\n"
                        "c: recv 8b from -1 tag -1\nd: calc 4\nd requires a",
                        three),
                  depends);
    ExpectRefusal(Write("a: recv 8b from -1 tag -1\nb: recv 8b from -1 tag -1\n"
                        "c: recv 9b from -1 tag -1",
                        three),
                  depends);
    ExpectRefusal(Write("a: recv 8b from -1 tag -1\nb: recv 8b from -1 tag -1\n"
                        "c: recv 8b from -1 tag -1\nb requires a",
                        three),
                  depends);
    ExpectRefusal(Write("recv 8b from -1", three), depends);
    ExpectRefusal(Write("recv 8b from 1 tag -1", {"send 8b to 0 tag 1 send 8b to 0 tag 2", "", ""}),
                  depends);
    // Too few messages.
    ExpectRefusal(Write("recv 8b from 1\nrecv 8b from -1", {"send 8b to 0", "", ""}),
                  "any.goal:4: recv from any rank or of any tag: other receives take all");
    ExpectRefusal(Write("recv 8b from -1 tag 4", three), "other receives take all");
    ExpectRefusal(Write("recv 8b from -1 tag 9\nrecv 8b from 3 tag -1", three),
                  "other receives take all");

    // The binary form.
    for (const auto& [from, tag] :
         {std::make_pair(ANY, 3U), std::make_pair(0U, ANY), std::make_pair(ANY, ANY)})
    {
        const auto binary =
            ReadWorkloadFormat(WriteFile("any.bin", MakeBinary(3, 1, 1, from, tag)), 0, false);
        const auto tasks = GetTasks(*binary.graph, 1);
        NS_TEST_ASSERT_MSG_EQ(tasks.size(), 1, "a receive");
        NS_TEST_EXPECT_MSG_EQ(tasks[0].peer, 0, "from the only sender");
        NS_TEST_EXPECT_MSG_EQ(TimeGraph(*binary.graph, 1).stuck, "", "ends");
    }
    ExpectRefusal(WriteFile("none.bin", MakeBinary(3, 0, 1, ANY, ANY)),
                  "none.bin: byte 157: recv from any rank or of any tag: other receives");
}

void
TestGoalSize()
{
    constexpr uint32_t COUNT = 1000000;
    std::string text = "num_ranks 1\nrank 0 {\nl0: calc 1\n";
    for (uint32_t i = 1; i < COUNT; i++)
    {
        const std::string label = "l" + std::to_string(i);
        text += label + ": calc 1 cpu " + std::to_string(i % 2) + "\n" + label + " requires l" +
                std::to_string(i - 1) + "\n";
    }
    const auto read = ReadWorkloadFormat(WriteFile("long.goal", text + "}\n"), 1, false);
    NS_TEST_EXPECT_MSG_EQ(TimeGraph(*read.graph, 1).end, NanoSeconds(COUNT), "end");
}

const Suite g_suite("formats-goal",
                    Duration::EXTENSIVE,
                    {{"GOAL files of both forms become the tasks that they describe", TestGoalRead},
                     {"damaged GOAL files are refused with the place", TestGoalDamage},
                     {"receives from any rank or of any tag take what others leave, or are refused",
                      TestGoalWildcard},
                     {"a chain of a million operations is read", TestGoalSize}});

} // namespace ns3::training::tests::formats_goal_test
