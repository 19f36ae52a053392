/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "plain-schedule-test-common.h"
#include "schedule/chunk-dependencies.h"
#include "test-case.h"

#include <random>

namespace ns3::training::tests::schedule_dependencies_test
{

using Kind = ScheduleAction::Kind;

/**
 * Dependencies that are derived for many chunks at once equal those derived chunk by chunk, for
 * random actions on random lists, shared or not, with copies.
 */
void
TestDependencies()
{
    std::mt19937 random(1);
    const auto draw = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
    uint32_t found = 0;
    for (uint32_t round = 0; round < 400; round++)
    {
        CollectiveSchedule schedule;
        schedule.chunks = 1 + draw(40);
        schedule.stepwise = round % 5 == 0;
        schedule.Resize(1 + draw(3));
        const uint32_t copies = 1 + draw(3);
        const auto drawList = [&](bool nested) {
            std::vector<ChunkRun> runs;
            const uint32_t stride = 1U << draw(5);
            const uint32_t offset = draw(stride);
            for (uint32_t i = 0; nested && offset + i * stride < schedule.chunks; i++)
            {
                runs.push_back({offset + i * stride, 1}); // a residue class
            }
            for (uint32_t i = 0; runs.empty() && i < 1 + draw(4); i++)
            {
                runs.push_back({draw(schedule.chunks * copies), 1 + draw(schedule.chunks)});
            }
            return ChunkList(runs);
        };
        std::vector<SharedChunks> lists;
        for (uint32_t i = draw(8); i > 0; i--)
        {
            lists.push_back(schedule.Share(drawList(round % 2 == 0)));
        }
        for (uint32_t i = 0; i < 25; i++)
        {
            const uint32_t rank = draw(schedule.GetSize());
            const auto kind = static_cast<Kind>(draw(5));
            const bool isLocal = kind == Kind::COPY || kind == Kind::REDUCE;
            const uint32_t peer = draw(isLocal ? copies : schedule.GetSize());
            if (!lists.empty() && draw(2) == 0)
            {
                schedule.Add(rank, kind, peer, lists[draw(lists.size())], i);
            }
            else
            {
                schedule.Add(rank, kind, peer, drawList(draw(2) == 0), i);
            }
        }
        schedule.Close();
        NS_TEST_EXPECT_MSG_EQ(HasPlainDependencies(schedule), true, "round " << round);
        for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
        {
            for (uint32_t i = 0; i < schedule.GetActions(rank); i++)
            {
                const auto after = schedule.GetDependencies(rank, i);
                found += static_cast<uint32_t>(after.last - after.first);
            }
        }
    }
    NS_TEST_EXPECT_MSG_GT(found, 10000, "dependencies");
}

/** The chunks of residue classes modulo powers of two, and of their halves, become ranges. */
void
TestChunkOrder()
{
    constexpr uint32_t CHUNKS = 64;
    std::vector<std::vector<ChunkRun>> lists;
    for (uint32_t stride = 2; stride <= CHUNKS; stride *= 2)
    {
        for (uint32_t offset = 0; offset < stride; offset++)
        {
            lists.emplace_back();
            for (uint32_t chunk = offset; chunk < CHUNKS; chunk += stride)
            {
                lists.back().push_back({chunk, 1});
            }
        }
    }
    const ChunkOrder order(lists, CHUNKS, 1);
    for (uint32_t list = 0; list < lists.size(); list++)
    {
        std::vector<ChunkRun> places;
        order.AppendList(list, places);
        NS_TEST_ASSERT_MSG_EQ(places.size(), 1, "one range");
        std::set<uint32_t> expected;
        for (const ChunkRun& run : lists[list])
        {
            std::vector<ChunkRun> place;
            order.AppendRun(run, place);
            NS_TEST_ASSERT_MSG_EQ(place.size(), 1, "one chunk");
            expected.insert(place[0].first);
        }
        NS_TEST_EXPECT_MSG_EQ(expected.size(), places[0].count, "distinct places");
        NS_TEST_EXPECT_MSG_EQ(*expected.begin(), places[0].first, "first");
        NS_TEST_EXPECT_MSG_EQ(*expected.rbegin(), places[0].first + places[0].count - 1, "last");
    }
    std::vector<ChunkRun> whole;
    order.AppendRun({5, CHUNKS}, whole); // wraps around
    uint32_t count = 0;
    for (const ChunkRun& range : whole)
    {
        count += range.count;
    }
    NS_TEST_EXPECT_MSG_EQ(count, CHUNKS, "all chunks");
}

const Suite g_suite("schedule-dependencies",
                    Duration::QUICK,
                    {{"dependencies of random actions", TestDependencies},
                     {"an order in which nested lists are ranges", TestChunkOrder}});

} // namespace ns3::training::tests::schedule_dependencies_test
