/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats-test-common.h"
#include "formats/goal-writer.h"
#include "graph/graph-timing.h"
#include "pipeline/pipeline-choice.h"
#include "pipeline/pipeline-timing.h"

#include "ns3/nstime.h"

namespace ns3::training::tests::formats_write_test
{

/** @return times of a job in which bytes take 1 ns each */
GraphTiming
Time(const TaskGraph& graph, uint32_t iterations)
{
    CommunicationTimes times;
    times.message = [](const GraphTask& task) {
        return NanoSeconds(static_cast<int64_t>(task.bytes));
    };
    return TimeGraph(graph, iterations, times);
}

void
CheckMessages()
{
    const std::string schedule = WriteFile("schedule.csv",
                                           "0F0,0F1,0F2,,0B0,0B1,0B2\n"
                                           "1F0,1B0,1F1,1B1,1F2,1B2\n");
    NS_TEST_ASSERT_MSG_EQ(FindWorkloadFormat(schedule), "pipeline-csv", "detected");
    const auto job = ReadWorkloadFormat("pipeline-csv:" + schedule +
                                            ",forward=10ns,input=10ns,weight=10ns,bytes=4B",
                                        0,
                                        false);
    const auto expected = TimePipeline(MakePipelineSchedule(schedule, 2, 3), {10, 10, 10, 4}).end;
    const auto timing = Time(*job.graph, 1);
    NS_TEST_EXPECT_MSG_EQ(timing.end.GetNanoSeconds(), expected, "of the schedule");
    for (const std::string name : {"job.goal", "job.bin"})
    {
        const std::string path = CreateTempDirFilename(name);
        WriteGoal(path, *job.graph, 2, "ring");
        NS_TEST_ASSERT_MSG_EQ(FindWorkloadFormat(path), "goal", name);
        const auto read = ReadWorkloadFormat(path, 0, false);
        const auto again = Time(*read.graph, 1);
        const auto both = Time(*job.graph, 2);
        NS_TEST_EXPECT_MSG_EQ(again.stuck, "", name);
        for (uint32_t rank = 0; rank < 2; rank++)
        {
            NS_TEST_EXPECT_MSG_EQ(again.ranks[rank].end, both.ranks[rank].end, name << rank);
        }
    }
}

void
CheckCollectives()
{
    const std::vector<std::string> words{"ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"};
    for (const std::string& word : words)
    {
        for (uint32_t ranks : {1, 2, 3, 7})
        {
            // In a direct all-to-all each rank keeps one of its parts, here of equal sizes.
            const bool exchanges = word == "ALLTOALL";
            const uint64_t bytes = exchanges ? 1008 : 1001;
            const std::string file = WriteFile("layers.txt",
                                               "MICRO\n1\na -1 0 NONE 0 0 NONE 0 0 " + word + " " +
                                                   std::to_string(bytes) + " 0\n");
            const auto job =
                ReadWorkloadFormat("astra:" + file + ",gather-size=whole", ranks, false);
            for (const std::string name : {"job.goal", "job.bin"})
            {
                const std::string path = CreateTempDirFilename(name);
                WriteGoal(path, *job.graph, 1, exchanges ? "direct" : "ring");
                const auto read = ReadWorkloadFormat(path, ranks, false);
                const std::string what = word + ", ranks " + std::to_string(ranks) + ", " + name;
                NS_TEST_EXPECT_MSG_EQ(Time(*read.graph, 1).stuck, "", what);
                // A ring moves (n - 1) / n of the vector, an all-reduce twice, over all ranks.
                uint64_t sent = 0;
                for (uint32_t rank = 0; rank < ranks; rank++)
                {
                    for (const GraphTask& task : GetTasks(*read.graph, rank))
                    {
                        sent += task.kind == TaskKind::SEND ? task.bytes : 0;
                    }
                }
                const uint64_t whole = (word == "ALLREDUCE" ? 2 : 1) * bytes * (ranks - 1);
                NS_TEST_EXPECT_MSG_EQ(sent, whole, what);
            }
        }
    }
}

void
TestGoalWrite()
{
    CheckMessages();
    CheckCollectives();
}

const Suite g_suite("formats-write",
                    Duration::QUICK,
                    {{"jobs written as GOAL in both forms have the same times and bytes",
                      TestGoalWrite}});

} // namespace ns3::training::tests::formats_write_test
