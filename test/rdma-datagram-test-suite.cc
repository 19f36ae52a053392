/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-test-common.h"
#include "test-case.h"

#include "ns3/rdma-datagram-queue-pair.h"
#include "ns3/topology-builder.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training::tests::rdma_datagram_test
{

constexpr int64_t DELAY = MICROSECOND;

/** A received datagram. */
struct Received
{
    int64_t time;          ///< ps
    uint32_t host;         ///< receiving host
    RdmaDatagram datagram; ///< the datagram
};

/** @param network has the host @return the queue pair */
RdmaDatagramQueuePair&
Open(RdmaNetwork& network, uint32_t host, uint32_t number, std::vector<Received>& received)
{
    auto queuePair = network.nics[host]->CreateDatagramQueuePair(number);
    queuePair->SetReceiveHandler([&received, host](const RdmaDatagram& datagram) {
        received.push_back({PicosecondsNow(), host, datagram});
    });
    return *queuePair;
}

/** @param queuePair sends a datagram of virtual payload */
void
SendTo(RdmaDatagramQueuePair& queuePair, uint32_t endpoint, uint32_t number, uint32_t bytes)
{
    queuePair.SendDatagram(endpoint, number, MakeRequest(bytes));
}

/** Datagrams arrive with their contents and source, at the time that the line allows. */
void
TestRdmaDatagram()
{
    RdmaNetwork network(BuildTopology("single-switch", 3, DataRate("100Gbps"), MicroSeconds(1)));
    std::vector<Received> received;
    RdmaDatagramQueuePair& zero = Open(network, 0, 7, received);
    RdmaDatagramQueuePair& one = Open(network, 1, 8, received);
    Open(network, 2, 8, received);

    auto payload = Create<ByteBuffer>();
    for (uint32_t i = 0; i < 5000; i++)
    {
        payload->bytes.push_back(static_cast<uint8_t>(i * 7));
    }
    Message request = MakeRequest(1000, 99);
    request.payload = payload;
    request.payloadOffset = 500;
    zero.SendDatagram(1, 8, request);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(received.size(), 1, "arrives");
    const RdmaDatagram& datagram = received[0].datagram;
    NS_TEST_EXPECT_MSG_EQ(received[0].host, 1, "there");
    NS_TEST_EXPECT_MSG_EQ(datagram.sourceEndpoint, 0, "from this host");
    NS_TEST_EXPECT_MSG_EQ(datagram.sourceQp, 7, "and queue pair");
    NS_TEST_EXPECT_MSG_EQ(datagram.bytes, 1000, "size");
    NS_TEST_EXPECT_MSG_EQ(datagram.hasImmediate, true, "immediate data");
    NS_TEST_EXPECT_MSG_EQ(datagram.immediate, 99, "its value");
    NS_TEST_EXPECT_MSG_EQ(datagram.isMarked, false, "no congestion");
    NS_TEST_EXPECT_MSG_EQ(
        std::equal(payload->bytes.begin() + 500,
                   payload->bytes.begin() + 1500,
                   datagram.payload->bytes.begin() + static_cast<int64_t>(datagram.payloadOffset)),
        true,
        "contents");
    // 62 bytes around the payload, 8 of DETH and 4 of immediate data.
    NS_TEST_EXPECT_MSG_EQ(received[0].time,
                          2 * (LineTime(1000 + 62 + 8 + 4 + 8, 100 * GIGA) + DELAY),
                          "time over two links");

    // The other direction, empty, and to another host; no acknowledgement is sent.
    received.clear();
    SendTo(one, 0, 7, 0);
    SendTo(one, 2, 8, 4096);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(received.size(), 2, "arrive");
    NS_TEST_EXPECT_MSG_EQ(received[0].host, 0, "first one");
    NS_TEST_EXPECT_MSG_EQ(received[0].datagram.bytes, 0, "empty");
    NS_TEST_EXPECT_MSG_EQ(received[0].datagram.hasImmediate, false, "no immediate data");
    NS_TEST_EXPECT_MSG_EQ(received[0].datagram.payload, nullptr, "virtual");
    NS_TEST_EXPECT_MSG_EQ(received[1].host, 2, "second one");
    NS_TEST_EXPECT_MSG_EQ(received[1].datagram.bytes, 4096, "a full packet");
    NS_TEST_EXPECT_MSG_EQ(network.fabric.devices[0]->GetPort().GetCounters().transmittedFrames,
                          1,
                          "host 0 has sent its datagram and no answer");
    NS_TEST_EXPECT_MSG_EQ(network.fabric.devices[2]->GetPort().GetCounters().transmittedFrames,
                          0,
                          "host 2 has sent nothing");
    NS_TEST_EXPECT_MSG_EQ(one.GetCounters().sentPackets, 2, "counted");
    NS_TEST_EXPECT_MSG_EQ(one.GetCounters().sentBytes, 4096, "counted");
    NS_TEST_EXPECT_MSG_EQ(zero.GetCounters().receivedPackets, 1, "counted");

    // To missing queue pairs.
    received.clear();
    SendTo(one, 0, 1234, 100);
    network.Connect(0, 1, 5);
    SendTo(one, 0, 5, 100); // the number of a connection
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(received.size(), 0, "dropped");
    NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 0, "and no message");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");

    // A burst leaves back to back, in order.
    received.clear();
    constexpr uint32_t COUNT = 100;
    const int64_t start = PicosecondsNow();
    for (uint32_t i = 0; i < COUNT; i++)
    {
        SendTo(zero, 1 + i % 2, 8, 1000 + i);
    }
    NS_TEST_EXPECT_MSG_EQ(zero.GetWaiting(), COUNT - 1, "one is on the line");
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(received.size(), COUNT, "all arrive");
    NS_TEST_EXPECT_MSG_EQ(zero.GetWaiting(), 0, "none waits");
    uint64_t line = 0;
    for (uint32_t i = 0; i < COUNT; i++)
    {
        const uint32_t frame = (1000 + i + 3) / 4 * 4 + 62 + 8;
        NS_TEST_EXPECT_MSG_EQ(received[i].datagram.bytes, 1000 + i, "in order");
        NS_TEST_EXPECT_MSG_EQ_TOL(
            static_cast<double>(received[i].time - start),
            static_cast<double>(LineTime(line + 2 * (frame + 8), 100 * GIGA) + 2 * DELAY),
            100.0,
            "back to back");
        line += frame + 20;
    }
}

/**
 * Traffic classes: lossy by default and lossless by attribute. A pause of one class does not stop
 * the other. Datagrams and connections share the line.
 */
void
TestRdmaDatagramClass()
{
    constexpr uint32_t COUNT = 20000;
    for (const uint8_t priority : {LOSSY, LOSSLESS})
    {
        // Two hosts send more to one than the switch's buffer holds.
        RdmaNetwork network(BuildTopology("single-switch", 3, DataRate("100Gbps"), MicroSeconds(1)),
                            RdmaLineRate::GetTypeId(),
                            [priority](RdmaNic& nic) {
                                nic.SetAttribute("DatagramPriority", UintegerValue(priority));
                            });
        std::vector<Received> received;
        Open(network, 0, 1, received);
        for (uint32_t host : {1u, 2u})
        {
            RdmaDatagramQueuePair& sender = Open(network, host, 1, received);
            for (uint32_t i = 0; i < COUNT; i++)
            {
                SendTo(sender, 0, 1, 4096);
            }
        }
        Simulator::Run();
        const PortCounters total = network.fabric.GetTotal();
        NS_TEST_EXPECT_MSG_EQ(received.size() + total.droppedFrames, 2 * COUNT, "none forgotten");
        NS_TEST_EXPECT_MSG_EQ((total.droppedFrames > 0), (priority == LOSSY), "drops");
        NS_TEST_EXPECT_MSG_EQ((total.pausesSent > 0), (priority == LOSSLESS), "pauses");
        uint64_t marked = 0;
        for (const Received& one : received)
        {
            marked += one.datagram.isMarked;
        }
        NS_TEST_EXPECT_MSG_EQ(marked, total.markedFrames, "the receiver sees marks");
        NS_TEST_EXPECT_MSG_GT(marked, 0, "there are some");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }

    // Datagrams pass while connections are paused, and vice versa.
    for (const uint8_t paused : {LOSSY, LOSSLESS})
    {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, DELAY));
        std::vector<Received> received;
        RdmaDatagramQueuePair& datagrams = Open(network, 0, 1, received);
        Open(network, 1, 1, received);
        RdmaQueuePair& connection = network.Connect(0, 1, 1); // datagrams have separate numbers
        network.fabric.devices[0]->SetAttribute("PauseResponse", TimeValue(Time(0)));
        network.fabric.devices[0]->GetPort().Arrive(
            MakePause(static_cast<uint8_t>(1 << paused), 65535)); // 335.5 us
        Write(connection, 10 * 4096);
        for (uint32_t i = 0; i < 10; i++)
        {
            SendTo(datagrams, 1, 1, 4096);
        }
        In(100 * MICROSECOND, [&]() {
            NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), (paused == LOSSY ? 1 : 0), "message");
            NS_TEST_EXPECT_MSG_EQ(received.size(), (paused == LOSSY ? 0 : 10), "datagrams");
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "in the end all");
        NS_TEST_EXPECT_MSG_EQ(received.size(), 10, "in the end all");
    }

    // In the same class they alternate.
    {
        RdmaNetwork network(
            MakeChain(1, 100 * GIGA, DELAY),
            RdmaLineRate::GetTypeId(),
            [](RdmaNic& nic) { nic.SetAttribute("DatagramPriority", UintegerValue(LOSSLESS)); });
        std::vector<Received> received;
        RdmaDatagramQueuePair& datagrams = Open(network, 0, 1, received);
        Open(network, 1, 1, received);
        Write(network.Connect(0, 1, 1), 100 * 4096);
        for (uint32_t i = 0; i < 100; i++)
        {
            SendTo(datagrams, 1, 1, 4096);
        }
        In(LineTime(100 * (4096 + 90), 100 * GIGA), [&]() {
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(datagrams.GetCounters().sentPackets),
                                      50.0,
                                      1.0,
                                      "half each");
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received.size(), 100, "all datagrams");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "and the message");
    }
}

const Suite g_suite("rdma-datagram",
                    Duration::QUICK,
                    {{"datagrams", TestRdmaDatagram},
                     {"traffic classes of datagrams", TestRdmaDatagramClass}});

} // namespace ns3::training::tests::rdma_datagram_test
