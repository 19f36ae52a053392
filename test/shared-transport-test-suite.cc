/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "abort-test-common.h"
#include "note-transport-test-common.h"
#include "test-case.h"

#include "ns3/message-tag.h"
#include "ns3/nstime.h"
#include "ns3/shared-transport.h"
#include "ns3/simulator.h"

#include <map>
#include <memory>
#include <random>

namespace ns3::training::tests::shared_transport_test
{

/** @return tag of a message of a communicator, with a number in place of its collective */
uint64_t
Tag(uint32_t communicator, uint64_t number = 0)
{
    return MessageTag{communicator, number, 0, 0}.Pack();
}

/** Messages that a communicator has received: peer and number. */
using Received = std::vector<std::pair<uint32_t, uint64_t>>;

MessageTransport::MessageHandler
Note(Received& received)
{
    return [&received](uint32_t peer, const Message& message) {
        received.emplace_back(peer, MessageTag::Unpack(message.tag).collective);
    };
}

/** @return "peer:number peer:number ..." */
std::string
ToText(const Received& received)
{
    std::string text;
    for (const auto& [peer, number] : received)
    {
        text += (text.empty() ? "" : " ") + std::to_string(peer) + ":" + std::to_string(number);
    }
    return text;
}

void
TestDispatch()
{
    const auto transport = CreateObject<NoteTransport>();
    SharedTransport shared(transport, nullptr);
    Received all;
    Received some;
    shared.Attach(0, {}, Note(all));
    shared.Attach(255, {5, 2, 7}, Note(some));
    transport->Deliver(7, {Tag(0, 1), 0});
    transport->Deliver(7, {Tag(255, 2), 0});
    transport->Deliver(5, {Tag(255, 3), 0});
    transport->Deliver(2, {Tag(255, 4), 0});
    transport->Deliver(3, {Tag(0, 5), 0});
    NS_TEST_EXPECT_MSG_EQ(ToText(all), "7:1 3:5", "ranks of the transport");
    NS_TEST_EXPECT_MSG_EQ(ToText(some), "2:2 0:3 1:4", "ranks of the communicator");
    for (uint32_t rank = 0; rank < 3; rank++)
    {
        const uint32_t place = std::vector<uint32_t>{5, 2, 7}[rank];
        NS_TEST_EXPECT_MSG_EQ(shared.GetRank(255, rank), place, "of a group");
        NS_TEST_EXPECT_MSG_EQ(shared.GetRank(0, rank), rank, "of all");
    }
    const auto payload = Create<ByteBuffer>();
    uint32_t left = 0;
    shared.Send(255, 2, {77, 12, payload, [&left]() { left++; }, 8});
    shared.Send(0, 2, {78});
    NS_TEST_ASSERT_MSG_EQ(transport->messages.size(), 2, "sent");
    const auto& first = transport->messages[0];
    NS_TEST_EXPECT_MSG_EQ(first.peer, 7, "destination");
    NS_TEST_EXPECT_MSG_EQ(first.tag, 77, "tag");
    NS_TEST_EXPECT_MSG_EQ(first.bytes, 12, "size");
    NS_TEST_EXPECT_MSG_EQ(first.payload, payload, "contents");
    NS_TEST_EXPECT_MSG_EQ(+first.typeOfService, 8, "mark");
    first.sent();
    NS_TEST_EXPECT_MSG_EQ(left, 1, "the last byte has left");
    NS_TEST_EXPECT_MSG_EQ(transport->messages[1].peer, 2, "destination");
    NS_TEST_EXPECT_MSG_EQ(bool(transport->messages[1].sent), false, "no one asks");
    NS_TEST_EXPECT_MSG_EQ(+transport->messages[1].typeOfService, 0, "no mark");
}

void
TestEarly()
{
    const auto transport = CreateObject<NoteTransport>();
    SharedTransport shared(transport, nullptr);
    const auto payload = Create<ByteBuffer>();
    transport->Deliver(4, {Tag(3, 1), 9, payload});
    transport->Deliver(6, {Tag(2, 2), 0});
    transport->Deliver(6, {Tag(3, 3), 0});
    Received third;
    shared.Attach(3, {6, 4}, [&](uint32_t peer, const Message& message) {
        Note(third)(peer, message);
        const bool isFirst = third.size() == 1;
        NS_TEST_EXPECT_MSG_EQ(message.bytes, (isFirst ? 9U : 0U), "size");
        NS_TEST_EXPECT_MSG_EQ(message.payload, (isFirst ? payload : nullptr), "contents");
    });
    NS_TEST_EXPECT_MSG_EQ(ToText(third), "1:1 0:3", "in order, by its ranks");
    shared.Abort();
    Received second;
    shared.Attach(2, {6, 0}, Note(second));
    NS_TEST_EXPECT_MSG_EQ(ToText(second), "", "dropped by an abort");
    transport->Deliver(6, {Tag(2, 4), 0});
    NS_TEST_EXPECT_MSG_EQ(ToText(second), "0:4", "after the abort");
    shared.Detach(2);
    transport->Deliver(6, {Tag(2, 5), 0});
    Received again;
    shared.Attach(2, {0, 6}, Note(again));
    transport->Deliver(6, {Tag(2, 6), 0});
    NS_TEST_EXPECT_MSG_EQ(ToText(second), "0:4", "nothing comes after the end");
    NS_TEST_EXPECT_MSG_EQ(ToText(again), "1:6", "the next one of this number has its own ranks");
}

/** Communicators appear in the middle of random messages: each message arrives once, in order. */
void
TestConservation()
{
    constexpr uint32_t COMMUNICATORS = 5;
    constexpr uint32_t RANKS = 8;
    std::mt19937 random(1);
    const auto transport = CreateObject<NoteTransport>();
    SharedTransport shared(transport, nullptr);
    std::map<uint32_t, Received> expected;
    std::map<uint32_t, Received> received;
    for (uint32_t i = 0; i < 1000; i++)
    {
        if (i % 150 == 100 && i / 150 < COMMUNICATORS)
        {
            const uint32_t number = i / 150;
            std::vector<uint32_t> ranks; // rank r of communicator n is r + n of the transport
            for (uint32_t rank = 0; rank < RANKS; rank++)
            {
                ranks.push_back((rank + number) % RANKS);
            }
            shared.Attach(number, ranks, Note(received[number]));
        }
        const uint32_t number = random() % COMMUNICATORS;
        const uint32_t peer = random() % RANKS;
        expected[number].emplace_back((peer + RANKS - number) % RANKS, i);
        transport->Deliver(peer, {Tag(number, i), i});
    }
    for (uint32_t number = 0; number < COMMUNICATORS; number++)
    {
        NS_TEST_EXPECT_MSG_EQ(ToText(received[number]),
                              ToText(expected[number]),
                              "communicator " << number);
    }
}

void
TestAdder()
{
    const auto transport = CreateObject<NoteTransport>();
    SharedTransport shared(transport, nullptr);
    NS_TEST_EXPECT_MSG_EQ(shared.ReserveAdder(PicoSeconds(3)), PicoSeconds(3), "free");
    NS_TEST_EXPECT_MSG_EQ(shared.ReserveAdder(PicoSeconds(2)), PicoSeconds(5), "behind it");
    NS_TEST_EXPECT_MSG_EQ(shared.ReserveAdder(Time(0)), PicoSeconds(5), "nothing to add");
    Simulator::Stop(PicoSeconds(4));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(shared.ReserveAdder(PicoSeconds(7)), PicoSeconds(8), "1 ps are left");
    shared.Abort();
    NS_TEST_EXPECT_MSG_EQ(shared.ReserveAdder(PicoSeconds(7)), PicoSeconds(7), "free again");
    Simulator::Destroy();
}

void
TestErrors()
{
    const auto transport = CreateObject<NoteTransport>();
    const auto reasons = std::make_shared<std::string>();
    auto shared =
        Create<SharedTransport>(transport, [reasons](uint32_t peer, const std::string& reason) {
            *reasons += std::to_string(peer) + reason;
        });
    const auto isHeard = std::make_shared<bool>();
    shared->Attach(1, {4, 3}, [isHeard](uint32_t, const Message&) { *isHeard = true; });
    transport->Fail(3, " is down");
    NS_TEST_EXPECT_MSG_EQ(*reasons, "3 is down", "by its rank in the transport");
    // The transport outlives it: frames on their way may arrive.
    shared = nullptr;
    transport->Deliver(4, {Tag(1), 0});
    transport->Fail(4, " is down");
    NS_TEST_EXPECT_MSG_EQ(*reasons, "3 is down", "no one hears it");
    NS_TEST_EXPECT_MSG_EQ(*isHeard, false, "no one hears it");
    NS_TEST_EXPECT_MSG_EQ(reasons.use_count(), 1, "the handler of errors is gone");
    NS_TEST_EXPECT_MSG_EQ(isHeard.use_count(), 1, "the handler of messages is gone");
}

void
TestMisuse()
{
    const auto transport = CreateObject<NoteTransport>();
    SharedTransport shared(transport, nullptr);
    Received received;
    shared.Attach(1, {0, 2}, Note(received));
    const auto expect = [](const std::function<void()>& action, const std::string& part) {
        const std::string text = GetAbort(action);
        ExpectPart(text, part);
    };
    expect([&]() { shared.Attach(1, {}, Note(received)); },
           "this rank already has a communicator 1");
    expect(
        [&]() {
            shared.Attach(2, {3, 4, 3}, Note(received));
        },
        "rank 3 is twice in communicator 2");
    expect(
        [&]() {
            transport->Deliver(1, {Tag(1), 0});
        },
        "a message from rank 1, which is not in communicator 1");
    NS_TEST_EXPECT_MSG_EQ(GetAbort([&]() {
                              transport->Deliver(2, {Tag(1), 0});
                          }),
                          "",
                          "a message that is right");
}

const Suite g_suite("shared-transport",
                    Duration::QUICK,
                    {{"messages reach their communicator, by its ranks", TestDispatch},
                     {"messages before and after a communicator", TestEarly},
                     {"each message arrives once", TestConservation},
                     {"one adder for all communicators", TestAdder},
                     {"failures, and messages after the end", TestErrors},
                     {"wrong groups and messages end the program", TestMisuse}});

} // namespace ns3::training::tests::shared_transport_test
