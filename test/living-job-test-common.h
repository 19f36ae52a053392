/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LIVING_JOB_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_LIVING_JOB_TEST_COMMON_H

#include "file-test-common.h"

#include "ns3/bucket-scheduler.h"
#include "ns3/life-figures.h"
#include "ns3/training-run.h"

#include <array>

namespace ns3::training::tests
{

/** Times of a life, in microseconds. */
struct Account
{
    int64_t productive;
    int64_t checkpoint;
    int64_t lost;
    int64_t detection;
    int64_t waiting;
    int64_t restart;
};

/**
 * @param ranks of the job, each on a node
 * @param iterations of 10 ms, in which ranks do not communicate: no network adds time
 * @return a run of it
 */
inline TrainingRunOptions
MakeComputation(uint32_t ranks, uint64_t iterations)
{
    BucketScheduler::UseByDefault(); // newer ns-3 resets global values after a test case
    TrainingRunOptions options;
    options.workload = MakePath("life.goal");
    std::ofstream file(options.workload);
    file << "num_ranks " << ranks << "\n";
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        file << "rank " << rank << " {\na: calc 10000000\n}\n";
    }
    options.iterations = iterations;
    options.warmup = 0;
    options.cluster.ranks = ranks;
    return options;
}

/**
 * Adds checkpoints on a disk of each rank.
 * @param every iterations from checkpoint to checkpoint
 * @param share of a rank, bytes; its disk stores 100 bytes in a microsecond, its memory 2400
 * @param isAsynchronous whether only the copy in memory holds the training up
 */
inline void
AddDisks(TrainingRunOptions& options, uint64_t every, uint64_t share, bool isAsynchronous)
{
    options.life.checkpoint = isAsynchronous ? LifeOptions::ASYNCHRONOUS : LifeOptions::BLOCKING;
    options.life.every = every;
    options.life.bytes = options.cluster.ranks * share;
    options.life.storageHosts = 0;
    options.life.storageRate = DataRate(800000000);
    if (isAsynchronous)
    {
        options.life.snapshotRate = DataRate(19200000000);
    }
}

/** Checks that spans follow each other and add up to the account. */
inline void
CheckSpans(const LifeFigures& life)
{
    Time end;
    std::array<Time, LIFE_USES> sums{};
    for (const LifeSpan& span : life.ledger.GetSpans())
    {
        NS_TEST_EXPECT_MSG_EQ(span.start, end, "a span begins where the last one has ended");
        NS_TEST_EXPECT_MSG_GT(span.end, span.start, "and takes time");
        end = span.end;
        sums[static_cast<uint32_t>(span.use)] += span.end - span.start;
    }
    NS_TEST_EXPECT_MSG_EQ(end, life.ledger.GetEnd(), "the last one ends with the job");
    Time all;
    for (uint32_t use = 0; use < LIFE_USES; use++)
    {
        NS_TEST_EXPECT_MSG_EQ(life.ledger.GetTime(static_cast<LifeUse>(use)),
                              sums[use],
                              training::GetName(static_cast<LifeUse>(use)));
        all += sums[use];
    }
    NS_TEST_EXPECT_MSG_EQ(all, end, "uses add up to the time");
}

/** @return the life of a run, after a check that its spans follow each other */
inline LifeFigures
Run(const TrainingRunOptions& options)
{
    const TrainingRunResult result = TrainingRun(options).Run();
    CheckSpans(*result.figures.Find<LifeFigures>());
    NS_TEST_EXPECT_MSG_EQ(result.iterations.size(),
                          options.warmup + options.iterations,
                          "iterations are reported once");
    for (std::size_t i = 0; i < result.iterations.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(result.iterations[i].iteration, i, "and in order");
    }
    return *result.figures.Find<LifeFigures>();
}

/** Compares an account to the picosecond. */
inline void
Expect(const LifeFigures& life, const Account& expected)
{
    const auto expect = [&](LifeUse use, int64_t microseconds) {
        NS_TEST_EXPECT_MSG_EQ(life.ledger.GetTime(use),
                              MicroSeconds(microseconds),
                              training::GetName(use));
    };
    expect(LifeUse::PRODUCTIVE, expected.productive);
    expect(LifeUse::CHECKPOINT, expected.checkpoint);
    expect(LifeUse::LOST, expected.lost);
    expect(LifeUse::DETECTION, expected.detection);
    expect(LifeUse::WAITING, expected.waiting);
    expect(LifeUse::RESTART, expected.restart);
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_LIVING_JOB_TEST_COMMON_H
