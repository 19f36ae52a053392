/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/turn-order.h"

#include <algorithm>
#include <random>

namespace ns3::training::tests::turn_order_test
{

/** @return the queue of a rank */
TurnOrder
Make(const std::string& name, uint32_t rank)
{
    TurnOrder order;
    order.SetOrder(name);
    order.SetRank(rank);
    return order;
}

/** @return a collective that waits */
WaitingCollective
Wait(uint64_t number, int32_t priority = 0)
{
    return {number, CollectiveOperation::ALL_REDUCE, 1000, priority};
}

/** @return the numbers of all collectives that can start, such as "2 0 1" */
std::string
Drain(TurnOrder& order)
{
    std::string text;
    while (const auto next = order.Next())
    {
        text += (text.empty() ? "" : " ") + std::to_string(*next);
    }
    return text;
}

void
ExpectNext(TurnOrder& order, const std::string& numbers, const std::string& why)
{
    const std::string actual = Drain(order);
    NS_TEST_EXPECT_MSG_EQ(actual, numbers, why);
}

void
TestPicks()
{
    const int32_t priorities[] = {1, 3, -2, 3, 0};
    const std::vector<std::pair<std::string, std::string>> orders{{"fifo", "0 1 2 3 4"},
                                                                  {"lifo", "4 3 2 1 0"},
                                                                  {"priority", "1 3 0 4 2"}};
    for (const auto& [name, expected] : orders)
    {
        TurnOrder order = Make(name, 0);
        NS_TEST_EXPECT_MSG_EQ(order.GetOrder(), name, "name");
        NS_TEST_EXPECT_MSG_EQ(order.IsEmpty(), true, "at first");
        NS_TEST_EXPECT_MSG_EQ(order.Next().has_value(), false, "nothing waits");
        for (uint64_t number = 0; number < 5; number++)
        {
            order.Add(Wait(number, priorities[number]));
        }
        NS_TEST_EXPECT_MSG_EQ(order.IsEmpty(), false, name);
        ExpectNext(order, expected, name);
        NS_TEST_EXPECT_MSG_EQ(order.IsEmpty(), true, name);
    }
    // One that comes later is picked among those that still wait.
    TurnOrder order = Make("lifo", 0);
    order.Add(Wait(0));
    order.Add(Wait(1));
    const auto first = order.Next();
    order.Add(Wait(2));
    NS_TEST_EXPECT_MSG_EQ(first.value_or(9), 1, "issued last");
    ExpectNext(order, "2 0", "issued last");
}

void
TestAnnounced()
{
    for (const std::string name : {"fifo", "lifo", "priority"})
    {
        NS_TEST_EXPECT_MSG_EQ(Make(name, 0).IsAnnouncing(), (name != "fifo"), name);
        NS_TEST_EXPECT_MSG_EQ(Make(name, 1).IsAnnouncing(), false, name);
    }
    TurnOrder order = Make("lifo", 3);
    order.Add(Wait(0));
    order.Add(Wait(1));
    ExpectNext(order, "", "rank 0 has announced nothing");
    order.OnTurn(2);
    order.OnTurn(0);
    ExpectNext(order, "", "the announced one is not issued here");
    NS_TEST_EXPECT_MSG_EQ(order.IsEmpty(), false, "both wait");
    order.Add(Wait(2));
    ExpectNext(order, "2 0", "in the order of rank 0");
    order.OnTurn(1);
    ExpectNext(order, "1", "the last one");
    // An agreed order needs no announcement.
    TurnOrder agreed = Make("fifo", 3);
    agreed.Add(Wait(0));
    ExpectNext(agreed, "0", "fifo");
    // Tags carry 18 bits of a number.
    constexpr uint64_t LARGE = (uint64_t{5} << 18) + 7;
    order.Add(Wait(LARGE));
    order.Add(Wait(LARGE + 1));
    order.OnTurn(8);
    order.OnTurn(7);
    ExpectNext(order, std::to_string(LARGE + 1) + " " + std::to_string(LARGE), "modulo 2^18");
}

/** Ranks hear of collectives and of turns at random times: all start each one once, as rank 0. */
void
TestAgreement()
{
    constexpr uint64_t COLLECTIVES = 200;
    constexpr uint32_t RANKS = 4;
    for (const std::string name : {"lifo", "priority"})
    {
        std::mt19937 random(1);
        std::vector<TurnOrder> orders;
        std::vector<std::vector<uint64_t>> started(RANKS);
        std::vector<uint64_t> issued(RANKS);
        std::vector<std::size_t> heard(RANKS); // turns of rank 0
        for (uint32_t rank = 0; rank < RANKS; rank++)
        {
            orders.push_back(Make(name, rank));
        }
        uint32_t left = RANKS;
        for (uint32_t i = 0; left > 0 && i < 100000; i++)
        {
            const uint32_t rank = random() % RANKS;
            TurnOrder& order = orders[rank];
            if (random() % 2 == 0 && issued[rank] < COLLECTIVES)
            {
                const uint64_t number = issued[rank]++;
                order.Add(Wait(number, static_cast<int32_t>(number * 37 % 11)));
            }
            else if (rank > 0 && random() % 2 == 0 && heard[rank] < started[0].size())
            {
                order.OnTurn(started[0][heard[rank]++]);
            }
            else if (const auto next = order.Next())
            {
                started[rank].push_back(*next);
                left -= started[rank].size() == COLLECTIVES ? 1 : 0;
            }
        }
        NS_TEST_ASSERT_MSG_EQ(left, 0, "ranks that have not started all");
        auto sorted = started[0];
        std::sort(sorted.begin(), sorted.end());
        NS_TEST_EXPECT_MSG_EQ((std::unique(sorted.begin(), sorted.end()) == sorted.end()),
                              true,
                              "each one once");
        NS_TEST_EXPECT_MSG_EQ(std::is_sorted(started[0].begin(), started[0].end()),
                              false,
                              "in another order than issued");
        for (uint32_t rank = 1; rank < RANKS; rank++)
        {
            NS_TEST_EXPECT_MSG_EQ((started[rank] == started[0]), true, name << ", rank " << rank);
            NS_TEST_EXPECT_MSG_EQ(orders[rank].IsEmpty(), true, name << ", rank " << rank);
        }
    }
}

void
TestClear()
{
    TurnOrder order = Make("lifo", 1);
    order.Add(Wait(0));
    order.OnTurn(4);
    order.Clear();
    NS_TEST_EXPECT_MSG_EQ(order.IsEmpty(), true, "collectives are dropped");
    order.Add(Wait(5));
    order.OnTurn(5);
    ExpectNext(order, "5", "turns are dropped");
    const std::string refusal = GetRefusal([&order]() { order.SetOrder("random"); });
    ExpectPart(refusal, "fifo, lifo, priority");
    NS_TEST_EXPECT_MSG_EQ(order.GetOrder(), "lifo", "unchanged by a refusal");
}

const Suite g_suite("turn-order",
                    Duration::QUICK,
                    {{"which collective is next", TestPicks},
                     {"ranks follow rank 0", TestAnnounced},
                     {"all ranks start all collectives in one order", TestAgreement},
                     {"dropped collectives, unknown orders", TestClear}});

} // namespace ns3::training::tests::turn_order_test
