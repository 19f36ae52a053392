/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-manifest.h"
#include "file-test-common.h"
#include "schedule-test-common.h"
#include "schedule/msccl-schedule.h"
#include "schedule/schedule-file.h"
#include "schedule/schedule-interpreter.h"

#include "ns3/chunk-layout.h"
#include "ns3/schedule-verifier.h"

namespace ns3::training::tests::schedule_test
{

using Kind = ScheduleAction::Kind;

/** @return the ring algorithm, stored for rank 0 only */
CollectiveSchedule
MakeRing(CollectiveOperation operation, uint32_t ranks)
{
    const bool isAllReduce = operation == CollectiveOperation::ALL_REDUCE;
    CollectiveSchedule schedule;
    schedule.operation = operation;
    schedule.algorithm = "ring";
    schedule.chunks = ranks;
    schedule.Resize(ranks);
    schedule.UseRotation(true);
    const uint32_t steps = isAllReduce ? 2 * (ranks - 1) : ranks - 1;
    // In an all-reduce, rank 0 first sends the chunk before its own.
    const uint32_t first = isAllReduce ? ranks - 1 : 0;
    for (uint32_t step = 0; step < steps; step++)
    {
        const uint32_t sent = (first + 2 * ranks - step) % ranks;
        const uint32_t received = (sent + ranks - 1) % ranks;
        const bool adds = isAllReduce && step < ranks - 1;
        schedule.Add(0, Kind::SEND, 1, sent, step);
        schedule.Add(0, adds ? Kind::RECEIVE_REDUCE : Kind::RECEIVE, ranks - 1, received, step);
    }
    schedule.Close();
    return schedule;
}

/** Chunks cover the vector without gaps, aligned to numbers, for sizes beyond 32 bits. */
void
TestChunkRange()
{
    for (uint32_t chunks : {1, 3, 7, 16, 1000})
    {
        for (uint64_t bytes : {0ULL, 1ULL, 3ULL, 4ULL, 28ULL, 6400000004ULL, 1ULL << 62})
        {
            uint64_t covered = 0;
            for (uint32_t chunk = 0; chunk < chunks; chunk++)
            {
                const auto [begin, end] = GetPartRange(bytes, chunks, chunk);
                NS_TEST_ASSERT_MSG_EQ(begin, covered, "a gap before chunk " << chunk);
                NS_TEST_EXPECT_MSG_EQ((bytes % 4 == 0 ? begin % 4 : 0), 0, "inside a number");
                NS_TEST_EXPECT_MSG_LT_OR_EQ(end - begin, bytes / chunks + 8, "uneven");
                covered = end;
            }
            NS_TEST_EXPECT_MSG_EQ(covered, bytes, "end of the vector");
        }
    }
    // All-to-all: sent and received parts cover the whole vector, for any size.
    for (uint32_t n : {1, 2, 3, 7})
    {
        CollectiveSchedule schedule;
        schedule.operation = CollectiveOperation::ALL_TO_ALL;
        schedule.chunks = n * n;
        schedule.segments = 2;
        schedule.Resize(n);
        for (uint64_t bytes : {0ULL, 1ULL, 3ULL, 28ULL, 6400000004ULL})
        {
            const ChunkLayout layout(schedule, bytes);
            for (uint32_t rank = 0; rank < n; rank++)
            {
                uint64_t sent = 0;
                uint64_t received = 0;
                for (uint32_t i = 0; i < n; i++)
                {
                    const uint32_t chunk = rank * n + (i + n - rank) % n; // for rank i
                    for (uint32_t segment = 0; segment < 2; segment++)
                    {
                        const auto place = layout.GetByteRange(rank, chunk, segment);
                        NS_TEST_ASSERT_MSG_EQ(place.has_value(), true, "it is there");
                        NS_TEST_EXPECT_MSG_EQ(place->first, sent, "a gap");
                        NS_TEST_EXPECT_MSG_EQ(place->second - place->first,
                                              layout.GetBytes(chunk, segment),
                                              "its size");
                        sent = place->second;
                        const uint32_t result = layout.GetResult(rank)[i];
                        received += layout.GetBytes(result, segment);
                        NS_TEST_EXPECT_MSG_EQ(layout.GetByteRange(rank, result, 0).has_value(),
                                              (i == rank),
                                              "others' chunks are kept elsewhere");
                    }
                }
                NS_TEST_EXPECT_MSG_EQ(sent, bytes, "sent");
                NS_TEST_EXPECT_MSG_EQ(received, bytes, "received");
            }
        }
    }
}

/** Copies of chunks in addition to a rank's own: two ranks exchange into a copy, then add it. */
void
TestCopy()
{
    CollectiveSchedule schedule;
    schedule.chunks = 2;
    schedule.segments = 2;
    schedule.Resize(2);
    schedule.UseRotation(false);
    schedule.Add(0, Kind::SEND, 1, ChunkRun{0, 2}, 0);
    schedule.Add(0, Kind::RECEIVE, 1, ChunkRun{2, 2}, 0); // into copy 1 of chunks 0 and 1
    schedule.Add(0, Kind::REDUCE, 1, ChunkRun{0, 2}, 1);
    schedule.Add(0, Kind::COPY, 0, ChunkRun{4, 2}, 2);
    schedule.Add(0, Kind::COPY, 2, ChunkRun{0, 2}, 3);
    schedule.Close();
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule), "", "right");
    NS_TEST_EXPECT_MSG_EQ(schedule.GetCopies(), 3, "its own and two");
    const auto results = InterpretSchedule(schedule, {{1, 2, 3, 4, 5}, {10, 20, 30, 40, 50}});
    const bool right = results[0] == std::vector<float>{11, 22, 33, 44, 55};
    NS_TEST_EXPECT_MSG_EQ(right, true, "the sum");
    NS_TEST_EXPECT_MSG_EQ(results[0], results[1], "at both ranks");
    const std::string refusal = GetRefusal([&] {
        schedule.Add(0, Kind::SEND, 1, 0xfffffff0, 4);
        schedule.Close();
    });
    ExpectPart(refusal, "(allowed: 0 to 1023)");
}

using Ranks = std::vector<std::vector<Edited>>;

void
ExpectFault(const std::string& expected, const CollectiveSchedule& schedule)
{
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule), expected, "injected fault");
}

void
ExpectFault(const std::string& expected,
            CollectiveOperation operation,
            const std::function<void(Ranks&)>& inject)
{
    const auto schedule = Inject(MakeRing(operation, 4), inject);
    ExpectFault(expected, schedule);
}

/** The verifier names each type of fault. */
void
TestVerifierFindsFaults()
{
    const auto allReduce = CollectiveOperation::ALL_REDUCE;
    const auto allGather = CollectiveOperation::ALL_GATHER;
    // Rank 1's actions: send, receive-reduce, send, receive-reduce, ..., receive.
    ExpectFault("rank 2, step 5: receives from rank 1 chunk 3, which is never sent",
                allReduce,
                [](Ranks& ranks) { ranks[1].erase(ranks[1].begin() + 10); });
    ExpectFault("rank 1, step 17: sends to rank 2 chunk 0, which is never received",
                allReduce,
                [](Ranks& ranks) { ranks[1][0].step = 17; });
    ExpectFault("rank 1, step 3: receives and adds from rank 0 chunk 0 with rank 1's "
                "contribution a second time (chunk 0)",
                allReduce,
                [](Ranks& ranks) {
                    // The second half copies the sum; it must not add it.
                    ranks[1][7].kind = Kind::RECEIVE_REDUCE;
                });
    ExpectFault("rank 2, step 1: receives from rank 1 chunk 3 over different content, with "
                "rank 2's contribution (chunk 3)",
                allReduce,
                [](Ranks& ranks) {
                    // A copy in place of an addition overwrites the partial sum.
                    ranks[2][3].kind = Kind::RECEIVE;
                });
    ExpectFault("rank 3, at the end: chunk 0 lacks rank 0's contribution",
                allReduce,
                [](Ranks& ranks) {
                    // The last message to rank 3, with the sum of chunk 0.
                    ranks[2].erase(ranks[2].begin() + 10);
                    ranks[3].pop_back();
                });
    ExpectFault("rank 0, step 1: sends to rank 1 chunk 2, in no order with step 0 on the same "
                "chunk",
                allReduce,
                [](Ranks& ranks) { ranks[0][2].after.clear(); });
    ExpectFault("rank 0, step 1: sends to rank 1 chunk 2, after an action that is not before it",
                allReduce,
                [](Ranks& ranks) { ranks[0][2].after = {2}; });
    ExpectFault("rank 0, step 1: sends to rank 4 chunk 2, which does not exist",
                allReduce,
                [](Ranks& ranks) { ranks[0][2].peer = 4; });
    ExpectFault("rank 0, step 1: sends to rank 0 chunk 2, which does not exist",
                allReduce,
                [](Ranks& ranks) { ranks[0][2].peer = 0; });
    ExpectFault("rank 0, step 0: sends to rank 1 chunk 3, but rank 1, step 0: receives and adds "
                "from rank 0 chunk 2",
                allReduce,
                [](Ranks& ranks) {
                    ranks[1][1].chunks = {{2, 1}};
                });
    ExpectFault("rank 1, step 0: receives from rank 0 chunk 0 twice", allGather, [](Ranks& ranks) {
        ranks[1].push_back(ranks[1][1]);
    });
    ExpectFault("rank 0, step 0: sends to rank 1 chunk 0 twice", allGather, [](Ranks& ranks) {
        ranks[0].push_back(ranks[0][0]);
    });
    ExpectFault("rank 0, step 0: sends to rank 1 chunk 2 before it has received it (chunk 2)",
                allGather,
                [](Ranks& ranks) {
                    ranks[0][0].chunks = {{2, 1}};
                    ranks[1][1].chunks = {{2, 1}};
                    ranks[0].resize(1);
                    ranks[1].resize(2);
                    ranks[1].erase(ranks[1].begin());
                    ranks[1][0].after.clear();
                    ranks[2].clear();
                    ranks[3].clear();
                });
    ExpectFault("rank 1, step 0: adds from copy 1 chunk 0 before there is one (chunk 0)",
                allGather,
                [](Ranks& ranks) {
                    ranks = Ranks(4);
                    ranks[1].push_back({Kind::REDUCE, 1, {{0, 1}}, 0, {}});
                });
    ExpectFault("rank 1, step 0: receives and adds from rank 0 chunk 0 to nothing (chunk 0)",
                allGather,
                [](Ranks& ranks) { ranks[1][1].kind = Kind::RECEIVE_REDUCE; });
    ExpectFault("rank 0, step 0: copies from copy 0 chunk 0, which does not exist",
                allGather,
                [](Ranks& ranks) {
                    ranks[0][0] = {Kind::COPY, 0, {{0, 1}}, 0, {}};
                });
    auto odd = MakeRing(allGather, 4);
    odd.chunks = 5;
    ExpectFault("all-gather of 4 ranks cannot have 5 chunks", odd);
    // A cycle of two ranks: each receives before it sends.
    CollectiveSchedule circle;
    circle.Resize(2);
    for (uint32_t rank = 0; rank < 2; rank++)
    {
        circle.Add(rank, Kind::RECEIVE_REDUCE, 1 - rank, 0, 0);
        circle.Add(rank, Kind::SEND, 1 - rank, 0, 0);
    }
    circle.Close();
    ExpectFault("rank 0, step 0: receives and adds from rank 1 chunk 0, whose sending waits for "
                "this",
                circle);
}

/** An invalid schedule in JSON is refused with its position in the file. */
void
TestScheduleRefusal()
{
    const std::string good = WriteScheduleJson(MakeRing(CollectiveOperation::ALL_REDUCE, 2));

    const struct
    {
        const char* what;
        const char* by;
        const char* message;
    } cases[] = {
        {"\"ranks\": 2,", "\"ranks\": 2", "x.json:6: "},
        {"schedule 1", "schedule 2", "x.json: format 'distributed-training schedule 2' (allowed"},
        {"all-reduce", "all-sum", "x.json: unknown collective operation 'all-sum'"},
        {"\"ranks\": 2", "\"ranks\": 0", "x.json: ranks '0' (allowed: 1 to "},
        {"\"root\": 0", "\"root\": 0, \"root\": 0", "x.json: root twice (allowed: each once)"},
        {"\"after\":[]", "\"after\":0", "x.json: rank 0, action 0: after '0' (allowed: an arr"},
        {"\"ranks\": 2", "\"ranks\": \"2\\n\"", "x.json: ranks '2?' (allowed: 1 to "},
        {"\"root\": 0", "\"root\": 2", "x.json: root '2' (allowed: 0 to 1)"},
        {"\"root\"", "\"roots\"", "x.json: 'roots' (allowed: actions, algorithm, chunks"},
        {"\"chunks\": 2", "\"chunks\": -2", "x.json: chunks '-2' (allowed: 1 to "},
        {"\"segments\": 1", "\"segments\": 0", "x.json: segments '0' (allowed: 1 to 65536)"},
        {"\"rotation\": \"chunks\"", "\"rotation\": \"none\"", "actions of 1 ranks (allowed: 2)"},
        {"\"kind\":\"send\"", "\"kind\":\"give\"", "x.json: rank 0, action 0: kind 'give' (allow"},
        {"\"peer\":1", "\"peer\":2", "x.json: rank 0, action 0: peer '2' (allowed: 0 to 1)"},
        {"[[1,1]]", "[[1]]", "x.json: rank 0, action 0: chunks (allowed: pairs [first, count])"},
        {"[[1,1]]", "[]", "x.json: rank 0, action 0: no chunks"},
        {"[[1,1]]", "[[1,3]]", "x.json: rank 0, action 0: count '3' (allowed: 1 to 2)"},
        {"\"after\":[]", "\"after\":[0]", "x.json: rank 0, action 0: the first action is after"},
        {"\"after\":[1]", "\"after\":[2]", "x.json: rank 0, action 2: after '2' (allowed: 0 to"},
        {"\"step\":1", "\"step\":2097151", "x.json: rank 0, action 2: step '2097151'"},
        {"\"chunks\":[[1,1]]", "\"chunks\":[[1048577,1]]", "1048577"},
    };

    for (const auto& wrong : cases)
    {
        const std::string text = Replace(good, wrong.what, wrong.by);
        const std::string refusal = GetRefusal([&] {
            const auto schedule = ReadScheduleJson(text, "x.json");
            const std::string fault = VerifySchedule(schedule);
            throw ConfigurationError(fault.empty() ? "accepted" : fault);
        });
        ExpectPart(refusal, wrong.message, wrong.by);
    }
    // A file is proven correct, however large it is.
    const std::string path = WriteFile("wrong.json", Replace(good, "receive-reduce", "receive"));
    ExpectPart(GetRefusal([&] { LoadSchedule(path); }),
               "rank ",
               "a schedule that loses a contribution");
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] { LoadSchedule(path + "x"); }),
                          path + "x: cannot be read (allowed: a schedule as JSON or MSCCL XML)",
                          "no file");
}

void
CheckSum(const CollectiveSchedule& schedule)
{
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule), "", schedule.algorithm);
    const auto inputs = MakeInputs(schedule.GetSize(), 8);
    const auto results = InterpretSchedule(schedule, inputs);
    for (const auto& result : results)
    {
        for (uint32_t i = 0; i < 8; i++)
        {
            float sum = 0;
            for (const auto& input : inputs)
            {
                sum += input[i];
            }
            NS_TEST_EXPECT_MSG_EQ(result[i], sum, schedule.algorithm << " " << i);
        }
    }
}

void
CheckRefusals()
{
    const struct
    {
        const char* what;
        const char* by;
        const char* message;
    } cases[] = {
        {"</algo>", "", "x.xml:22: "},
        {"<algo ", "<algorithm ", "x.xml:"},
        {"ngpus=\"3\"", "ngpus=\"0\"", "x.xml: ngpus=\"0\" (allowed: 1 to "},
        {"ngpus=\"3\"", "ngpus=\"4\"", "x.xml: no gpu 3"},
        {"allreduce", "allsum", "x.xml: coll=\"allsum\" (allowed: allgather, allreduce, "},
        {"coll=\"allreduce\"", "", "x.xml: no coll"},
        {"allreduce", "allgather", "x.xml: 1 chunks for 3 gpus (allowed: multiples of the gpus"},
        {"gpu id=\"1\"", "gpu id=\"0\"", "x.xml: gpu 0 twice"},
        {"gpu id=\"1\"", "gpu id=\"3\"", "x.xml: gpu: id=\"3\" (allowed: 0 to 2)"},
        {"send=\"1\" recv=\"2\"", "send=\"0\" recv=\"2\"", "gpu 0, tb 0: gpu 0 as its own peer"},
        {"send=\"1\" recv=\"2\"", "send=\"-1\" recv=\"2\"", "tb 0, step 0: type=\"s\" in a thr"},
        {"s=\"1\" type=\"rcs\"", "s=\"2\" type=\"rcs\"", "step 1: s=\"2\" (allowed: 1 to 1)"},
        {"type=\"rcs\"", "type=\"get\"", "step 1: type=\"get\" (allowed: cpy, nop, r, rcs, re"},
        {"srcoff=\"0\"", "srcoff=\"1\"", "gpu 0, tb 0, step 0: srcoff=\"1\" (allowed: 0 to 0)"},
        {"srcbuf=\"i\"", "srcbuf=\"q\"", "gpu 0, tb 0, step 0: srcbuf=\"q\" (allowed: i, o, s)"},
        {"srcbuf=\"i\"", "srcbuf=\"s\"", "step 0: cnt=\"1\" in a buffer of 0 chunks"},
        {"depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"9\"", "depid=\"0\" deps=\"9\", which d"},
        {"depid=\"-1\" deps=\"-1\"",
         "depid=\"0\" deps=\"1\"",
         "gpu 0, tb 0, step 0: deadlock: waits for"},
        {"type=\"rrcs\"",
         "type=\"rrc\"",
         "gpu 0, tb 0, step 1: deadlock: waits for a message or step that never completes"},
        {"type=\"rcs\"",
         "type=\"r\"",
         "gpu 1, tb 0, step 1: deadlock: waits for a message or step that never completes"},
        {"type=\"rrs\"",
         "type=\"rcs\"",
         "rank 1, step 0: receives from rank 0 chunk 0 over different"},
    };

    for (const auto& wrong : cases)
    {
        const std::string text = Replace(MSCCL_RING, wrong.what, wrong.by);
        const std::string refusal = GetRefusal([&] {
            const std::string fault = VerifySchedule(ReadMscclSchedule(text, "x.xml"));
            throw ConfigurationError(fault.empty() ? "accepted" : fault);
        });
        ExpectPart(refusal, wrong.message, wrong.by);
    }
    const std::string more = R"(<tb id="1" send="-1" recv="2" chan="0"/></gpu>)";
    NS_TEST_EXPECT_MSG_EQ(
        GetRefusal([&] { ReadMscclSchedule(Replace(MSCCL_RING, "</gpu>", more), "x"); }),
        "x: gpu 0, tb 1: a second thread block receives from gpu 2 on channel 0",
        "two receivers");
    const std::string sent = R"(<tb id="1" send="2" recv="-1" chan="0">
            <step s="0" type="s" srcbuf="i" srcoff="0" cnt="1"/></tb></gpu>)";
    NS_TEST_EXPECT_MSG_EQ(
        GetRefusal([&] { ReadMscclSchedule(Replace(MSCCL_RING, "</gpu>", sent), "x"); }),
        "x: a message from gpu 0 to gpu 2 on channel 0 is never received",
        "a message too many");
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] {
                              ReadMscclSchedule(Replace(MakeSwap(),
                                                        "type=\"re\" srcbuf=\"s\"",
                                                        "type=\"re\" srcbuf=\"o\""),
                                                "x");
                          }),
                          "x: gpu 0, tb 2, step 2: adds chunks to themselves",
                          "a sum twice");
}

/** Both forms of MSCCL XML, with every type of step, in place and out of place. */
void
TestMscclImport()
{
    const CollectiveSchedule ring = ReadMscclSchedule(MSCCL_RING, "ring.xml");
    NS_TEST_EXPECT_MSG_EQ(ring.GetWireFactor(), 2, "LL: half of the bytes are flags");
    const auto readWith = [](const std::string& words) {
        return ReadMscclSchedule(Replace(MSCCL_RING, "<algo ", "<algo " + words + " "), "x.xml");
    };
    NS_TEST_EXPECT_MSG_EQ(readWith("redop=\"max\"").GetSize(), ring.GetSize(), "a maximum");
    NS_TEST_EXPECT_MSG_EQ(
        InputManifest::Get("x.xml").ignored.count("redop max, as numbers are added"),
        1,
        "is said");
    ExpectPart(GetRefusal([&] { readWith("redop=\"bogus\""); }),
               "redop=\"bogus\" (allowed: avg, max, min, nop, prod, sum)");
    NS_TEST_EXPECT_MSG_EQ(DescribeSchedule(ring),
                          "all-reduce by ring3: 3 ranks, 1 chunks, 2 copies, 1 segment, 4 steps\n"
                          "rank 0\n"
                          "  0: step 0, send to rank 1: chunks 0\n"
                          "  1: step 2, receive from rank 2: chunks 0, after 0\n"
                          "  2: step 3, send to rank 1: chunks 0, after 1\n"
                          "rank 1\n"
                          "  0: step 0, copy from copy 0: chunks 0 (copy 1)\n"
                          "  1: step 0, receive and add from rank 0: chunks 0 (copy 1), after 0\n"
                          "  2: step 1, send to rank 2: chunks 0 (copy 1), after 1\n"
                          "  3: step 3, receive from rank 0: chunks 0, after 2\n"
                          "rank 2\n"
                          "  0: step 1, receive and add from rank 1: chunks 0\n"
                          "  1: step 2, send to rank 0: chunks 0, after 0\n",
                          "older form");
    CheckSum(ring);
    const CollectiveSchedule swap = ReadMscclSchedule(MakeSwap(), "swap.xml");
    NS_TEST_EXPECT_MSG_EQ(swap.chunks, 2, "chunks of the newer form");
    CheckSum(swap);
    // FIFO order: with exchanged receives, chunk 1 arrives in place of chunk 0.
    const std::string exchanged =
        Replace(MakeSwap(), R"(type="s" buf="i" off="0")", R"(type="s" buf="i" off="1")");
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] {
                              ReadMscclSchedule(Replace(exchanged,
                                                        R"(step="1" type="s" buf="i" off="1")",
                                                        R"(step="1" type="s" buf="i" off="0")"),
                                                "x");
                          }),
                          "x: gpu 1, tb 2, step 2: adds different chunks",
                          "order on a channel");
    // Without the wait for the copy, sum and copy are unordered.
    const auto race =
        ReadMscclSchedule(Replace(MakeSwap(), R"(off="1" depid="2" deps="0")", R"(off="1")"), "x");
    ExpectPart(VerifySchedule(race), "in no order with step");
    CheckRefusals();
}

const Suite g_suite("schedule",
                    Duration::QUICK,
                    {{"chunks cover the vector", TestChunkRange},
                     {"copies of chunks", TestCopy},
                     {"the verifier finds injected faults", TestVerifierFindsFaults},
                     {"wrong schedules in JSON are refused", TestScheduleRefusal},
                     {"MSCCL XML becomes a schedule", TestMscclImport}});

} // namespace ns3::training::tests::schedule_test
