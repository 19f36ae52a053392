/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-test-common.h"
#include "rdma/congestion/rdma-dcqcn.h"
#include "test-case.h"

#include "ns3/random-variable-stream.h"
#include "ns3/roce-wire-format.h"
#include "ns3/training-byte-buffer.h"
#include "ns3/uinteger.h"

namespace ns3::training::tests::rdma_message_test
{

/** Acknowledgements are requested every n packets and at the end of each message. */
void
TestRdmaAckInterval()
{
    for (const uint32_t interval : {1u, 2u, 16u, 64u, 1000u})
    {
        for (const std::vector<uint32_t>& messages :
             std::vector<std::vector<uint32_t>>{{1}, {16}, {17}, {1, 1, 1}, {64, 3, 61, 200}})
        {
            RdmaNetwork network(
                MakeChain(1, 100 * GIGA, MICROSECOND),
                RdmaLineRate::GetTypeId(),
                [&](RdmaNic& nic) { nic.SetAttribute("AckInterval", UintegerValue(interval)); });
            RdmaQueuePair& sender = network.Connect(0, 1, 1);
            uint64_t expected = 0;
            uint64_t psn = 0;
            for (uint32_t packets : messages)
            {
                Write(sender, uint64_t{packets} * 4096);
                for (uint32_t i = 0; i < packets; i++)
                {
                    psn++;
                    expected += psn % interval == 0 || i + 1 == packets;
                }
            }
            uint32_t previous = 0;
            network.SetTap(0, [&](Frame& frame) {
                NS_TEST_EXPECT_MSG_EQ((frame.psn >= previous && frame.psn < psn), true, "in order");
                NS_TEST_EXPECT_MSG_EQ(+frame.syndrome, 0x1f, "syndrome of an ACK");
                NS_TEST_EXPECT_MSG_EQ(+frame.opcode, 0x11, "opcode of an ACK");
                NS_TEST_EXPECT_MSG_EQ(frame.bytes, 66, "size of an ACK");
                previous = frame.psn;
                return false;
            });
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(network.Get(1, 1).GetCounters().sentAcks,
                                  expected,
                                  "interval " << interval);
            NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), messages.size(), "messages");
            NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
        }
    }
}

/** Messages of all sizes arrive once, complete, in order, with the sender's fields. */
void
TestRdmaMessages()
{
    for (const double loss : {0.0, 0.02})
    {
        RdmaNetwork network(
            MakeChain(2, 100 * GIGA, MICROSECOND),
            RdmaLineRate::GetTypeId(),
            [](RdmaNic& nic) {
                nic.SetAttribute("RetransmissionTimeout", TimeValue(MicroSeconds(50)));
            },
            loss);
        RdmaQueuePair& sender = network.Connect(0, 1, 7);
        std::vector<uint64_t> sizes{0, 1, 4095, 4096, 4097, 0, 0, 8191, 8192, 8193, 1000000, 3};
        auto random = CreateObject<UniformRandomVariable>();
        random->SetStream(3);
        for (uint32_t i = 0; i < 500; i++)
        {
            sizes.push_back(random->GetInteger(0, 20000));
        }
        for (uint32_t i = 0; i < sizes.size(); i++)
        {
            Message request = MakeRequest(sizes[i]);
            request.tag = 0x100000000 * i;
            if (i % 3 == 0)
            {
                request.immediate = ~i;
            }
            sender.Write(request);
        }
        // More messages later, after the queue has drained.
        In(MILLISECOND * 100, [&]() {
            Message request = MakeRequest(6, 7);
            request.tag = 5;
            sender.Write(request);
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), sizes.size() + 1, "each arrives once");
        for (uint32_t i = 0; i < sizes.size(); i++)
        {
            const Message& message = network.deliveries[i].message;
            NS_TEST_EXPECT_MSG_EQ(message.bytes, sizes[i], "size of message " << i);
            NS_TEST_EXPECT_MSG_EQ(message.tag, 0x100000000 * i, "address of message " << i);
            NS_TEST_EXPECT_MSG_EQ(message.immediate.has_value(),
                                  (i % 3 == 0),
                                  "immediate data or not");
            NS_TEST_EXPECT_MSG_EQ((!message.immediate || message.immediate == ~i),
                                  true,
                                  "immediate data");
            NS_TEST_EXPECT_MSG_EQ(message.payload, nullptr, "virtual payload");
        }
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.back().message.tag, 5, "the late one");
        NS_TEST_EXPECT_MSG_EQ((network.fabric.GetTotal().lostFrames > 0), (loss > 0), "losses");
        NS_TEST_EXPECT_MSG_EQ(network.fabric.GetTotal().droppedFrames, 0, "drops");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }

    // The maximum request, one byte less, and more than 4 GiB in total.
    RdmaNetwork network(MakeChain(1, 400 * GIGA, MICROSECOND),
                        RdmaLineRate::GetTypeId(),
                        [](RdmaNic& nic) { nic.SetAttribute("Mtu", UintegerValue(9000)); });
    RdmaQueuePair& sender = network.Connect(0, 1, 7);
    const std::vector<uint64_t> sizes{MAX_REQUEST,
                                      MAX_REQUEST - 1,
                                      MAX_REQUEST,
                                      1,
                                      MAX_REQUEST,
                                      MAX_REQUEST};
    uint64_t packets = 0;
    for (uint64_t bytes : sizes)
    {
        Write(sender, bytes);
        packets += (bytes + 8999) / 9000;
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), sizes.size(), "each arrives once");
    for (std::size_t i = 0; i < sizes.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[i].message.bytes, sizes[i], "size");
    }
    NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().sentPackets, packets, "packets");
}

/** Real payload arrives byte by byte, in both directions, with losses. */
void
TestRdmaPayload(double loss)
{
    RdmaNetwork network(
        MakeChain(2, 100 * GIGA, MICROSECOND),
        RdmaDcqcn::GetTypeId(),
        [](RdmaNic& nic) {
            nic.SetAttribute("Mtu", UintegerValue(1024));
            nic.SetAttribute("RetransmissionTimeout", TimeValue(MicroSeconds(50)));
        },
        loss);
    constexpr uint32_t MESSAGES = 60;
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(4);
    std::vector<std::vector<uint8_t>> expected[2];
    std::vector<Message> received[2];
    for (uint32_t host = 0; host < 2; host++)
    {
        network.nics[host]
            ->CreateQueuePair(1, 1 - host, 1)
            ->SetMessageHandler(
                [&received, host](const Message& message) { received[host].push_back(message); });
    }
    for (uint32_t host = 0; host < 2; host++)
    {
        auto buffer = Create<ByteBuffer>();
        for (uint32_t i = 0; i < 100000; i++)
        {
            buffer->bytes.push_back(static_cast<uint8_t>(random->GetInteger(0, 255)));
        }
        for (uint32_t i = 0; i < MESSAGES; i++)
        {
            const uint32_t from = random->GetInteger(0, 50000);
            const uint32_t bytes = random->GetInteger(0, i % 3 ? 50000 : 3000);
            Message request = MakeRequest(bytes, i);
            request.payload = buffer;
            request.payloadOffset = from;
            network.Get(host, 1).Write(request);
            expected[1 - host].emplace_back(buffer->bytes.begin() + from,
                                            buffer->bytes.begin() + from + bytes);
        }
    }
    Simulator::Run();
    for (uint32_t host = 0; host < 2; host++)
    {
        NS_TEST_ASSERT_MSG_EQ(received[host].size(), MESSAGES, "each arrives once");
        for (uint32_t i = 0; i < MESSAGES; i++)
        {
            NS_TEST_ASSERT_MSG_NE(received[host][i].payload, nullptr, "with payload");
            const bool same = received[host][i].payload->bytes == expected[host][i];
            NS_TEST_EXPECT_MSG_EQ(same, true, "message " << i << ", byte by byte");
            NS_TEST_EXPECT_MSG_EQ(*received[host][i].immediate, i, "in order");
        }
        const QueuePairCounters& counters = network.Get(host, 1).GetCounters();
        NS_TEST_EXPECT_MSG_EQ((counters.retransmittedPackets > 0),
                              (loss > 0),
                              "sent again, if lost");
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

/** Frames for queue pairs that do not exist. */
void
TestRdmaListener()
{
    for (const bool accepts : {false, true})
    {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND));
        auto sender = network.nics[0]->CreateQueuePair(5, 1, 9);
        std::string error;
        sender->SetErrorHandler([&](const std::string& text) { error = text; });
        uint32_t asked = 0;
        uint32_t delivered = 0;
        network.nics[1]->AddListener([&](uint32_t number) -> RdmaQueuePair* {
            asked++;
            NS_TEST_EXPECT_MSG_EQ(number, 9, "the number on the wire");
            if (!accepts)
            {
                return nullptr;
            }
            auto made = network.nics[1]->CreateQueuePair(number, 0, 5);
            made->SetMessageHandler([&](const Message&) { delivered++; });
            return PeekPointer(made);
        });
        Write(*sender, 10000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(delivered, (accepts ? 1 : 0), "delivered, if accepted");
        NS_TEST_EXPECT_MSG_EQ(error.empty(), accepts, "an error, if not");
        NS_TEST_EXPECT_MSG_EQ(asked, (accepts ? 1 : 3 * 8), "asked once, or for each packet");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }
}

const Suite g_suite("rdma-message",
                    Duration::QUICK,
                    {{"acknowledgement coalescing", TestRdmaAckInterval},
                     {"messages of all sizes in order", TestRdmaMessages},
                     {"real payload, loss 0.000000", [] { TestRdmaPayload(0); }},
                     {"real payload, loss 0.010000", [] { TestRdmaPayload(0.01); }},
                     {"queue pairs made on demand, or refused", TestRdmaListener}});

} // namespace ns3::training::tests::rdma_message_test
