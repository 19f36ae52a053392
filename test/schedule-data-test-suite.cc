/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "abort-test-common.h"
#include "schedule/chunk-numbers.h"
#include "schedule/schedule-order.h"
#include "test-case.h"

#include "ns3/chunk-layout.h"
#include "ns3/chunk-store.h"
#include "ns3/collective-operation.h"
#include "ns3/collective-schedule.h"
#include "ns3/message-coding.h"

#include <memory>
#include <numeric>
#include <set>

namespace ns3::training::tests::schedule_data_test
{

using Operation = CollectiveOperation;
using Kind = ScheduleAction::Kind;

void
TestOperations()
{
    struct Row
    {
        Operation operation;
        const char* name;
        bool isAllToAll;
        bool isExchange;
        bool hasRoot;
        double busFactor; // of 8 ranks, as nccl-tests computes it
    };

    const Row rows[] = {{Operation::ALL_REDUCE, "all-reduce", false, false, false, 14.0 / 8},
                        {Operation::REDUCE_SCATTER, "reduce-scatter", false, false, false, 7.0 / 8},
                        {Operation::ALL_GATHER, "all-gather", false, false, false, 7.0 / 8},
                        {Operation::BROADCAST, "broadcast", false, false, true, 1},
                        {Operation::REDUCE, "reduce", false, false, true, 1},
                        {Operation::ALL_TO_ALL, "all-to-all", true, true, false, 7.0 / 8},
                        {Operation::ALL_TO_ALL_V, "all-to-all-v", true, true, false, 7.0 / 8},
                        {Operation::BARRIER, "barrier", false, false, false, 0},
                        {Operation::SEND_RECEIVE, "send-receive", false, true, false, 1}};
    NS_TEST_ASSERT_MSG_EQ(GetCollectiveOperations().size(), std::size(rows), "operations");
    std::string names;
    for (const Row& row : rows)
    {
        const Operation operation = GetCollectiveOperations()[&row - &rows[0]];
        NS_TEST_EXPECT_MSG_EQ((operation == row.operation), true, row.name);
        NS_TEST_EXPECT_MSG_EQ(GetName(operation), row.name, "name");
        NS_TEST_EXPECT_MSG_EQ((FindCollectiveOperation(row.name) == operation), true, row.name);
        NS_TEST_EXPECT_MSG_EQ(IsAllToAll(operation), row.isAllToAll, row.name);
        NS_TEST_EXPECT_MSG_EQ(IsExchange(operation), row.isExchange, row.name);
        NS_TEST_EXPECT_MSG_EQ(HasRoot(operation), row.hasRoot, row.name);
        NS_TEST_EXPECT_MSG_EQ(GetBusFactor(operation, 8), row.busFactor, row.name);
        NS_TEST_EXPECT_MSG_EQ(GetBusFactor(operation, 1), 0, row.name);
        // Engines code what is added, and with codesCopies everything.
        const bool isSum = operation == Operation::ALL_REDUCE || operation == Operation::REDUCE ||
                           operation == Operation::REDUCE_SCATTER;
        MessageCoding coding;
        NS_TEST_EXPECT_MSG_EQ(coding.Codes(operation), false, row.name);
        NS_TEST_EXPECT_MSG_EQ(coding.Marks(operation), false, row.name);
        coding.marks = true;
        coding.roundTrip = [](std::vector<uint8_t>&, const MessagePlace&) {};
        NS_TEST_EXPECT_MSG_EQ(coding.Codes(operation), isSum, row.name);
        NS_TEST_EXPECT_MSG_EQ(coding.Marks(operation), isSum, row.name);
        coding.codesCopies = true;
        NS_TEST_EXPECT_MSG_EQ(coding.Codes(operation), true, row.name);
        NS_TEST_EXPECT_MSG_EQ(coding.Marks(operation), true, row.name);
        names += (names.empty() ? "" : ", ") + std::string(row.name);
    }
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([]() { FindCollectiveOperation("allreduce"); }),
                          "unknown collective operation 'allreduce' (allowed: " + names + ")",
                          "unknown");
}

/** @return runs as "first+count first+count ..." */
std::string
ToText(const ChunkList& list)
{
    std::string text;
    for (const ChunkRun& run : list.runs)
    {
        text +=
            (text.empty() ? "" : " ") + std::to_string(run.first) + "+" + std::to_string(run.count);
    }
    return text;
}

void
TestChunkLists()
{
    const std::pair<std::vector<uint32_t>, std::string> cases[] = {
        {{}, ""},
        {{3}, "3+1"},
        {{0, 1, 2, 3}, "0+4"},
        {{2, 3, 4, 5}, "2+2 4+2"}, // 4 is the second copy of chunk 0
        {{7, 8}, "7+1 8+1"},
        {{1, 0, 1, 2}, "1+1 0+3"},
        {{2, 2, 3}, "2+1 2+2"}};
    for (const auto& [numbers, text] : cases)
    {
        NS_TEST_EXPECT_MSG_EQ(ToText(MakeChunkList(numbers, 4)), text, "runs of 4 chunks");
    }
}

/** @return a ring all-gather: rank r sends chunk r - s to rank r + 1 in step s */
CollectiveSchedule
MakeRing(uint32_t ranks, bool rotates)
{
    CollectiveSchedule schedule;
    schedule.operation = Operation::ALL_GATHER;
    schedule.chunks = ranks;
    schedule.Resize(ranks);
    if (rotates)
    {
        schedule.UseRotation(true);
    }
    for (uint32_t rank = 0; rank < schedule.GetStoredRanks(); rank++)
    {
        for (uint32_t step = 0; step + 1 < ranks; step++)
        {
            const uint32_t sent = (rank + ranks - step) % ranks;
            const uint32_t received = (sent + ranks - 1) % ranks;
            schedule.Add(rank, Kind::SEND, (rank + 1) % ranks, sent, step);
            schedule.Add(rank, Kind::RECEIVE, (rank + ranks - 1) % ranks, received, step);
        }
    }
    schedule.Close();
    return schedule;
}

/** @return all that a rank does, a line for each action */
std::string
Describe(const CollectiveSchedule& schedule, uint32_t rank)
{
    std::string text;
    for (uint32_t i = 0; i < schedule.GetActions(rank); i++)
    {
        const ScheduleAction action = schedule.Get(rank, i);
        text += DescribeAction(rank, action) + " after";
        for (uint32_t before : schedule.GetDependencies(rank, i % schedule.GetStoredActions(rank)))
        {
            text += " " + std::to_string(before);
        }
        text += "\n";
        if (action.IsReceive() &&
            schedule.FindReceive(rank, action.peer, action.step, action.message) != i)
        {
            text += "is not found\n";
        }
    }
    return text;
}

void
TestSymmetry()
{
    constexpr uint32_t RANKS = 4;
    const CollectiveSchedule all = MakeRing(RANKS, false);
    const CollectiveSchedule one = MakeRing(RANKS, true);
    NS_TEST_EXPECT_MSG_EQ(all.GetStoredRanks(), RANKS, "every rank");
    NS_TEST_EXPECT_MSG_EQ(one.GetStoredRanks(), 1, "rank 0");
    NS_TEST_EXPECT_MSG_EQ(one.GetChunkShift(), 1, "a chunk for each rank");
    for (uint32_t rank = 0; rank < RANKS; rank++)
    {
        NS_TEST_EXPECT_MSG_EQ(Describe(one, rank), Describe(all, rank), "rank " << rank);
        NS_TEST_EXPECT_MSG_EQ(one.GetRelative(rank, 3), (rank + 1) % RANKS, "as to rank 0");
        NS_TEST_EXPECT_MSG_EQ(one.GetOwner(rank), rank, "owner of a chunk");
    }
    NS_TEST_EXPECT_MSG_EQ(Describe(one, 2).substr(0, 82),
                          "rank 2, step 0: sends to rank 3 chunk 2 after\n"
                          "rank 2, step 0: receives from rank 1",
                          "by hand");
    NS_TEST_EXPECT_MSG_EQ(one.GetSteps(), RANKS - 1, "steps");
    NS_TEST_EXPECT_MSG_EQ(one.FindReceive(2, 3, 0, 0), +CollectiveSchedule::NONE, "no such peer");
    NS_TEST_EXPECT_MSG_EQ(one.FindReceive(2, 1, 3, 0), +CollectiveSchedule::NONE, "no such step");

    // Exchanges with rank ^ 1 and rank ^ 2, as in recursive doubling.
    CollectiveSchedule doubling[2];
    for (CollectiveSchedule& schedule : doubling)
    {
        schedule.chunks = RANKS;
        schedule.Resize(RANKS);
        if (&schedule == &doubling[1])
        {
            schedule.UseExclusiveOr();
        }
        for (uint32_t rank = 0; rank < schedule.GetStoredRanks(); rank++)
        {
            for (uint32_t step : {0, 1})
            {
                const uint32_t peer = rank ^ (1U << step);
                schedule.Add(rank, Kind::SEND, peer, peer, step);
                schedule.Add(rank, Kind::RECEIVE_REDUCE, peer, rank, step);
            }
        }
        schedule.Close();
    }
    for (uint32_t rank = 0; rank < RANKS; rank++)
    {
        NS_TEST_EXPECT_MSG_EQ(Describe(doubling[1], rank),
                              Describe(doubling[0], rank),
                              "rank " << rank);
        NS_TEST_EXPECT_MSG_EQ(doubling[1].GetRelative(rank, 3), (rank ^ 3U), "as to rank 0");
    }
}

void
TestOrder()
{
    const CollectiveSchedule ring = MakeRing(5, false);
    const ScheduleOrder order = OrderSchedule(ring);
    NS_TEST_ASSERT_MSG_EQ(order.fault, "", "there is an order");
    NS_TEST_EXPECT_MSG_EQ(order.entries.size(), 5 * 2 * 4, "all actions");
    std::set<std::pair<uint32_t, uint32_t>> done; // actions, by rank
    std::set<std::pair<uint32_t, uint32_t>> sent; // receives whose message is under way
    for (const auto& [rank, index, other] : order.entries)
    {
        const ScheduleAction action = ring.Get(rank, index);
        for (uint32_t before : ring.GetDependencies(rank, index))
        {
            NS_TEST_EXPECT_MSG_EQ(done.count({rank, before}), 1, "after what it depends on");
        }
        if (action.IsReceive())
        {
            NS_TEST_EXPECT_MSG_EQ(sent.count({rank, index}), 1, "after its message is sent");
        }
        else
        {
            sent.emplace(action.peer, other);
        }
        const bool isNew = done.emplace(rank, index).second;
        NS_TEST_EXPECT_MSG_EQ(isNew, true, "once");
    }
    NS_TEST_EXPECT_MSG_EQ(OrderSchedule(MakeRing(5, true)).entries.size(), 2 * 4, "of rank 0");

    // Two ranks, and what is wrong with them.
    using Fill = std::function<void(CollectiveSchedule&)>;
    const std::pair<Fill, std::string> faults[] = {
        {[](CollectiveSchedule& s) { s.Add(0, Kind::SEND, 1, 0, 0); },
         "rank 0, step 0: sends to rank 1 chunk 0, which is never received"},
        {[](CollectiveSchedule& s) { s.Add(1, Kind::RECEIVE, 0, 0, 3); },
         "rank 1, step 3: receives from rank 0 chunk 0, which is never sent"},
        {[](CollectiveSchedule& s) { s.Add(0, Kind::SEND, 2, 0, 0); },
         "rank 0, step 0: sends to rank 2 chunk 0, which does not exist"},
        {[](CollectiveSchedule& s) { s.Add(0, Kind::SEND, 0, 0, 0); },
         "rank 0, step 0: sends to rank 0 chunk 0, which does not exist"},
        {[](CollectiveSchedule& s) { s.Add(0, Kind::COPY, 0, 1, 0); },
         "rank 0, step 0: copies from copy 0 chunk 1, which does not exist"},
        {[](CollectiveSchedule& s) {
             s.Add(0, Kind::SEND, 1, 0, 0);
             s.Add(1, Kind::RECEIVE, 0, 1, 0);
         },
         "rank 0, step 0: sends to rank 1 chunk 0, but rank 1, step 0: receives from rank 0 chunk "
         "1"},
        {[](CollectiveSchedule& s) {
             s.Add(0, Kind::SEND, 1, 0, 0);
             s.Add(0, Kind::SEND, 1, 0, 0);
             s.Add(1, Kind::RECEIVE, 0, 0, 0);
         },
         "rank 0, step 0: sends to rank 1 chunk 0 twice"},
        {[](CollectiveSchedule& s) {
             s.Add(0, Kind::RECEIVE, 1, 0, 0);
             s.Add(0, Kind::SEND, 1, 0, 0);
             s.Add(1, Kind::RECEIVE, 0, 0, 0);
             s.Add(1, Kind::SEND, 0, 0, 0);
         },
         "rank 0, step 0: receives from rank 1 chunk 0, whose sending waits for this"}};
    for (const auto& [fill, fault] : faults)
    {
        CollectiveSchedule schedule;
        schedule.chunks = 2;
        schedule.Resize(2);
        fill(schedule);
        schedule.Close();
        NS_TEST_EXPECT_MSG_EQ(OrderSchedule(schedule).fault, fault, "fault");
    }
}

void
TestUnequalParts()
{
    // Bytes from each rank (row) to each.
    constexpr uint32_t RANKS = 3;
    const auto matrix = std::make_shared<const std::vector<uint64_t>>(
        std::vector<uint64_t>{4, 0, 12, 8, 20, 0, 0, 4, 1ULL << 34});
    CollectiveSchedule schedule;
    schedule.operation = Operation::ALL_TO_ALL_V;
    schedule.chunks = 2 * RANKS * RANKS; // two parts for each pair
    schedule.segments = 3;
    schedule.Resize(RANKS);
    const ChunkLayout layout(schedule, 0, matrix);
    for (uint32_t from = 0; from < RANKS; from++)
    {
        uint64_t offset = 0;
        for (uint32_t to = 0; to < RANKS; to++)
        {
            uint64_t bytes = 0;
            for (uint32_t part : {0, 1})
            {
                const uint32_t chunk = (from * RANKS + (to + RANKS - from) % RANKS) * 2 + part;
                NS_TEST_EXPECT_MSG_EQ(schedule.GetSource(chunk), from, "source");
                NS_TEST_EXPECT_MSG_EQ(schedule.GetTarget(chunk), to, "target");
                for (uint32_t segment = 0; segment < schedule.segments; segment++)
                {
                    const auto place = layout.GetByteRange(from, chunk, segment);
                    NS_TEST_ASSERT_MSG_EQ(place.has_value(), true, "it is there");
                    NS_TEST_EXPECT_MSG_EQ(place->first, offset, "without gaps");
                    NS_TEST_EXPECT_MSG_EQ(place->second - place->first,
                                          layout.GetBytes(chunk, segment),
                                          "its size");
                    offset = place->second;
                    bytes += layout.GetBytes(chunk, segment);
                }
            }
            NS_TEST_EXPECT_MSG_EQ(bytes, (*matrix)[from * RANKS + to], from << " to " << to);
        }
        const auto row = matrix->begin() + from * RANKS;
        NS_TEST_EXPECT_MSG_EQ(offset, std::accumulate(row, row + RANKS, uint64_t{0}), "all of it");
    }
    const std::string text = GetAbort([&schedule]() { ChunkLayout(schedule, 8); });
    ExpectPart(text, "needs the bytes from each rank to each");
}

void
TestStore()
{
    const CollectiveSchedule ring = MakeRing(2, false); // rank 1 receives chunk 0 of rank 0
    const ChunkLayout layout(ring, 16);
    std::vector<float> first{1, 2, 0, 0};
    std::vector<float> second{0, 0, 30, 40};
    ChunkStore sender(layout, 0, first);
    ChunkStore receiver(layout, 1, second);
    const ScheduleAction send = ring.Get(0, 0);
    const ScheduleAction receive = ring.Get(1, 1);
    const auto bytes = sender.Read(send);
    NS_TEST_EXPECT_MSG_EQ(bytes.size(), 8, "a chunk");
    receiver.Receive(receive, bytes);
    NS_TEST_EXPECT_MSG_EQ((second == std::vector<float>{1, 2, 30, 40}), true, "in its place");
    auto longer = bytes;
    longer.resize(100); // with flags behind it
    ScheduleAction add = receive;
    add.kind = Kind::RECEIVE_REDUCE;
    receiver.Receive(add, longer);
    NS_TEST_EXPECT_MSG_EQ((second == std::vector<float>{2, 4, 30, 40}), true, "added");
    receiver.Overwrite(ring.Get(1, 0), bytes); // the chunk that rank 1 sends
    NS_TEST_EXPECT_MSG_EQ((second == std::vector<float>{2, 4, 1, 2}), true, "replaced");
    const std::string text = GetAbort([&]() { receiver.Receive(receive, {1, 2, 3, 4}); });
    ExpectPart(text, "rank 1 expects 8 real bytes from rank 0, not 4");
    std::vector<float> tooShort{1};
    const std::string end = GetAbort([&]() { ChunkStore(layout, 0, tooShort).Read(send); });
    ExpectPart(end, "rank 0's tensor ends before chunk 0");

    // Copies are apart from the tensor, zero at first.
    CollectiveSchedule copies;
    copies.Resize(1);
    copies.Add(0, Kind::COPY, 0, 1, 0);   // copy 1 = the tensor
    copies.Add(0, Kind::REDUCE, 1, 0, 1); // the tensor += copy 1
    copies.Add(0, Kind::REDUCE, 2, 0, 2); // the tensor += copy 2, which no one has written
    copies.Close();
    const ChunkLayout one(copies, 8);
    std::vector<float> values{3, -5};
    ChunkStore store(one, 0, values);
    for (uint32_t i = 0; i < 3; i++)
    {
        store.Copy(copies.Get(0, i));
    }
    store.Finish();
    NS_TEST_EXPECT_MSG_EQ((values == std::vector<float>{6, -10}), true, "twice");
}

const Suite g_suite("schedule-data",
                    Duration::QUICK,
                    {{"operations, and which of them are coded", TestOperations},
                     {"lists of chunks", TestChunkLists},
                     {"actions of all ranks follow from those of one", TestSymmetry},
                     {"an order of all actions, and why there is none", TestOrder},
                     {"parts of different sizes", TestUnequalParts},
                     {"values of chunks", TestStore}});

} // namespace ns3::training::tests::schedule_data_test
