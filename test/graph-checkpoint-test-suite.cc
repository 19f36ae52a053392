/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-test-common.h"
#include "graph/graph-timing.h"
#include "test-case.h"

#include "ns3/checkpoint-graph.h"
#include "ns3/graph-summary.h"

#include <algorithm>

namespace ns3::training::tests::graph_checkpoint_test
{

/// Length of an iteration without checkpoint, ms.
constexpr int64_t ITERATION = 10;

/// Rates at which 1000 bytes take 1 ms.
constexpr double RATE = 1e6;

/** @return a job whose iterations compute and add up gradients of all ranks, which takes no time */
std::shared_ptr<TaskGraph>
MakeJob(uint32_t ranks)
{
    std::vector<TaskGroups> groups(1);
    groups.front().parallelism = Parallelism::DATA;
    return std::make_shared<WrittenGraph>(ranks, groups, [](TaskWriter& writer, uint32_t) {
        writer.Compute(1, MilliSeconds(ITERATION));
        GraphTask reduce;
        reduce.kind = TaskKind::COLLECTIVE;
        reduce.parallelism = Parallelism::DATA;
        reduce.stream = NO_STREAM;
        reduce.name = 2;
        reduce.bytes = 4;
        writer.Await(writer.Start(reduce));
    });
}

/** @return times of the job on a network where 1000 bytes take 1 ms */
GraphTiming
TimeJob(uint32_t ranks, const CheckpointPlan& plan, uint32_t iterations)
{
    const CheckpointGraph graph(MakeJob(ranks), plan);
    CommunicationTimes times;
    times.message = [](const GraphTask& task) {
        return Seconds(static_cast<double>(task.bytes) / RATE);
    };
    return TimeGraph(graph, iterations, times);
}

/** @return a plan with equal shares */
CheckpointPlan
MakePlan(uint32_t ranks, uint32_t every, uint64_t share)
{
    CheckpointPlan plan;
    plan.every = every;
    plan.shares.assign(ranks, share);
    plan.storageRate = RATE;
    return plan;
}

/// Time of an answer, us.
constexpr int64_t ANSWER = CHECKPOINT_ANSWER_BYTES;

/** Expects the end of all ranks of the job. */
void
Expect(const GraphTiming& timing, uint32_t ranks, Time end, const std::string& what)
{
    Time last;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        last = std::max(last, timing.ranks[rank].end);
    }
    NS_TEST_EXPECT_MSG_EQ(timing.stuck, "", what);
    NS_TEST_EXPECT_MSG_EQ(last, end, what);
}

/** Times of checkpoints, by hand. */
void
TestCheckpointTimes()
{
    for (uint32_t ranks : {1, 3, 7})
    {
        const std::string what = std::to_string(ranks) + " ranks";
        // Disks of 1 ms per 1000 bytes.
        CheckpointPlan plan = MakePlan(ranks, 3, 5000);
        Expect(TimeJob(ranks, plan, 8), ranks, MilliSeconds(8 * ITERATION + 2 * 5), what);
        plan.isAsynchronous = true;
        plan.snapshotRate = 5 * RATE;
        Expect(TimeJob(ranks, plan, 8), ranks, MilliSeconds(8 * ITERATION + 2), what);
        // A drain of 45 ms delays the checkpoint after the next 3 iterations by 15 ms, as the
        // copy of 9 ms is part of neither.
        plan.shares.assign(ranks, 45000);
        Expect(TimeJob(ranks, plan, 7), ranks, MilliSeconds(7 * ITERATION + 2 * 9 + 15 + 35), what);

        // Hosts write one share after the other, the last answer lets the last rank go on.
        for (uint32_t hosts : {1, 2, 10})
        {
            plan = MakePlan(ranks, 2, 5000);
            plan.storageHosts = hosts;
            const uint32_t most = (ranks + hosts - 1) / hosts;
            const Time checkpoint = MilliSeconds(5) + MilliSeconds(5 * most) + MicroSeconds(ANSWER);
            Expect(TimeJob(ranks, plan, 5),
                   ranks,
                   MilliSeconds(5 * ITERATION) + 2 * checkpoint,
                   what + ", " + std::to_string(hosts) + " hosts");
            plan.isRestart = true;
            plan.rendezvous = MilliSeconds(100);
            Expect(TimeJob(ranks, plan, 5),
                   ranks,
                   MilliSeconds(100 + 5 * ITERATION) + 3 * checkpoint,
                   what + ", restart, " + std::to_string(hosts) + " hosts");
        }
        plan = MakePlan(ranks, 100, 5000);
        plan.isRestart = true;
        plan.rendezvous = MilliSeconds(100);
        Expect(TimeJob(ranks, plan, 2),
               ranks,
               MilliSeconds(100 + 5 + 2 * ITERATION),
               what + ", restart from disks");
    }
    // A rank without a share waits only for gradients.
    CheckpointPlan plan = MakePlan(3, 1, 0);
    plan.shares[1] = 5000;
    plan.storageHosts = 2;
    Expect(TimeJob(3, plan, 1), 3, MilliSeconds(ITERATION + 10) + MicroSeconds(ANSWER), "one");
    plan.shares.assign(3, 0);
    Expect(TimeJob(3, plan, 4), 3, MilliSeconds(4 * ITERATION), "nothing is saved");
}

void
TestCheckpointTasks()
{
    constexpr uint32_t RANKS = 7;
    constexpr uint32_t ITERATIONS = 11;
    CheckpointPlan plan = MakePlan(RANKS, 4, 0);
    for (uint32_t rank = 0; rank < RANKS; rank++)
    {
        plan.shares[rank] = 1000 * rank + 1;
    }
    plan.storageHosts = 3;
    plan.isRestart = true;
    const auto job = MakeJob(RANKS);
    const CheckpointGraph graph(job, plan);
    NS_TEST_EXPECT_MSG_EQ(graph.GetRanks(), RANKS + 3, "ranks");
    NS_TEST_EXPECT_MSG_EQ(graph.GetGroup(0, 2).size(), RANKS, "ranks that add up");
    NS_TEST_EXPECT_MSG_EQ(graph.GetGroup(0, RANKS).size(), 0, "storage adds nothing");
    const auto none = static_cast<uint32_t>(Parallelism::NONE);
    std::vector<uint64_t> loads(3);
    for (uint32_t rank = 0; rank < RANKS; rank++)
    {
        const GraphSummary before = SummarizeGraph(*job, rank, ITERATIONS);
        const GraphSummary summary = SummarizeGraph(graph, rank, ITERATIONS);
        NS_TEST_EXPECT_MSG_EQ(summary.collectives, before.collectives, "collectives");
        NS_TEST_EXPECT_MSG_EQ(summary.compute, before.compute, "computations");
        NS_TEST_EXPECT_MSG_EQ(summary.sent[none].bytes,
                              2 * plan.shares[rank] + CHECKPOINT_ANSWER_BYTES,
                              "two checkpoints and a request");
        loads[rank % 3] += plan.shares[rank] + 2 * CHECKPOINT_ANSWER_BYTES;
    }
    for (uint32_t host = 0; host < 3; host++)
    {
        const GraphSummary summary = SummarizeGraph(graph, RANKS + host, ITERATIONS);
        NS_TEST_EXPECT_MSG_EQ(summary.sent[none].bytes, loads[host], "loads and answers");
        const auto marks = summary.tasks[static_cast<uint32_t>(TaskKind::MARK)];
        NS_TEST_EXPECT_MSG_EQ(marks, ITERATIONS, "iterations of a storage host");
    }
}

const Suite g_suite("graph-checkpoint",
                    Duration::QUICK,
                    {{"times of checkpoints and restarts equal closed forms", TestCheckpointTimes},
                     {"all bytes are sent once, and the job keeps its tasks",
                      TestCheckpointTasks}});

} // namespace ns3::training::tests::graph_checkpoint_test
