/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-test-common.h"
#include "test-case.h"

#include "ns3/bucket-scheduler.h"
#include "ns3/config.h"
#include "ns3/default-simulator-impl.h"
#include "ns3/fabric-channel.h"
#include "ns3/global-value.h"
#include "ns3/map-scheduler.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/state-visitor.h"
#include "ns3/steady-state.h"
#include "ns3/training-cluster.h"
#include "ns3/training-time-resolution.h"
#include "ns3/window-simulator-impl.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace steady_state_test
{

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

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

/// Times and counters.
using Trace = std::vector<std::tuple<int64_t, uint64_t, uint64_t, uint64_t>>;

void
Compare(const Trace& trace, const Trace& expected, const std::string& what)
{
    NS_TEST_ASSERT_MSG_EQ(trace.size(), expected.size(), what << ": as many records");
    for (std::size_t i = 0; i < trace.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(trace[i],
                              expected[i],
                              what << ", record " << i << ", at " << std::get<0>(trace[i])
                                   << " and " << std::get<0>(expected[i]) << " ps");
    }
}

/** A cluster and its messages. */
struct SteadyCase
{
    std::string name;       ///< in few words
    ClusterOptions options; ///< the cluster
    bool skips;             ///< whether there must be, or must not be, a steady state to skip
};

/**
 * Random long messages end at the same picosecond whether steady states are skipped or simulated,
 * with ns-3's event loop and with windows of events, and all counters of ports and queue pairs are
 * equal, in between and at the end.
 */
struct SteadyStateTestCase
{
    void Run()
    {
        UsePicoseconds();
        BucketScheduler::UseByDefault();
        uint64_t skipped = 0;
        for (uint32_t seed = 1; seed <= 4; seed++)
        {
            const Trace simulated = Run("simulate", false, seed);
            NS_TEST_EXPECT_MSG_EQ(skippedHops, 0, "nothing is skipped");
            Compare(Run("skip", false, seed), simulated, "seed " + std::to_string(seed));
            const uint64_t hops = skippedHops;
            Compare(Run("verify", false, seed),
                    simulated,
                    "verified, seed " + std::to_string(seed));
            NS_TEST_EXPECT_MSG_EQ((skippedHops > 0), (hops > 0), "verified, then skipped");
            Compare(Run("skip", true, seed), simulated, "windows, seed " + std::to_string(seed));
            NS_TEST_EXPECT_MSG_EQ(skippedHops, hops, "windows, and the same is skipped");
            skipped += hops;
        }
        NS_TEST_EXPECT_MSG_EQ((skipped > 0), steady.skips, skipped << " packet-hops skipped");
        Config::Reset();
    }

    Trace Run(const std::string& steadyState, bool windows, uint32_t seed)
    {
        sights.clear();
        if (windows)
        {
            Simulator::SetImplementation(CreateObject<WindowSimulatorImpl>());
        }
        std::mt19937_64 random(seed);
        const auto draw = [&random](uint64_t from, uint64_t to) {
            return from + random() % (to - from + 1);
        };
        {
            ClusterOptions options = steady.options;
            options.steadyState = steadyState;
            Cluster cluster(options);
            const uint32_t ranks = cluster.GetRanks();
            for (uint32_t rank = 0; rank < ranks; rank++)
            {
                cluster.GetTransport(rank)->SetMessageHandler(
                    [this, rank](uint32_t from, uint64_t, uint64_t bytes, Ptr<ByteBuffer>) {
                        sights.push_back({Simulator::Now().GetTimeStep(), from, rank, bytes});
                    });
            }
            // Each seed has another pattern: a ring, a permutation, pairs, an incast.
            const uint64_t step = seed == 1 ? 1 : draw(1, ranks - 1);
            for (uint32_t rank = 0; rank < ranks; rank++)
            {
                const uint32_t to = seed == 4 && rank > 1 ? 0 : (rank + step) % ranks;
                for (uint64_t number = draw(1, 3); number > 0; number--)
                {
                    Simulator::Schedule(TimeStep(draw(0, seed == 1 ? 0 : 200000000)),
                                        &SteadyStateTestCase::Send,
                                        this,
                                        cluster.GetTransport(rank),
                                        to,
                                        draw(1000000, 6000000));
                }
            }
            for (uint32_t probe = 0; probe < 20; probe++)
            {
                // Of a host, or of no node.
                const uint32_t node = cluster.GetFabric().hosts.Get(probe % ranks)->GetId();
                Simulator::ScheduleWithContext(probe % 2 ? node : Simulator::NO_CONTEXT,
                                               TimeStep(draw(0, 3000000000)),
                                               &SteadyStateTestCase::Probe,
                                               this,
                                               &cluster);
            }
            if (atMoment)
            {
                In(300 * MICROSECOND, [this, &cluster] { atMoment(cluster); });
            }
            Simulator::Stop(Seconds(1));
            Simulator::Run();
            Probe(&cluster);
            skippedHops = cluster.GetFabric().skippedHops;
        }
        Simulator::Destroy();
        return sights;
    }

    void Send(Ptr<MessageTransport> transport, uint32_t to, uint64_t bytes)
    {
        transport->Send(to, {1, bytes});
    }

    void Probe(Cluster* cluster)
    {
        const auto add = [this](uint64_t a, uint64_t b, uint64_t c) {
            sights.push_back({Simulator::Now().GetTimeStep(), a, b, c});
        };
        for (const auto& channel : cluster->GetFabric().channels)
        {
            for (uint32_t end : {0, 1})
            {
                const PortCounters& counters = channel->GetPort(end).GetCounters();
                add(counters.transmittedFrames, counters.transmittedBytes, counters.receivedFrames);
                add(counters.receivedBytes, counters.peakQueueBytes, counters.markedFrames);
                add(counters.pausesSent, counters.lostFrames, counters.droppedFrames);
                for (const PriorityCounters& ofPriority : counters.byPriority)
                {
                    add(ofPriority.transmittedFrames, ofPriority.transmittedBytes, 0);
                    add(ofPriority.answerFrames, ofPriority.peakQueueBytes, 0);
                }
            }
        }
        for (uint32_t rank = 0; rank < cluster->GetRanks(); rank++)
        {
            for (const auto& nic : cluster->GetNics(rank))
            {
                for (const auto& [number, queuePair] : nic->GetQueuePairs())
                {
                    const QueuePairCounters counters = queuePair->GetCounters();
                    add(number, counters.sentPackets, counters.receivedPackets);
                    add(counters.sentAcks, counters.receivedAcks, counters.receivedBytes);
                    add(counters.completedMessages,
                        counters.retransmittedPackets,
                        counters.receivedCnps);
                }
            }
        }
    }

    SteadyCase steady;
    std::function<void(Cluster&)> atMoment{}; // when messages are under way
    Trace sights{};
    uint64_t skippedHops{0};
};

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
        TypeIdValue before;
        GlobalValue::GetValueByName("SchedulerType", before);
        GlobalValue::Bind(
            "SchedulerType",
            TypeIdValue(isPlain ? MapScheduler::GetTypeId() : BucketScheduler::GetTypeId()));
        const auto windows = CreateObject<WindowSimulatorImpl>();
        Ptr<SimulatorImpl> loop = windows;
        if (isPlain)
        {
            loop = CreateObject<DefaultSimulatorImpl>();
        }
        Simulator::SetImplementation(loop);
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
        GlobalValue::Bind("SchedulerType", before);
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
        UsePicoseconds();
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
    UsePicoseconds();
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
        cluster.GetTransport(1)->SetMessageHandler(
            [&arrival](uint32_t, uint64_t, uint64_t bytes, Ptr<ByteBuffer>) {
                arrival = bytes == PACKETS * PAYLOAD ? Simulator::Now().GetTimeStep() : -1;
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

std::vector<SteadyCase>
MakeSteadyCases()
{
    std::vector<SteadyCase> cases;
    const auto add = [&cases](const std::string& name, bool skips, const auto& change) {
        cases.push_back({name, {}, skips});
        cases.back().options.ranks = 6;
        change(cases.back().options);
    };
    using O = ClusterOptions&;
    add("two ranks", true, [](O o) { o.ranks = 2; });
    add("queue pairs in turns", true, [](O o) { o.queuePairs = 3; });
    add("a fat tree", true, [](O o) { o.topology = "fat-tree:k=4"; });
    add("a switch", true, [](O) {});
    add("a torus whose hosts are faster than its links", false, [](O o) {
        o.topology = "torus:3x2";
    });
    add("an oversubscribed network", false, [](O o) {
        o.topology = "leaf-spine:leaves=3,hosts-per-leaf=2,spines=1,uplink=40Gbps";
    });
    add("without congestion control", true, [](O o) { o.congestionControl = "none"; });
    add("small packets", true, [](O o) { o.mtu = 1000; });
    add("an odd rate and a long delay", true, [](O o) {
        o.rate = DataRate("37Gbps"), o.delay = NanoSeconds(12345);
    });
    add("selective repeat", false, [](O o) { o.recovery = "selective-repeat"; });
    add("faults on one link", true, [](O o) { o.faults = {"host5-switch0:loss=0.001"}; });
    add("loss", false, [](O o) { o.loss = 0.0001; });
    add("sprayed packets", false, [](O o) { o.topology = "fat-tree:k=4", o.path = "spray"; });
    add("rates that change with every acknowledgement", false, [](O o) {
        o.congestionControl = "swift";
    });
    return cases;
}

/// A line of source that visits a value.
using Site = std::pair<std::string, int>;

/** @return a probe that leaves out the values of a line of source */
StateVisitor::Probe
LeaveOut(const Site& site)
{
    return [site](const char* file, int line) { return line != site.second || file != site.first; };
}

/**
 * Each line that visits a value is needed. Without it, a run with steady states differs from the
 * whole simulation, or ends with an error; or a state in which one bit differs is taken for equal.
 */
struct MutationTestCase
{
    /** One simulation, and what it must observe. */
    struct Scenario
    {
        SteadyCase steady;
        uint32_t seed;
        Trace expected;
        uint64_t skippedHops;

        std::string GetName() const
        {
            return steady.name + ", seed " + std::to_string(seed);
        }
    };

    void Run()
    {
        UsePicoseconds();
        BucketScheduler::UseByDefault();
        const StateVisitor::Probe collect = [this](const char* file, int line) {
            caught[{file, line}];
            return true;
        };
        for (uint32_t seed = 1; seed <= 4; seed++)
        {
            for (const SteadyCase& steady : MakeSteadyCases())
            {
                StateVisitor::SetProbe(&collect);
                SteadyStateTestCase test{steady};
                Trace expected = test.Run("skip", false, seed);
                StateVisitor::SetProbe(nullptr);
                scenarios.push_back({steady, seed, std::move(expected), test.skippedHops});
            }
        }
        for (std::size_t i = 0; i < 3; i++) // these have parts of all kinds
        {
            const Scenario& scenario = scenarios[i];
            SteadyStateTestCase test{scenario.steady};
            test.atMoment = [this, &scenario](Cluster& cluster) { Flip(cluster, scenario); };
            test.Run("simulate", false, scenario.seed);
        }
        for (auto& [site, by] : caught)
        {
            for (auto s = scenarios.begin(); by.empty() && s != scenarios.end(); ++s)
            {
                by = IsWrong(site, *s) ? "the results of " + s->GetName() : "";
            }
            NS_TEST_EXPECT_MSG_EQ(by.empty(), false, site.first << ":" << site.second);
            std::cout << site.first << ":" << site.second << ": " << by << "\n";
        }
        NS_TEST_EXPECT_MSG_GT(caught.size(), 30, "lines that visit a value");
        Config::Reset();
    }

    /** A process of its own leaves out the value: it may end with an error. */
    static bool IsWrong(const Site& site, const Scenario& scenario)
    {
        const pid_t child = fork();
        if (child == 0)
        {
            [[maybe_unused]] const auto* unused = std::freopen("/dev/null", "w", stderr);
            const StateVisitor::Probe leaveOut = LeaveOut(site);
            StateVisitor::SetProbe(&leaveOut);
            SteadyStateTestCase test{scenario.steady};
            const bool isEqual = test.Run("skip", false, scenario.seed) == scenario.expected &&
                                 test.skippedHops == scenario.skippedHops;
            _exit(isEqual ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return status != 0;
    }

    /** Flips each bit of the objects of a network, and looks which lines see it alone. */
    void Flip(Cluster& cluster, const Scenario& scenario)
    {
        std::vector<std::pair<char*, std::size_t>> objects;
        const auto add = [&objects](const auto* object) {
            auto* bytes = const_cast<char*>(reinterpret_cast<const char*>(object));
            objects.push_back({bytes, sizeof(*object)});
        };
        add(PeekPointer(cluster.GetNics(0).front()));
        for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
        {
            for (const auto& [number, queuePair] : cluster.GetNics(rank).front()->GetQueuePairs())
            {
                add(PeekPointer(queuePair));
            }
        }
        for (const auto& device : cluster.GetFabric().devicesOfSwitches)
        {
            add(PeekPointer(device));
            add(&device->GetPort(0));
        }
        for (const BucketScheduler::Entry& entry : BucketScheduler::GetCurrent()->GetEntries())
        {
            if (const auto* frame = dynamic_cast<const Frame*>(entry.impl))
            {
                add(frame);
            }
        }
        AddBlocks(objects);
        std::vector<Site> open;
        for (const auto& [site, by] : caught)
        {
            if (by.empty())
            {
                open.push_back(site);
            }
        }

        // Shared with processes of their own, which end when a flipped bit is one of a pointer.
        struct Shared
        {
            std::size_t object;
            std::size_t bit;
            bool sees[64];
        };

        auto* shared = static_cast<Shared*>(mmap(nullptr,
                                                 sizeof(Shared),
                                                 PROT_READ | PROT_WRITE,
                                                 MAP_SHARED | MAP_ANONYMOUS,
                                                 -1,
                                                 0));
        NS_TEST_ASSERT_MSG_LT(open.size(), 64, "lines");
        while (shared->object < objects.size())
        {
            const pid_t child = fork();
            if (child == 0)
            {
                [[maybe_unused]] const auto* unused = std::freopen("/dev/null", "w", stderr);
                StateVisitor visitor;
                const auto record = [&] {
                    visitor.Restart(Simulator::Now().GetTimeStep());
                    SteadyState::Record(cluster.GetFabric(), visitor);
                    return std::cref(visitor);
                };
                const StateVisitor whole = record();
                std::vector<StateVisitor> without;
                std::vector<StateVisitor::Probe> probes;
                for (const Site& site : open)
                {
                    probes.push_back(LeaveOut(site));
                    StateVisitor::SetProbe(&probes.back());
                    without.push_back(record());
                    StateVisitor::SetProbe(nullptr);
                }
                const auto look = [&] {
                    if (StateVisitor::GetPeriods(whole, record()) != 0)
                    {
                        return;
                    }
                    for (std::size_t i = 0; i < open.size(); i++)
                    {
                        if (!shared->sees[i])
                        {
                            StateVisitor::SetProbe(&probes[i]);
                            shared->sees[i] = StateVisitor::GetPeriods(without[i], record()) > 0;
                            StateVisitor::SetProbe(nullptr);
                        }
                    }
                };
                for (; shared->object < objects.size(); shared->object++, shared->bit = 0)
                {
                    const auto [bytes, size] = objects[shared->object];
                    while (shared->bit < 8 * size)
                    {
                        const std::size_t bit = shared->bit++;
                        const itimerval limit{{}, {0, 50000}}; // a list may have got a loop
                        setitimer(ITIMER_VIRTUAL, &limit, nullptr);
                        bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
                        look();
                        bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
                    }
                }
                const auto isFrame = [](const EventImpl& event) {
                    return dynamic_cast<const Frame*>(&event) != nullptr;
                };
                BucketScheduler::GetCurrent()->Delay(isFrame, 1);
                look();
                _exit(0);
            }
            waitpid(child, nullptr, 0);
            shared->bit = (shared->bit + 63) / 64 * 64; // the rest of the pointer
        }
        for (std::size_t i = 0; i < open.size(); i++)
        {
            if (shared->sees[i])
            {
                caught[open[i]] = "a bit of " + scenario.GetName();
            }
        }
        munmap(shared, sizeof(Shared));
    }

    /** @return bytes of a small block of memory, as the GNU C library keeps them before it, or 0 */
    static std::size_t GetSize(char* block)
    {
        std::size_t chunk = 0;
        const iovec to{&chunk, sizeof(chunk)};
        const iovec from{block - sizeof(chunk), sizeof(chunk)};
        const bool isBlock = reinterpret_cast<uintptr_t>(block) % 16 == 0 &&
                             process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof(chunk);
        return isBlock && chunk >= 32 && chunk <= 2048 ? (chunk & ~std::size_t{7}) - 8 : 0;
    }

    /** Adds the blocks of memory that objects point to, and what these point to. */
    static void AddBlocks(std::vector<std::pair<char*, std::size_t>>& objects)
    {
        std::set<char*> known;
        std::size_t from = 0;
        for (int depth = 0; depth < 2; depth++)
        {
            const std::size_t to = objects.size();
            for (; from < to; from++)
            {
                for (std::size_t i = 0; i + sizeof(char*) <= objects[from].second;
                     i += sizeof(char*))
                {
                    char* block;
                    std::memcpy(&block, objects[from].first + i, sizeof(block));
                    const std::size_t size = GetSize(block);
                    if (size > 0 && known.insert(block).second)
                    {
                        objects.push_back({block, size});
                    }
                }
            }
        }
    }

    std::vector<Scenario> scenarios;
    std::map<Site, std::string> caught; // by what
};

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
const Suite g_mutations("steady-state-mutations",
                        Duration::TAKES_FOREVER,
                        {{"each visited value is needed", RunTest<MutationTestCase>}},
                        TestSuite::Type::SYSTEM);

} // namespace steady_state_test
