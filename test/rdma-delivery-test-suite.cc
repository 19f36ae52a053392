/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-test-common.h"
#include "test-case.h"

#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <deque>
#include <random>

namespace ns3::training::tests::rdma_delivery_test
{

constexpr uint32_t MTU = 256;

/** Random impairments of each frame. */
struct Mischief
{
    std::string name; ///< for messages
    double loss;      ///< probability of loss
    double twice;     ///< probability of duplication
    double late;      ///< probability of a delay
    int64_t delay;    ///< maximum delay, ps
    bool refuses;     ///< whether receives are counted, and posted late
};

/** @return a copy of a frame's fields that a queue pair reads */
Frame*
Copy(const Frame& frame)
{
    Frame* copy = Frame::Allocate(frame.kind);
    copy->bytes = frame.bytes;
    copy->source = frame.source;
    copy->destination = frame.destination;
    copy->priority = frame.priority;
    copy->ackRequest = frame.ackRequest;
    copy->opcode = frame.opcode;
    copy->payloadBytes = frame.payloadBytes;
    copy->destinationQp = frame.destinationQp;
    copy->psn = frame.psn;
    copy->immediate = frame.immediate;
    copy->payload = frame.payload;
    copy->payloadOffset = frame.payloadOffset;
    copy->remoteAddress = frame.remoteAddress;
    copy->messageBytes = frame.messageBytes;
    copy->timestamp = frame.timestamp;
    copy->messageNumber = frame.messageNumber;
    copy->selectivePsn = frame.selectivePsn;
    copy->syndrome = frame.syndrome;
    return copy;
}

/**
 * Over a network that drops, duplicates and delays frames of both directions at random, every
 * message is delivered exactly once, in posting order and with the right bytes. Every work request
 * completes in that order.
 */
struct RdmaDeliveryTestCase
{
    /** A posted message. */
    struct Posted
    {
        uint64_t tag;
        uint64_t bytes;
        uint32_t immediate;
        bool withImmediate;
        bool isSend;
        Ptr<ByteBuffer> payload;
        uint64_t offset;
    };

    void Run();
    bool Chance(double probability);
    uint64_t Draw(uint64_t most);
    void Mangle(RdmaNetwork& network, uint32_t host);
    Posted MakeMessage();

    std::string recovery; ///< loss recovery
    Mischief mischief;    ///< impairments of the network
    std::mt19937_64 random;
};

bool
RdmaDeliveryTestCase::Chance(double probability)
{
    return static_cast<double>(random() >> 11) * 0x1p-53 < probability;
}

uint64_t
RdmaDeliveryTestCase::Draw(uint64_t most)
{
    return random() % (most + 1);
}

void
RdmaDeliveryTestCase::Mangle(RdmaNetwork& network, uint32_t host)
{
    SetRdmaReceiver(network.fabric.devices[host], [this, &network, host](Frame* frame) {
        RdmaQueuePair* queuePair = &network.Get(host, frame->destinationQp);
        const auto pass = [this, queuePair](Frame* passed) {
            if (!Chance(mischief.late))
            {
                queuePair->Receive(passed);
                return;
            }
            In(static_cast<int64_t>(Draw(static_cast<uint64_t>(mischief.delay))),
               [queuePair, passed]() { queuePair->Receive(passed); });
        };
        if (Chance(mischief.loss))
        {
            Frame::Free(frame);
            return;
        }
        if (Chance(mischief.twice))
        {
            pass(Copy(*frame));
        }
        pass(frame);
    });
}

RdmaDeliveryTestCase::Posted
RdmaDeliveryTestCase::MakeMessage()
{
    const std::vector<uint64_t> sizes{0, 1, MTU - 1, MTU, MTU + 1, 2 * MTU, 60 * MTU + 17};
    Posted message;
    message.bytes = Chance(0.5) ? sizes[Draw(sizes.size() - 1)] : Draw(10 * MTU);
    message.isSend = Chance(0.4);
    message.withImmediate = Chance(0.5);
    message.immediate = static_cast<uint32_t>(Draw(0xffffffff));
    message.tag = message.isSend ? 0 : Draw(1ULL << 48);
    message.offset = Draw(100);
    message.payload = Create<ByteBuffer>();
    for (uint64_t i = 0; i < message.offset + message.bytes; i++)
    {
        message.payload->bytes.push_back(static_cast<uint8_t>(Draw(255)));
    }
    return message;
}

void
RdmaDeliveryTestCase::Run()
{
    constexpr uint32_t MESSAGES = 60;
    RdmaNetwork network(MakeChain(1, 10 * GIGA, MICROSECOND),
                        RdmaLineRate::GetTypeId(),
                        [this](RdmaNic& nic) {
                            nic.SetAttribute("Mtu", UintegerValue(MTU));
                            nic.SetAttribute("LossRecovery", StringValue(recovery));
                            nic.SetAttribute("AckInterval", UintegerValue(1 + Draw(15)));
                            nic.SetAttribute("InFlightLimit", UintegerValue(Draw(30) * MTU));
                            nic.SetAttribute("RetransmissionTimeout", TimeValue(MicroSeconds(200)));
                            nic.SetAttribute("RetryLimit", UintegerValue(1000));
                            nic.SetAttribute("MinRnrTimer", UintegerValue(1));
                        });
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    RdmaQueuePair& receiver = network.Get(1, 1);
    Mangle(network, 0);
    Mangle(network, 1);
    std::vector<uint64_t> completions;
    sender.SetCompletionHandler([&](uint64_t number) { completions.push_back(number); });
    std::vector<std::string> errors;
    sender.SetErrorHandler([&](const std::string& reason) { errors.push_back(reason); });
    if (mischief.refuses)
    {
        receiver.PostReceive(0);
    }
    std::deque<Posted> posted;
    std::vector<uint64_t> signaled;
    int64_t time = 0;
    for (uint32_t i = 0; i < MESSAGES; i++)
    {
        posted.push_back(MakeMessage());
        const Posted& message = posted.back();
        const bool isSignaled = Chance(0.7);
        if (isSignaled)
        {
            signaled.push_back(i);
        }
        time += Chance(0.5) ? 0 : static_cast<int64_t>(Draw(20 * MICROSECOND));
        In(time, [&sender, &message, isSignaled]() {
            Message request = MakeRequest(message.bytes);
            request.tag = message.tag;
            request.payload = message.payload;
            request.payloadOffset = message.offset;
            request.signaled = isSignaled;
            if (message.withImmediate)
            {
                request.immediate = message.immediate;
            }
            message.isSend ? sender.Send(request) : sender.Write(request);
        });
        if (mischief.refuses && (message.isSend || message.withImmediate))
        {
            In(time + static_cast<int64_t>(Draw(200 * MICROSECOND)),
               [&receiver]() { receiver.PostReceive(1); });
        }
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(errors.size(), 0, "no error");
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), MESSAGES, "each message once");
    for (uint32_t i = 0; i < MESSAGES; i++)
    {
        const Posted& sent = posted[i];
        const Message& got = network.deliveries[i].message;
        NS_TEST_EXPECT_MSG_EQ(got.bytes, sent.bytes, "size of message " << i);
        NS_TEST_EXPECT_MSG_EQ(got.isSend, sent.isSend, "kind");
        NS_TEST_EXPECT_MSG_EQ(got.tag, sent.tag, "address");
        NS_TEST_EXPECT_MSG_EQ(got.immediate.has_value(), sent.withImmediate, "whether immediate");
        if (sent.withImmediate)
        {
            NS_TEST_EXPECT_MSG_EQ(*got.immediate, sent.immediate, "immediate data");
        }
        NS_TEST_ASSERT_MSG_NE(got.payload, nullptr, "a real payload");
        const auto from = sent.payload->bytes.begin() + static_cast<int64_t>(sent.offset);
        NS_TEST_EXPECT_MSG_EQ(std::equal(from,
                                         sent.payload->bytes.end(),
                                         got.payload->bytes.begin(),
                                         got.payload->bytes.end()),
                              true,
                              "bytes of message " << i);
    }
    NS_TEST_EXPECT_MSG_EQ(completions, signaled, "signaled requests complete, in order");
    const QueuePairCounters& counters = sender.GetCounters();
    NS_TEST_EXPECT_MSG_EQ(counters.postedMessages, MESSAGES, "posted");
    NS_TEST_EXPECT_MSG_EQ(counters.completedMessages, MESSAGES, "completed");
    NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().receivedMessages, MESSAGES, "received");
    NS_TEST_EXPECT_MSG_EQ(counters.sentPackets,
                          receiver.GetCounters().receivedPackets + counters.retransmittedPackets,
                          "a packet is accepted once");
    NS_TEST_EXPECT_MSG_EQ((receiver.GetCounters().refusedPackets > 0),
                          mischief.refuses,
                          "refusals");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const std::vector<Mischief> mischiefs{
        {"nothing wrong", 0, 0, 0, 0, false},
        {"losses", 0.05, 0, 0, 0, false},
        {"duplicates", 0, 0.1, 0, 0, false},
        {"delays", 0, 0, 0.2, 10 * MICROSECOND, false},
        {"everything", 0.03, 0.05, 0.1, 50 * MICROSECOND, false},
        {"late receives", 0, 0, 0, 0, true},
        {"everything and late receives", 0.03, 0.05, 0.1, 50 * MICROSECOND, true}};
    for (const std::string recovery : {"go-back-n", "selective-repeat"})
    {
        for (const Mischief& mischief : mischiefs)
        {
            for (uint32_t seed = 1; seed <= 10; seed++)
            {
                cases.push_back(
                    {recovery + " over a network with " + mischief.name + ", seed " +
                         std::to_string(seed),
                     [recovery, mischief, seed] {
                         RdmaDeliveryTestCase{recovery, mischief, std::mt19937_64(seed)}.Run();
                     }});
            }
        }
    }
    return cases;
}

const Suite g_suite("rdma-delivery", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::rdma_delivery_test
