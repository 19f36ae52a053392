/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/collective-algorithm.h"
#include "ns3/collective-measurement.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/guarded-run.h"
#include "ns3/simulator.h"
#include "ns3/training-cluster.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bitset>

namespace ns3::training::tests::communicator_order_test
{

using Operation = CollectiveOperation;

constexpr uint64_t BYTES = 1 << 20;

/** @return time of a collective on one switch, s */
double
Measure(const std::string& algorithm, Operation operation, uint32_t ranks, uint64_t bytes = BYTES)
{
    double seconds = 0;
    {
        ClusterOptions options;
        options.ranks = ranks;
        options.rate = DataRate(100000000000);
        options.algorithm = algorithm;
        options.congestionControl = "none";
        const Cluster cluster(options);
        GuardedRun run(cluster);
        seconds = MeasureCollective(cluster, run, operation, bytes, false, 1).seconds;
    }
    Simulator::Destroy();
    return seconds;
}

/** Time of one message: its bytes on the line, and the rest of its way. */
struct MessageTime
{
    MessageTime()
    {
        const double once = Measure("direct", Operation::BROADCAST, 2);
        line = Measure("direct", Operation::BROADCAST, 2, 2 * BYTES) - once;
        rest = once - line;
    }

    double line; ///< s
    double rest; ///< s
};

/** A rank sends in the order of the steps: a binomial broadcast takes ceil(log2 N) messages. */
void
TestBinomialOrder()
{
    const MessageTime message;
    for (uint32_t n = 3; n <= 33; n++)
    {
        uint32_t steps = 0;
        while (1U << steps < n)
        {
            steps++;
        }
        // Rank r, s levels above the leaves, is reached in step (steps - 1 - s).
        double broadcast = 0;
        for (uint32_t rank = 1; rank < n; rank++)
        {
            uint32_t level = 0;
            while ((rank >> level & 1) == 0)
            {
                level++;
            }
            broadcast = std::max(broadcast,
                                 (steps - level) * message.line +
                                     std::bitset<32>(rank).count() * message.rest);
        }
        const std::string what = std::to_string(n) + " ranks";
        NS_TEST_EXPECT_MSG_EQ_TOL(Measure("binomial", Operation::BROADCAST, n) / broadcast,
                                  1,
                                  0.005,
                                  "broadcast, " << what);
        // Without rest a reduce is a broadcast backwards. A message that waits for a grant
        // costs the rest of a message more.
        const double reduce = Measure("binomial", Operation::REDUCE, n);
        NS_TEST_EXPECT_MSG_GT(reduce, steps * message.line + message.rest * 0.99, what);
        NS_TEST_EXPECT_MSG_LT(reduce,
                              steps * (message.line + 2 * message.rest) * 1.005,
                              "reduce, " << what);
    }
}

/** Ranks that fold another rank's vector into theirs get no other message meanwhile. */
void
TestFoldOrder()
{
    const MessageTime message;
    for (uint32_t n = 3; n <= 33; n++)
    {
        uint32_t bits = 0;
        while (2U << bits <= n)
        {
            bits++;
        }
        const uint32_t folds = n == 1U << bits ? 0 : 2;
        // Each step may wait for one grant, which takes the rest of a message.
        const auto check = [&](const std::string& algorithm, double vectors, uint32_t steps) {
            const double seconds = Measure(algorithm, Operation::ALL_REDUCE, n);
            const std::string what = algorithm + ", " + std::to_string(n) + " ranks";
            NS_TEST_EXPECT_MSG_GT(seconds, vectors * message.line * 0.995, what);
            NS_TEST_EXPECT_MSG_LT(
                seconds,
                (vectors * message.line + (folds ? 2 : 1) * steps * message.rest) * 1.01,
                what);
        };
        check("recursive-doubling", bits + folds, bits + folds);
        check("rabenseifner", 2 - 2.0 / (1U << bits) + folds, 2 * bits + folds);
    }
    // Without grants, as an eager library sends.
    const double granted = Measure("recursive-doubling", Operation::ALL_REDUCE, 6);
    Config::SetDefault("ns3::training::ScheduledCommunicator::RendezvousBytes",
                       UintegerValue(BYTES + 1));
    const double eager = Measure("recursive-doubling", Operation::ALL_REDUCE, 6);
    NS_TEST_EXPECT_MSG_GT(eager / granted, 1.15, "eager messages compete with the fold");
    Config::Reset();
}

CollectiveSchedule
Build(const std::string& algorithm, Operation operation, uint32_t ranks)
{
    CollectiveRequest request;
    request.operation = operation;
    request.ranks = ranks;
    return BuildSchedule(algorithm, request);
}

uint32_t
CountGranted(const CollectiveSchedule& schedule)
{
    uint32_t sends = 0;
    uint32_t receives = 0;
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        for (uint32_t i = 0; i < schedule.GetActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            (action.IsReceive() ? receives : sends) += action.isGranted;
        }
    }
    NS_ABORT_MSG_UNLESS(sends == receives, "every granted message has two ends");
    return sends;
}

/** Grants of stepwise schedules, and concurrent sends of the others. */
void
TestGrant()
{
    for (const std::string algorithm : {"recursive-doubling", "rabenseifner"})
    {
        NS_TEST_EXPECT_MSG_EQ(CountGranted(Build(algorithm, Operation::ALL_REDUCE, 8)),
                              0,
                              "all ranks are equally far");
    }
    // Rank 0 folds into 1. Then 2 and 1 exchange; 1 is behind.
    NS_TEST_EXPECT_MSG_EQ(CountGranted(Build("recursive-doubling", Operation::ALL_REDUCE, 3)),
                          1,
                          "to the rank that folds");
    // Ranks 0, 2 fold into 1, 3; then 1-3, 4-5; then 1-4, 3-5: 4 and 5 are ahead.
    NS_TEST_EXPECT_MSG_EQ(CountGranted(Build("recursive-doubling", Operation::ALL_REDUCE, 6)),
                          2,
                          "a rank that is ahead stays ahead");
    NS_TEST_EXPECT_MSG_EQ(CountGranted(Build("ring", Operation::ALL_REDUCE, 6)), 0, "a ring");

    // All messages of a direct exchange share the line: n - 1 parts at once.
    const MessageTime message;
    const double direct = Measure("direct", Operation::ALL_TO_ALL, 8, 8 * BYTES);
    NS_TEST_EXPECT_MSG_EQ_TOL(direct / (7 * message.line + message.rest), 1, 0.01, "direct");
    // The trees of 64 segments each send 2S from a rank, after the first segments' way.
    for (const uint32_t n : {8, 16})
    {
        const double trees = Measure("double-binary-tree", Operation::ALL_REDUCE, n, 16 * BYTES);
        NS_TEST_EXPECT_MSG_GT(trees, 32 * message.line, "two trees");
        NS_TEST_EXPECT_MSG_LT(trees, 32 * message.line * 1.05, "two trees");
    }
}

const Suite g_suite("communicator-order",
                    Duration::EXTENSIVE,
                    {{"binomial trees take one message time a step", TestBinomialOrder},
                     {"folds are not disturbed", TestFoldOrder},
                     {"which messages are granted, and which sends are concurrent", TestGrant}});

} // namespace ns3::training::tests::communicator_order_test
