/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "abort-test-common.h"
#include "test-case.h"

#include "ns3/message-tag.h"
#include "ns3/peer-messages.h"
#include "ns3/simulator.h"
#include "ns3/training-communicator.h"

#include <algorithm>
#include <random>
#include <set>

namespace ns3::training::tests::peer_messages_test
{

Ptr<Tensor>
MakeTensor(std::vector<float> values)
{
    auto tensor = Create<Tensor>();
    tensor->bytes = values.size() * sizeof(float);
    tensor->values = std::move(values);
    return tensor;
}

Ptr<Tensor>
MakeVirtual(uint64_t bytes)
{
    auto tensor = Create<Tensor>();
    tensor->bytes = bytes;
    return tensor;
}

void
Count(uint32_t* count)
{
    (*count)++;
}

/** @return a callback that counts */
Communicator::Done
MakeDone(uint32_t& count)
{
    return MakeBoundCallback(&Count, &count);
}

void
TestTags()
{
    PeerMessages sender(0, 9);
    PeerMessages receiver(1, 9);
    std::set<uint64_t> tags; // of messages to a peer
    for (uint32_t channel : {0U, 1U, 2U, Tensor::MAX_CHANNEL})
    {
        for (uint64_t number = 0; number < 3; number++)
        {
            const uint64_t tag = sender.GetNextSendTag(1, channel);
            NS_TEST_EXPECT_MSG_EQ(tag, receiver.GetNextReceiveTag(0, channel), "both sides agree");
            const MessageTag parts = MessageTag::Unpack(tag);
            NS_TEST_EXPECT_MSG_EQ(parts.communicator, 9, "communicator");
            NS_TEST_EXPECT_MSG_EQ(parts.collective, number, "number in its channel");
            NS_TEST_EXPECT_MSG_EQ(parts.step, +MessageTag::PEER_TO_PEER, "step");
            NS_TEST_EXPECT_MSG_EQ(parts.message, (channel == 0 ? 0 : channel + 1), "channel");
            tags.insert(tag);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(sender.GetUnorderedTag(), receiver.GetUnorderedTag(), "out of order");
    tags.insert(sender.GetUnorderedTag());
    NS_TEST_EXPECT_MSG_EQ(tags.size(), 4 * 3 + 1, "all differ");
    const uint64_t first = PeerMessages(0, 9).GetNextSendTag(5, 0);
    NS_TEST_EXPECT_MSG_EQ(sender.GetNextSendTag(2, 0), first, "numbers are of a peer");
    NS_TEST_EXPECT_MSG_EQ(receiver.GetNextReceiveTag(2, 0), first, "numbers are of a peer");
    NS_TEST_EXPECT_MSG_EQ(sender.GetNextReceiveTag(1, 0), first, "receives have their own");
    sender.Clear();
    NS_TEST_EXPECT_MSG_EQ(sender.GetNextSendTag(1, 0), first, "they start anew");
    NS_TEST_EXPECT_MSG_EQ(sender.GetNextReceiveTag(1, 0), first, "they start anew");
    const std::string text =
        GetAbort([&sender]() { sender.GetNextSendTag(1, Tensor::MAX_CHANNEL + 1); });
    ExpectPart(text, "channel 65534 is above 65533");
}

void
TestDelivery()
{
    const std::vector<float> numbers{1.5F, -2, 1e30F};
    for (bool isEarly : {false, true})
    {
        PeerMessages messages(3, 0);
        uint32_t done = 0;
        const auto source = MakeTensor(numbers);
        const auto payload = PeerMessages::Copy(*source);
        source->values[0] = 0; // after the copy, without effect
        const auto target = MakeTensor({0, 0, 0});
        const uint64_t tag = messages.GetNextReceiveTag(1, 0);
        if (isEarly)
        {
            messages.OnMessage(1, tag, 12, payload);
            NS_TEST_EXPECT_MSG_EQ(messages.DescribeExpected(), "", "no one waits");
            messages.Expect(target, 1, tag, MakeDone(done));
        }
        else
        {
            messages.Expect(target, 1, tag, MakeDone(done));
            NS_TEST_EXPECT_MSG_EQ(messages.DescribeExpected(),
                                  "rank 3 waits for tensor 0 (12 bytes) from rank 1",
                                  "what it waits for");
            messages.OnMessage(2, tag, 12, payload);     // of another peer
            messages.OnMessage(1, tag + 1, 12, payload); // of another channel
            NS_TEST_EXPECT_MSG_EQ(target->values[1], 0, "it still waits");
            messages.OnMessage(1, tag, 12, payload);
        }
        NS_TEST_EXPECT_MSG_EQ((target->values == numbers), true, "the numbers");
        NS_TEST_EXPECT_MSG_EQ(messages.DescribeExpected(), "", "nothing is missing");
        NS_TEST_EXPECT_MSG_EQ(done, 0, "complete from an event of its own");
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(done, 1, "complete once");
        const auto next = MakeTensor({0, 0, 0});
        messages.Expect(next, 1, tag, MakeDone(done));
        NS_TEST_EXPECT_MSG_EQ(messages.DescribeExpected().empty(), false, "it was used up");
        messages.Clear();
        NS_TEST_EXPECT_MSG_EQ(messages.DescribeExpected(), "", "forgotten");
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(done, 1, "complete once");
        Simulator::Destroy();
    }
}

/** Messages arrive and are expected in random order: each tensor gets its own numbers, once. */
void
TestConservation()
{
    constexpr uint32_t MESSAGES = 600;
    std::mt19937 random(1);
    PeerMessages messages(0, 0);
    std::vector<Ptr<Tensor>> tensors;
    std::vector<uint64_t> tags;
    std::vector<std::pair<uint32_t, bool>> events; // message, and whether it arrives
    for (uint32_t i = 0; i < MESSAGES; i++)
    {
        tensors.push_back(MakeTensor({-1}));
        tags.push_back(messages.GetNextReceiveTag(i % 5, i % 3));
        events.emplace_back(i, false);
        events.emplace_back(i, true);
    }
    std::shuffle(events.begin(), events.end(), random);
    uint32_t done = 0;
    for (const auto& [i, arrives] : events)
    {
        if (arrives)
        {
            const auto payload = PeerMessages::Copy(*MakeTensor({static_cast<float>(i)}));
            messages.OnMessage(i % 5, tags[i], 4, payload);
        }
        else
        {
            messages.Expect(tensors[i], i % 5, tags[i], MakeDone(done));
        }
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(done, MESSAGES, "complete");
    for (uint32_t i = 0; i < MESSAGES; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(tensors[i]->values[0], i, "tensor " << i);
    }
    NS_TEST_EXPECT_MSG_EQ(messages.DescribeExpected(), "", "nothing is missing");
    Simulator::Destroy();
}

void
TestSizes()
{
    NS_TEST_EXPECT_MSG_EQ(PeekPointer(PeerMessages::Copy(*MakeVirtual(8))), nullptr, "virtual");
    PeerMessages messages(4, 0);
    constexpr uint64_t LARGE = uint64_t{1} << 40;
    messages.Expect(MakeVirtual(LARGE), 0, 0, Communicator::Done());
    messages.OnMessage(0, 0, LARGE, nullptr);
    NS_TEST_EXPECT_MSG_EQ(messages.DescribeExpected(), "", "more than 4 GiB");
    messages.Expect(MakeVirtual(0), 0, 1, Communicator::Done());
    messages.OnMessage(0, 1, 0, nullptr);
    NS_TEST_EXPECT_MSG_EQ(messages.DescribeExpected(), "", "0 bytes");
    Simulator::Run(); // callbacks that are null
    const std::string wrongSize = GetAbort([&messages]() {
        messages.Expect(MakeVirtual(8), 0, 2, Communicator::Done());
        messages.OnMessage(0, 2, 12, nullptr);
    });
    ExpectPart(wrongSize, "rank 4 expects a tensor of 8 bytes, not 12");
    const std::string noNumbers = GetAbort([&messages]() {
        messages.OnMessage(0, 3, 4, nullptr);
        messages.Expect(MakeTensor({1}), 0, 3, Communicator::Done());
    });
    ExpectPart(noNumbers, "rank 4 expects a real tensor");
    Simulator::Destroy();
}

const Suite g_suite("peer-messages",
                    Duration::QUICK,
                    {{"sender and receiver agree on tags", TestTags},
                     {"a tensor gets its message, whichever comes first", TestDelivery},
                     {"each tensor gets its own numbers", TestConservation},
                     {"sizes, and messages that do not fit", TestSizes}});

} // namespace ns3::training::tests::peer_messages_test
