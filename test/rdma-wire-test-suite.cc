/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-test-common.h"
#include "rdma/congestion/rdma-dcqcn.h"
#include "test-case.h"

#include "ns3/roce-wire-format.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training::tests::rdma_wire_test
{

/**
 * The packets of a WRITE (IB specification, chapter 9), computed independently of the queue pair.
 * @param mtu payload of a full packet
 * @param immediate whether it carries immediate data
 * @return size of each packet's frame, without preamble and gap
 */
std::vector<uint32_t>
GetFrames(uint64_t bytes, uint32_t mtu, bool immediate = false)
{
    const uint64_t packets = std::max<uint64_t>(1, (bytes + mtu - 1) / mtu);
    std::vector<uint32_t> frames;
    for (uint64_t i = 0; i < packets; i++)
    {
        const uint64_t payload = std::min<uint64_t>(mtu, bytes - i * mtu);
        uint64_t size = 14 + 20 + 8 + 12 + (payload + 3) / 4 * 4 + 4 + 4;
        size += i == 0 ? 16 : 0;
        size += immediate && i + 1 == packets ? 4 : 0;
        frames.push_back(static_cast<uint32_t>(std::max<uint64_t>(size, 64)));
    }
    return frames;
}

/** Bytes on the wire against table 4.3 of the reference: computed sizes, and counters of a port. */
void
TestRdmaWireSize()
{
    NS_TEST_EXPECT_MSG_EQ(GetDataFrameBytes(WRITE_MIDDLE, 4096) + 20, 4096 + 82, "MIDDLE");
    NS_TEST_EXPECT_MSG_EQ(GetDataFrameBytes(WRITE_FIRST, 4096) + 20, 4096 + 98, "FIRST");
    NS_TEST_EXPECT_MSG_EQ(GetDataFrameBytes(WRITE_LAST, 4093) + 20, 4096 + 82, "LAST, padded");
    NS_TEST_EXPECT_MSG_EQ(GetDataFrameBytes(WRITE_LAST_IMMEDIATE, 4096) + 20,
                          4096 + 86,
                          "LAST with immediate");
    NS_TEST_EXPECT_MSG_EQ(GetDataFrameBytes(WRITE_ONLY, 4096) + 20, 4096 + 98, "ONLY");
    NS_TEST_EXPECT_MSG_EQ(GetDataFrameBytes(WRITE_ONLY_IMMEDIATE, 4096) + 20,
                          4096 + 102,
                          "ONLY with immediate");
    NS_TEST_EXPECT_MSG_EQ(GetDataFrameBytes(WRITE_ONLY, 0), 78, "zero-length WRITE");
    NS_TEST_EXPECT_MSG_EQ(GetDataFrameBytes(WRITE_LAST, 0), 64, "no shorter frame");
    NS_TEST_EXPECT_MSG_EQ(GetFrameBytes(ROCE_BYTES + AETH_BYTES) + 20, 86, "ACK");
    NS_TEST_EXPECT_MSG_EQ(GetFrameBytes(ROCE_BYTES + CNP_BYTES) + 20, 98, "CNP");
    NS_TEST_EXPECT_MSG_EQ(Frame::MIN_BYTES + 20, 84, "PFC");

    struct Row
    {
        uint64_t bytes;
        uint32_t mtu;
        uint64_t wire;
        uint64_t packets;
    };

    const std::vector<Row> rows{{1, 4096, 102, 1},
                                {1, 1024, 102, 1},
                                {0, 4096, 98, 1},
                                {4096, 4096, 4194, 1},
                                {4096, 1024, 4440, 4},
                                {65536, 4096, 66864, 16},
                                {65536, 1024, 70800, 64},
                                {524288, 4096, 534800, 128},
                                {524288, 1024, 566288, 512},
                                {1048576, 4096, 1069584, 256},
                                {1048576, 1024, 1132560, 1024}};
    for (const Row& row : rows)
    {
        for (const bool immediate : {false, true})
        {
            RdmaNetwork network(
                MakeChain(1, 400 * GIGA, 1000),
                RdmaLineRate::GetTypeId(),
                [&](RdmaNic& nic) { nic.SetAttribute("Mtu", UintegerValue(row.mtu)); });
            network.Connect(0, 1, 1).Write(immediate ? MakeRequest(row.bytes, 5)
                                                     : MakeRequest(row.bytes));
            Simulator::Run();
            const PortCounters& data = network.fabric.devices[0]->GetPort().GetCounters();
            NS_TEST_EXPECT_MSG_EQ(data.transmittedFrames, row.packets, "packets");
            NS_TEST_EXPECT_MSG_EQ(data.transmittedBytes + 20 * data.transmittedFrames,
                                  row.wire + (immediate ? 4 : 0),
                                  row.bytes << " bytes at MTU " << row.mtu);
            const PortCounters& acks = network.fabric.devices[1]->GetPort().GetCounters();
            NS_TEST_EXPECT_MSG_EQ(acks.transmittedFrames,
                                  (row.packets + 15) / 16,
                                  "acknowledgements: every 16 packets and at the end");
            NS_TEST_EXPECT_MSG_EQ(acks.transmittedBytes,
                                  66 * acks.transmittedFrames,
                                  "their bytes");
            NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
        }
    }
}

/** Goodput of a long WRITE on one link against table 4.3, by MTU and rate. */
void
TestRdmaGoodput()
{
    struct Row
    {
        uint32_t mtu;
        double efficiency; // percent
        double gbps[3];    // at 100, 200, 400 Gbit/s
    };

    const std::vector<Row> rows{{256, 75.74, {75.7, 151.5, 303.0}},
                                {512, 86.20, {86.2, 172.4, 344.8}},
                                {1024, 92.59, {92.6, 185.2, 370.3}},
                                {2048, 96.15, {96.2, 192.3, 384.6}},
                                {4096, 98.04, {98.0, 196.1, 392.1}}};
    constexpr uint64_t RATES[] = {100 * GIGA, 200 * GIGA, 400 * GIGA};
    constexpr uint32_t PACKETS = 3000;
    for (const Row& row : rows)
    {
        for (uint32_t i = 0; i < 3; i++)
        {
            // Without congestion DCQCN must not reduce the rate.
            RdmaNetwork network(
                MakeChain(1, RATES[i], 500000),
                RdmaDcqcn::GetTypeId(),
                [&](RdmaNic& nic) { nic.SetAttribute("Mtu", UintegerValue(row.mtu)); });
            int64_t first = -1;
            network.Connect(0, 1, 1);
            network.SetTap(1, [&](Frame&) {
                first = first < 0 ? PicosecondsNow() : first;
                return false;
            });
            Write(network.Get(0, 1), uint64_t{PACKETS} * row.mtu);
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "it arrives");
            const auto time = static_cast<double>(network.deliveries[0].time - first);
            const double gbps = 8e3 * row.mtu * (PACKETS - 1) / time;
            NS_TEST_EXPECT_MSG_EQ_TOL(gbps, row.gbps[i], 0.0501, "Gbit/s at MTU " << row.mtu);
            NS_TEST_EXPECT_MSG_EQ_TOL(1e11 * gbps / static_cast<double>(RATES[i]),
                                      row.efficiency,
                                      0.00501,
                                      "percent at MTU " << row.mtu);
            // Within one packet, times equal the line time of the bytes.
            NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].time - first,
                                  (PACKETS - 1) * LineTime(row.mtu + 82, RATES[i]),
                                  "not a picosecond lost");
        }
    }
}

/**
 * One WRITE over h store-and-forward hops without contention completes at the receiver at the exact
 * picosecond of an independent recursion.
 * @param rate of each, bit/s
 * @param mtu payload of a full packet
 */
void
TestRdmaMessageTime(uint32_t hops, uint64_t rate, uint32_t mtu)
{
    constexpr int64_t DELAY = 600000;
    for (const uint64_t bytes : std::vector<
             uint64_t>{0, 1, mtu - 1, mtu, mtu + 1, 2 * mtu, 2 * mtu + 1, 65536, 100001, 1048576})
    {
        RdmaNetwork network(MakeChain(hops, rate, DELAY),
                            RdmaDcqcn::GetTypeId(),
                            [&](RdmaNic& nic) { nic.SetAttribute("Mtu", UintegerValue(mtu)); });
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        Write(sender, bytes);
        Simulator::Run();
        const std::vector<uint32_t> frames = GetFrames(bytes, mtu);
        std::vector<int64_t> free(hops, 0);
        int64_t expected = 0;
        for (uint32_t frame : frames)
        {
            int64_t time = 0;
            for (uint32_t hop = 0; hop < hops; hop++)
            {
                const int64_t begin = std::max(time, free[hop]);
                free[hop] = begin + LineTime(frame + 20, rate);
                time = begin + LineTime(frame + 8, rate) + DELAY;
            }
            expected = time;
        }
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "it arrives");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].time, expected, bytes << " bytes");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].message.bytes, bytes, "size");
        if (bytes > 2 * mtu && bytes % mtu == 0)
        {
            // The reference's closed form: the first packet over every hop, then the remaining
            // packets.
            uint64_t rest = 0;
            for (std::size_t i = 1; i < frames.size(); i++)
            {
                rest += frames[i] + 20;
            }
            const int64_t wait = LineTime(16, rate) * (hops - 1); // only the first has a RETH
            NS_TEST_EXPECT_MSG_EQ_TOL(expected,
                                      hops * (LineTime(frames[0] + 8, rate) + DELAY) +
                                          LineTime(rest, rate),
                                      wait,
                                      "closed form");
        }
        const QueuePairCounters& counters = sender.GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.sentPackets, frames.size(), "packets sent");
        NS_TEST_EXPECT_MSG_EQ(counters.retransmittedPackets, 0, "none twice");
        NS_TEST_EXPECT_MSG_EQ(counters.timeouts, 0, "no timeout");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const auto addRdmaMessageTime = [&cases](uint32_t hops, uint64_t rate, uint32_t mtu) {
        cases.push_back({"time of a WRITE over " + std::to_string(hops) + " hops at " +
                             std::to_string(rate / GIGA) + " Gbps, MTU " + std::to_string(mtu),
                         [=] { TestRdmaMessageTime(hops, rate, mtu); }});
    };
    cases.push_back({"bytes on the wire", TestRdmaWireSize});
    cases.push_back({"goodput of a long WRITE", TestRdmaGoodput});
    for (uint32_t hops : {1, 2, 3, 6})
    {
        addRdmaMessageTime(hops, 400 * GIGA, 4096);
        addRdmaMessageTime(hops, 25 * GIGA, 1024);
    }
    return cases;
}

const Suite g_suite("rdma-wire", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::rdma_wire_test
