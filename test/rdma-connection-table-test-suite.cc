/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/rdma-connection-table.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>

namespace rdma_connection_table_test
{

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

/** A connection that does nothing. */
struct Connection : public SimpleRefCount<Connection>
{
    explicit Connection(uint32_t number)
        : number(number)
    {
    }

    uint32_t GetNumber() const
    {
        return number;
    }

    void Close()
    {
        closed = true;
    }

    bool IsClosed() const
    {
        return closed;
    }

    uint32_t number;
    bool closed{false};
};

using Table = RdmaConnectionTable<Connection>;

void
TestFind()
{
    Table table;
    NS_TEST_EXPECT_MSG_EQ(table.Find(1), nullptr, "an empty table");
    // Numbers that share slots, more and more of them.
    for (uint32_t i = 0; i < 300; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(table.Add(Create<Connection>(i % 3 << 16 | i / 3)),
                              true,
                              "a new one");
    }
    NS_TEST_EXPECT_MSG_EQ(table.Add(Create<Connection>(7)), false, "a number twice");
    table.Close({7, 2 << 16 | 9});
    for (uint32_t i = 0; i < 300; i++)
    {
        const uint32_t number = i % 3 << 16 | i / 3;
        const Connection* found = table.Find(number);
        const bool isClosed = number == 7 || number == (2 << 16 | 9);
        NS_TEST_EXPECT_MSG_EQ((found ? found->number : UINT32_MAX),
                              (isClosed ? UINT32_MAX : number),
                              "what is not closed is found");
    }
    NS_TEST_EXPECT_MSG_EQ(table.GetAll().size(), 300, "closed ones stay");
    NS_TEST_EXPECT_MSG_EQ(table.GetAll().at(7)->closed, true, "closed");
}

void
TestListeners()
{
    Table table;
    uint32_t asked = 0;
    table.AddListener([&](uint32_t number) {
        asked++;
        table.Add(Create<Connection>(number));
        return table.Find(number);
    });
    table.AddListener([](uint32_t number) {
        static Connection other(5);
        return number == 5 ? &other : nullptr;
    });
    NS_TEST_EXPECT_MSG_EQ(table.FindOrAccept(5)->number, 5, "the last listener comes first");
    NS_TEST_EXPECT_MSG_EQ(asked, 0, "and the first was not asked");
    NS_TEST_EXPECT_MSG_EQ(table.FindOrAccept(6)->number, 6, "created");
    NS_TEST_EXPECT_MSG_EQ(table.FindOrAccept(6)->number, 6, "found");
    NS_TEST_EXPECT_MSG_EQ(asked, 1, "once");
    table.RemoveListeners();
    NS_TEST_EXPECT_MSG_EQ(table.FindOrAccept(8), nullptr, "no one to ask");
    table.Clear();
    NS_TEST_EXPECT_MSG_EQ(table.Find(6), nullptr, "forgotten");
}

const Suite g_suite("rdma-connection-table",
                    Duration::QUICK,
                    {{"connections by number", TestFind}, {"listeners", TestListeners}});

} // namespace rdma_connection_table_test
