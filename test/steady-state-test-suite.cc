/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chosen-event-loop.h"
#include "steady-state-test-common.h"

#include "ns3/default-simulator-impl.h"
#include "ns3/map-scheduler.h"
#include "ns3/state-visitor.h"
#include "ns3/steady-state.h"

namespace ns3::training::tests::steady_state_test
{

/** A state with one member of each kind. */
struct State
{
    uint64_t same{5};
    int64_t moving{1100};
    int64_t past{900};
    uint64_t count{40};
    uint32_t psn{0xfffff0};

    void Visit(StateVisitor& visitor)
    {
        visitor.Same(same);
        visitor.Time(moving);
        visitor.Time(past);
        visitor.Count(count, 1000);
        visitor.Psn(psn);
    }
};

StateVisitor
Record(State& state, int64_t now)
{
    StateVisitor visitor(now);
    state.Visit(visitor);
    return visitor;
}

uint64_t
GetPeriods(State next)
{
    State first;
    return StateVisitor::GetPeriods(Record(first, 1000), Record(next, 1010));
}

/** Two visits tell whether a state repeats, and a third one writes it some periods later. */
void
TestStateVisitor()
{
    State next;
    next.moving = 1110;
    next.count = 48;
    next.psn = 0xfffff8;
    // 48 + 118 * 8 = 992 and 48 + 119 * 8 = 1000
    NS_TEST_EXPECT_MSG_EQ(GetPeriods(next), 118, "until the count would reach its end");

    State first;
    const StateVisitor before = Record(first, 1000);
    const StateVisitor after = Record(next, 1010);
    StateVisitor write(before, after, 3);
    next.Visit(write);
    NS_TEST_EXPECT_MSG_EQ(next.same, 5, "stays");
    NS_TEST_EXPECT_MSG_EQ(next.moving, 1140, "moves by three periods");
    NS_TEST_EXPECT_MSG_EQ(next.past, 900, "past");
    NS_TEST_EXPECT_MSG_EQ(next.count, 72, "grows");
    NS_TEST_EXPECT_MSG_EQ(next.psn, 0x10, "24 bits");

    const auto change = [](auto member, auto value) {
        State state;
        state.moving = 1110;
        state.*member = value;
        return state;
    };
    NS_TEST_EXPECT_MSG_EQ(GetPeriods(change(&State::same, uint64_t{6})), 0, "another value");
    NS_TEST_EXPECT_MSG_EQ(GetPeriods(change(&State::moving, int64_t{1111})), 0, "too late");
    NS_TEST_EXPECT_MSG_EQ(GetPeriods(change(&State::moving, int64_t{1100})), 0, "not past");
    NS_TEST_EXPECT_MSG_EQ(GetPeriods(change(&State::past, int64_t{910})),
                          StateVisitor::NONE,
                          "a past time that moves, and no count grows");
    NS_TEST_EXPECT_MSG_EQ(GetPeriods(change(&State::count, uint64_t{41})), 958, "by one");
    NS_TEST_EXPECT_MSG_EQ(GetPeriods(change(&State::count, uint64_t{39})), 0, "backwards");

    const auto getDeadline = [](int64_t movement) {
        StateVisitor first(1000);
        StateVisitor second(1010);
        int64_t time = 900;
        first.Time(time, 250);
        time += movement;
        second.Time(time, 250);
        return StateVisitor::GetDeadline(first, second);
    };
    NS_TEST_EXPECT_MSG_EQ(getDeadline(0), 1150, "a timeout that goes on");
    NS_TEST_EXPECT_MSG_EQ(getDeadline(10), StateVisitor::NONE, "a timeout that starts again");

    State state;
    StateVisitor refused(1000);
    state.Visit(refused);
    refused.Refuse();
    NS_TEST_EXPECT_MSG_EQ(StateVisitor::GetPeriods(refused, after), 0, "refused");
    StateVisitor longer(1010);
    state.Visit(longer);
    longer.Same(1);
    NS_TEST_EXPECT_MSG_EQ(StateVisitor::GetPeriods(before, longer), 0, "one item more");
}

/**
 * Random networks without congestion: their links have random delays, so that no two frames arrive
 * at a node at the same picosecond, and those between switches are fast. Windows of events together
 * with steady states give what ns-3's event loop with its MapScheduler gives, to the picosecond.
 */
struct RandomSteadyTestCase
{
    /** @return a number from `from` to `to` */
    uint64_t Draw(uint64_t from, uint64_t to)
    {
        return from + random() % (to - from + 1);
    }

    TopologyGraph MakeTopology()
    {
        TopologyGraph graph;
        graph.switches = static_cast<uint32_t>(Draw(1, 6));
        graph.hosts = static_cast<uint32_t>(Draw(2, 10));
        const auto add = [&](uint64_t a, uint64_t b, uint64_t rate) {
            graph.links.push_back({static_cast<uint32_t>(a),
                                   static_cast<uint32_t>(b),
                                   rate * GIGA,
                                   TimeStep(Draw(200000, 2000000))});
        };
        for (uint32_t host = 0; host < graph.hosts; host++)
        {
            add(host, graph.hosts + Draw(0, graph.switches - 1), 100);
        }
        for (uint32_t i = 1; i < graph.switches; i++) // a tree
        {
            add(graph.hosts + Draw(0, i - 1), graph.hosts + i, 1000);
        }
        return graph;
    }

    Trace Run(bool isPlain)
    {
        random.seed(seed);
        observed.clear();
        const auto windows = MakeLoop();
        Ptr<SimulatorImpl> loop = windows;
        if (isPlain)
        {
            loop = CreateObject<DefaultSimulatorImpl>();
        }
        const ChosenEventLoop chosen(loop,
                                     isPlain ? MapScheduler::GetTypeId()
                                             : BucketScheduler::GetTypeId());
        {
            RdmaNetwork network(MakeTopology(), RdmaLineRate::GetTypeId(), [this](RdmaNic& nic) {
                nic.SetAttribute("Mtu", UintegerValue(seed % 2 ? 1001 : 4096));
                nic.SetAttribute("AckInterval", UintegerValue(1 + seed % 17));
            });
            std::optional<SteadyState> steady;
            if (!isPlain)
            {
                steady.emplace(network.fabric);
            }
            const uint32_t hosts = network.fabric.hosts.GetN();
            const uint64_t step = Draw(1, hosts - 1); // a permutation
            for (uint32_t from = 0; from < hosts; from++)
            {
                RdmaQueuePair& queuePair = network.Connect(from, (from + step) % hosts, 16 + from);
                for (uint64_t messages = Draw(1, 3); messages > 0; messages--)
                {
                    Simulator::ScheduleWithContext(network.fabric.hosts.Get(from)->GetId(),
                                                   TimeStep(Draw(0, 400000000)),
                                                   &RandomSteadyTestCase::Post,
                                                   &queuePair,
                                                   Draw(0, 3) ? Draw(0, 8000000) : Draw(0, 3));
                }
            }
            for (uint32_t probe = 0; probe < 20; probe++)
            {
                const uint32_t node = network.fabric.hosts.Get(probe % hosts)->GetId();
                Simulator::ScheduleWithContext(probe % 2 ? node : Simulator::NO_CONTEXT,
                                               TimeStep(Draw(0, 800000000)),
                                               &RandomSteadyTestCase::Probe,
                                               this,
                                               &network);
            }
            Simulator::Run();
            Probe(&network);
            for (const Delivery& delivery : network.deliveries)
            {
                observed.push_back({delivery.time, delivery.message.bytes, 0, 0});
            }
            skippedHops = network.fabric.skippedHops;
            switches = windows->GetNNodes();
        }
        return observed;
    }

    static void Post(RdmaQueuePair* queuePair, uint64_t bytes)
    {
        Write(*queuePair, bytes);
    }

    void Probe(RdmaNetwork* network)
    {
        for (const auto& channel : network->fabric.channels)
        {
            for (uint32_t end : {0, 1})
            {
                const FabricPort& port = channel->GetPort(end);
                const PortCounters& counters = port.GetCounters();
                observed.push_back({PicosecondsNow(),
                                    counters.transmittedFrames,
                                    counters.receivedBytes,
                                    port.GetQueueBytes(0)});
                observed.push_back({port.GetDrainTime(PicosecondsNow()),
                                    counters.byPriority[0].transmittedBytes,
                                    counters.peakQueueBytes,
                                    counters.receivedFrames});
            }
        }
    }

    void Run()
    {
        uint32_t skipping = 0;
        for (seed = 1; seed <= 12; seed++)
        {
            const Trace expected = Run(true);
            const Trace records = Run(false);
            skipping += skippedHops > 0 ? 1 : 0;
            NS_TEST_EXPECT_MSG_GT(switches, 0, "switches with windows");
            Compare(records, expected, "network " + std::to_string(seed));
        }
        NS_TEST_EXPECT_MSG_GT(skipping, 6, "networks with steady states");
    }

    uint32_t seed{0};
    std::mt19937_64 random;
    Trace observed;
    uint64_t skippedHops{0};
    std::size_t switches{0};
};

/**
 * A lost message is sent again when its timeout is over, beside a steady state that goes on: both
 * messages arrive when they would without one.
 */
struct RetransmissionBesideTestCase
{
    std::vector<int64_t> Run(bool skips)
    {
        std::vector<int64_t> arrivals;
        {
            TopologyGraph star;
            star.hosts = 3;
            star.switches = 1;
            for (uint32_t host = 0; host < 3; host++)
            {
                star.links.push_back({host, 3, 100 * GIGA, MicroSeconds(1)});
            }
            RdmaNetwork network(star);
            std::optional<SteadyState> steady;
            if (skips)
            {
                steady.emplace(network.fabric);
            }
            constexpr uint64_t LONG = 100000000; // 8 ms, two timeouts
            constexpr uint64_t SHORT = 40000;
            Write(network.Connect(0, 2, 16), LONG);
            FabricPort& port = network.fabric.devices[1]->GetPort();
            LinkImpairment::Configuration lost;
            lost.down = true;
            const auto down = std::make_shared<LinkImpairment>(lost, 1);
            port.AddImpairment(down);
            Write(network.Connect(1, 2, 17), SHORT);
            In(MicroSeconds(10).GetPicoSeconds(), [&port, down] { port.RemoveImpairment(down); });
            Simulator::Run();
            for (const Delivery& delivery : network.deliveries)
            {
                arrivals.push_back(delivery.time);
            }
            skippedHops = network.fabric.skippedHops;
            NS_TEST_EXPECT_MSG_EQ(network.Get(1, 17).GetCounters().timeouts, 1, "a timeout");
        }
        return arrivals;
    }

    void Run()
    {
        BucketScheduler::UseByDefault();
        const std::vector<int64_t> expected = Run(false);
        const std::vector<int64_t> arrivals = Run(true);
        NS_TEST_EXPECT_MSG_GT(skippedHops, 10000, "packet-hops skipped");
        NS_TEST_ASSERT_MSG_EQ(expected.size(), 2, "messages");
        NS_TEST_ASSERT_MSG_EQ(arrivals.size(), 2, "messages");
        NS_TEST_EXPECT_MSG_EQ(arrivals[0], expected[0], "the lost message");
        NS_TEST_EXPECT_MSG_EQ(arrivals[1], expected[1], "the long message");
        Config::Reset();
    }

    uint64_t skippedHops{0};
};

/** A message of more packets than there are PSNs arrives when the line has sent it. */
void
TestLongMessage()
{
    BucketScheduler::UseByDefault();
    constexpr uint64_t PACKETS = 20000000;
    constexpr uint64_t PAYLOAD = 256;
    constexpr uint64_t HEADERS = 82; // Ethernet 18, IP 20, UDP 8, BTH 12, ICRC 4, line 20
    int64_t arrival = 0;
    uint64_t skipped = 0;
    {
        ClusterOptions options;
        options.ranks = 2;
        options.mtu = PAYLOAD;
        Cluster cluster(options);
        cluster.GetTransport(1)->SetMessageHandler([&arrival](uint32_t, const Message& message) {
            arrival = message.bytes == PACKETS * PAYLOAD ? Simulator::Now().GetTimeStep() : -1;
        });
        cluster.GetTransport(0)->Send(1, {1, PACKETS * PAYLOAD});
        Simulator::Stop(Seconds(10));
        Simulator::Run();
        skipped = cluster.GetFabric().skippedHops;
    }
    Simulator::Destroy();
    const double expected = PACKETS * (PAYLOAD + HEADERS) * 80.0; // ps at 100 Gbit/s
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(arrival), expected, 3e6, "arrival, ps");
    NS_TEST_EXPECT_MSG_GT(skipped, 2 * PACKETS - 20000, "packet-hops skipped");
    Config::Reset();
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    cases.push_back({"visits of a state", TestStateVisitor});
    cases.push_back({"5 GB in packets of 256 bytes", TestLongMessage});
    cases.push_back(
        {"a retransmission timeout beside a steady state", RunTest<RetransmissionBesideTestCase>});
    cases.push_back(
        {"windows and steady states in random networks", RunTest<RandomSteadyTestCase>});
    for (const SteadyCase& steady : MakeSteadyCases())
    {
        cases.push_back({steady.name, [steady] { SteadyStateTestCase{steady}.Run(); }});
    }
    return cases;
}

const Suite g_suite("steady-state", Duration::EXTENSIVE, MakeCases(), TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::steady_state_test
