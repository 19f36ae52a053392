/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "abort-test-common.h"
#include "note-transport-test-common.h"
#include "test-case.h"

#include "ns3/collective-schedule.h"
#include "ns3/host-model.h"
#include "ns3/message-tag.h"
#include "ns3/nstime.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <map>
#include <memory>

namespace ns3::training::tests::communicator_split_test
{

/** Hosts that take 5 us to start, and send twice the bytes. */
class SlowHosts : public HostModel
{
  public:
    HostCost GetCost(const CollectiveSchedule&, uint64_t) const override
    {
        HostCost cost;
        cost.start = MicroSeconds(5);
        cost.wireFactor = 2;
        return cost;
    }

    bool IsLocal(uint32_t, uint32_t) const override
    {
        return false;
    }
};

/** @return a schedule in which two ranks exchange the whole vector */
std::shared_ptr<const CollectiveSchedule>
Exchange(CollectiveOperation operation, uint64_t, uint32_t)
{
    auto schedule = std::make_shared<CollectiveSchedule>();
    schedule->operation = operation;
    schedule->algorithm = "exchange";
    schedule->chunks = 1;
    schedule->Resize(2);
    schedule->UseRotation(false);
    schedule->Add(0, ScheduleAction::Kind::SEND, 1, ChunkRun{0, 1}, 0);
    schedule->Add(0, ScheduleAction::Kind::RECEIVE_REDUCE, 1, ChunkRun{0, 1}, 0);
    schedule->Close();
    return schedule;
}

/** Rank 1 of three. */
struct Fixture
{
    Fixture()
    {
        all->Setup(1, 3, transport, Exchange);
    }

    ~Fixture()
    {
        all->Dispose();
        transport->Dispose();
        Simulator::Destroy();
    }

    Fixture(const Fixture&) = delete;
    Fixture& operator=(const Fixture&) = delete;

    Ptr<NoteTransport> transport = CreateObject<NoteTransport>();
    Ptr<ScheduledCommunicator> all = CreateObject<ScheduledCommunicator>();
};

/** @return the value of an attribute as text */
std::string
GetText(const ScheduledCommunicator& communicator, const std::string& name)
{
    StringValue value;
    communicator.GetAttribute(name, value);
    return value.Get();
}

void
TestAttributes()
{
    const std::map<std::string, std::string> values{{"ActiveCollectives", "3"},
                                                    {"GradientTos", "8"},
                                                    {"Order", "lifo"},
                                                    {"ReduceRate", "8000bps"},
                                                    {"RendezvousBytes", "77"}};
    Fixture fixture;
    const TypeId type = ScheduledCommunicator::GetTypeId();
    NS_TEST_ASSERT_MSG_EQ(type.GetAttributeN(), values.size(), "each attribute has a value here");
    for (const auto& [name, value] : values)
    {
        NS_TEST_EXPECT_MSG_NE(GetText(*fixture.all, name), value, name << " is not the default");
        fixture.all->SetAttribute(name, StringValue(value));
    }
    const auto group = fixture.all->Split({2, 1}, Exchange, 1);
    const auto inner = group->Split({1}, Exchange, 2);
    for (const auto& [name, value] : values)
    {
        NS_TEST_EXPECT_MSG_EQ(GetText(*group, name), value, name);
        NS_TEST_EXPECT_MSG_EQ(GetText(*inner, name), value, name << " of a group of a group");
    }
    NS_TEST_EXPECT_MSG_EQ(group->GetRank(), 1, "rank in the group");
    NS_TEST_EXPECT_MSG_EQ(group->GetSize(), 2, "size of the group");
    // From then on each has its own.
    fixture.all->SetAttribute("GradientTos", StringValue("16"));
    NS_TEST_EXPECT_MSG_EQ(GetText(*group, "GradientTos"), "8", "unchanged");
}

void
TestMessages()
{
    Fixture fixture;
    MessageCoding coding;
    coding.marks = true;
    fixture.all->SetCoding(coding);
    fixture.all->SetHostModel(std::make_shared<SlowHosts>());
    fixture.all->SetAttribute("GradientTos", StringValue("8"));
    const auto group = fixture.all->Split({2, 1}, Exchange, 3);
    NS_TEST_EXPECT_MSG_EQ(+group->GetTypeOfService(CollectiveOperation::ALL_REDUCE), 8, "marks");
    NS_TEST_EXPECT_MSG_EQ(+group->GetTypeOfService(CollectiveOperation::ALL_GATHER), 0, "copies");
    for (const auto& communicator : {fixture.all, group})
    {
        auto tensor = Create<Tensor>();
        tensor->bytes = 1000;
        const Time start = Simulator::Now();
        Time left;
        communicator->TraceConnectWithoutContext(
            "Send",
            MakeBoundCallback(
                +[](Time* time, const MessageRecord& record) { *time = record.time; },
                &left));
        // Of the exchange, rank 1 of all has rank 0 as its peer, and rank 1 of the group rank 2.
        communicator->AllReduce(tensor, Communicator::Done());
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(fixture.transport->messages.size(), 1, "a message");
        const auto& message = fixture.transport->messages[0];
        const bool isGroup = communicator == group;
        NS_TEST_EXPECT_MSG_EQ(message.peer, (isGroup ? 2U : 0U), "destination");
        NS_TEST_EXPECT_MSG_EQ(MessageTag::Unpack(message.tag).communicator,
                              (isGroup ? 3U : 0U),
                              "communicator");
        NS_TEST_EXPECT_MSG_EQ(message.bytes, 2000, "size");
        NS_TEST_EXPECT_MSG_EQ(+message.typeOfService, 8, "mark");
        NS_TEST_EXPECT_MSG_EQ(left - start, MicroSeconds(5), "time of the hosts");
        fixture.transport->messages.clear();
    }
}

void
TestFailures()
{
    Fixture fixture;
    std::string reports;
    fixture.all->SetErrorHandler([&reports](uint32_t peer, const std::string& reason) {
        reports += std::to_string(peer) + ": " + reason;
    });
    const auto group = fixture.all->Split({2, 1}, Exchange, 1);
    group->SetErrorHandler([&reports](uint32_t, const std::string&) { reports += "group"; });
    fixture.transport->Fail(2, "no answer");
    NS_TEST_EXPECT_MSG_EQ(reports,
                          "2: the path from rank 1 to rank 2 failed: no answer",
                          "once, by the communicator of all");
    fixture.all->Dispose();
    fixture.transport->Fail(2, "no answer");
    fixture.transport->Deliver(2, {MessageTag{1, 0, 0, 0}.Pack(), 8});
    NS_TEST_EXPECT_MSG_EQ(reports.find("answer", reports.find("answer") + 1),
                          std::string::npos,
                          "nothing after the end");
}

void
TestMisuse()
{
    Fixture fixture;
    fixture.all->Split({2, 1}, Exchange, 7);
    const std::pair<std::pair<std::vector<uint32_t>, uint32_t>, std::string> cases[] = {
        {{{0, 2}, 1}, "rank 1 is not in communicator 1"},
        {{{1, 3}, 1}, "there is no rank 3 of 3"},
        {{{1, 0, 1}, 1}, "rank 1 is twice in communicator 1"},
        {{{1, 2}, 7}, "this rank already has a communicator 7"},
        {{{1, 2}, 0}, "this rank already has a communicator 0"},
        {{{1, 2}, 256}, "number 256 of a communicator"}};
    for (const auto& [group, part] : cases)
    {
        const auto& [ranks, number] = group;
        const std::string text = GetAbort([&fixture, &ranks = ranks, number = number]() {
            fixture.all->Split(ranks, Exchange, number);
        });
        ExpectPart(text, part);
    }
}

const Suite g_suite("communicator-split",
                    Duration::QUICK,
                    {{"a group has all attributes", TestAttributes},
                     {"its messages are marked, sized and timed as those of all", TestMessages},
                     {"failures, and messages after the end", TestFailures},
                     {"wrong groups end the program", TestMisuse}});

} // namespace ns3::training::tests::communicator_split_test
