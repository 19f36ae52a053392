/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats-test-common.h"
#include "graph/graph-timing.h"

#include "ns3/nstime.h"

#include <algorithm>
#include <map>

namespace ns3::training::tests::formats_kineto_test
{

/** @return an event of a GPU */
std::string
Kernel(const std::string& name,
       const std::string& start,
       const std::string& length,
       uint32_t stream,
       const std::string& more = "")
{
    return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" +
           start + R"(, "dur": )" + length + R"(, "args": {"device": 0, "stream": )" +
           std::to_string(stream) + (more.empty() ? "" : ", " + more) + "}}";
}

/** @return what PyTorch reports of a collective */
std::string
Collective(const std::string& name,
           uint64_t in,
           uint64_t out,
           uint32_t size,
           const std::string& ranks,
           const std::string& type = "BFloat16")
{
    return R"("Collective name": ")" + name + R"(", "In msg nelems": )" + std::to_string(in) +
           R"(, "Out msg nelems": )" + std::to_string(out) + R"(, "Group size": )" +
           std::to_string(size) + R"(, "dtype": ")" + type + R"(", "Process Group Ranks": ")" +
           ranks + "\"";
}

std::string
Trace(const std::vector<std::string>& events, uint32_t worldSize = 4)
{
    std::string all;
    for (const std::string& event : events)
    {
        all += (all.empty() ? "" : ",\n") + event;
    }
    return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU \"x\" \u00b5\\"}],)"
           "\n"
           R"("distributedInfo": {"backend": "nccl", "rank": 0, "world_size": )" +
           std::to_string(worldSize) + "},\n\"traceEvents\": [\n" + all + "\n]}\n";
}

/** Kernels, streams, gaps and collectives. */
void
TestKinetoRead()
{
    // Times have more digits than a double: 1740461679471346.123 us
    const std::string day = "17404616794";
    const std::vector<std::string> events{
        R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 5, "args": {}})",
        R"({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}})",
        Kernel("b", day + "71356.125", "4", 7), // not in the order of time
        Kernel("a", day + "71346.123", "10", 7),
        Kernel("ncclDevKernel_AllReduce",
               day + "71357",
               "100",
               27,
               Collective("allreduce", 1000, 1000, 4, "[0, 1, 2, 3]")),
        Kernel("c", day + "71360.125", "20", 7),
        Kernel("ncclDevKernel_AllGather",
               day + "71457.5",
               "9",
               27,
               Collective("_allgather_base", 10, 20, 2, "[0, 2]", "Float")),
        Kernel("d", day + "71467", "3", 7)};
    const std::string whole = Trace(events);
    for (const std::string& content : {whole, MakeGzip(whole)})
    {
        const std::string path = WriteFile("trace.json", content);
        NS_TEST_ASSERT_MSG_EQ(FindWorkloadFormat(path), "kineto", "detected");
        const auto read = ReadWorkloadFormat(path, 0, false);
        NS_TEST_ASSERT_MSG_EQ(read.graph->GetRanks(), 4, "ranks");
        NS_TEST_ASSERT_MSG_EQ(read.problems.size(), 1, "problems");
        ExpectPart(read.problems[0], "the trace of one rank, which all 4 ranks repeat");
        std::map<CollectiveOperation, uint64_t> sums; // bytes
        Time kernels;
        for (const GraphTask& task : GetTasks(*read.graph, 2))
        {
            const bool isIdle = read.graph->GetNames()[task.name] == IDLE_TASK;
            kernels += isIdle ? Time() : task.length;
            if (task.kind == TaskKind::COLLECTIVE)
            {
                sums[task.operation] += task.bytes;
            }
        }
        NS_TEST_EXPECT_MSG_EQ(kernels, MicroSeconds(10 + 4 + 20 + 3), "kernels");
        // Gaps before b (2 ns), both collectives (10 us and 0.877 us, 0.5 us) and d (0.5 us).
        NS_TEST_EXPECT_MSG_EQ(sums[CollectiveOperation::ALL_REDUCE], 2000, "bytes");
        NS_TEST_EXPECT_MSG_EQ(sums[CollectiveOperation::ALL_GATHER], 80, "bytes");
        // Communication of the lengths of the trace gives its length, from the first start to
        // the last end.
        CommunicationTimes times;
        times.collective = [](const GraphTask& task, uint32_t) {
            return MicroSeconds(task.bytes == 80 ? 9 : 100);
        };
        const auto timing = TimeGraph(*read.graph, 1, times);
        NS_TEST_EXPECT_MSG_EQ(timing.stuck, "", "ends");
        NS_TEST_EXPECT_MSG_EQ(timing.end, NanoSeconds(1467000 + 3000 - 1346123), "length");
        const auto tasks = GetTasks(*read.graph, 3);
        const auto gather = std::find_if(tasks.begin(), tasks.end(), [](const auto& task) {
            return task.operation == CollectiveOperation::ALL_GATHER;
        });
        NS_TEST_EXPECT_MSG_EQ(read.graph->GetGroup(gather->groups, 3),
                              (std::vector<uint32_t>{1, 3}),
                              "group of rank 3");
    }
    // Traces of all ranks, with messages
    for (uint32_t rank = 0; rank < 2; rank++)
    {
        const std::string name = rank == 0 ? "send" : "recv";
        const std::string ranks = R"(, "Src Rank": 0, "Dst Rank": 1)";
        WriteFile("all-" + std::to_string(rank) + ".json",
                  Trace({Kernel("a", "10", "5", 7),
                         Kernel("ncclSendRecv",
                                "15",
                                "5",
                                9,
                                Collective(name, 8, 8, 2, "[0, 1]", "Long") + ranks)},
                        2));
    }
    const std::string all = CreateTempDirFilename("all-{rank}.json");
    const auto read = ReadWorkloadFormat(all, 0, false);
    NS_TEST_ASSERT_MSG_EQ(read.graph->GetRanks(), 2, "ranks");
    NS_TEST_EXPECT_MSG_EQ(read.problems.size(), 0, "problems");
    const auto tasks = GetTasks(*read.graph, 0);
    NS_TEST_ASSERT_MSG_EQ(tasks.size(), 2, "tasks");
    NS_TEST_EXPECT_MSG_EQ(tasks[1].kind, TaskKind::SEND, "kind");
    NS_TEST_EXPECT_MSG_EQ(tasks[1].bytes, 64, "bytes");
    NS_TEST_EXPECT_MSG_EQ(TimeGraph(*read.graph, 3).stuck, "", "messages meet");
    ExpectRefusal(all, "all-2.json: cannot be read", 3);
}

std::string
Launch(uint32_t correlation)
{
    return "\"correlation\": " + std::to_string(correlation);
}

/** @return a wait of a stream, by a call, for the event of another call on another stream */
std::string
Wait(uint32_t stream, uint32_t call, uint32_t source, int64_t record)
{
    return R"({"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 7,)"
           R"( "ts": 1, "dur": 0, "args": {"cuda_sync_kind": "Stream Wait Event", "stream": )" +
           std::to_string(stream) + ", " + Launch(call) + R"(, "wait_on_stream": )" +
           std::to_string(source) + R"(, "wait_on_cuda_event_record_corr_id": )" +
           std::to_string(record) + R"(, "wait_on_cuda_event_id": 3}})";
}

/** @return end of the job with an all-reduce of 1 ms */
Time
GetEnd(const std::vector<std::string>& waits)
{
    // The calls 11 and 15 record events; b is launched behind the first one, c ahead of the
    // wait for the second one. Times are those of a run in which the all-reduce took 20 us.
    std::vector<std::string> events{
        Kernel("a", "100", "10", 7, Launch(10)),
        Kernel("b", "110", "20", 7, Launch(12)),
        Kernel("ncclDevKernel_AllReduce",
               "140",
               "20",
               9,
               Launch(14) + ", " + Collective("allreduce", 8, 8, 2, "[0, 1]")),
        Kernel("c", "160", "5", 7, Launch(16)),
        Kernel("d", "170", "1", 7, Launch(18))};
    events.insert(events.end(), waits.begin(), waits.end());
    const auto read = ReadWorkloadFormat(WriteFile("waits.json", Trace(events, 2)), 0, false);
    NS_TEST_EXPECT_MSG_EQ(read.problems.size(), 1, "only one trace");
    CommunicationTimes times;
    times.collective = [](const GraphTask&, uint32_t) { return MilliSeconds(1); };
    return TimeGraph(*read.graph, 1, times).end;
}

/** Events that streams wait for. */
void
TestKinetoWait()
{
    // Gap of 30 us behind a, the all-reduce, gap of 5 us, d
    const std::vector<std::string> waits{Wait(7, 17, 9, 15), Wait(9, 13, 7, 11)};
    NS_TEST_EXPECT_MSG_EQ(GetEnd(waits), MicroSeconds(40 + 1000 + 5 + 1), "c runs meanwhile");
    // Without events c waits, too: the all-reduce had ended when it began.
    NS_TEST_EXPECT_MSG_EQ(GetEnd({}), MicroSeconds(40 + 1000 + 5 + 5 + 1), "observed order");
    // Events recorded before the trace began are none.
    NS_TEST_EXPECT_MSG_EQ(GetEnd({Wait(7, 17, 9, -1), Wait(9, 13, 7, -1)}),
                          GetEnd({}),
                          "unknown events");
    // Nobody waits for the all-reduce.
    NS_TEST_EXPECT_MSG_EQ(GetEnd({Wait(9, 13, 7, 11)}), MicroSeconds(40 + 1000), "no wait");
    // An event of call 13 is behind b, which ends 20 us later than a: a gap of 10 us
    NS_TEST_EXPECT_MSG_EQ(GetEnd({Wait(9, 13, 7, 13)}), MicroSeconds(40 + 1000), "behind b");
    const auto early = ReadWorkloadFormat(WriteFile("early.json",
                                                    Trace({Kernel("a", "100", "10", 7, Launch(10)),
                                                           Kernel("b", "105", "1", 9, Launch(13)),
                                                           Wait(9, 12, 7, 11)})),
                                          0,
                                          false);
    NS_TEST_ASSERT_MSG_EQ(early.problems.size(), 2, "problems");
    ExpectPart(early.problems[0] + early.problems[1],
               "a kernel begins before an event that its stream waits for; it waits, 1 time");
    NS_TEST_EXPECT_MSG_EQ(TimeGraph(*early.graph, 1).end, MicroSeconds(11), "b waits for a");
}

std::string
Write(const std::string& event)
{
    return WriteFile("wrong.json", Trace({Kernel("a", "10", "5", 7), event}));
}

void
TestKinetoDamage()
{
    const auto nccl = [](const std::string& more) {
        return Kernel("ncclDevKernel_x", "20", "5", 9, more);
    };
    ExpectLenient(Write(nccl("")),
                  "kernel 'ncclDevKernel_x' at 20000 ns: no Collective name",
                  "no Collective name, so the kernel is a computation of its duration, 1 time");
    ExpectLenient(Write(nccl(R"("Collective name": "allreduce")")),
                  "no In msg nelems",
                  "no In msg nelems");
    ExpectLenient(Write(nccl(Collective("allreduce", 8, 8, 4, "", "Quad"))),
                  "unknown dtype 'Quad'",
                  "unknown dtype 'Quad'");
    ExpectLenient(Write(nccl(Collective("allscatter", 8, 8, 4, ""))),
                  "unknown collective 'allscatter'",
                  "unknown collective");
    ExpectRefusal(Write(nccl(Collective("allreduce", 8, 8, 2, "[0, 7]"))),
                  "has rank 7 (allowed: ranks below 4)");
    ExpectRefusal(Write(nccl(Collective("allreduce", 8, 8, 3, "[0, 1, 3]"))),
                  "(allowed: ranks of equal distance, which all 4 ranks repeat");
    const auto cut = ReadWorkloadFormat(
        WriteFile("cut.json", Trace({nccl(Collective("allreduce", 8, 8, 4, "[0, 2, ...]"))}, 8)),
        0,
        false);
    ExpectPart(cut.problems.at(0), "Process Group Ranks is cut");
    NS_TEST_EXPECT_MSG_EQ(cut.graph->GetGroup(0, 7),
                          (std::vector<uint32_t>{1, 3, 5, 7}),
                          "cut ranks");
    const auto overlap = ReadWorkloadFormat(Write(Kernel("b", "12", "5", 7)), 0, false).problems;
    ExpectPart(overlap.at(0), "kernels of a stream overlap");
    ExpectRefusal(WriteFile("none.json", Trace({})), "no kernels");
    ExpectRefusal(Write(Kernel("b", "-1", "5", 7)), ":5: '");
    ExpectRefusal(Write(Kernel("b", "12", "1e3x", 7)), "behind the time '1e3x', dur of 'b'");
    ExpectRefusal(Write(Kernel("b", "12", "-1", 7)), "behind the time '-1', dur of 'b'");
    ExpectRefusal(Write(Kernel("b", "1e300", "1", 7)), "behind the time '1e300', ts of 'b'");
    // Times that wrap in 64 bits of picoseconds, alone or as a sum
    ExpectRefusal(WriteFile("wrap.json", Trace({Kernel("a", "100", "9300000000000", 7)})),
                  "wrap.json: kernel 'a' at 100000 ns: 9300000000000000 ns last longer");
    ExpectRefusal(WriteFile("wraps.json",
                            Trace({Kernel("a", "1", "2e12", 7), Kernel("b", "2e12", "2e12", 7)})),
                  "last longer than 30 days");
    ExpectRefusal(
        WriteFile("zero.json", Trace({Kernel("a", "0", "1", 7), Kernel("b", "1.7e15", "1", 7)})),
        "zero.json: kernel 'b' at 1700000000000000000 ns, behind a gap: ");
    const auto late = ReadWorkloadFormat(
        WriteFile("late.json", Trace({Kernel("a", "0", "1", 7), Kernel("b", "7.2e11", "1", 7)})),
        0,
        false);
    ExpectPart(late.problems.at(0), "kernel 'b' at 720000000000000 ns, 719999 s after");
    ExpectPart(late.problems.at(0), "a gap of more than a minute");
    const std::string whole = Trace({Kernel("a", "10", "5", 7)});
    for (std::size_t size = 1; size + 1 < whole.size(); size++)
    {
        ExpectRefusal("kineto:" + WriteFile("cut.json", whole.substr(0, size)), "cut.json:");
    }
    std::string deep = whole;
    deep.insert(deep.find("\"args\""), "\"x\": " + std::string(100000, '[') + ", ");
    ExpectRefusal(WriteFile("deep.json", deep), "up to 64 nested elements");
    ExpectRefusal(WriteFile("days.json", Trace({Kernel("a", "1", "3000000000000", 7)})),
                  "last longer than 30 days");
}

/** Numbers in all forms of JSON, and events that no kernel needs. */
void
TestKinetoNumbers()
{
    const std::vector<std::pair<std::string, int64_t>> numbers{{"12", 12000},
                                                               {"12.0", 12000},
                                                               {"1.2e1", 12000},
                                                               {"1.2E+1", 12000},
                                                               {"1200e-2", 12000},
                                                               {"\"12\"", 12000},
                                                               {"2.5E-01", 250},
                                                               {"0.0019", 1},
                                                               {"1e-9", 0},
                                                               {"0e9999", 0}};
    for (const auto& [text, nanoseconds] : numbers)
    {
        const std::string open =
            R"({"ph": "X", "cat": "cpu_op", "name": "open", "ts": 1.0e3, "dur": -1})";
        const auto read = ReadWorkloadFormat(
            WriteFile("number.json", Trace({open, Kernel("a", text, text, 7)}, 1)),
            0,
            false);
        const auto tasks = GetTasks(*read.graph, 0);
        NS_TEST_ASSERT_MSG_EQ(tasks.size(), 1, "a kernel");
        NS_TEST_EXPECT_MSG_EQ(tasks[0].length, NanoSeconds(nanoseconds), text);
        NS_TEST_EXPECT_MSG_EQ(tasks[0].place, static_cast<uint64_t>(nanoseconds), text);
    }
}

const Suite g_suite(
    "formats-kineto",
    Duration::QUICK,
    {{"Kineto traces become the kernels and collectives that they show", TestKinetoRead},
     {"kernels wait for the events of a Kineto trace, not for all that had ended", TestKinetoWait},
     {"numbers of Kineto have all forms of JSON", TestKinetoNumbers},
     {"damaged Kineto traces are refused or run under a stated rule", TestKinetoDamage}});

} // namespace ns3::training::tests::formats_kineto_test
