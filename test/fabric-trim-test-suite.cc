/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/double.h"
#include "ns3/fabric-wire-format.h"
#include "ns3/uinteger.h"

namespace ns3::training::tests::fabric_trim_test
{

constexpr uint16_t TRIMMABLE = 301; ///< protocol number
constexpr uint16_t WHOLE = 302;     ///< protocol number of frames that cannot be cut
constexpr uint32_t FRAME_BYTES = 1000;
constexpr uint8_t HEADERS = 6; ///< default class of trimmed frames

/** Header of the protocol that can be trimmed. */
struct TestHeader
{
    static constexpr uint16_t PROTOCOL = TRIMMABLE;
    bool isTrimmed{false};
    bool isLastHop{false};
};

bool
Trim(Frame& frame, bool isLastHop)
{
    auto& header = frame.As<TestHeader>();
    header.isTrimmed = true;
    header.isLastHop = isLastHop;
    frame.bytes = Frame::MIN_BYTES;
    frame.payloadBytes = 0;
    return true;
}

uint32_t
GetKey(const Frame&)
{
    return 0;
}

const WireFormat::Entry g_trimmable({"trimmable test", TRIMMABLE, &GetKey, nullptr, {}, &Trim});
const WireFormat::Entry g_whole({"whole test", WHOLE, &GetKey, nullptr, {}});

/** Counts a trimmed frame. */
void
CountTrim(uint64_t* count, const Frame&, uint16_t)
{
    (*count)++;
}

/** A chain of hosts and switches whose second link is ten times slower than the first. */
class TrimNetwork
{
  public:
    /** @param classes to trim @param slowHop link that is slow, 1 or 2, of three */
    explicit TrimNetwork(uint32_t classes, uint32_t slowHop = 1)
    {
        FabricHelper helper;
        helper.SetSwitchAttribute("TrimClasses", UintegerValue(classes));
        helper.SetSwitchAttribute("TrimPerGbps", DoubleValue(QUEUE / 10.0));
        std::vector<Hop> hops(3, {100 * GIGA, 1000});
        hops[slowHop].rate = 10 * GIGA;
        fabric = helper.Install(MakeChain(hops));
        for (const auto& device : fabric.devicesOfSwitches)
        {
            device->TraceConnectWithoutContext("Trim", MakeBoundCallback(&CountTrim, &traced));
        }
        for (const uint16_t protocol : {TRIMMABLE, WHOLE})
        {
            fabric.devices[1]->SetProgramReceiver(protocol, 0, [this](Frame* frame) {
                const bool isTrimmed =
                    frame->protocol == TRIMMABLE && frame->As<TestHeader>().isTrimmed;
                (isTrimmed ? trimmed : whole)++;
                lastHops += isTrimmed && frame->As<TestHeader>().isLastHop;
                headers +=
                    isTrimmed && frame->priority == HEADERS && frame->bytes == Frame::MIN_BYTES;
                Frame::Free(frame);
            });
        }
    }

    ~TrimNetwork()
    {
        Simulator::Destroy();
    }

    /** Sends frames back to back. */
    void Send(uint32_t frames, uint8_t priority, uint16_t protocol)
    {
        for (uint32_t i = 0; i < frames; i++)
        {
            Frame* frame = Frame::Make(TestHeader());
            frame->protocol = protocol;
            frame->bytes = FRAME_BYTES;
            frame->payloadBytes = FRAME_BYTES - Frame::MIN_BYTES;
            frame->priority = priority;
            frame->source = 0;
            frame->destination = 1;
            fabric.devices[0]->GetPort().Send(frame);
        }
    }

    /** @return frames that the switches say they trimmed */
    uint64_t GetTrimmed() const
    {
        return fabric.GetTotal().trimmedFrames;
    }

    /// Queue that stays whole, at the slow link, bytes.
    static constexpr uint32_t QUEUE = 5000;

    Fabric fabric;        ///< the network
    uint64_t whole{0};    ///< frames received whole
    uint64_t trimmed{0};  ///< frames received trimmed
    uint64_t headers{0};  ///< of these, short and in the class of headers
    uint64_t lastHops{0}; ///< of these, trimmed at the last hop
    uint64_t traced{0};   ///< trimmed frames by the trace source
};

/**
 * A queue holds the frames that fit and cuts all others, which arrive in their class; the counters,
 * the trace and the arrivals agree.
 */
void
TestTrim()
{
    constexpr uint32_t FRAMES = 40;
    for (const uint32_t slowHop : {1U, 2U})
    {
        TrimNetwork network(1 << LOSSY, slowHop);
        network.Send(FRAMES, LOSSY, TRIMMABLE);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.whole + network.trimmed, FRAMES, "all arrive");
        // One is on the slow line at once, and five are in the queue. While the others come, in
        // the line time of four, the line is busy with headers, and sends one frame.
        NS_TEST_EXPECT_MSG_EQ(network.whole, 1 + TrimNetwork::QUEUE / FRAME_BYTES + 1, "whole");
        NS_TEST_EXPECT_MSG_EQ(network.headers, network.trimmed, "short, in their class");
        NS_TEST_EXPECT_MSG_EQ(network.GetTrimmed(), network.trimmed, "counted");
        NS_TEST_EXPECT_MSG_EQ(network.traced, network.trimmed, "traced");
        NS_TEST_EXPECT_MSG_EQ(network.lastHops,
                              (slowHop == 2 ? network.trimmed : 0),
                              "at the last hop");
        NS_TEST_EXPECT_MSG_EQ(network.fabric.GetTotal().droppedFrames, 0, "no drops");
    }
}

/**
 * By default nothing is trimmed; other classes never are; frames of protocols that cannot be cut
 * are dropped.
 */
void
TestUntrimmed()
{
    constexpr uint32_t FRAMES = 40;
    for (const uint32_t classes : {0U, 2U})
    {
        TrimNetwork network(classes);
        network.Send(FRAMES, LOSSY, TRIMMABLE);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.whole, FRAMES, "all arrive whole");
        NS_TEST_EXPECT_MSG_EQ(network.GetTrimmed(), 0, "none is trimmed");
    }
    TrimNetwork network(1 << LOSSY);
    network.Send(FRAMES, LOSSY, WHOLE);
    Simulator::Run();
    const PortCounters total = network.fabric.GetTotal();
    NS_TEST_EXPECT_MSG_EQ(network.GetTrimmed(), 0, "none is trimmed");
    NS_TEST_EXPECT_MSG_GT(total.droppedFrames, 0, "drops");
    NS_TEST_EXPECT_MSG_EQ(network.whole + total.droppedFrames, FRAMES, "or arrive");
}

/** Wrong classes are refused. */
void
TestTrimRefusal()
{
    ExpectPart(GetRefusal([] { TrimNetwork network(1 << LOSSLESS); }),
               "TrimClasses=8 (allowed: classes outside LosslessClasses=8)");
    Simulator::Destroy();
    ExpectPart(GetRefusal([] { TrimNetwork network(1 << HEADERS); }),
               "TrimmedPriority=6 (allowed: a class outside TrimClasses=64)");
    Simulator::Destroy();
}

const Suite g_suite("fabric-trim",
                    Duration::QUICK,
                    {{"frames beyond the queue are cut", TestTrim},
                     {"frames that stay whole", TestUntrimmed},
                     {"refused classes", TestTrimRefusal}});

} // namespace ns3::training::tests::fabric_trim_test
