/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/bucket-scheduler.h"
#include "ns3/config.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/state-visitor.h"
#include "ns3/test.h"
#include "ns3/training-cluster.h"
#include "ns3/training-time-resolution.h"

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

/**
 * @ingroup distributed-training-tests
 * @defgroup distributed-training-steady-state-tests Tests of steady states that are skipped
 */

using namespace ns3;
using namespace ns3::training;

/**
 * @ingroup distributed-training-steady-state-tests
 * Two visits tell whether a state repeats, and a third one writes it some periods later.
 */
class StateVisitorTestCase : public TestCase
{
  public:
    StateVisitorTestCase()
        : TestCase("visits of a state")
    {
    }

  private:
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

    static StateVisitor Record(State& state, int64_t now)
    {
        StateVisitor visitor(now);
        state.Visit(visitor);
        return visitor;
    }

    uint64_t GetPeriods(State next)
    {
        State first;
        return StateVisitor::GetPeriods(Record(first, 1000), Record(next, 1010));
    }

    void DoRun() override
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
};

/** @ingroup distributed-training-steady-state-tests A cluster and its messages. */
struct SteadyCase
{
    std::string name;       ///< in few words
    ClusterOptions options; ///< the cluster
    bool skips;             ///< whether there must be, or must not be, a steady state to skip
};

/**
 * @ingroup distributed-training-steady-state-tests
 * Random long messages end at the same picosecond whether steady states are skipped or simulated,
 * and all counters of ports and queue pairs are equal, in between and at the end.
 */
class SteadyStateTestCase : public TestCase
{
  public:
    /** @param steady what is simulated */
    explicit SteadyStateTestCase(const SteadyCase& steady)
        : TestCase(steady.name),
          m_case(steady)
    {
    }

  private:
    /// Whatever is compared.
    using Trace = std::vector<std::tuple<int64_t, uint64_t, uint64_t, uint64_t>>;

    void DoRun() override
    {
        UsePicoseconds();
        BucketScheduler::UseByDefault();
        uint64_t skipped = 0;
        for (uint32_t seed = 1; seed <= 4; seed++)
        {
            const Trace simulated = Run("simulate", seed);
            NS_TEST_EXPECT_MSG_EQ(m_skippedHops, 0, "nothing is skipped");
            const Trace derived = Run("skip", seed);
            skipped += m_skippedHops;
            NS_TEST_ASSERT_MSG_EQ(simulated.size(), derived.size(), "as many records");
            for (std::size_t i = 0; i < simulated.size(); i++)
            {
                NS_TEST_EXPECT_MSG_EQ((simulated[i] == derived[i]),
                                      true,
                                      "record " << i << ", seed " << seed << ", at "
                                                << std::get<0>(simulated[i]) << " and "
                                                << std::get<0>(derived[i]) << " ps");
            }
        }
        NS_TEST_EXPECT_MSG_EQ((skipped > 0), m_case.skips, skipped << " packet-hops skipped");
        Config::Reset();
    }

    Trace Run(const std::string& steadyState, uint32_t seed)
    {
        m_trace.clear();
        std::mt19937_64 random(seed);
        const auto draw = [&random](uint64_t from, uint64_t to) {
            return from + random() % (to - from + 1);
        };
        {
            ClusterOptions options = m_case.options;
            options.steadyState = steadyState;
            Cluster cluster(options);
            const uint32_t ranks = cluster.GetRanks();
            for (uint32_t rank = 0; rank < ranks; rank++)
            {
                cluster.GetTransport(rank)->SetMessageHandler(
                    [this, rank](uint32_t from, uint64_t, uint64_t bytes, Ptr<ByteBuffer>) {
                        m_trace.push_back({Simulator::Now().GetTimeStep(), from, rank, bytes});
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
                Simulator::Schedule(TimeStep(draw(0, 3000000000)),
                                    &SteadyStateTestCase::Probe,
                                    this,
                                    &cluster);
            }
            Simulator::Stop(Seconds(1));
            Simulator::Run();
            Probe(&cluster);
            m_skippedHops = cluster.GetFabric().skippedHops;
        }
        Simulator::Destroy();
        return m_trace;
    }

    void Send(Ptr<MessageTransport> transport, uint32_t to, uint64_t bytes)
    {
        transport->Send(to, 1, bytes, nullptr);
    }

    void Probe(Cluster* cluster)
    {
        const auto add = [this](uint64_t a, uint64_t b, uint64_t c) {
            m_trace.push_back({Simulator::Now().GetTimeStep(), a, b, c});
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
                    add(ofPriority.transmittedBytes,
                        ofPriority.answerFrames,
                        ofPriority.peakQueueBytes);
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

    SteadyCase m_case;
    Trace m_trace;
    uint64_t m_skippedHops{0};
};

/**
 * @ingroup distributed-training-steady-state-tests
 * A message of more packets than there are PSNs arrives when the line has sent it.
 */
class LongMessageTestCase : public TestCase
{
  public:
    LongMessageTestCase()
        : TestCase("5 GB in packets of 256 bytes")
    {
    }

  private:
    void DoRun() override
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
            cluster.GetTransport(0)->Send(1, 1, PACKETS * PAYLOAD, nullptr);
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
};

/**
 * @ingroup distributed-training-steady-state-tests
 * The suite.
 */
class SteadyStateTestSuite : public TestSuite
{
  public:
    SteadyStateTestSuite()
        : TestSuite("distributed-training-steady-state", TestSuite::Type::SYSTEM)
    {
        AddTestCase(new StateVisitorTestCase);
        AddTestCase(new LongMessageTestCase);
        const auto add = [this](const std::string& name, bool skips, const auto& change) {
            SteadyCase steady{name, {}, skips};
            steady.options.ranks = 6;
            change(steady.options);
            AddTestCase(new SteadyStateTestCase(steady));
        };
        using Options = ClusterOptions;
        add("a switch", true, [](Options&) {});
        add("two ranks", true, [](Options& options) { options.ranks = 2; });
        add("a fat tree", true, [](Options& options) { options.topology = "fat-tree:k=4"; });
        add("a torus whose hosts are faster than its links", false, [](Options& options) {
            options.topology = "torus:3x2";
        });
        add("an oversubscribed network", false, [](Options& options) {
            options.topology = "leaf-spine:leaves=3,hosts-per-leaf=2,spines=1,uplink=40Gbps";
        });
        add("without congestion control", true, [](Options& options) {
            options.congestionControl = "none";
        });
        add("small packets", true, [](Options& options) { options.mtu = 1000; });
        add("an odd rate and a long delay", true, [](Options& options) {
            options.rate = DataRate("37Gbps");
            options.delay = NanoSeconds(12345);
        });
        add("queue pairs in turns", true, [](Options& options) { options.queuePairs = 3; });
        add("selective repeat", false, [](Options& options) {
            options.recovery = "selective-repeat";
        });
        add("faults on one link", true, [](Options& options) {
            options.faults = {"host5-switch0:loss=0.001"};
        });
        add("loss", false, [](Options& options) { options.loss = 0.0001; });
        add("sprayed packets", false, [](Options& options) {
            options.topology = "fat-tree:k=4";
            options.path = "spray";
        });
        add("rates that change with every acknowledgement", false, [](Options& options) {
            options.congestionControl = "swift";
        });
    }
};

static SteadyStateTestSuite g_steadyStateTestSuite; ///< registers the suite
