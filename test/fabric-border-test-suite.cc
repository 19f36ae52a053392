/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/fabric-partition.h"
#include "fabric-test-common.h"
#include "fabric/frame-archive.h"
#include "test-case.h"

#include "ns3/packet.h"
#include "ns3/process-border.h"
#include "ns3/topology-builder.h"
#include "ns3/training-byte-archive.h"

#include <algorithm>
#include <set>

namespace ns3::training::tests::fabric_border_test
{

/** Packing and unpacking of integers of all sizes, times and strings. */
void
TestByteArchive()
{
    const std::vector<uint64_t> numbers{0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
    const std::vector<std::size_t> sizes{1, 1, 1, 2, 2, 3, 5, 10};
    for (std::size_t i = 0; i < numbers.size(); i++)
    {
        ByteWriter writer;
        writer(numbers[i]);
        NS_TEST_EXPECT_MSG_EQ(writer.GetSize(), sizes[i], "seven bits a byte");
        ByteReader reader(writer.GetData(), writer.GetSize());
        NS_TEST_EXPECT_MSG_EQ(reader.Next<uint64_t>(), numbers[i], "number");
        NS_TEST_EXPECT_MSG_EQ(reader.IsAtEnd(), true, "nothing else");
    }
    ByteWriter writer;
    const std::string text("a\0b", 3);
    writer(int64_t{-5}, true, TimeStep(77), text, std::string(), Ecn::CE, -0.1);
    const std::string bytes = writer.GetText();
    ByteReader reader(bytes.data(), bytes.size());
    NS_TEST_EXPECT_MSG_EQ(reader.Next<int64_t>(), -5, "negative");
    NS_TEST_EXPECT_MSG_EQ(reader.Next<bool>(), true, "truth value");
    NS_TEST_EXPECT_MSG_EQ(reader.Next<Time>(), TimeStep(77), "time");
    NS_TEST_EXPECT_MSG_EQ(reader.Next<std::string>(), text, "text with a zero");
    NS_TEST_EXPECT_MSG_EQ(reader.Next<std::string>().empty(), true, "empty text");
    NS_TEST_EXPECT_MSG_EQ(reader.Next<Ecn>(), Ecn::CE, "enumerator");
    NS_TEST_EXPECT_MSG_EQ(reader.Next<double>(), -0.1, "all bits of a number");
    NS_TEST_EXPECT_MSG_EQ(reader.IsAtEnd(), true, "nothing else");
}

/** A header of the maximum size. */
struct WideHeader
{
    static constexpr uint16_t PROTOCOL = 0xffff; ///< Frame::protocol
    uint64_t words[6]{};                         ///< contents
};

/** @param frame is packed, unpacked, compared, and packed again */
void
Check(const Frame& frame)
{
    ByteWriter writer;
    WriteFrame(writer, frame);
    ByteReader reader(writer.GetData(), writer.GetSize());
    Frame* other = ReadFrame(reader);
    NS_TEST_EXPECT_MSG_EQ(reader.IsAtEnd(), true, "all bytes are used");
    const auto fields = [](const Frame& f) {
        const WideHeader wide =
            f.Is<WideHeader>() ? f.As<WideHeader>() : WideHeader(); // undefined for others
        return std::vector<uint64_t>{static_cast<uint64_t>(f.kind),
                                     f.bytes,
                                     f.source,
                                     f.destination,
                                     f.flowHash,
                                     f.priority,
                                     static_cast<uint64_t>(f.ecn),
                                     f.ackRequest,
                                     f.ecnEcho,
                                     f.opcode,
                                     f.payloadBytes,
                                     f.destinationQp,
                                     f.psn,
                                     f.immediate,
                                     f.remoteAddress,
                                     f.messageBytes,
                                     static_cast<uint64_t>(f.timestamp),
                                     f.sourceQp,
                                     f.messageNumber,
                                     f.selectivePsn,
                                     f.protocol,
                                     f.pauseQuanta,
                                     f.pauseClasses,
                                     f.syndrome,
                                     wide.words[0],
                                     wide.words[1],
                                     wide.words[2],
                                     wide.words[3],
                                     wide.words[4],
                                     wide.words[5],
                                     f.payload ? 1U : 0U,
                                     f.packet ? f.packet->GetSize() + 1 : 0U,
                                     f.hasTelemetry ? f.GetTelemetry()->size() + 1 : 0U};
    };
    NS_TEST_EXPECT_MSG_EQ(fields(frame), fields(*other), "fields");
    if (frame.payload)
    {
        const auto begin = frame.payload->bytes.begin() + frame.payloadOffset;
        NS_TEST_EXPECT_MSG_EQ(std::equal(begin,
                                         begin + frame.payloadBytes,
                                         other->payload->bytes.begin() + other->payloadOffset),
                              true,
                              "payload");
    }
    if (frame.packet && other->packet)
    {
        std::vector<uint8_t> contents(frame.packet->GetSize(), 1);
        other->packet->CopyData(contents.data(), frame.packet->GetSize());
        NS_TEST_EXPECT_MSG_EQ(std::count(contents.begin(), contents.end(), 0x5a),
                              static_cast<std::ptrdiff_t>(contents.size()),
                              "packet");
    }
    if (frame.hasTelemetry && other->hasTelemetry)
    {
        NS_TEST_EXPECT_MSG_EQ(other->GetTelemetry()->back().rate, UINT64_MAX, "telemetry");
        NS_TEST_EXPECT_MSG_EQ(other->GetTelemetry()->front().sentBytes, 12, "telemetry");
    }
    Frame::Free(other);
}

/** Packing and unpacking of frames preserves everything that a receiver can see. */
void
TestFrameArchive()
{
    Frame* frame = MakeFrame(1082, 5, 70000, 3);
    frame->ecn = Ecn::CE;
    frame->opcode = 0x0b;
    frame->destinationQp = 0x123456;
    frame->psn = 0xffffff;
    frame->immediate = 0xcafebabe;
    frame->remoteAddress = UINT64_MAX;
    frame->messageBytes = uint64_t{5} << 30;
    frame->timestamp = 123456789012345;
    frame->ackRequest = true;
    frame->ecnEcho = true;
    frame->sourceQp = 1;
    frame->messageNumber = 2;
    frame->selectivePsn = 3;
    frame->syndrome = 4;
    frame->payloadBytes = 3;
    frame->payload = Create<ByteBuffer>();
    frame->payload->bytes = {9, 9, 7, 0, 8, 9};
    frame->payloadOffset = 2;
    frame->SetTelemetry(std::make_unique<TelemetryStack>(
        TelemetryStack{{11, 12, 13, 14}, {21, 22, 23, UINT64_MAX}}));
    Check(*frame);
    Frame::Free(frame);

    Frame* sum = MakeFrame(312, LOSSY);
    sum->Set(WideHeader{{UINT64_MAX - 1, 2, 3, 4, 5, 6}});
    Check(*sum);
    Frame::Free(sum);

    Frame* pause = MakePause(0xa5, 0xffff);
    Check(*pause);
    Frame::Free(pause);

    for (uint32_t bytes : {0U, 1U, 1501U})
    {
        Frame* ip = Frame::Allocate(FrameKind::IP);
        std::vector<uint8_t> contents(bytes, 0x5a);
        ip->packet = Create<Packet>(contents.data(), bytes);
        ip->protocol = 0x0800;
        Check(*ip);
        Frame::Free(ip);
    }
    Simulator::Destroy();
}

/** Frames that two hosts received from each other. */
using Outcome = std::vector<Arrivals>;

/** Borders of processes that are all here. A message arrives when its sender has sent the next
 * one, or before, so rounds may be half as long as the delay of a link. */
struct Sides
{
    explicit Sides(uint32_t count)
        : mail(count, std::vector<std::vector<uint8_t>>(count))
    {
        for (uint32_t side = 0; side < count; side++)
        {
            borders.push_back(std::make_unique<ProcessBorder>(
                side,
                count,
                [this, side](const std::vector<ByteWriter>& messages,
                             const ProcessBorder::Receiver& receiver) {
                    for (uint32_t other = 0; other < messages.size(); other++)
                    {
                        const ByteWriter& to = messages[other];
                        const std::vector<uint8_t>& from = mail[other][side];
                        mail[side][other].assign(to.GetData(), to.GetData() + to.GetSize());
                        if (other != side && !from.empty())
                        {
                            receiver(other, from.data(), from.size());
                        }
                    }
                }));
        }
    }

    /** Ends a round of each side, and later rounds up to a time, all in ps. */
    void Exchange(int64_t round, int64_t end)
    {
        for (const auto& border : borders)
        {
            earliest.push_back(border->Exchange(ProcessBorder::NEVER));
        }
        if (PicosecondsNow() < end)
        {
            In(round, [this, round, end] { Exchange(round, end); });
        }
    }

    std::vector<std::vector<std::vector<uint8_t>>> mail; // by sender and receiver
    std::vector<std::unique_ptr<ProcessBorder>> borders;
    std::vector<uint64_t> earliest; // what Exchange() has returned
};

constexpr int64_t DELAY = 1000000; // of a link, ps
constexpr uint64_t FRAMES = 300;

/** @param round length of a round, ps; 0: no border @return the received frames */
Outcome
Simulate(int64_t round)
{
    const Fabric fabric = FabricHelper().Install(
        MakeChain({{100 * GIGA, DELAY}, {100 * GIGA, DELAY}, {100 * GIGA, DELAY}}));
    Sides sides(2);
    if (round > 0)
    {
        const auto& channel = fabric.channels.front();
        sides.borders[0]->AddLink(channel->GetPort(0), 0, 1, 1);
        sides.borders[1]->AddLink(channel->GetPort(1), 1, 0, 0);
        In(round, [&sides, round] { sides.Exchange(round, 200 * DELAY); });
    }
    Outcome outcome(2);
    std::vector<std::unique_ptr<Blaster>> senders;
    for (uint32_t host = 0; host < 2; host++)
    {
        NoteArrivals(fabric.devices[host], outcome[host]);
        senders.push_back(std::make_unique<Blaster>(fabric.devices[host],
                                                    1 - host,
                                                    500 + 1000 * host,
                                                    LOSSLESS,
                                                    FRAMES));
        senders.back()->Start(host * 12345);
    }
    Simulator::Run();
    Simulator::Destroy();
    return outcome;
}

/** A notice arrives with its time, and counts as an event for all until it is known. */
void
CheckNotices()
{
    Sides sides(3);
    std::vector<std::pair<int64_t, int64_t>> heard; // arrival and sending time
    for (uint32_t side = 0; side < 3; side++)
    {
        sides.borders[side]->SetNoticeHandler([&, side](ProcessBorder::Notice notice, Time when) {
            NS_TEST_EXPECT_MSG_NE(side, 1, "not to oneself");
            NS_TEST_EXPECT_MSG_EQ(notice, ProcessBorder::Notice::DONE, "notice");
            heard.emplace_back(PicosecondsNow(), when.GetTimeStep());
        });
    }
    In(700, [&] { sides.borders[1]->Announce(ProcessBorder::Notice::DONE); });
    In(1000, [&] { sides.Exchange(1000, 3000); });
    Simulator::Run();
    Simulator::Destroy();
    NS_TEST_EXPECT_MSG_EQ(heard.size(), 2, "both others hear it");
    for (const auto& [when, given] : heard)
    {
        NS_TEST_EXPECT_MSG_EQ(given, 700, "when it was given");
        NS_TEST_EXPECT_MSG_LT(when, 2001, "at the end of a round");
    }
    // Process 1 tells 2 in the first exchange, and 0, which comes before it, in the second.
    constexpr uint64_t NEVER = ProcessBorder::NEVER;
    NS_TEST_EXPECT_MSG_EQ(
        sides.earliest,
        (std::vector<uint64_t>{NEVER, 700, 700, 700, NEVER, NEVER, NEVER, NEVER, NEVER}),
        "the earliest time anywhere");
}

/**
 * A border on the first link of a chain of two hosts and two switches, in one process. Arrivals are
 * the same as without it, to the picosecond.
 */
void
TestProcessBorder()
{
    const Outcome plain = Simulate(0);
    NS_TEST_EXPECT_MSG_EQ(plain[0].size(), FRAMES, "host 0");
    NS_TEST_EXPECT_MSG_EQ(plain[1].size(), FRAMES, "host 1");
    NS_TEST_EXPECT_MSG_EQ(plain, Simulate(DELAY / 2), "the longest rounds");
    NS_TEST_EXPECT_MSG_EQ(plain, Simulate(DELAY / 7), "short rounds");
    CheckNotices();
}

/** Partitions of a topology: hosts with their leaf, equal shares, neighbors together. */
struct PartitionTestCase
{
    void Run()
    {
        Check("leaf-spine:leaves=4,spines=2", 16, 2, 4);
        Check("leaf-spine:leaves=5,spines=3", 15, 3, 5);
        Check("fat-tree:k=4", 16, 2, 8);
        Check("fat-tree:k=4", 16, 8, 8);
        Check("fat-tree:k=8", 128, 5, 32);
        Check("single-switch", 7, 1, 1);
        // Only leaves with ranks are divided: 6 ranks on switches of 4 hosts.
        Check("leaf-spine:leaves=4,spines=2,hosts-per-leaf=4", 6, 2, 2);
        // Neighboring leaves stay together, so that a pod of a fat-tree is not split.
        const TopologyGraph pods = BuildTopology("fat-tree:k=4", 16, DataRate(GIGA), TimeStep(1));
        const auto half = PartitionBySwitch(pods, 16, 2);
        for (uint32_t host = 0; host < 16; host++)
        {
            NS_TEST_EXPECT_MSG_EQ(half[host], host / 8, "pods 0 and 1, pods 2 and 3");
        }
        CheckLeastCut("fat-tree:k=4", 16);
        CheckLeastCut("leaf-spine:leaves=6,spines=3", 6);
        CheckLeastCut("leaf-spine:leaves=5,spines=2", 10);
        CheckLeastCut("torus:4x4", 16);
        CheckLeastCut("torus:2x6", 12);
        CheckLeastCut("torus:6x2", 12);
        CheckLeastCut("mesh:3x4", 12);
        CheckLeastCut("torus:2x4x2", 16);
        CheckLeastCut("bigraph:n=8", 8);
        CheckLeastCut("two-switch", 6);
    }

    /**
     * No other halves of the leaves have fewer links between them, with the best place of every
     * other switch. All are tried.
     *
     * @param spec topology of links with one rate
     */
    void CheckLeastCut(const std::string& spec, uint32_t ranks)
    {
        const TopologyGraph graph = BuildTopology(spec, ranks, DataRate(GIGA), TimeStep(1));
        const auto process = PartitionBySwitch(graph, ranks, 2);
        std::vector<bool> isLeaf(graph.switches, false);
        std::vector<std::pair<uint32_t, uint32_t>> links; // between switches
        uint32_t cut = 0;
        for (const auto& link : graph.links)
        {
            cut += process[link.a] != process[link.b];
            if (link.a < graph.hosts)
            {
                isLeaf.at(link.b - graph.hosts) = true;
            }
            else
            {
                links.emplace_back(link.a - graph.hosts, link.b - graph.hosts);
            }
        }
        const auto leaves = static_cast<uint32_t>(std::count(isLeaf.begin(), isLeaf.end(), true));
        uint32_t least = UINT32_MAX;
        for (uint32_t sides = 0; sides < 1U << graph.switches; sides++)
        {
            uint32_t first = 0;
            for (uint32_t i = 0; i < graph.switches; i++)
            {
                first += isLeaf[i] && (sides >> i & 1) == 0;
            }
            if (first == (leaves + 1) / 2)
            {
                uint32_t crossed = 0;
                for (const auto& [a, b] : links)
                {
                    crossed += (sides >> a & 1) != (sides >> b & 1);
                }
                least = std::min(least, crossed);
            }
        }
        NS_TEST_EXPECT_MSG_EQ(cut, least, spec << ": links between the halves");
    }

    /** @param leaves number of leaves with ranks */
    void Check(const std::string& spec, uint32_t ranks, uint32_t processes, uint32_t leaves)
    {
        const TopologyGraph graph = BuildTopology(spec, ranks, DataRate(GIGA), TimeStep(1));
        const auto process = PartitionBySwitch(graph, ranks, processes);
        NS_TEST_EXPECT_MSG_EQ(process.size(), graph.GetNodes(), spec << ": every node");
        std::vector<std::set<uint32_t>> busy(processes);
        for (const auto& link : graph.links)
        {
            if (link.a < graph.hosts)
            {
                NS_TEST_EXPECT_MSG_EQ(process[link.a], process[link.b], spec << ": with its leaf");
                if (link.a < ranks)
                {
                    busy.at(process[link.b]).insert(link.b);
                }
            }
        }
        for (const auto& share : busy)
        {
            NS_TEST_EXPECT_MSG_LT(share.size(), leaves / processes + 2, spec << ": equal shares");
            NS_TEST_EXPECT_MSG_GT(share.size() + 1, leaves / processes, spec << ": equal shares");
        }
        const std::string text = GetRefusal([&] { PartitionBySwitch(graph, ranks, leaves + 1); });
        ExpectPart(text, "allowed: 1 to " + std::to_string(leaves) + ",", spec);
    }
};

const Suite g_suite("fabric-border",
                    Duration::QUICK,
                    {{"bytes of values", TestByteArchive},
                     {"frames for another process", TestFrameArchive},
                     {"a link that crosses the border", TestProcessBorder},
                     {"shares of a topology", RunTest<PartitionTestCase>}});

} // namespace ns3::training::tests::fabric_border_test
