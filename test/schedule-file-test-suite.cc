/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "schedule-test-common.h"
#include "schedule/msccl-schedule.h"
#include "schedule/schedule-file.h"
#include "schedule/schedule-interpreter.h"

#include "ns3/collective-algorithm.h"
#include "ns3/collective-measurement.h"
#include "ns3/schedule-verifier.h"
#include "ns3/simulator.h"

#include <numeric>

namespace ns3::training::tests::schedule_file_test
{

/** Calls a function for schedules of every algorithm and operation, some with several segments. */
void
ForEachSchedule(const std::function<void(const CollectiveSchedule&, const std::string&)>& visit)
{
    for (const auto& [name, algorithm] : Registry<CollectiveAlgorithm>::All())
    {
        for (CollectiveOperation operation : algorithm.operations)
        {
            for (uint32_t ranks : {1, 2, 4, 5})
            {
                CollectiveRequest request;
                request.operation = operation;
                request.ranks = ranks;
                request.root = ranks / 2;
                request.segments = ranks == 5 ? 3 : 1;
                try
                {
                    const std::string keys =
                        name == "parameter-server" ? ":servers=" + std::to_string(ranks) : "";
                    visit(BuildSchedule(name + keys, request),
                          name + ", " + GetName(operation) + ", " + std::to_string(ranks));
                }
                catch (const ConfigurationError&)
                {
                    // Some algorithms do not support every number of ranks.
                }
            }
        }
    }
}

/**
 * A schedule survives the round trip through JSON. An invalid schedule is refused with its position
 * in the file.
 */
void
TestScheduleJson()
{
    uint32_t count = 0;
    ForEachSchedule([&](const CollectiveSchedule& schedule, const std::string& what) {
        const std::string text = WriteScheduleJson(schedule);
        const CollectiveSchedule read = ReadScheduleJson(text, "test");
        NS_TEST_EXPECT_MSG_EQ(WriteScheduleJson(read), text, what);
        NS_TEST_EXPECT_MSG_EQ(DescribeSchedule(read), DescribeSchedule(schedule), what);
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(read), "", what);
        count++;
    });
    NS_TEST_EXPECT_MSG_GT_OR_EQ(count, 40, "schedules");
}

/** An all-to-all in which the data from one rank to another is split in two. */
void
CheckParts()
{
    constexpr uint32_t N = 3;
    CollectiveSchedule schedule;
    schedule.operation = CollectiveOperation::ALL_TO_ALL;
    schedule.algorithm = "two parts";
    schedule.chunks = 2 * N * N;
    schedule.Resize(N);
    for (uint32_t rank = 0; rank < N; rank++)
    {
        for (uint32_t distance = 1; distance < N; distance++)
        {
            for (uint32_t part : {1, 0})
            {
                const uint32_t to = (rank + distance) % N;
                const uint32_t chunk = (rank * N + distance) * 2 + part;
                schedule.Add(rank, ScheduleAction::Kind::SEND, to, chunk, part);
                schedule.Add(to, ScheduleAction::Kind::RECEIVE, rank, chunk, part);
            }
        }
    }
    schedule.Close();
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule), "", "two parts");
    const CollectiveSchedule read = ReadMscclSchedule(WriteMscclSchedule(schedule), "test");
    NS_TEST_EXPECT_MSG_EQ(read.chunks, schedule.chunks, "chunks");
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(read), "", "two parts");
    const auto inputs = MakeInputs(N, 17);
    for (const auto& result :
         {InterpretSchedule(schedule, inputs), InterpretSchedule(read, inputs)})
    {
        CollectiveRequest request;
        request.operation = schedule.operation;
        request.ranks = N;
        const bool same = result == InterpretSchedule(BuildSchedule("ring", request), inputs);
        NS_TEST_EXPECT_MSG_EQ(same, true, "parts are where they belong");
    }
    schedule.chunks = 2 * N * N + 1;
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule),
                          "all-to-all of 3 ranks cannot have 19 chunks",
                          "parts of different size");
}

/** A schedule written as MSCCL XML is read back as a correct schedule with the same numbers. */
void
TestMscclRoundTrip()
{
    uint32_t count = 0;
    ForEachSchedule([&](const CollectiveSchedule& schedule, const std::string& what) {
        const auto operation = schedule.operation;
        const bool known = operation != CollectiveOperation::ALL_TO_ALL_V &&
                           operation != CollectiveOperation::BARRIER &&
                           operation != CollectiveOperation::SEND_RECEIVE;
        std::string text;
        const std::string refusal = GetRefusal([&] { text = WriteMscclSchedule(schedule); });
        NS_TEST_EXPECT_MSG_EQ(refusal.empty(), known, what << ": " << refusal);
        if (!known)
        {
            return;
        }
        const CollectiveSchedule read = ReadMscclSchedule(text, "test");
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(read), "", what);
        NS_TEST_EXPECT_MSG_EQ(read.algorithm, schedule.algorithm, what);
        const uint32_t n = schedule.GetSize();
        const auto inputs = MakeInputs(n, 60);
        const auto expected = InterpretSchedule(schedule, inputs);
        const auto result = InterpretSchedule(read, inputs);
        for (uint32_t rank = 0; rank < n; rank++)
        {
            if (IsExchange(operation))
            {
                NS_TEST_EXPECT_MSG_EQ(result[rank], expected[rank], what);
                continue;
            }
            for (uint32_t chunk = 0; chunk < schedule.chunks; chunk++)
            {
                const auto [begin, end] = GetPartRange(240, schedule.chunks, chunk);
                const bool promised =
                    schedule.GetPromise(rank, chunk) != CollectiveSchedule::Promise::NOTHING;
                for (uint64_t i = begin / 4; promised && i < end / 4; i++)
                {
                    NS_TEST_EXPECT_MSG_EQ(result[rank][i], expected[rank][i], what);
                }
            }
        }
        count++;
    });
    NS_TEST_EXPECT_MSG_GT_OR_EQ(count, 25, "schedules");
    CheckParts();
}

std::string
Measure(const ClusterOptions& options,
        CollectiveOperation operation = CollectiveOperation::ALL_REDUCE)
{
    std::string mismatch;
    {
        const Cluster cluster(options);
        GuardedRun run(cluster);
        const auto row = MeasureCollective(cluster, run, operation, 100000, true, 7);
        mismatch = row.verified ? row.mismatch : "not verified";
    }
    Simulator::Destroy();
    return mismatch;
}

/** A schedule file runs over a network with real payload, in segments, with losses. */
void
TestFileRuns()
{
    const std::string ring = WriteFile("ring.xml", MSCCL_RING);
    const std::string swap = WriteFile("swap.xml", MakeSwap());
    const std::string json = CreateTempDirFilename("ring.json");
    SaveSchedule(LoadSchedule(ring), json);
    for (const std::string transport : {"rdma", "tcp"})
    {
        for (const std::string& path : {ring, swap, json})
        {
            for (uint32_t segments : {0, 4})
            {
                ClusterOptions options;
                options.ranks = path == swap ? 2 : 3;
                options.transport = transport;
                options.schedule = path;
                options.segments = segments;
                options.loss = 0.01;
                const std::string mismatch = Measure(options);
                NS_TEST_EXPECT_MSG_EQ(mismatch, "", path << " over " << transport);
            }
        }
    }
    ClusterOptions options;
    options.ranks = 4;
    options.schedule = ring;
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] { Measure(options); }),
                          "schedule " + ring + " with 4 ranks (allowed: 3)",
                          "number of ranks");
    Simulator::Destroy();
    options.ranks = 3;
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] { Measure(options, CollectiveOperation::BROADCAST); }),
                          "schedule " + ring + " has no broadcast (allowed: all-reduce)",
                          "operation");
    Simulator::Destroy();
}

const Suite g_suite("schedule-file",
                    Duration::QUICK,
                    {{"schedules as JSON", TestScheduleJson},
                     {"schedules to MSCCL XML and back", TestMscclRoundTrip},
                     {"schedules from files over RDMA and TCP", TestFileRuns}});

} // namespace ns3::training::tests::schedule_file_test
