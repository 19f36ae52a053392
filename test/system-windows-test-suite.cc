/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chosen-event-loop.h"
#include "rdma-test-common.h"
#include "rdma/congestion/rdma-dcqcn.h"
#include "test-case.h"

#include "ns3/bucket-scheduler.h"
#include "ns3/collective-measurement.h"
#include "ns3/default-simulator-impl.h"
#include "ns3/map-scheduler.h"
#include "ns3/random-variable-stream.h"
#include "ns3/switch-device.h"
#include "ns3/training-mix-bits.h"

#include <array>
#include <cstring>
#include <map>

namespace ns3::training::tests::system_windows_test
{

/** How events are executed. */
enum class EventOrder
{
    NS3_MAP,    ///< ns-3's own event loop and event list
    NS3_BUCKET, ///< its event loop, with the module's event list
    IN_ORDER,   ///< the module's event loop, without windows
    WINDOWS     ///< the same with windows
};

/** Selects an event loop for the simulations until its destruction. */
class ChosenOrder
{
  public:
    /** @param order how events are executed */
    explicit ChosenOrder(EventOrder order)
        : m_loop(order >= EventOrder::IN_ORDER ? MakeLoop(order == EventOrder::WINDOWS) : nullptr),
          m_chosen(m_loop ? Ptr<SimulatorImpl>(m_loop)
                          : Ptr<SimulatorImpl>(CreateObject<DefaultSimulatorImpl>()),
                   order == EventOrder::NS3_MAP ? MapScheduler::GetTypeId()
                                                : BucketScheduler::GetTypeId())
    {
    }

    /** @return number of nodes that executed their events in windows */
    std::size_t GetNNodes() const
    {
        return m_loop ? m_loop->GetNNodes() : 0;
    }

  private:
    Ptr<WindowSimulatorImpl> m_loop;
    ChosenEventLoop m_chosen;
};

/** Stops the simulation: &Simulator::Stop is ambiguous. */
void
StopNow()
{
    Simulator::Stop();
}

/** Sends a message. */
void
Post(RdmaQueuePair* queuePair, uint64_t bytes)
{
    Write(*queuePair, bytes);
}

/** What somebody sees, as a number of events and a hash of all of them in order. */
struct Sight
{
    uint64_t events{0};
    uint64_t hash{0};

    void Add(uint64_t value)
    {
        hash = MixBits(hash ^ MixBits(value + 0x9e3779b97f4a7c15));
    }
};

/** Records what happens at hosts, and the counters of all ports. */
class Observer
{
  public:
    /**
     * @param tapsHosts whether it sees each frame of a host
     * @param tracesSwitch whether it is also connected to the trace sources of the first switch
     */
    Observer(const Fabric& fabric, bool tapsHosts, bool tracesSwitch)
        : m_fabric(fabric)
    {
        for (const auto& device : tapsHosts ? fabric.devices : std::vector<Ptr<HostDevice>>())
        {
            Sight& sight = m_sights["host " + std::to_string(device->GetNode()->GetId())];
            device->GetPort().SetTap([&sight](const Frame& frame, bool isSent) {
                sight.events++;
                for (const uint64_t value : {static_cast<uint64_t>(PicosecondsNow()),
                                             uint64_t{isSent},
                                             static_cast<uint64_t>(frame.kind),
                                             uint64_t{frame.bytes},
                                             uint64_t{frame.source},
                                             uint64_t{frame.destination},
                                             static_cast<uint64_t>(frame.ecn),
                                             uint64_t{frame.kind == FrameKind::IP ? 0 : frame.psn}})
                {
                    sight.Add(value);
                }
            });
        }
        if (tracesSwitch)
        {
            SwitchDevice& device = *fabric.devicesOfSwitches[0];
            device.TraceConnectWithoutContext("QueueLength",
                                              MakeCallback(&Observer::OnQueueLength, this));
            device.TraceConnectWithoutContext("Mark", MakeCallback(&Observer::OnMark, this));
            device.TraceConnectWithoutContext("Pause", MakeCallback(&Observer::OnPause, this));
        }
    }

    /** Adds the counters of all ports, now and every interval from now on. */
    void Sample(Time interval)
    {
        AddCounters();
        if (!Simulator::IsFinished() && interval.IsStrictlyPositive())
        {
            Simulator::ScheduleWithContext(Simulator::NO_CONTEXT,
                                           interval,
                                           &Observer::Sample,
                                           this,
                                           interval);
        }
    }

    /** @return everything that was seen, as text; the last line: events and time */
    std::map<std::string, std::string> GetSights()
    {
        AddCounters();
        std::map<std::string, std::string> texts;
        for (const auto& [name, sight] : m_sights)
        {
            texts[name] = std::to_string(sight.events) + " events, " + std::to_string(sight.hash);
        }
        texts["simulation"] = std::to_string(Simulator::GetEventCount()) + " events, " +
                              std::to_string(PicosecondsNow()) + " ps";
        return texts;
    }

  private:
    void OnQueueLength(uint16_t port, uint8_t priority, uint64_t bytes)
    {
        Note(port, priority, bytes);
    }

    void OnMark(const Frame& frame, uint16_t port)
    {
        Note(port, frame.source, frame.bytes);
    }

    void OnPause(uint16_t port, uint8_t priority, bool paused)
    {
        Note(port, priority, paused);
    }

    void Note(uint64_t a, uint64_t b, uint64_t c)
    {
        Sight& sight = m_sights["first switch"];
        sight.events++;
        for (const uint64_t value : {static_cast<uint64_t>(PicosecondsNow()), a, b, c})
        {
            sight.Add(value);
        }
    }

    void AddCounters()
    {
        static_assert(std::has_unique_object_representations_v<PortCounters>, "no padding");
        for (uint32_t link = 0; link < m_fabric.channels.size(); link++)
        {
            for (uint32_t end = 0; end < 2; end++)
            {
                Sight& sight = m_sights["port " + m_fabric.GetEndName(link, end) + " of link " +
                                        std::to_string(link)];
                const PortCounters& counters = m_fabric.channels[link]->GetPort(end).GetCounters();
                std::array<uint64_t, sizeof(PortCounters) / 8> values;
                std::memcpy(values.data(), &counters, sizeof(PortCounters));
                sight.events = counters.transmittedFrames + counters.receivedFrames;
                for (const uint64_t value : values)
                {
                    sight.Add(value);
                }
            }
        }
    }

    const Fabric& m_fabric;
    std::map<std::string, Sight> m_sights;
};

using Sights = std::map<std::string, std::string>;

void
Compare(const Sights& actual, const Sights& expected, const std::string& what)
{
    NS_TEST_ASSERT_MSG_EQ(actual.size(), expected.size(), what << ": number of observers");
    for (const auto& [name, text] : expected)
    {
        NS_TEST_EXPECT_MSG_EQ(actual.at(name), text, what << ": " << name);
    }
}

/**
 * Random networks with RDMA messages, losses, ECN marks, pauses and DCQCN. Delays and rates are
 * such that no two frames arrive at a switch at the same picosecond, so even the order of
 * ns3::MapScheduler is the same.
 */
struct RandomNetworkWindowsTest
{
    TopologyGraph MakeTopology(UniformRandomVariable& random) const
    {
        TopologyGraph graph;
        graph.switches = random.GetInteger(1, 6);
        graph.hosts = random.GetInteger(2, 10);
        const auto add = [&](uint32_t a, uint32_t b) {
            const uint64_t rate = random.GetInteger(25000, 100000) * uint64_t{1000003};
            const auto delay = TimeStep(random.GetInteger(200000, 2000000));
            graph.links.push_back({a, b, DataRate(rate), delay});
        };
        for (uint32_t host = 0; host < graph.hosts; host++)
        {
            add(host, graph.hosts + random.GetInteger(0, graph.switches - 1));
        }
        for (uint32_t i = 1; i < graph.switches; i++) // a tree, and a few more links
        {
            add(graph.hosts + random.GetInteger(0, i - 1), graph.hosts + i);
            if (random.GetInteger(0, 1))
            {
                add(graph.hosts + random.GetInteger(0, i - 1), graph.hosts + i);
            }
        }
        return graph;
    }

    Sights Run(EventOrder order, bool tapsHosts)
    {
        const ChosenOrder chosen(order);
        const auto random = CreateObject<UniformRandomVariable>();
        random->SetStream(1000 + seed);
        RdmaNetwork network(
            MakeTopology(*random),
            RdmaDcqcn::GetTypeId(),
            [this](RdmaNic& nic) {
                nic.SetAttribute("Mtu", UintegerValue(seed % 2 ? 1001 : 4096));
                nic.SetAttribute("AckInterval", UintegerValue(1 + seed % 17));
            },
            seed % 3 == 0 ? 0.002 : 0,
            100);
        Observer observer(network.fabric, tapsHosts, seed % 4 == 1);
        const uint32_t hosts = network.fabric.hosts.GetN();
        for (uint32_t number = 16; number < 16 + 3 * hosts; number++)
        {
            const uint32_t from = number % hosts;
            const uint32_t to = (from + random->GetInteger(1, hosts - 1)) % hosts;
            RdmaQueuePair& queuePair = network.Connect(from, to, number);
            const uint64_t bytes = random->GetInteger(0, 300000);
            Simulator::ScheduleWithContext(network.fabric.hosts.Get(from)->GetId(),
                                           TimeStep(random->GetInteger(0, 20000000)),
                                           &Post,
                                           &queuePair,
                                           bytes);
        }
        observer.Sample(TimeStep(3333333));
        // The caller looks at everything in between, too.
        Simulator::ScheduleWithContext(Simulator::NO_CONTEXT, TimeStep(10000001), &StopNow);
        Simulator::Run();
        observer.Sample(Time(0));
        Simulator::Run();
        nodes = chosen.GetNNodes();
        observed = seed % 4 == 1 ? 1 : 0;
        switches = network.fabric.devicesOfSwitches.size();
        hostCount = hosts;
        return observer.GetSights();
    }

    void Run()
    {
        const Sights expected = Run(EventOrder::NS3_MAP, true);
        Compare(Run(EventOrder::NS3_BUCKET, true), expected, "bucket list");
        Compare(Run(EventOrder::IN_ORDER, true), expected, "in order");
        NS_TEST_EXPECT_MSG_EQ(nodes, 0, "no windows");
        Compare(Run(EventOrder::WINDOWS, true), expected, "windows");
        NS_TEST_EXPECT_MSG_EQ(nodes, switches - observed, "switches in windows");
        const Sights withoutTaps = Run(EventOrder::NS3_MAP, false);
        Compare(Run(EventOrder::WINDOWS, false), withoutTaps, "hosts in windows");
        NS_TEST_EXPECT_MSG_EQ(nodes, hostCount + switches - observed, "with hosts");
    }

    uint32_t seed; ///< of the network
    std::size_t nodes{0};
    std::size_t observed{0};
    std::size_t switches{0};
    std::size_t hostCount{0};
};

/** Collectives over all transports, on regular topologies, with simultaneous events. */
struct CollectiveWindowsTest
{
    /** A cluster, and the collective that it runs. */
    struct Scenario
    {
        std::string name;
        ClusterOptions options;
        CollectiveOperation operation{CollectiveOperation::ALL_REDUCE};
        uint64_t bytes{200000};
        bool hasWindows{true};       // some switch takes part
        bool hostsHaveWindows{true}; // some host, too, if nobody taps its frames
    };

    Sights Run(EventOrder order, bool tapsHosts)
    {
        const ChosenOrder chosen(order);
        Sights sights;
        {
            const Cluster cluster(scenario.options);
            Observer observer(cluster.GetFabric(), tapsHosts, false);
            GuardedRun run(cluster);
            for (const bool real : {false, true})
            {
                const auto result =
                    MeasureCollective(cluster, run, scenario.operation, scenario.bytes, real, 7);
                observer.Sample(Time(0));
                sights[real ? "second time" : "first time"] =
                    std::to_string(std::llround(result.seconds * 1e12)) + " ps";
            }
            sights.merge(observer.GetSights());
            nodes = chosen.GetNNodes();
        }
        return sights;
    }

    void Run()
    {
        const Sights expected = Run(EventOrder::NS3_BUCKET, true);
        Compare(Run(EventOrder::IN_ORDER, true), expected, "in order");
        Compare(Run(EventOrder::WINDOWS, true), expected, "windows");
        const std::size_t switches = nodes;
        NS_TEST_EXPECT_MSG_EQ((switches > 0), scenario.hasWindows, "switches with windows");
        const Sights withoutTaps = Run(EventOrder::NS3_BUCKET, false);
        Compare(Run(EventOrder::WINDOWS, false), withoutTaps, "hosts in windows");
        NS_TEST_EXPECT_MSG_EQ((nodes > switches), scenario.hostsHaveWindows, "hosts, too");
    }

    Scenario scenario; ///< the collective
    std::size_t nodes{0};
};

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    for (uint32_t seed = 1; seed <= 16; seed++)
    {
        cases.push_back({"random network " + std::to_string(seed),
                         [seed] { RandomNetworkWindowsTest{seed}.Run(); }});
    }
    const auto add = [&cases](const std::string& name,
                              uint64_t ranks,
                              const std::string& topology,
                              const std::function<void(CollectiveWindowsTest::Scenario&)>& set) {
        CollectiveWindowsTest::Scenario scenario;
        scenario.name = name;
        scenario.options.ranks = ranks;
        scenario.options.topology = topology;
        set(scenario);
        cases.push_back({scenario.name, [scenario] { CollectiveWindowsTest{scenario}.Run(); }});
    };
    using Scenario = CollectiveWindowsTest::Scenario;
    add("ring on a fat-tree", 16, "fat-tree:k=4", [](Scenario&) {});
    add("one rank", 1, "single-switch", [](Scenario&) {});
    add("three ranks and one byte", 3, "single-switch", [](Scenario& o) { o.bytes = 1; });
    add("all-to-all with pauses", 8, "single-switch", [](Scenario& o) {
        o.operation = CollectiveOperation::ALL_TO_ALL;
        o.options.buffer = 600000, o.options.algorithm = "direct";
    });
    add("arrivals of 48 hosts at once", 48, "single-switch", [](Scenario& o) {
        o.operation = CollectiveOperation::ALL_TO_ALL;
        o.options.algorithm = "direct", o.bytes = 100000;
    });
    add("all-to-all with losses", 8, "leaf-spine:leaves=2,spines=2", [](Scenario& o) {
        o.operation = CollectiveOperation::ALL_TO_ALL;
        o.options.algorithm = "direct", o.options.loss = 0.001;
        o.options.mtu = 1237;
    });
    add("TCP", 6, "leaf-spine:leaves=2,spines=2", [](Scenario& o) {
        o.options.transport = "tcp", o.hostsHaveWindows = false;
    });
    add("Ultra Ethernet", 8, "fat-tree:k=4", [](Scenario& o) {
        o.options.transport = "uec", o.hostsHaveWindows = false;
    });
    add("flowlets", 8, "fat-tree:k=4", [](Scenario& o) {
        o.options.path = "flowlet", o.options.queuePairs = 4;
    });
    add("adaptive paths", 8, "fat-tree:k=4", [](Scenario& o) {
        o.options.path = "adaptive", o.options.queuePairs = 4;
        o.options.recovery = "selective-repeat";
    });
    add("torus with datelines", 9, "torus:3x3", [](Scenario& scenario) {
        scenario.hasWindows = false; // routers are too close to their hosts
        scenario.hostsHaveWindows = false;
    });
    add("NVSwitches", 8, "rail-optimized:servers=2,gpus=4", [](Scenario& scenario) {
        scenario.hostsHaveWindows = false; // the windows are too short
    });
    add("slow NVSwitches", 8, "rail-optimized:servers=2,gpus=4,local-delay=120ns", [](Scenario&) {
    });
    add("a link is down", 8, "leaf-spine:leaves=2,spines=2", [](Scenario& o) {
        o.options.faults = {"switch0-switch2:down,from=10us,until=300us"};
    });
    add("a switch restarts", 8, "leaf-spine:leaves=2,spines=2", [](Scenario& o) {
        o.options.faults = {"switch2:restart,from=12us,until=20us"};
    });
    add("aggregation in the switch", 4, "single-switch", [](Scenario& o) {
        o.options.algorithm = "switchml", o.hasWindows = false;
    });
    return cases;
}

const Suite g_suite("system-windows", Duration::EXTENSIVE, MakeCases());

} // namespace ns3::training::tests::system_windows_test
