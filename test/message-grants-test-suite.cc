/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/message-grants.h"
#include "ns3/message-tag.h"

#include <algorithm>
#include <map>
#include <random>

namespace ns3::training::tests::message_grants_test
{

/** @return what waits for a grant that arrives; -1: nothing */
int64_t
Arrive(MessageGrants& grants, uint32_t peer, uint64_t tag)
{
    const auto action = grants.OnGrant(peer, tag);
    return action ? static_cast<int64_t>(*action) : -1;
}

void
TestTags()
{
    constexpr uint32_t LAST_STEP = MessageTag::TURN - MessageTag::GRANT - 1;
    for (uint32_t step : {0U, 1U, LAST_STEP})
    {
        const MessageTag message{255, 0x3ffff, step, 65535};
        const uint64_t tag = message.Pack();
        const uint64_t grant = MessageGrants::GetGrantOf(tag);
        const MessageTag parts = MessageTag::Unpack(grant);
        NS_TEST_EXPECT_MSG_EQ(MessageGrants::IsGrant(message), false, "a message");
        NS_TEST_EXPECT_MSG_EQ(MessageGrants::IsGrant(parts), true, "its grant");
        NS_TEST_EXPECT_MSG_EQ(MessageGrants::GetGranted(grant), tag, "and back");
        NS_TEST_EXPECT_MSG_EQ(parts.communicator, 255, "of the same communicator");
        NS_TEST_EXPECT_MSG_EQ(parts.collective, 0x3ffff, "of the same collective");
        NS_TEST_EXPECT_MSG_EQ(parts.step, step + MessageTag::GRANT, "a step of its own");
        NS_TEST_EXPECT_MSG_EQ(parts.message, 65535, "of the same message");
    }
    for (uint32_t step : {MessageTag::TURN, MessageTag::PEER_TO_PEER})
    {
        NS_TEST_EXPECT_MSG_EQ(MessageGrants::IsGrant({0, 0, step, 0}), false, "no grant");
    }
}

void
TestReceiver()
{
    MessageGrants grants;
    NS_TEST_EXPECT_MSG_EQ(grants.Grant(1, 10), true, "new");
    NS_TEST_EXPECT_MSG_EQ(grants.Grant(1, 10), false, "the step begins again");
    NS_TEST_EXPECT_MSG_EQ(grants.Grant(2, 10), true, "of another peer");
    NS_TEST_EXPECT_MSG_EQ(grants.Grant(1, 11), true, "another message");
    grants.Forget(1, 10);
    grants.Forget(3, 10); // never granted
    NS_TEST_EXPECT_MSG_EQ(grants.Grant(1, 10), true, "a later message with this tag");
    NS_TEST_EXPECT_MSG_EQ(grants.Grant(2, 10), false, "still granted");
    NS_TEST_EXPECT_MSG_EQ(grants.Take(1, 10, 0), false, "it is no grant to send");
}

void
TestSender()
{
    MessageGrants grants;
    NS_TEST_EXPECT_MSG_EQ(Arrive(grants, 1, 10), -1, "before its message");
    NS_TEST_EXPECT_MSG_EQ(grants.Take(1, 10, 5), true, "it has arrived");
    NS_TEST_EXPECT_MSG_EQ(grants.Take(1, 10, 6), false, "it is used up");
    NS_TEST_EXPECT_MSG_EQ(grants.Take(2, 10, 7), false, "of another peer");
    NS_TEST_EXPECT_MSG_EQ(Arrive(grants, 1, 11), -1, "of another message");
    NS_TEST_EXPECT_MSG_EQ(Arrive(grants, 1, 10), 6, "the one that waits");
    NS_TEST_EXPECT_MSG_EQ(Arrive(grants, 2, 10), 7, "the one that waits");
    NS_TEST_EXPECT_MSG_EQ(Arrive(grants, 2, 10), -1, "nothing waits any more");
    NS_TEST_EXPECT_MSG_EQ(grants.Grant(2, 10), true, "own grants are apart from received ones");
}

/** Messages become ready, and grants arrive, in random order: each message is sent once. */
void
TestConservation()
{
    constexpr uint32_t MESSAGES = 2000;
    std::mt19937 random(1);
    MessageGrants grants;
    std::vector<std::pair<uint32_t, bool>> events; // of each message: it is ready, it is granted
    for (uint32_t message = 0; message < MESSAGES; message++)
    {
        events.emplace_back(message, true);
        events.emplace_back(message, false);
    }
    std::shuffle(events.begin(), events.end(), random);
    std::map<uint32_t, uint32_t> happened; // by message
    std::map<uint32_t, uint32_t> sent;     // by message
    for (const auto& [message, isReady] : events)
    {
        const uint32_t peer = message % 7;
        const uint64_t tag = message / 7;
        const uint32_t before = happened[message]++;
        const int64_t action = !isReady                          ? Arrive(grants, peer, tag)
                               : grants.Take(peer, tag, message) ? static_cast<int64_t>(message)
                                                                 : -1;
        NS_TEST_ASSERT_MSG_EQ(action,
                              (before == 1 ? static_cast<int64_t>(message) : -1),
                              "sent when both have happened");
        sent[message] += action >= 0 ? 1 : 0;
    }
    uint32_t once = 0;
    for (const auto& [message, times] : sent)
    {
        once += times == 1 ? 1 : 0;
    }
    NS_TEST_EXPECT_MSG_EQ(once, MESSAGES, "messages sent once");
}

void
TestClear()
{
    MessageGrants grants;
    grants.Grant(1, 10);
    Arrive(grants, 1, 11);
    grants.Take(1, 12, 0);
    grants.Clear();
    NS_TEST_EXPECT_MSG_EQ(grants.Grant(1, 10), true, "sent grants are forgotten");
    NS_TEST_EXPECT_MSG_EQ(grants.Take(1, 11, 0), false, "received grants are forgotten");
    NS_TEST_EXPECT_MSG_EQ(Arrive(grants, 1, 12), -1, "actions are forgotten");
}

const Suite g_suite("message-grants",
                    Duration::QUICK,
                    {{"tags of grants", TestTags},
                     {"a receiver grants a message once", TestReceiver},
                     {"a sender uses a grant once", TestSender},
                     {"each message is sent once", TestConservation},
                     {"forgotten grants", TestClear}});

} // namespace ns3::training::tests::message_grants_test
