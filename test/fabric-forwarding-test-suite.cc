/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/topology-builder.h"

#include <algorithm>
#include <map>

namespace ns3::training::tests::fabric_forwarding_test
{

/** @return frames of the flow at each spine, sent in distant bursts of 100 frames */
std::vector<uint64_t>
Run(const std::string& name, int32_t staticSpine = -1)
{
    FabricHelper helper;
    helper.SetSwitchAttribute("Path", StringValue(name));
    Fabric fabric = helper.Install(
        BuildTopology("leaf-spine:leaves=2,spines=4", 2, DataRate("100Gbps"), MicroSeconds(1)));
    const uint32_t last = fabric.topology.hosts - 1;
    if (staticSpine >= 0)
    {
        const auto group = fabric.devicesOfSwitches[0]->GetTable().Get(last);
        fabric.devicesOfSwitches[0]->GetTable().SetStatic(last, {group[staticSpine]});
        fabric.UpdateRoutes();
    }
    Arrivals arrivals;
    NoteArrivals(fabric.devices[last], arrivals);
    for (uint32_t burst = 0; burst < 40; burst++)
    {
        In(burst * 100000000, [&fabric, last]() {
            for (uint32_t i = 0; i < 100; i++)
            {
                fabric.devices[0]->GetPort().Send(MakeFrame(1000, LOSSLESS, 0, last));
            }
        });
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(arrivals.size(), 4000, name << ": all arrive");
    std::vector<uint64_t> bySpine;
    for (uint32_t spine = 2; spine < 6; spine++)
    {
        bySpine.push_back(fabric.devicesOfSwitches[spine]->GetPort(0).GetCounters().receivedFrames);
    }
    Simulator::Destroy();
    return bySpine;
}

/**
 * One flow over four spines: ECMP uses one, spraying uses all equally, flowlets change only after a
 * pause, a static route uses the given one.
 */
void
TestLoadBalancing()
{
    const auto ecmp = Run("ecmp");
    NS_TEST_EXPECT_MSG_EQ(*std::max_element(ecmp.begin(), ecmp.end()), 4000, "one path");
    for (const uint64_t frames : Run("spray"))
    {
        NS_TEST_EXPECT_MSG_EQ(frames, 1000, "all paths alike");
    }
    for (const uint64_t frames : Run("flowlet"))
    {
        NS_TEST_EXPECT_MSG_EQ(frames % 100, 0, "a burst keeps to its path");
        NS_TEST_EXPECT_MSG_GT(frames, 0, "but bursts take all");
    }
    // Bursts start 100 us apart and last 8 us.
    const auto patient = Run("flowlet:gap=92us");
    NS_TEST_EXPECT_MSG_EQ(*std::max_element(patient.begin(), patient.end()),
                          4000,
                          "no pause is longer");
    for (int32_t spine = 0; spine < 4; spine++)
    {
        NS_TEST_EXPECT_MSG_EQ(Run("spray", spine)[spine], 4000, "static route");
    }
}

/** A table has a group of its own for each port of the largest switch. */
void
TestForwardingTable()
{
    ForwardingTable table;
    constexpr uint32_t PORTS = ForwardingTable::MAX_PORTS;
    for (uint32_t port = 0; port < PORTS; port++)
    {
        table.Set(port, {static_cast<uint16_t>(port)});
    }
    table.Set(PORTS, {0});
    table.Set(PORTS + 1, {});
    uint32_t right = 0;
    for (uint32_t port = 0; port < PORTS; port++)
    {
        const auto group = table.Get(port);
        right += group.size() == 1 && group[0] == port;
    }
    NS_TEST_EXPECT_MSG_EQ(right, PORTS, "one port each");
    NS_TEST_EXPECT_MSG_EQ(table.Get(PORTS)[0], 0, "a shared group");
    NS_TEST_EXPECT_MSG_EQ(table.Get(PORTS + 1).empty(), true, "unreachable");
    NS_TEST_EXPECT_MSG_EQ(table.Get(PORTS + 2).empty(), true, "unknown");
    NS_TEST_EXPECT_MSG_NE(GetRefusal([&] { table.Set(0, {1, 2}); }), "", "the table is full");

    // Groups of odd and even sizes, each twice.
    ForwardingTable mixed;
    for (uint32_t destination = 0; destination < 200; destination++)
    {
        ForwardingTable::Group ports(destination % 100 % 7 + 1);
        for (std::size_t i = 0; i < ports.size(); i++)
        {
            ports[i] = static_cast<uint16_t>(destination % 100 + i);
        }
        mixed.Set(destination, ports);
    }
    for (uint32_t destination = 0; destination < 200; destination++)
    {
        const auto group = mixed.Get(destination);
        NS_TEST_EXPECT_MSG_EQ(group.size(), destination % 100 % 7 + 1, "ports");
        NS_TEST_EXPECT_MSG_EQ(group[group.size() - 1],
                              destination % 100 + group.size() - 1,
                              "last port");
        NS_TEST_EXPECT_MSG_EQ(group.begin(), mixed.Get(destination % 100).begin(), "shared");
    }
}

/** Frames of two sizes alternate, and so do two destinations: each port gets half of each. */
void
CheckBalance(const std::string& path, const std::vector<Ptr<FabricPort>>& ports)
{
    constexpr uint32_t LARGE = 4178;
    ForwardingTable table;
    PathChooser chooser(ports, CreateObject<UniformRandomVariable>());
    chooser.SetPath(path);
    std::map<std::pair<uint32_t, uint16_t>, uint64_t> bytes; // by destination and port
    for (const uint32_t destination : {8, 9})
    {
        table.Set(destination, {1, 2});
    }
    for (uint32_t i = 0; i < 400; i++)
    {
        const uint32_t destination = 8 + i % 2;
        Frame* frame = MakeFrame(i % 4 < 2 ? LARGE : 66, 3, i % 2, destination);
        const uint16_t port = chooser.Choose(*frame, table.Get(destination));
        bytes[{destination, port}] += frame->bytes;
        Frame::Free(frame);
    }
    for (const uint32_t destination : {8, 9})
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(bytes[{destination, 1}]),
                                  static_cast<double>(bytes[{destination, 2}]),
                                  LARGE,
                                  path << " to " << destination);
    }
}

/** @return egress port of a frame between two endpoints */
uint16_t
Choose(PathChooser& chooser, const ForwardingTable& table, uint32_t source, uint32_t destination)
{
    Frame* frame = MakeFrame(1000, LOSSLESS, source, destination);
    const uint16_t port = chooser.Choose(*frame, table.Get(destination));
    Frame::Free(frame);
    return port;
}

void
CheckRefusal(const std::string& path, const std::string& message)
{
    // An object that ns-3 makes with a refused value would leak.
    const auto device = CreateObject<SwitchDevice>();
    const std::string refusal =
        GetRefusal([&] { device->SetAttribute("Path", StringValue(path)); });
    ExpectPart(refusal, message, path);
}

/** Path choices in isolation: each by name and keys, with ports up and down. */
void
TestPathChoice()
{
    Recorder owner;
    std::vector<Ptr<FabricPort>> ports;
    for (uint16_t i = 0; i < 4; i++)
    {
        ports.push_back(Create<FabricPort>(owner, 0, i));
    }
    ForwardingTable table;
    table.Set(9, {1, 2});
    table.Set(8, {3});
    for (const auto& [name, entry] : Registry<PathChoiceEntry>::All())
    {
        PathChooser chooser(ports, CreateObject<UniformRandomVariable>());
        chooser.SetPath(name);
        std::vector<uint16_t> before;
        for (uint32_t i = 0; i < 10; i++)
        {
            const uint16_t port = Choose(chooser, table, i, 9);
            before.push_back(port);
            NS_TEST_EXPECT_MSG_EQ((port == 1 || port == 2), true, name << ": of the group");
            NS_TEST_EXPECT_MSG_EQ(Choose(chooser, table, i, 8), 3, name << ": the only one");
            NS_TEST_EXPECT_MSG_EQ(Choose(chooser, table, i, 7),
                                  PathContext::NONE,
                                  name << ": none");
        }
        chooser.GetContext().Pin(5, 7, 0);
        NS_TEST_EXPECT_MSG_EQ(Choose(chooser, table, 5, 7),
                              (entry.isPinned ? 0 : PathContext::NONE),
                              name << ": explicit path");
        LinkImpairment::Configuration configuration;
        configuration.down = true;
        const auto dead = std::make_shared<LinkImpairment>(configuration, 1);
        ports[0]->AddImpairment(dead);
        ports[1]->AddImpairment(dead);
        for (uint32_t i = 0; i < 10; i++)
        {
            NS_TEST_EXPECT_MSG_EQ(Choose(chooser, table, i, 9),
                                  (entry.isStatic ? before[i] : 2),
                                  name << ": the one up, or with static routes as before");
        }
        NS_TEST_EXPECT_MSG_EQ(Choose(chooser, table, 5, 7), PathContext::NONE, name);
        ports[0]->RemoveImpairment(dead);
        ports[1]->RemoveImpairment(dead);
    }
    // Frames of two sources alternate.
    for (const auto& [path, sequence] :
         {std::pair("spray:by=pair", std::vector<uint16_t>{1, 1, 2, 2, 1, 1, 2, 2}),
          std::pair("source-mod", std::vector<uint16_t>{1, 2, 1, 2, 1, 2, 1, 2}),
          std::pair("destination-mod", std::vector<uint16_t>{2, 2, 2, 2, 2, 2, 2, 2})})
    {
        PathChooser chooser(ports, CreateObject<UniformRandomVariable>());
        chooser.SetPath(path);
        NS_TEST_EXPECT_MSG_EQ(chooser.GetPath(), path, "as it was set");
        std::vector<uint16_t> chosen;
        for (uint32_t i = 0; i < sequence.size(); i++)
        {
            chosen.push_back(Choose(chooser, table, i % 2, 9));
        }
        NS_TEST_EXPECT_MSG_EQ(chosen, sequence, path);
    }
    for (const std::string path : {"spray", "spray:by=destination", "adaptive"})
    {
        CheckBalance(path, ports);
    }
    CheckRefusal("circle",
                 "unknown path choice 'circle' (allowed: adaptive, destination-mod, ecmp, flowlet, "
                 "schedule, source-mod, source-route, spray)");
    CheckRefusal("spray:by=chance", "(allowed: by=destination|pair");
    CheckRefusal("flowlet:gap=5", "gap=5");
    CheckRefusal("ecmp:gap=5us", "gap");
    Simulator::Destroy();
}

/**
 * A cut-through switch forwards a frame after its first 64 bytes, but never to a faster link, which
 * would underrun.
 */
struct CutThroughTestCase
{
    /** @return arrival time of a frame of 4000 bytes, ps */
    int64_t Run(bool cutThrough, const std::vector<Hop>& hops)
    {
        FabricHelper helper;
        helper.SetSwitchAttribute("CutThrough", BooleanValue(cutThrough));
        Fabric fabric = helper.Install(MakeChain(hops));
        Arrivals arrivals;
        NoteArrivals(fabric.devices[1], arrivals);
        fabric.devices[0]->GetPort().Send(MakeFrame(4000, LOSSLESS));
        Simulator::Run();
        Simulator::Destroy();
        return arrivals.at(0).time;
    }

    void Run()
    {
        const Hop fast{100 * GIGA, 1000000};
        const Hop slow{10 * GIGA, 1000000};
        const int64_t whole = LineTime(4008, 100 * GIGA);
        const int64_t headers = LineTime(72, 100 * GIGA);
        NS_TEST_EXPECT_MSG_EQ(Run(false, {fast, fast, fast}), 3 * (1000000 + whole), "stored");
        NS_TEST_EXPECT_MSG_EQ(Run(true, {fast, fast, fast}),
                              3000000 + 2 * headers + whole,
                              "cut through");
        NS_TEST_EXPECT_MSG_EQ(Run(true, {slow, fast}),
                              Run(false, {slow, fast}),
                              "onto a faster line");
        NS_TEST_EXPECT_MSG_EQ(Run(true, {fast, slow}),
                              2000000 + headers + LineTime(4008, 10 * GIGA),
                              "onto a slower line");
    }
};

/** A host with two rails: each has its own endpoint and routes. */
void
TestRails()
{
    // Three hosts on two switches, one for each rail, and a link between the switches.
    TopologyGraph graph;
    graph.name = "rails";
    graph.hosts = 3;
    graph.switches = 2;
    for (uint32_t host = 0; host < 3; host++)
    {
        graph.links.push_back({host, 3, DataRate("100Gbps"), MicroSeconds(1)});
        graph.links.push_back({host, 4, DataRate("100Gbps"), MicroSeconds(1)});
    }
    graph.links.push_back({3, 4, DataRate("100Gbps"), MicroSeconds(1)});
    Fabric fabric = FabricHelper().Install(graph);
    NS_TEST_ASSERT_MSG_EQ(fabric.devices.size(), 6, "endpoints");
    for (uint32_t host = 0; host < 3; host++)
    {
        NS_TEST_EXPECT_MSG_EQ(fabric.rails[host].size(), 2, "rails");
        NS_TEST_EXPECT_MSG_EQ(fabric.rails[host][0]->GetEndpoint(), host, "first rail");
        NS_TEST_EXPECT_MSG_EQ(fabric.rails[host][1]->GetEndpoint(), 3 + host, "second rail");
        NS_TEST_EXPECT_MSG_EQ(fabric.hostOfEndpoint[3 + host], host, "its host");
    }
    std::vector<Arrivals> arrivals(6);
    for (uint32_t endpoint = 0; endpoint < 6; endpoint++)
    {
        NoteArrivals(fabric.devices[endpoint], arrivals[endpoint]);
    }
    for (uint32_t from = 0; from < 6; from++)
    {
        for (uint32_t to = 0; to < 6; to++)
        {
            if (from % 3 != to % 3)
            {
                fabric.devices[from]->GetPort().Send(MakeFrame(1000, LOSSLESS, from, to));
            }
        }
    }
    Simulator::Run();
    for (const Arrivals& ofRail : arrivals)
    {
        NS_TEST_EXPECT_MSG_EQ(ofRail.size(), 4, "from both rails of both others");
    }
    NS_TEST_EXPECT_MSG_EQ(fabric.channels[6]->GetPort(0).GetCounters().transmittedFrames,
                          6,
                          "rails of one switch do not use the link between");
    Simulator::Destroy();
}

/**
 * An overloaded port: weighted shares of priorities, early drops, step marking, counters by
 * priority, and trace sources.
 */
struct OverloadTestCase
{
    void Run()
    {
        Shares();
        EarlyDrops();
    }

    /** Three classes with weights 1, 2 and 5 share a port. */
    void Shares()
    {
        FabricHelper helper;
        helper.SetSwitchAttribute("Weights", StringValue("1 2 5 1 1 1 1 1"));
        Fabric fabric =
            helper.Install(BuildTopology("single-switch", 4, DataRate("100Gbps"), MicroSeconds(1)));
        Arrivals arrivals;
        NoteArrivals(fabric.devices[0], arrivals);
        std::vector<std::unique_ptr<Blaster>> senders;
        for (uint8_t priority = 0; priority < 3; priority++)
        {
            senders.push_back(
                std::make_unique<Blaster>(fabric.devices[1 + priority], 0, 1000, priority, 8000));
            senders.back()->Start(0);
        }
        uint64_t longest = 0;
        lengths = 0;
        fabric.devicesOfSwitches[0]->TraceConnectWithoutContext(
            "QueueLength",
            MakeCallback(&OverloadTestCase::NoteLength, this));
        Simulator::Stop(MicroSeconds(400));
        Simulator::Run();
        std::vector<double> frames(3, 0);
        for (const Arrival& arrival : arrivals)
        {
            frames[arrival.priority]++;
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(frames[1] / frames[0], 2, 0.1, "weight 2");
        NS_TEST_EXPECT_MSG_EQ_TOL(frames[2] / frames[0], 5, 0.25, "weight 5");
        const PortCounters& port = fabric.devicesOfSwitches[0]->GetPort(0).GetCounters();
        uint64_t sum = 0;
        for (const PriorityCounters& ofPriority : port.byPriority)
        {
            sum += ofPriority.transmittedFrames;
            longest = std::max(longest, ofPriority.peakQueueBytes);
        }
        NS_TEST_EXPECT_MSG_EQ(sum, port.transmittedFrames, "priorities add up");
        NS_TEST_EXPECT_MSG_EQ(longestQueue, longest, "the trace has seen the longest queue");
        NS_TEST_EXPECT_MSG_GT(lengths, 2 * arrivals.size(), "each change");
        Simulator::Destroy();
    }

    /** Between Kmin and Kmax the marking decision drops frames that are not ECN capable. */
    void EarlyDrops()
    {
        for (const bool capable : {false, true})
        {
            FabricHelper helper;
            helper.SetSwitchAttribute("WredPmax", DoubleValue(1));
            helper.SetSwitchAttribute("WredKminPerGbps", DoubleValue(500));
            helper.SetSwitchAttribute("WredKmaxPerGbps", DoubleValue(500));
            helper.SetSwitchAttribute("EcnKminPerGbps", DoubleValue(500));
            helper.SetSwitchAttribute("EcnKmaxPerGbps", DoubleValue(500));
            Fabric fabric = helper.Install(
                BuildTopology("single-switch", 3, DataRate("100Gbps"), MicroSeconds(1)));
            Arrivals arrivals;
            NoteArrivals(fabric.devices[0], arrivals);
            marks = 0;
            fabric.devicesOfSwitches[0]->TraceConnectWithoutContext(
                "Mark",
                MakeCallback(&OverloadTestCase::NoteMark, this));
            for (uint32_t i = 0; i < 400; i++)
            {
                for (uint32_t host = 1; host < 3; host++)
                {
                    Frame* frame = MakeFrame(1000, LOSSY, host, 0);
                    frame->ecn = capable ? Ecn::ECT : Ecn::NOT_ECT;
                    fabric.devices[host]->GetPort().Send(frame);
                }
            }
            Simulator::Run();
            const PortCounters& port = fabric.devicesOfSwitches[0]->GetPort(0).GetCounters();
            NS_TEST_EXPECT_MSG_EQ((port.droppedFrames == 0),
                                  capable,
                                  "dropped unless it can be marked");
            NS_TEST_EXPECT_MSG_EQ((port.markedFrames > 0), capable, "marked");
            NS_TEST_EXPECT_MSG_EQ(port.markedFrames, marks, "the trace has seen each");
            // A step at 50 kB: without marks the queue never exceeds it by more than a frame.
            NS_TEST_EXPECT_MSG_EQ((port.peakQueueBytes > 51000), capable, "length of the queue");
            NS_TEST_EXPECT_MSG_EQ(port.droppedFrames,
                                  port.byPriority[LOSSY].droppedFrames,
                                  "drops");
            Simulator::Destroy();
        }
        FabricHelper helper;
        helper.SetSwitchAttribute("EcnKminPerGbps", DoubleValue(600));
        helper.SetSwitchAttribute("EcnKmaxPerGbps", DoubleValue(500));
        const auto graph = BuildTopology("single-switch", 3, DataRate("100Gbps"), MicroSeconds(1));
        ExpectPart(GetRefusal([&] { helper.Install(graph); }), "EcnKminPerGbps=600");
        Simulator::Destroy();
    }

    void NoteLength(uint16_t, uint8_t, uint64_t bytes)
    {
        lengths++;
        longestQueue = std::max(longestQueue, bytes);
    }

    void NoteMark(const Frame&, uint16_t)
    {
        marks++;
    }

    uint64_t lengths{0};
    uint64_t longestQueue{0};
    uint64_t marks{0};
};

/**
 * With source- or destination-modulo routing, no two flows of a permutation share an uplink or
 * downlink; with explicit paths, flows use the given links.
 */
struct ChosenPathTestCase
{
    static constexpr uint32_t FRAMES = 50;

    /// Frames from each switch to each other one, by numbers of switches and port.
    using Counts = std::map<std::tuple<uint32_t, uint32_t, uint16_t>, uint64_t>;

    void Run()
    {
        // All flows use the highest level, which has a link for each.
        CheckModulo("leaf-spine:leaves=4,spines=4,hosts-per-leaf=4", 4);
        CheckModulo("leaf-spine:leaves=3,spines=5,hosts-per-leaf=5", 5);
        CheckModulo("fat-tree:k=4", 4);
        CheckModulo("fat-tree:k=6", 18);
        CheckModulo("m-ary-n-tree:m=4,n=2", 4);
        CheckModulo("m-ary-n-tree:m=3,n=3", 9);
        CheckModulo("m-ary-n-tree:m=2,n=4", 8);
        CheckModulo("rail-optimized:gpus=4,servers=4,unit=4,spines=4", 5);
        CheckParallelLinks();
        CheckDetour();
        CheckRefusals();
        CheckDeadPort();
    }

    Fabric Make(const std::string& spec, const std::string& path)
    {
        FabricHelper helper;
        helper.SetSwitchAttribute("Path", StringValue(path));
        return helper.Install(BuildTopology(spec, 1, DataRate("100Gbps"), MicroSeconds(1)));
    }

    /** Every host sends to the host at the given distance. */
    Counts Run(Fabric& fabric, uint32_t distance)
    {
        const uint32_t hosts = fabric.topology.hosts;
        std::vector<Arrivals> arrivals(hosts);
        for (uint32_t host = 0; host < hosts; host++)
        {
            NoteArrivals(fabric.devices[host], arrivals[host]);
            for (uint32_t i = 0; i < FRAMES; i++)
            {
                fabric.devices[host]->GetPort().Send(
                    MakeFrame(1000, LOSSLESS, host, (host + distance) % hosts));
            }
        }
        Simulator::Run();
        for (const Arrivals& ofHost : arrivals)
        {
            NS_TEST_EXPECT_MSG_EQ(ofHost.size(), FRAMES, fabric.topology.name << ": arrive");
        }
        Counts counts;
        const uint32_t first = fabric.GetId(hosts);
        for (uint32_t i = 0; i < fabric.topology.switches; i++)
        {
            auto& device = *fabric.devicesOfSwitches[i];
            for (uint16_t port = 0; port < device.GetNPorts(); port++)
            {
                const uint32_t peer = device.GetPort(port).GetPeer()->GetNodeId();
                if (peer >= first)
                {
                    counts[{i, peer - first, port}] =
                        device.GetPort(port).GetCounters().transmittedFrames;
                }
            }
        }
        return counts;
    }

    void CheckModulo(const std::string& spec, uint32_t distance)
    {
        for (const std::string path : {"source-mod", "destination-mod"})
        {
            Fabric fabric = Make(spec, path);
            uint64_t most = 0;
            for (const auto& [link, frames] : Run(fabric, distance))
            {
                most = std::max(most, frames);
            }
            NS_TEST_EXPECT_MSG_EQ(most, uint64_t{FRAMES}, spec << " by " << path);
            Simulator::Destroy();
        }
    }

    /** Eight parallel links: each flow has its own. */
    void CheckParallelLinks()
    {
        Fabric fabric = Make("two-switch:hosts-per-switch=8,links=8", "schedule");
        for (uint32_t host = 0; host < 16; host++)
        {
            fabric.PinPath(host, (host + 8) % 16, {16 + host / 8, 17 - host / 8});
        }
        const Counts counts = Run(fabric, 8);
        NS_TEST_EXPECT_MSG_EQ(counts.size(), 16, "links, each way");
        for (const auto& [link, frames] : counts)
        {
            NS_TEST_EXPECT_MSG_EQ(frames, uint64_t{FRAMES}, "a link of its own");
        }
        Simulator::Destroy();
    }

    /** A path need not be shortest: over both spines and a leaf between them. */
    void CheckDetour()
    {
        for (const std::string path : {"schedule", "ecmp"})
        {
            Fabric fabric = Make("leaf-spine:leaves=3,spines=2,hosts-per-leaf=1", path);
            fabric.PinPath(0, 1, {3, 6, 5, 7, 4});
            fabric.PinPath(1, 2, {4, 6, 5});
            fabric.PinPath(2, 0, {5, 7, 3});
            std::map<std::pair<uint32_t, uint32_t>, uint64_t> sent;
            uint64_t all = 0;
            for (const auto& [link, frames] : Run(fabric, 1))
            {
                sent[{std::get<0>(link), std::get<1>(link)}] = frames / FRAMES;
                all += frames;
            }
            NS_TEST_EXPECT_MSG_EQ(all, (path == "schedule" ? 8 : 6) * uint64_t{FRAMES}, path);
            if (path == "schedule")
            {
                // Leaves are switches 0 to 2, spines 3 and 4.
                NS_TEST_EXPECT_MSG_EQ((sent[{0, 3}]), 1, "host 0");
                NS_TEST_EXPECT_MSG_EQ((sent[{3, 2}]), 2, "hosts 0 and 1");
                NS_TEST_EXPECT_MSG_EQ((sent[{2, 4}]), 2, "hosts 0 and 2");
                NS_TEST_EXPECT_MSG_EQ((sent[{4, 1}]), 1, "host 0");
            }
            Simulator::Destroy();
        }
    }

    void CheckRefusals()
    {
        Fabric fabric = Make("leaf-spine:leaves=3,spines=2,hosts-per-leaf=1", "schedule");
        for (const std::vector<uint32_t>& nodes : {std::vector<uint32_t>{},
                                                   {3},
                                                   {4},
                                                   {3, 4},
                                                   {3, 6, 7, 4},
                                                   {5, 6, 4},
                                                   {3, 6, 5},
                                                   {3, 2, 4},
                                                   {3, 8, 4}})
        {
            const std::string refusal = GetRefusal([&] { fabric.PinPath(0, 1, nodes); });
            ExpectPart(refusal, "from endpoint 0 to 1", std::to_string(nodes.size()) + " nodes");
        }
        Simulator::Destroy();
    }

    /** A failed port is bypassed. */
    void CheckDeadPort()
    {
        Fabric fabric = Make("leaf-spine:leaves=3,spines=2,hosts-per-leaf=1", "schedule");
        fabric.PinPath(0, 1, {3, 6, 4});
        LinkImpairment::Configuration down;
        down.down = true;
        const auto dead = std::make_shared<LinkImpairment>(down, 1);
        for (const auto& channel : fabric.channels)
        {
            const uint32_t a = channel->GetPort(0).GetNodeId();
            const uint32_t b = channel->GetPort(1).GetNodeId();
            if (std::min(a, b) == fabric.GetId(3) && std::max(a, b) == fabric.GetId(6))
            {
                channel->AddImpairments({dead, dead});
            }
        }
        const Counts counts = Run(fabric, 1);
        NS_TEST_EXPECT_MSG_EQ(counts.size(), 12, "links between switches, each way");
        Simulator::Destroy();
    }
};

const Suite g_suite(
    "fabric-forwarding",
    Duration::QUICK,
    {{"how a port is chosen among equally good ones", TestLoadBalancing},
     {"forwarding table: all groups that it can hold", TestForwardingTable},
     {"path choices by name and keys", TestPathChoice},
     {"paths by endpoint and by schedule", RunTest<ChosenPathTestCase>},
     {"cut-through saves all but the headers of each hop", RunTest<CutThroughTestCase>},
     {"hosts with several rails", TestRails},
     {"weights, early drops, step marking, counters and traces", RunTest<OverloadTestCase>}});

} // namespace ns3::training::tests::fabric_forwarding_test
