/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-test-common.h"
#include "test-case.h"

#include "ns3/roce-wire-format.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3::training::tests::rdma_send_receive_test
{

constexpr uint32_t MTU = 4096;
constexpr int64_t DELAY = MICROSECOND;

/**
 * @param frame size, bytes
 * @return time from the start of its transmission to its arrival over the link, ps
 */
int64_t
OneWay(uint32_t frame)
{
    return LineTime(frame + 8, 100 * GIGA) + DELAY;
}

/**
 * @param rnrRetryLimit refusals before an error
 * @return a function that sets attributes of a NIC
 */
std::function<void(RdmaNic&)>
Configure(const std::string& recovery, uint32_t rnrRetryLimit = 7)
{
    return [recovery, rnrRetryLimit](RdmaNic& nic) {
        nic.SetAttribute("LossRecovery", StringValue(recovery));
        nic.SetAttribute("RnrRetryLimit", UintegerValue(rnrRetryLimit));
    };
}

/** Records the number of a completed work request. */
void
NoteNumber(std::vector<uint64_t>* numbers, uint32_t, uint64_t number)
{
    numbers->push_back(number);
}

/** The packets of SENDs: opcodes, sizes and numbers; and the message at the receiver. */
void
TestRdmaSend()
{
    /** A message and its packets. */
    struct Example
    {
        uint64_t bytes;
        bool withImmediate;
        std::vector<uint8_t> opcodes;
        std::vector<uint32_t> frames;
    };

    // A frame is 62 bytes longer than its padded payload, 66 with immediate data; at least 64.
    const std::vector<Example> examples{{0, false, {SEND_ONLY}, {64}},
                                        {0, true, {SEND_ONLY_IMMEDIATE}, {66}},
                                        {1, false, {SEND_ONLY}, {66}},
                                        {MTU, false, {SEND_ONLY}, {MTU + 62}},
                                        {MTU, true, {SEND_ONLY_IMMEDIATE}, {MTU + 66}},
                                        {MTU + 1, false, {SEND_FIRST, SEND_LAST}, {MTU + 62, 66}},
                                        {3 * MTU,
                                         true,
                                         {SEND_FIRST, SEND_MIDDLE, SEND_LAST_IMMEDIATE},
                                         {MTU + 62, MTU + 62, MTU + 66}}};
    RdmaNetwork network(MakeChain(1, 100 * GIGA, DELAY));
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    std::vector<uint8_t> opcodes;
    std::vector<uint32_t> frames;
    std::vector<uint32_t> numbers;
    network.SetTap(1, [&](Frame& frame) {
        opcodes.push_back(frame.opcode);
        frames.push_back(frame.bytes);
        return false;
    });
    network.SetTap(0, [&](Frame& frame) {
        numbers.push_back(frame.messageNumber);
        return false;
    });
    for (std::size_t i = 0; i < examples.size(); i++)
    {
        const Example& example = examples[i];
        opcodes.clear();
        frames.clear();
        sender.Send(example.withImmediate ? MakeRequest(example.bytes, 77)
                                          : MakeRequest(example.bytes));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(opcodes, example.opcodes, "opcodes of example " << i);
        NS_TEST_EXPECT_MSG_EQ(frames, example.frames, "frames of example " << i);
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), i + 1, "delivered");
        const Message& message = network.deliveries.back().message;
        NS_TEST_EXPECT_MSG_EQ(message.bytes, example.bytes, "size");
        NS_TEST_EXPECT_MSG_EQ(message.isSend, true, "kind");
        NS_TEST_EXPECT_MSG_EQ(message.immediate.has_value(),
                              example.withImmediate,
                              "immediate data");
        NS_TEST_EXPECT_MSG_EQ((message.immediate == 77), example.withImmediate, "its value");
        NS_TEST_EXPECT_MSG_EQ(message.payload, nullptr, "virtual");
        NS_TEST_EXPECT_MSG_EQ(numbers.back(), i + 1, "the answer counts messages (MSN)");
    }
    // SENDs and WRITEs mixed arrive in order.
    network.deliveries.clear();
    for (uint32_t i = 0; i < 20; i++)
    {
        Message request = MakeRequest(i * 1000);
        request.tag = i;
        i % 3 == 0 ? sender.Send(request) : sender.Write(request);
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 20, "all arrive");
    for (uint32_t i = 0; i < 20; i++)
    {
        const Message& message = network.deliveries[i].message;
        NS_TEST_EXPECT_MSG_EQ(message.bytes, i * 1000, "in order");
        NS_TEST_EXPECT_MSG_EQ(message.isSend, (i % 3 == 0), "kind");
        NS_TEST_EXPECT_MSG_EQ(message.tag, (i % 3 == 0 ? 0 : i), "address");
    }
}

/**
 * Work requests complete at the sender in posting order, when the ACK of their last packet arrives.
 */
void
TestRdmaCompletion()
{
    {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, DELAY));
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        std::vector<std::pair<int64_t, uint64_t>> completions;
        sender.SetCompletionHandler(
            [&](uint64_t number) { completions.emplace_back(PicosecondsNow(), number); });
        std::vector<uint64_t> traced;
        network.nics[0]->TraceConnectWithoutContext("Completion",
                                                    MakeBoundCallback(&NoteNumber, &traced));
        NS_TEST_EXPECT_MSG_EQ(sender.Send(MakeRequest(1000)), 0, "numbers");
        Message unsignaled = MakeRequest(2 * MTU);
        unsignaled.signaled = false;
        NS_TEST_EXPECT_MSG_EQ(sender.Write(unsignaled), 1, "count");
        NS_TEST_EXPECT_MSG_EQ(sender.Write(MakeRequest(1, 0)), 2, "from 0");
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(completions.size(), 2, "one is not signaled");
        NS_TEST_EXPECT_MSG_EQ(completions[0].second, 0, "in order");
        NS_TEST_EXPECT_MSG_EQ(completions[1].second, 2, "in order");
        NS_TEST_EXPECT_MSG_EQ(completions[0].first, OneWay(1062) + OneWay(66), "a round trip");
        const int64_t before = LineTime(1062 + 20 + 2 * (MTU + 82) + 16, 100 * GIGA);
        NS_TEST_EXPECT_MSG_EQ(completions[1].first,
                              before + OneWay(62 + 16 + 4 + 4) + OneWay(66),
                              "likewise");
        NS_TEST_EXPECT_MSG_EQ(traced.size(), 3, "the trace has all");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().completedMessages, 3, "as the counter");
    }
    // One ACK covers several requests; a completion handler may post.
    {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, DELAY));
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        uint32_t lost = 3;
        network.SetTap(0, [&](Frame&) { return lost > 0 ? lost-- > 0 : false; });
        std::vector<uint64_t> completions;
        sender.SetCompletionHandler([&](uint64_t number) {
            completions.push_back(number);
            if (number < 4)
            {
                sender.Send(MakeRequest(100));
            }
        });
        for (uint32_t i = 0; i < 4; i++)
        {
            sender.Send(MakeRequest(100));
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(completions,
                              (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}),
                              "all, in order");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "the fourth covers all");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 8, "delivered");
    }
}

/** A receiver without posted receives refuses packets: times of the retries, and of the failure. */
void
TestRdmaReceiverNotReady(const std::string& recovery)
{
    const TopologyGraph graph = MakeChain(1, 100 * GIGA, DELAY);
    constexpr int64_t WAIT = 640 * MICROSECOND; // timer code 12
    const int64_t attempt = OneWay(1062) + OneWay(66) + WAIT;

    // The receive is posted after 3 ms: the first retry after that succeeds.
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure(recovery));
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        RdmaQueuePair& receiver = network.Get(1, 1);
        receiver.PostReceive(0);
        sender.Send(MakeRequest(1000));
        sender.Send(MakeRequest(1000));
        In(3 * MILLISECOND, [&]() { receiver.PostReceive(2); });
        Simulator::Run();
        const int64_t attempts = (3 * MILLISECOND - OneWay(1062)) / attempt + 1;
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 2, "both arrive");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].time,
                              attempts * attempt + OneWay(1062),
                              "after so many attempts");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().receivedRefusals,
                              static_cast<uint64_t>(attempts),
                              "refused");
        NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().refusedPackets,
                              static_cast<uint64_t>(attempts),
                              "refused");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
        NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().sentNaks, 0, "and no gap");
    }

    // The receive is never posted: unlimited retries by default, an error with a limit.
    for (const uint32_t limit : {0u, 2u, 6u, 7u})
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure(recovery, limit));
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.Get(1, 1).PostReceive(0);
        std::vector<std::string> errors;
        int64_t when = 0;
        sender.SetErrorHandler([&](const std::string& reason) {
            errors.push_back(reason);
            when = PicosecondsNow();
        });
        sender.Send(MakeRequest(1000));
        sender.Send(MakeRequest(1000));
        Simulator::Stop(MilliSeconds(100));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 0, "nothing is delivered");
        NS_TEST_ASSERT_MSG_EQ(errors.size(), (limit < 7 ? 1 : 0), "an error, limit " << limit);
        if (limit < 7)
        {
            NS_TEST_EXPECT_MSG_EQ(
                errors[0],
                "queue pair 1 to endpoint 1: receiver not ready, retry limit of " +
                    std::to_string(limit) + " reached",
                "which says why");
            NS_TEST_EXPECT_MSG_EQ(when, (limit + 1) * attempt - WAIT, "at the last refusal");
        }
        else
        {
            NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().receivedRefusals,
                                  static_cast<uint64_t>((100 * MILLISECOND + WAIT) / attempt),
                                  "refused all the time");
        }
    }

    // Consumption of receives: a SEND by its first packet, a WRITE with immediate data by its last.
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure(recovery));
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        RdmaQueuePair& receiver = network.Get(1, 1);
        receiver.PostReceive(2);
        sender.Write(MakeRequest(3 * MTU));
        sender.Send(MakeRequest(3 * MTU, 0));
        sender.Write(MakeRequest(3 * MTU, 0));
        sender.Write(MakeRequest(3 * MTU));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 4, "two take one");
        NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().refusedPackets, 0, "nothing is refused");
        sender.Write(MakeRequest(3 * MTU, 0)); // packets 12 to 14
        In(MICROSECOND * 100, [&]() {
            NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().receivedPackets, 14, "two accepted");
            NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().refusedPackets, 1, "the last one not");
            receiver.PostReceive(1);
            sender.Send(MakeRequest(3 * MTU));
        });
        In(MILLISECOND, [&]() {
            NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 5, "the WRITE is complete");
            NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().receivedPackets, 15, "accepted");
            NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().refusedPackets, 2, "the SEND's first not");
            receiver.PostReceive(1);
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 6, "and the SEND");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
    }

    // A SEND waits behind a lost packet, and finds no receive when the gap is filled.
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure(recovery));
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        RdmaQueuePair& receiver = network.Get(1, 1);
        receiver.PostReceive(0);
        bool lose = true;
        network.SetTap(1, [&](Frame&) { return std::exchange(lose, false); });
        sender.Write(MakeRequest(1000));
        sender.Send(MakeRequest(1000));
        sender.Send(MakeRequest(1000));
        In(100 * MICROSECOND, [&]() {
            NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "the WRITE");
            receiver.PostReceive(2);
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 3, "all");
        NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().refusedPackets, 1, "one refusal");
        // Go-back-N discards a refused packet, selective repeat keeps it.
        const QueuePairCounters& counters = receiver.GetCounters();
        const uint64_t discarded =
            recovery == "go-back-n" ? counters.outOfOrderPackets + counters.refusedPackets : 0;
        NS_TEST_EXPECT_MSG_EQ(counters.receivedPackets + counters.duplicatePackets + discarded,
                              sender.GetCounters().sentPackets - 1,
                              "all but the lost packet are accounted for");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().receivedRefusals, 1, "which arrives");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
        NS_TEST_EXPECT_MSG_GT(network.deliveries[1].time, WAIT, "after the wait");
        NS_TEST_EXPECT_MSG_LT(network.deliveries[2].time, WAIT + 20 * MICROSECOND, "at once then");
    }

    // Progress resets the count of refusals; a duplicate refusal counts once.
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure(recovery, 2));
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        RdmaQueuePair& receiver = network.Get(1, 1);
        receiver.PostReceive(0);
        std::vector<std::string> errors;
        sender.SetErrorHandler([&](const std::string& reason) { errors.push_back(reason); });
        network.SetTap(0, [&](Frame& frame) {
            if (frame.syndrome != SYNDROME_ACK)
            {
                Frame* copy = Frame::Allocate(FrameKind::ROCE_ACK);
                copy->syndrome = frame.syndrome;
                copy->psn = frame.psn;
                In(MICROSECOND, [&sender, copy]() { sender.Receive(copy); });
            }
            return false;
        });
        for (uint32_t i = 0; i < 5; i++)
        {
            sender.Send(MakeRequest(1000));
            // Two refusals, then a receive is posted.
            In((2 * i + 1) * attempt + OneWay(1062) + OneWay(66) + MICROSECOND * 10,
               [&receiver]() { receiver.PostReceive(1); });
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(errors.size(), 0, "no error");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 5, "all arrive");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().receivedRefusals,
                              receiver.GetCounters().refusedPackets,
                              "as often as refused");
        NS_TEST_EXPECT_MSG_GT(receiver.GetCounters().refusedPackets, 5, "more than once each");
    }

    // The RNR NAK is lost: the timer repairs it.
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure(recovery));
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.Get(1, 1).PostReceive(0);
        bool lose = true;
        network.SetTap(0, [&](Frame&) { return std::exchange(lose, false); });
        sender.Send(MakeRequest(1000));
        In(10 * MICROSECOND, [&]() { network.Get(1, 1).PostReceive(1); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "delivered");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 1, "after a timeout");
    }
}

/** Wait times of the RNR NAK codes. */
void
TestRdmaRnrTimer()
{
    // IB specification volume 1, table "encoding for RNR NAK timer field", units of 10 us.
    const std::vector<int64_t> times{65536, 1,    2,    3,     4,     6,     8,     12,
                                     16,    24,   32,   48,    64,    96,    128,   192,
                                     256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                     4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
    for (uint32_t code = 0; code < 32; code++)
    {
        RdmaNetwork network(
            MakeChain(1, 100 * GIGA, DELAY),
            RdmaLineRate::GetTypeId(),
            [code](RdmaNic& nic) { nic.SetAttribute("MinRnrTimer", UintegerValue(code)); });
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.Get(1, 1).PostReceive(0);
        std::vector<uint8_t> syndromes;
        network.SetTap(0, [&](Frame& frame) {
            syndromes.push_back(frame.syndrome);
            network.Get(1, 1).PostReceive(1);
            return false;
        });
        sender.Send(MakeRequest(1000));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "delivered");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].time,
                              2 * OneWay(1062) + OneWay(66) + times[code] * 10 * MICROSECOND,
                              "after the time of code " << code);
        NS_TEST_EXPECT_MSG_EQ(uint32_t{syndromes.at(0)}, (0x20 | code), "syndrome");
        NS_TEST_EXPECT_MSG_EQ(uint32_t{syndromes.at(1)}, 0x1f, "then an acknowledgement");
    }
}

const Suite g_suite(
    "rdma-send-receive",
    Duration::QUICK,
    {{"packets of a SEND", TestRdmaSend},
     {"completion of work requests", TestRdmaCompletion},
     {"receiver not ready, go-back-n", [] { TestRdmaReceiverNotReady("go-back-n"); }},
     {"receiver not ready, selective-repeat", [] { TestRdmaReceiverNotReady("selective-repeat"); }},
     {"codes of the RNR timer", TestRdmaRnrTimer}});

} // namespace ns3::training::tests::rdma_send_receive_test
