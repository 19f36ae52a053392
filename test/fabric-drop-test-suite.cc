/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "fabric/endpoint-address.h"
#include "test-case.h"

#include "ns3/double.h"
#include "ns3/drop-reason.h"
#include "ns3/ipv4-header.h"
#include "ns3/packet.h"
#include "ns3/uinteger.h"

#include <map>
#include <set>

namespace ns3::training::tests::fabric_drop_test
{

/** @return a packet of the IP stack without payload */
Ptr<Packet>
MakePacket(const Ipv4Address& destination, uint32_t bytes)
{
    Ptr<Packet> packet = Create<Packet>(bytes);
    Ipv4Header header;
    header.SetSource(HostDevice::GetIpv4Address(0));
    header.SetDestination(destination);
    header.SetPayloadSize(static_cast<uint16_t>(bytes));
    packet->AddHeader(header);
    return packet;
}

/** Counts a packet that the device delivers upwards. */
bool
CountReceived(uint64_t* count, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&)
{
    (*count)++;
    return true;
}

/** Counts a traced packet. */
void
CountPacket(uint64_t* count, Ptr<const Packet>)
{
    (*count)++;
}

/**
 * Provokes each drop reason alone: the trace sources of all hosts and switches report it as often
 * as the ports count it.
 */
struct DropReasonTestCase
{
    void Run();

    void Note(const Frame& frame, uint16_t, DropReason reason)
    {
        traced[reason]++;
        bytes += frame.bytes;
    }

    /** Creates the fabric, with links of 100 and 10 Gbit/s, and connects its trace sources. */
    Fabric& Make(FabricHelper helper = FabricHelper())
    {
        network = helper.Install(MakeChain({{100 * GIGA, 1000000}, {10 * GIGA, 1000000}}));
        traced.clear();
        bytes = 0;
        arrivals.clear();
        for (const auto& device : network.devices)
        {
            NoteArrivals(device, arrivals);
            device->TraceConnectWithoutContext("Drop",
                                               MakeCallback(&DropReasonTestCase::Note, this));
        }
        network.devicesOfSwitches[0]->TraceConnectWithoutContext(
            "Drop",
            MakeCallback(&DropReasonTestCase::Note, this));
        return network;
    }

    /** Sends frames of 1000 bytes from host 0. */
    void Send(uint64_t frames, uint8_t priority, uint32_t destination = 1)
    {
        for (uint64_t i = 0; i < frames; i++)
        {
            network.devices[0]->GetPort().Send(MakeFrame(1000, priority, 0, destination));
        }
    }

    /** Runs the simulation to its end. @param drops expected drops; 0: some, but not all */
    void Check(DropReason reason, uint64_t frames, uint64_t drops)
    {
        Simulator::Run();
        const PortCounters total = network.GetTotal();
        const uint64_t dropped = total.droppedFrames + total.lostFrames;
        const std::string name = ns3::training::GetName(reason);
        NS_TEST_ASSERT_MSG_EQ(traced.size(), 1, name << ": one reason");
        NS_TEST_EXPECT_MSG_EQ(ns3::training::GetName(traced.begin()->first), name, "this one");
        NS_TEST_EXPECT_MSG_EQ(traced[reason], dropped, name << ": traced as counted");
        NS_TEST_EXPECT_MSG_EQ(bytes, total.droppedBytes + total.lostBytes, name << ": bytes");
        NS_TEST_EXPECT_MSG_EQ(arrivals.size() + dropped, frames, name << ": the rest arrives");
        if (drops > 0)
        {
            NS_TEST_EXPECT_MSG_EQ(dropped, drops, name << ": drops");
        }
        else
        {
            NS_TEST_EXPECT_MSG_GT(arrivals.size(), 0, name << ": not all is dropped");
        }
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, name << ": all frames given back");
        provoked.insert(reason);
        Simulator::Destroy();
    }

    void Switch();
    void Links();
    void Hosts();
    void IpStack();

    Fabric network;
    std::map<DropReason, uint64_t> traced; // traced drops
    uint64_t bytes{0};                     // traced dropped bytes
    Arrivals arrivals;
    std::set<DropReason> provoked;
};

void
DropReasonTestCase::Switch()
{
    FabricHelper small;
    small.SetSwitchAttribute("BufferSize", UintegerValue(400000));
    Make(small);
    Send(2000, LOSSY);
    Check(DropReason::NO_BUFFER, 2000, 0);

    FabricHelper early;
    early.SetSwitchAttribute("WredPmax", DoubleValue(1));
    early.SetSwitchAttribute("WredKminPerGbps", DoubleValue(500));
    early.SetSwitchAttribute("WredKmaxPerGbps", DoubleValue(500));
    Make(early);
    Send(400, LOSSY);
    Check(DropReason::EARLY_DROP, 400, 0);

    Make();
    Send(7, LOSSLESS, 99);
    Check(DropReason::NO_ROUTE, 7, 7);

    // The switch restarts after ten received frames, the first of which is on the next link.
    Fabric& fabric = Make();
    Send(10, LOSSLESS);
    In(1000000 + 10 * LineTime(1020, 100 * GIGA),
       [&fabric]() { fabric.devicesOfSwitches[0]->Restart(); });
    Check(DropReason::RESTART, 10, 9);
}

void
DropReasonTestCase::Links()
{
    struct Example
    {
        DropReason reason;
        LinkImpairment::Configuration configuration;
    };

    Example loss{DropReason::LINK_LOSS, {}};
    loss.configuration.loss = 1;
    Example burst{DropReason::LINK_LOSS, {}};
    burst.configuration.goodToBad = 1;
    burst.configuration.badToGood = 0;
    Example corrupted{DropReason::CORRUPTED, {}};
    corrupted.configuration.bitErrorRate = 0.5;
    Example down{DropReason::LINK_DOWN, {}};
    down.configuration.down = true;
    for (const Example& example : {loss, burst, corrupted, down})
    {
        Make().channels[0]->AddImpairments(
            {std::make_shared<LinkImpairment>(example.configuration, 1),
             std::make_shared<LinkImpairment>(example.configuration, 2)});
        Send(5, LOSSLESS);
        Check(example.reason, 5, 5);
    }
    // The link goes down after five sent frames, which are all in flight.
    Fabric& fabric = Make();
    Send(5, LOSSLESS);
    In(5 * LineTime(1020, 100 * GIGA), [&fabric, &down]() {
        fabric.channels[0]->AddImpairments(
            {std::make_shared<LinkImpairment>(down.configuration, 1),
             std::make_shared<LinkImpairment>(down.configuration, 2)});
    });
    Check(DropReason::LINK_DOWN, 5, 5);
}

void
DropReasonTestCase::Hosts()
{
    // Ten frames of 1000 bytes fit.
    FabricHelper slow;
    slow.SetHostAttribute("ReceiveRate", DataRateValue(DataRate("1kbps")));
    slow.SetHostAttribute("ReceiveBuffer", UintegerValue(10000));
    Fabric& full = Make(slow);
    Send(15, LOSSY);
    In(100000000, [&full]() { full.devices[1]->SetReceiveRate(DataRate(0)); });
    Check(DropReason::NO_BUFFER, 15, 5);

    Make().devicesOfSwitches[0]->GetTable().SetStatic(
        99,
        {network.devicesOfSwitches[0]->GetTable().Get(1)[0]});
    Send(3, LOSSLESS, 99);
    Check(DropReason::OTHER_HOST, 3, 3);

    FabricHelper watched;
    watched.SetSwitchAttribute("WatchdogDetection", TimeValue(MicroSeconds(100)));
    watched.SetSwitchAttribute("WatchdogRestoration", TimeValue(MilliSeconds(1)));
    FabricPort& paused = Make(watched).devicesOfSwitches[0]->GetPort(1);
    paused.Arrive(MakePause(1 << LOSSLESS, 65535));
    In(10000000, [this]() { Send(6, LOSSLESS); });
    Check(DropReason::PAUSE_STORM, 6, 6);

    Make().devices[1]->SetRdmaEngine(nullptr);
    Send(4, LOSSLESS);
    Check(DropReason::NO_RECEIVER, 4, 4);
}

void
DropReasonTestCase::IpStack()
{
    const Ipv4Address peer = HostDevice::GetIpv4Address(1);
    const auto send = [this](Ptr<Packet> packet, uint16_t protocol, bool sent) {
        NS_TEST_EXPECT_MSG_EQ(network.devices[0]->Send(packet, Address(), protocol), sent, "sent");
    };
    Make();
    send(MakePacket(peer, 100), 0x86dd, false);
    Check(DropReason::UNKNOWN_PROTOCOL, 1, 1);

    Make();
    send(MakePacket(peer, 9000 - 19), ETHERTYPE_IPV4, false);
    Check(DropReason::TOO_LONG, 1, 1);

    Make();
    send(MakePacket("9.9.9.9", 100), ETHERTYPE_IPV4, false);
    Check(DropReason::NO_ROUTE, 1, 1);

    // One frame is on the line and two wait, 1038 bytes each in the queue; the fourth is dropped.
    FabricHelper limited;
    limited.SetHostAttribute("IpQueueLimit", UintegerValue(3000));
    Make(limited);
    uint64_t received = 0;
    network.devices[1]->SetReceiveCallback(MakeBoundCallback(&CountReceived, &received));
    std::vector<uint64_t> mac(3, 0); // MacTx, MacTxDrop, MacRx
    const std::vector<std::pair<uint32_t, std::string>> sources{{0, "MacTx"},
                                                                {0, "MacTxDrop"},
                                                                {1, "MacRx"}};
    for (std::size_t i = 0; i < sources.size(); i++)
    {
        network.devices[sources[i].first]->TraceConnectWithoutContext(
            sources[i].second,
            MakeBoundCallback(&CountPacket, &mac[i]));
    }
    for (uint32_t i = 0; i < 4; i++)
    {
        send(MakePacket(peer, 1000), ETHERTYPE_IPV4, i < 3);
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(received, 3, "received");
    NS_TEST_EXPECT_MSG_EQ(mac, (std::vector<uint64_t>{4, 1, 3}), "traced");
    arrivals.resize(received);
    Check(DropReason::QUEUE_LIMIT, 4, 1);
}

void
DropReasonTestCase::Run()
{
    Switch();
    Links();
    Hosts();
    IpStack();
    NS_TEST_EXPECT_MSG_EQ(provoked.size(),
                          static_cast<std::size_t>(DropReason::COUNT),
                          "all reasons");
    std::set<std::string> names;
    for (const DropReason reason : provoked)
    {
        names.insert(ns3::training::GetName(reason));
    }
    NS_TEST_EXPECT_MSG_EQ(names.size(), provoked.size(), "each has a name of its own");
}

/** A restart of the switch removes a pause frame that waits for the line; it is not sent. */
void
TestFlushedPause()
{
    Recorder a;
    Recorder b;
    a.port.Connect(b.port, 100 * GIGA, NanoSeconds(10));
    b.port.Connect(a.port, 100 * GIGA, NanoSeconds(10));
    a.port.Send(MakeFrame(1500, LOSSLESS));
    a.port.SendPause(1 << LOSSLESS, MAX_PAUSE);
    a.port.Send(MakeFrame(1500, LOSSLESS));
    a.port.Flush();
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(b.arrivals.size(), 1, "the frame on the line");
    NS_TEST_EXPECT_MSG_EQ(a.port.GetCounters().pausesSent, 0, "no pause");
    NS_TEST_EXPECT_MSG_EQ(b.port.GetCounters().pausesReceived, 0, "none received");
    NS_TEST_EXPECT_MSG_EQ(a.port.GetCounters().droppedFrames, 1, "the frame that waited");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

const Suite g_suite("fabric-drop",
                    Duration::QUICK,
                    {{"each drop is traced with its reason, and counted",
                      RunTest<DropReasonTestCase>},
                     {"a pause frame that is flushed was not sent", TestFlushedPause}});

} // namespace ns3::training::tests::fabric_drop_test
