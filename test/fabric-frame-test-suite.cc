/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/random-variable-stream.h"
#include "ns3/topology-builder.h"
#include "ns3/training-byte-buffer.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace ns3::training::tests::fabric_frame_test
{

/**
 * Frames over h store-and-forward hops arrive at the exact picosecond of an independent recursion,
 * and cost one event per hop while the line is idle.
 * @param name suffix of the test name
 * @param sizes of the frames, sent back to back, bytes
 */
void
TestFabricHopTime(const std::vector<Hop>& hops, const std::vector<uint32_t>& sizes)
{
    constexpr int64_t START = 1000003;
    Fabric fabric = FabricHelper().Install(MakeChain(hops));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    FabricPort& port = fabric.devices[0]->GetPort();
    Simulator::Run(); // nodes initialize
    const uint64_t before = Simulator::GetEventCount();
    In(START, [&]() {
        for (uint32_t size : sizes)
        {
            port.Send(MakeFrame(size, LOSSLESS));
        }
    });
    Simulator::Run();

    // A rate at which a byte is a whole number of picoseconds is exact; at others each hop may
    // round.
    bool exact = true;
    std::vector<int64_t> free(hops.size(), 0);
    std::vector<int64_t> expected;
    for (uint32_t size : sizes)
    {
        int64_t time = START;
        for (std::size_t i = 0; i < hops.size(); i++)
        {
            exact = exact && 8000000000000 % hops[i].rate == 0;
            const int64_t begin = std::max(time, free[i]);
            free[i] = begin + LineTime(size + 20, hops[i].rate);
            time = begin + LineTime(size + 8, hops[i].rate) + hops[i].delay;
        }
        expected.push_back(time);
    }
    NS_TEST_ASSERT_MSG_EQ(arrivals.size(), sizes.size(), "every frame arrives");
    for (std::size_t i = 0; i < arrivals.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(arrivals[i].time,
                                  expected[i],
                                  exact ? 0 : static_cast<int64_t>(hops.size()),
                                  "arrival of frame " << i);
        NS_TEST_EXPECT_MSG_EQ(arrivals[i].bytes, sizes[i], "frames stay in order");
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    if (exact && sizes.size() == 1)
    {
        NS_TEST_EXPECT_MSG_EQ(Simulator::GetEventCount() - before,
                              1 + hops.size(),
                              "one event per hop");
    }
    Simulator::Destroy();
}

/**
 * A burst of n equal frames takes (n - 1) transmission times longer than one frame. Every port
 * after the first is idle on arrival: n * h events for the hops and n - 1 for the first line.
 * @param rate of them, bit/s; a byte must be a whole number of picoseconds
 */
void
TestFabricBurst(uint32_t hops, uint64_t rate, uint32_t frames)
{
    constexpr uint32_t BYTES = 4158;
    constexpr int64_t DELAY = 500000;
    Fabric fabric = FabricHelper().Install(MakeChain(std::vector<Hop>(hops, Hop{rate, DELAY})));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    Simulator::Run(); // nodes initialize
    const uint64_t before = Simulator::GetEventCount();
    In(0, [&]() {
        for (uint32_t i = 0; i < frames; i++)
        {
            fabric.devices[0]->GetPort().Send(MakeFrame(BYTES, LOSSLESS));
        }
    });
    Simulator::Run();
    const int64_t byteTime = 8000000000000 / static_cast<int64_t>(rate);
    NS_TEST_ASSERT_MSG_EQ(arrivals.size(), frames, "every frame arrives");
    NS_TEST_EXPECT_MSG_EQ(arrivals.back().time,
                          hops * ((BYTES + 8) * byteTime + DELAY) +
                              (frames - 1) * (BYTES + 20) * byteTime,
                          "closed form");
    NS_TEST_EXPECT_MSG_EQ(Simulator::GetEventCount() - before,
                          1 + uint64_t{frames} * hops + frames - 1,
                          "events");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetPacketHops(), uint64_t{frames} * hops, "packet hops");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().markedFrames, 0, "nothing ever waits in a switch");
    Simulator::Destroy();
}

/** Conservation under random traffic with losses and drops: every frame is accounted for. */
void
TestFabricConservation()
{
    constexpr uint32_t HOSTS = 16;
    constexpr uint32_t FRAMES = 400;
    FabricHelper helper;
    helper.SetSwitchAttribute("BufferSize", UintegerValue(800000));
    const TopologyGraph graph =
        BuildTopology("leaf-spine:leaves=4,spines=2", HOSTS, DataRate("100Gbps"), NanoSeconds(500));
    Fabric fabric = helper.Install(graph);
    LoseFrames(fabric, 0.01);
    uint64_t delivered = 0;
    uint64_t deliveredBytes = 0;
    uint64_t misdelivered = 0;
    for (uint32_t host = 0; host < HOSTS; host++)
    {
        SetRdmaReceiver(fabric.devices[host], [&, host](Frame* frame) {
            delivered++;
            deliveredBytes += frame->bytes;
            misdelivered += frame->destination != host;
            Frame::Free(frame);
        });
    }
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(1);
    uint64_t injectedBytes = 0;
    for (uint32_t i = 0; i < HOSTS * FRAMES; i++)
    {
        const uint32_t source = i % HOSTS;
        // One host in four is a hot spot, which fills buffers.
        const uint32_t destination =
            (source + 1 + random->GetInteger(0, random->GetInteger(0, 3) ? 0 : HOSTS - 2)) % HOSTS;
        const uint32_t to = random->GetInteger(0, 1) ? 15 - source / 15 : destination;
        const uint32_t bytes = random->GetInteger(64, 9216);
        const uint8_t priority = random->GetInteger(0, 7);
        injectedBytes += bytes;
        In(random->GetInteger(0, 100000000), [&fabric, source, to, bytes, priority]() {
            Frame* frame = MakeFrame(bytes, priority, source, to);
            frame->ecn = Ecn::ECT;
            fabric.devices[source]->GetPort().Send(frame);
        });
    }
    Simulator::Run();
    for (const auto& channel : fabric.channels)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            const PortCounters& here = channel->GetPort(end).GetCounters();
            const PortCounters& there = channel->GetPort(1 - end).GetCounters();
            NS_TEST_EXPECT_MSG_EQ(here.transmittedFrames,
                                  there.receivedFrames + here.lostFrames,
                                  "frames of a link");
            NS_TEST_EXPECT_MSG_EQ(here.transmittedBytes,
                                  there.receivedBytes + here.lostBytes,
                                  "bytes of a link");
        }
    }
    for (const auto& device : fabric.devicesOfSwitches)
    {
        PortCounters sum;
        for (uint16_t i = 0; i < device->GetNPorts(); i++)
        {
            const PortCounters& port = device->GetPort(i).GetCounters();
            sum.receivedFrames += port.receivedFrames - port.pausesReceived;
            sum.transmittedFrames += port.transmittedFrames - port.pausesSent;
            sum.droppedFrames += port.droppedFrames;
        }
        NS_TEST_EXPECT_MSG_EQ(sum.receivedFrames,
                              sum.transmittedFrames + sum.droppedFrames,
                              "frames of a switch");
        NS_TEST_EXPECT_MSG_EQ(device->GetBuffer().GetUsed(), 0, "the buffer is empty at the end");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(device->GetBuffer().GetPeak(), 800000, "memory is finite");
    }
    const PortCounters total = fabric.GetTotal();
    const uint64_t pauseFrames = total.pausesSent - total.pausesReceived; // pause frames lost
    NS_TEST_EXPECT_MSG_GT(total.droppedFrames, 0, "the test must reach the drops");
    NS_TEST_EXPECT_MSG_GT(total.lostFrames, 0, "and the losses");
    NS_TEST_EXPECT_MSG_GT(total.pausesReceived, 0, "and the pauses");
    NS_TEST_EXPECT_MSG_EQ(misdelivered, 0, "frames reach the host they go to");
    NS_TEST_EXPECT_MSG_EQ(uint64_t{HOSTS} * FRAMES,
                          delivered + total.droppedFrames + total.lostFrames - pauseFrames,
                          "injected = delivered + dropped + lost");
    NS_TEST_EXPECT_MSG_EQ(injectedBytes,
                          deliveredBytes + total.droppedBytes + total.lostBytes -
                              pauseFrames * Frame::MIN_BYTES,
                          "the same in bytes");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/** The frame pool over several simulations, some of which end with frames in flight. */
void
TestFabricPool()
{
    for (uint32_t cycle = 0; cycle < 5; cycle++)
    {
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "a simulation starts with none");
        Fabric fabric = FabricHelper().Install(
            BuildTopology("single-switch", 4, DataRate("100Gbps"), MicroSeconds(1)));
        auto buffer = Create<ByteBuffer>();
        buffer->bytes.resize(100);
        for (uint32_t i = 0; i < 1000; i++)
        {
            Frame* frame = MakeFrame(1000, LOSSLESS, i % 3, 3);
            frame->payload = buffer;
            fabric.devices[i % 3]->GetPort().Send(frame);
        }
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 1000, "all are in use");
        if (cycle % 2)
        {
            Simulator::Stop(MicroSeconds(10));
        }
        Simulator::Run();
        if (cycle % 2)
        {
            NS_TEST_EXPECT_MSG_GT(Frame::GetInUse(), 0, "it was cut short");
        }
        else
        {
            NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all are given back");
            NS_TEST_EXPECT_MSG_EQ(buffer->GetReferenceCount(), 1, "with their payload");
        }
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "none after the simulation");
    }
    // LIFO: the frame freed last is likely still cached.
    Frame* a = MakeFrame(64, LOSSY);
    Frame* b = MakeFrame(64, LOSSY);
    NS_TEST_EXPECT_MSG_NE(a, b, "two frames");
    b->ecn = Ecn::CE;
    b->ackRequest = true;
    b->payloadBytes = 7;
    Frame::Free(a);
    Frame::Free(b);
    Frame* c = Frame::Allocate(FrameKind::ROCE_ACK);
    NS_TEST_EXPECT_MSG_EQ(c, b, "the last one freed");
    NS_TEST_EXPECT_MSG_EQ((c->ecn == Ecn::NOT_ECT && !c->ackRequest && c->payloadBytes == 0),
                          true,
                          "nothing is left of its last use");
    Frame::Free(c);
    Simulator::Destroy();
}

/** A header of the maximum size. */
struct LargeHeader
{
    static constexpr uint16_t PROTOCOL = 0xffff; ///< Frame::protocol
    uint64_t words[6];                           ///< contents
};

/** Sets every byte of the headers, and all other fields. */
void
Fill(Frame& frame, Ptr<ByteBuffer> payload)
{
    std::memset(static_cast<void*>(static_cast<FrameHeaders*>(&frame)), 0x77, sizeof(FrameHeaders));
    frame.ackRequest = true;
    frame.ecnEcho = true;
    frame.ecn = Ecn::CE;
    frame.priority = 3;
    frame.opcode = 7;
    frame.psn = 42;
    frame.destinationQp = 9;
    frame.ingress = 5;
    frame.ingressPriority = 6;
    frame.payload = payload;
    frame.packet = Create<Packet>(10);
    frame.SetTelemetry(std::make_unique<TelemetryStack>(TelemetryStack{{1, 2, 3, 4}}));
    frame.Set(LargeHeader{{77, 1, 2, 3, 4, 5}});
}

bool
HasSameHeaders(const Frame& frame, const FrameHeaders& headers)
{
    return std::memcmp(static_cast<const FrameHeaders*>(&frame), &headers, sizeof(headers)) == 0;
}

/**
 * A frame from the pool keeps nothing of its last use, a clone copies everything, and the fields
 * for each hop are in one cache line.
 */
void
TestFrameContents()
{
    const auto payload = Create<ByteBuffer>();
    Frame* used = Frame::Allocate(FrameKind::PROGRAM);
    Fill(*used, payload);
    Frame* copy = used->Clone();
    NS_TEST_EXPECT_MSG_EQ(HasSameHeaders(*copy, *used), true, "a clone's headers");
    NS_TEST_EXPECT_MSG_EQ(copy->Is<LargeHeader>(), true, "its protocol");
    for (uint32_t i = 0; i < 6; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(copy->As<LargeHeader>().words[i], (i == 0 ? 77 : i), "its header");
    }
    NS_TEST_EXPECT_MSG_EQ(copy->payload, payload, "its payload");
    NS_TEST_EXPECT_MSG_EQ(copy->packet, used->packet, "its packet");
    NS_TEST_EXPECT_MSG_EQ(copy->GetTelemetry()->at(0).rate, 4, "its telemetry");
    NS_TEST_EXPECT_MSG_NE(copy->GetTelemetry(), used->GetTelemetry(), "a copy");
    NS_TEST_EXPECT_MSG_EQ(copy->ingress, 5, "its ingress port");
    NS_TEST_EXPECT_MSG_EQ(+copy->ingressPriority, 6, "its ingress class");
    Frame::Free(copy);
    Frame::Free(used);
    for (const FrameKind kind : {FrameKind::IP,
                                 FrameKind::PAUSE,
                                 FrameKind::ROCE_DATA,
                                 FrameKind::ROCE_ACK,
                                 FrameKind::ROCE_CNP,
                                 FrameKind::PROGRAM})
    {
        Frame* frame = Frame::Allocate(kind);
        NS_TEST_EXPECT_MSG_EQ(frame, used, "the one that was freed last");
        FrameHeaders defaults;
        defaults.kind = kind;
        NS_TEST_EXPECT_MSG_EQ(HasSameHeaders(*frame, defaults), true, "default headers");
        NS_TEST_EXPECT_MSG_EQ(frame->ingress, 0, "ingress port");
        NS_TEST_EXPECT_MSG_EQ(+frame->ingressPriority, 0, "ingress class");
        NS_TEST_EXPECT_MSG_EQ(frame->next, nullptr, "no next frame");
        NS_TEST_EXPECT_MSG_EQ(frame->port, nullptr, "no port");
        NS_TEST_EXPECT_MSG_EQ(!frame->payload && !frame->packet && !frame->GetTelemetry(),
                              true,
                              "nothing attached");
        const std::byte zero{0};
        NS_TEST_EXPECT_MSG_EQ(
            (kind != FrameKind::PROGRAM || std::all_of(std::begin(frame->programHeader),
                                                       std::end(frame->programHeader),
                                                       [=](std::byte b) { return b == zero; })),
            true,
            "program header");
        Fill(*frame, payload);
        Frame::Free(frame);
    }
    NS_TEST_EXPECT_MSG_EQ(payload->GetReferenceCount(), 1, "freed frames hold no payload");
    const auto line = [=](const auto& field) {
        return (reinterpret_cast<uintptr_t>(&field + 1) - 1) / 64 -
               reinterpret_cast<uintptr_t>(used) / 64;
    };
    NS_TEST_EXPECT_MSG_EQ(reinterpret_cast<uintptr_t>(used) % 64, 0, "its own cache lines");
    NS_TEST_EXPECT_MSG_EQ(line(used->protocol), 0, "the fields of each hop");
    NS_TEST_EXPECT_MSG_EQ(line(used->payload), 0, "and its payload");
    NS_TEST_EXPECT_MSG_EQ(line(used->syndrome), 1, "the other headers");
    NS_TEST_EXPECT_MSG_EQ(sizeof(Frame), 192, "the rest");
    Simulator::Destroy();
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const auto addFabricHopTime = [&cases](const std::string& name,
                                           const std::vector<Hop>& hops,
                                           const std::vector<uint32_t>& sizes) {
        cases.push_back(
            {"time over store-and-forward hops: " + name, [=] { TestFabricHopTime(hops, sizes); }});
    };
    addFabricHopTime("400G, 64 B", {{400 * GIGA, 0}}, {64});
    addFabricHopTime("400G, 4158 B, 3 hops",
                     {{400 * GIGA, 500000}, {400 * GIGA, 500000}, {400 * GIGA, 500000}},
                     {4158});
    addFabricHopTime("100G, 1500 B, 6 hops", std::vector<Hop>(6, {100 * GIGA, 1234567}), {1500});
    addFabricHopTime("1 Mbps, 9216 B", {{1000000, 1}, {1000000, 999999999}}, {9216});
    addFabricHopTime("odd rates", {{7 * GIGA, 1}, {33333333333, 17}, {99999999977, 1000}}, {1501});
    addFabricHopTime("odd rates, burst",
                     {{7 * GIGA, 1}, {3 * GIGA, 17}},
                     std::vector<uint32_t>(20, 777));
    addFabricHopTime("fast to slow, mixed sizes",
                     {{400 * GIGA, 100}, {100 * GIGA, 2000}, {25 * GIGA, 30000}},
                     {64, 9216, 65, 1500, 4158, 64, 64, 9000, 333});
    addFabricHopTime("slow to fast, mixed sizes",
                     {{10 * GIGA, 100}, {40 * GIGA, 2000}, {800 * GIGA, 30000}},
                     {9216, 64, 64, 64, 1500, 4158, 64, 9216, 64});
    for (uint32_t hops : {1, 2, 5})
    {
        for (uint32_t frames : {1, 2, 1000})
        {
            cases.push_back({"burst of " + std::to_string(frames) + " frames over " +
                                 std::to_string(hops) + " hops",
                             [hops, frames] { TestFabricBurst(hops, 400 * GIGA, frames); }});
        }
    }
    cases.push_back({"every frame is received, lost or dropped", TestFabricConservation});
    cases.push_back({"frame pool over several simulations", TestFabricPool});
    cases.push_back({"contents of new, reused and cloned frames", TestFrameContents});
    return cases;
}

const Suite g_suite("fabric-frame", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::fabric_frame_test
