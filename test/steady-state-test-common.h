/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_STEADY_STATE_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_STEADY_STATE_TEST_COMMON_H

#include "engine/window-simulator-impl.h"
#include "rdma-test-common.h"
#include "test-case.h"

#include "ns3/bucket-scheduler.h"
#include "ns3/config.h"
#include "ns3/fabric-channel.h"
#include "ns3/training-cluster.h"

#include <random>

namespace ns3::training::tests
{

/// Times and counters.
using Trace = std::vector<std::tuple<int64_t, uint64_t, uint64_t, uint64_t>>;

/** @param expected the same of another run @param what both runs have in common */
inline void
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
                cluster.GetTransport(rank)->SetMessageHandler([this, rank](uint32_t from,
                                                                           const Message& message) {
                    sights.push_back({Simulator::Now().GetTimeStep(), from, rank, message.bytes});
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
                    add(ofPriority.answerFrames,
                        ofPriority.peakQueueBytes,
                        static_cast<uint64_t>(ofPriority.pausedTime));
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

/** @return clusters with and without steady states; the first four have parts of all kinds */
inline std::vector<SteadyCase>
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
    add("credits", true, [](O o) {
        o.attributes["ns3::training::SwitchDevice::FlowControl"] = "credit";
    });
    add("a fat tree", true, [](O o) { o.topology = "fat-tree:k=4"; });
    add("a switch", true, [](O) {});
    add("credits that run out", true, [](O o) {
        o.attributes["ns3::training::SwitchDevice::FlowControl"] = "credit";
        o.attributes["ns3::training::SwitchDevice::CreditBuffer"] = "20000";
        o.congestionControl = "none";
    });
    add("senders that wait for credits", true, [](O o) {
        o.attributes["ns3::training::SwitchDevice::FlowControl"] = "credit";
        o.attributes["ns3::training::SwitchDevice::CreditBuffer"] = "20000";
        o.topology = "leaf-spine:leaves=3,hosts-per-leaf=2,spines=1,uplink=40Gbps";
        o.congestionControl = "none";
    });
    add("a torus whose hosts are faster than its links", false, [](O o) {
        o.topology = "torus:3x2";
    });
    add("an oversubscribed network", false, [](O o) {
        o.topology = "leaf-spine:leaves=3,hosts-per-leaf=2,spines=1,uplink=40Gbps";
    });
    add("servers beside rails", true, [](O o) {
        o.topology = "rail-optimized:gpus=3,local-rate=400Gbps";
    });
    add("without congestion control", true, [](O o) { o.congestionControl = "none"; });
    add("small packets", true, [](O o) { o.mtu = 1000; });
    add("an odd rate and a long delay", true, [](O o) {
        o.rate = DataRate("37Gbps"), o.delay = NanoSeconds(12345);
    });
    add("selective repeat", false, [](O o) { o.recovery = "selective-repeat"; });
    add("faults on one link", true, [](O o) { o.faults = {"host5-switch0:loss=0.001"}; });
    add("loss", false, [](O o) { o.loss = 0.0001; });
    add("flowlets, where there is one path", true, [](O o) { o.path = "flowlet"; });
    add("sprayed packets", false, [](O o) { o.topology = "fat-tree:k=4", o.path = "spray"; });
    add("adaptive paths, at times inside a leaf", true, [](O o) {
        o.topology = "leaf-spine:leaves=2,hosts-per-leaf=5,spines=2", o.path = "adaptive";
        o.recovery = "go-back-n";
    });
    add("rates that change with every acknowledgement", false, [](O o) {
        o.congestionControl = "swift";
    });
    return cases;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_STEADY_STATE_TEST_COMMON_H
