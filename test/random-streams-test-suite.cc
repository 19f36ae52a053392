/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/random-streams.h"
#include "test-case.h"

#include <set>

namespace ns3::training::tests::random_streams_test
{

/** No stream has two users, beyond the end of a range neither. */
void
TestStreams()
{
    std::set<int64_t> streams;
    std::size_t drawn = 0;
    for (std::size_t use = 0; use < static_cast<std::size_t>(RandomUse::END); use++)
    {
        NS_TEST_EXPECT_MSG_LT(FIRST_STREAMS[use], FIRST_STREAMS[use + 1], "use " << use);
        const auto size = static_cast<uint64_t>(FIRST_STREAMS[use + 1] - FIRST_STREAMS[use]);
        for (const uint64_t index :
             {uint64_t{0}, uint64_t{1}, size - 1, size, size + 1, uint64_t{1} << 40})
        {
            streams.insert(GetRandomStream(static_cast<RandomUse>(use), index));
            drawn++;
        }
    }
    NS_TEST_EXPECT_MSG_EQ(streams.size(), drawn, "each stream once");
    NS_TEST_EXPECT_MSG_EQ(GetRandomStream(RandomUse::SWITCHES, 5), 1005, "as in version 0.1");
}

const Suite g_suite("random-streams", Duration::QUICK, {{"one user a stream", TestStreams}});

} // namespace ns3::training::tests::random_streams_test
