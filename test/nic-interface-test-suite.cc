/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/lockstep-oracle.h"
#include "ns3/schedule-table.h"
#include "ns3/simulator.h"
#include "ns3/sub-messages.h"

#include <algorithm>
#include <memory>
#include <random>

namespace ns3::training::tests::nic_interface_test
{

/** The order of a schedule table. */
struct TableTest
{
    using Kind = ScheduleAction::Kind;

    /** Rank 0: two messages to be added, two empty steps, one chunk to be copied by two ranks. */
    static CollectiveSchedule MakeSchedule()
    {
        CollectiveSchedule schedule;
        schedule.chunks = 3;
        schedule.Resize(3);
        schedule.Add(0, Kind::SEND, 1, 0, 0);
        schedule.Add(0, Kind::SEND, 1, 1, 0, {}, 1);
        schedule.Add(0, Kind::SEND, 1, 2, 3);
        schedule.Add(0, Kind::SEND, 2, 2, 3);
        schedule.Add(1, Kind::RECEIVE_REDUCE, 0, 0, 0);
        schedule.Add(1, Kind::RECEIVE_REDUCE, 0, 1, 0, {}, 1);
        schedule.Add(1, Kind::RECEIVE, 0, 2, 3);
        schedule.Add(2, Kind::RECEIVE, 0, 2, 3);
        schedule.Close();
        return schedule;
    }

    void Run()
    {
        // Each message leaves 100 ns after its begin; all are asked for at once, the last first.
        const int64_t later = 3000; // two empty steps: 2 us after messages, then 1 us
        Check({0, 0, false, MicroSeconds(1)}, {0, 0, 100, 100});
        Check({0, 0, true, MicroSeconds(1)}, {0, 0, later, later});
        Check({0, 1, false, MicroSeconds(1)}, {100, 0, 300, 200});
        Check({5, 1, true, MicroSeconds(1)}, {100, 0, 100 + later + 100, 100 + later});
        // A message that leaves sooner keeps its interface for its time on the line.
        const Time line = NanoSeconds(250);
        Check({0, 1, false, Time(0), line}, {250, 0, 750, 500});
        Check({0, 2, false, Time(0), line}, {0, 0, 250, 250});
        Check({0, 1, false, Time(0), NanoSeconds(50)}, {100, 0, 300, 200});
        Check({0, 0, false, Time(0), line}, {0, 0, 100, 100});
        // With an oracle a step begins when the messages of the one before have left.
        Check({0, 0, false, MicroSeconds(1)}, {0, 0, 100, 100}, true);
        Check({0, 1, false, MicroSeconds(1)}, {100, 0, 300, 200}, true);
        const std::string refusal = GetRefusal([&] { Check({4, 0, false, Time(0)}, {}); });
        NS_TEST_EXPECT_MSG_EQ(refusal,
                              "table-entries=4: the schedule of rank 0 has 5 entries (allowed: 5 "
                              "and more; 0: unlimited)",
                              "two messages, two empty steps, one chunk for two children");
    }

    /** @param begins expected time of each message's begin, ns */
    void Check(const ScheduleTable::Settings& settings,
               const std::vector<int64_t>& begins,
               bool oracle = false)
    {
        const CollectiveSchedule schedule = MakeSchedule();
        starts.assign(4, -1);
        table = std::make_unique<ScheduleTable>(
            schedule,
            0,
            settings,
            [this](uint32_t index) { OnBegin(index); },
            oracle ? std::make_shared<LockstepOracle>(schedule) : nullptr);
        NS_TEST_EXPECT_MSG_EQ(table->GetEntries(), 5, "entries");
        for (uint32_t index : {3, 2, 1, 0})
        {
            NS_TEST_EXPECT_MSG_EQ(table->Request(index), false, "not before the start");
        }
        table->Start();
        Simulator::Run();
        for (uint32_t index = 0; index < begins.size(); index++)
        {
            NS_TEST_EXPECT_MSG_EQ(starts[index], begins[index], "message " << index);
        }
        table.reset();
        Simulator::Destroy();
    }

    void OnBegin(uint32_t index)
    {
        starts[index] = Simulator::Now().GetNanoSeconds();
        Simulator::Schedule(NanoSeconds(100), &TableTest::OnSent, this, index);
    }

    void OnSent(uint32_t index)
    {
        table->OnSent(index);
    }

    std::unique_ptr<ScheduleTable> table;
    std::vector<int64_t> starts; // ns, by message
};

using Kind = ScheduleAction::Kind;

/** A node whose messages take a time to leave. */
struct Node
{
    std::unique_ptr<ScheduleTable> table;
    Time time;
    std::vector<int64_t> begins; // ns
};

void
Begin(Node* node, uint32_t index)
{
    node->begins.push_back(Simulator::Now().GetNanoSeconds());
    Simulator::Schedule(node->time, &ScheduleTable::OnSent, node->table.get(), index);
}

/** Nodes of different speed with an oracle. */
void
TestOracle()
{
    // Two nodes send in steps 0, 2 and 3; nobody does in step 1.
    CollectiveSchedule schedule;
    schedule.chunks = 3;
    schedule.Resize(2);
    const std::vector<uint32_t> steps{0, 2, 3};
    for (uint32_t rank : {0, 1})
    {
        for (uint32_t chunk = 0; chunk < steps.size(); chunk++)
        {
            schedule.Add(rank, Kind::SEND, 1 - rank, chunk, steps[chunk]);
        }
        for (uint32_t chunk = 0; chunk < steps.size(); chunk++)
        {
            schedule.Add(rank, Kind::RECEIVE_REDUCE, 1 - rank, chunk, steps[chunk]);
        }
    }
    schedule.Close();

    LockstepOracles oracles(2);
    for (uint64_t collective : {0, 1})
    {
        Node nodes[2];
        nodes[0].time = NanoSeconds(10);
        nodes[1].time = NanoSeconds(100);
        std::vector<std::shared_ptr<LockstepOracle>> entered;
        for (uint32_t rank : {0, 1})
        {
            entered.push_back(oracles.Enter(collective, schedule));
            Node& node = nodes[rank];
            node.table = std::make_unique<ScheduleTable>(
                schedule,
                rank,
                ScheduleTable::Settings{},
                [&node](uint32_t index) { Begin(&node, index); },
                entered[rank]);
            for (uint32_t index : {0, 1, 2})
            {
                node.table->Request(index);
            }
            // The second node is late.
            Simulator::Schedule(NanoSeconds(1000) * rank, &ScheduleTable::Start, node.table.get());
        }
        NS_TEST_EXPECT_MSG_EQ(entered[0], entered[1], "one oracle for both nodes");
        NS_TEST_EXPECT_MSG_EQ(entered[0]->GetStep(), 0, "not begun");
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(entered[0]->GetStep(), 4, "all have left");
        const std::vector<int64_t> first{0, 1100, 1200};
        const std::vector<int64_t> second{1000, 1100, 1200};
        NS_TEST_EXPECT_MSG_EQ(nodes[0].begins, first, "the fast node waits");
        NS_TEST_EXPECT_MSG_EQ(nodes[1].begins, second, "the slow node does not");
        Simulator::Destroy();
    }
    const auto third = oracles.Enter(2, schedule);
    NS_TEST_EXPECT_MSG_NE(third, oracles.Enter(3, schedule), "one for each collective");
    NS_TEST_EXPECT_MSG_EQ(third, oracles.Enter(2, schedule), "known until all have entered");
    NS_TEST_EXPECT_MSG_NE(third, oracles.Enter(2, schedule), "then forgotten");
}

using FlowControl = SubMessages::FlowControl;

Ptr<ByteBuffer>
MakeNumbers(uint64_t bytes)
{
    auto numbers = Create<ByteBuffer>();
    std::mt19937 random(static_cast<uint32_t>(bytes));
    for (uint64_t i = 0; i < bytes; i++)
    {
        numbers->bytes.push_back(static_cast<uint8_t>(random()));
    }
    return numbers;
}

void
Check(const SubMessages& form, uint64_t bytes, uint64_t flits)
{
    NS_TEST_EXPECT_MSG_EQ(form.GetLineBytes(bytes), 16 * flits, bytes << " bytes");
    const auto numbers = MakeNumbers(bytes);
    const auto line = form.Frame(5, numbers);
    NS_TEST_EXPECT_MSG_EQ(line->bytes.size(), 16 * flits, bytes << " bytes framed");
    const auto back = form.Unframe(5, line);
    NS_TEST_ASSERT_MSG_NE(back, nullptr, bytes << " bytes are whole");
    NS_TEST_EXPECT_MSG_EQ(back->bytes, numbers->bytes, bytes << " bytes come back");
}

/** Flow, offset, size and end of each sub-message, little-endian. */
void
CheckHeads()
{
    const auto line = SubMessages(FlowControl::PACKET, 256).Frame(0x01020304, MakeNumbers(260));
    const std::vector<uint8_t> first{4, 3, 2, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    const std::vector<uint8_t> last{4, 3, 2, 1, 0, 1, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0};
    const auto at = [&](std::ptrdiff_t begin) {
        return std::vector<uint8_t>(line->bytes.begin() + begin, line->bytes.begin() + begin + 16);
    };
    NS_TEST_ASSERT_MSG_EQ(line->bytes.size(), 16 + 256 + 16 + 16, "two sub-messages");
    NS_TEST_EXPECT_MSG_EQ(at(0), first, "first head");
    NS_TEST_EXPECT_MSG_EQ(at(272), last, "only the last one has the end");
}

/** What is not a whole flow in order is not one. */
void
CheckWrong()
{
    const SubMessages form(FlowControl::PACKET, 32);
    const auto line = form.Frame(1, MakeNumbers(96));
    const auto change = [&](std::size_t position, uint8_t value) {
        auto other = Create<ByteBuffer>(*line);
        other->bytes[position] = value;
        return form.Unframe(1, other);
    };
    NS_TEST_EXPECT_MSG_EQ(form.Unframe(2, line), nullptr, "another flow");
    NS_TEST_EXPECT_MSG_EQ(change(4, 32), nullptr, "an offset that is not the next one");
    NS_TEST_EXPECT_MSG_EQ(change(2 * 48 + 12, 0), nullptr, "no end");
    NS_TEST_EXPECT_MSG_EQ(change(48 + 12, 1), nullptr, "an end before the last one");
    NS_TEST_EXPECT_MSG_EQ(change(2 * 48 + 8, 33), nullptr, "larger than what is there");
    for (std::size_t size = 0; size < line->bytes.size(); size++)
    {
        auto other = Create<ByteBuffer>(*line);
        other->bytes.resize(size);
        NS_TEST_EXPECT_MSG_EQ(form.Unframe(1, other), nullptr, "truncated to " << size);
    }
}

void
TestSubMessages()
{
    for (uint64_t full : {16, 48, 256})
    {
        const SubMessages packets(FlowControl::PACKET, full);
        const SubMessages messages(FlowControl::MESSAGE, full);
        for (uint64_t bytes : {0, 1, 4, 15, 16, 17, 255, 256, 257, 1020, 4096, 4100})
        {
            const uint64_t flits = (bytes + 15) / 16;
            Check(packets, bytes, flits + std::max<uint64_t>(1, (bytes + full - 1) / full));
            Check(messages, bytes, flits + 1);
        }
    }
    CheckHeads();
    CheckWrong();
    const SubMessages none;
    const auto numbers = MakeNumbers(7);
    NS_TEST_EXPECT_MSG_EQ(none.GetLineBytes(7), 7, "no flits");
    NS_TEST_EXPECT_MSG_EQ(none.Frame(0, numbers), numbers, "no copy");
    NS_TEST_EXPECT_MSG_EQ(none.Unframe(0, numbers), numbers, "no copy");
    for (uint64_t bytes : {0, 8, 100})
    {
        const std::string refusal =
            GetRefusal([&] { const SubMessages refused(FlowControl::PACKET, bytes); });
        NS_TEST_EXPECT_MSG_EQ(refusal,
                              "sub-message=" + std::to_string(bytes) +
                                  " (allowed: multiples of 16, the bytes of a flit)",
                              "whole flits");
    }
}

const Suite g_suite(
    "nic-interface",
    Duration::QUICK,
    {{"a schedule table keeps to its steps, their estimated times and its interfaces",
      RunTest<TableTest>},
     {"an oracle begins a step at all nodes when all messages before have left", TestOracle},
     {"sub-messages: sizes on the line, head flits, and the end of a flow", TestSubMessages}});

} // namespace ns3::training::tests::nic_interface_test
