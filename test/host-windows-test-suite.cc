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
#include "ns3/random-variable-stream.h"
#include "ns3/string.h"
#include "ns3/training-mix-bits.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training::tests::host_windows_test
{

/** Number of messages that handlers post, at most. */
constexpr uint64_t MOST_POSTS = 400;

/** What is seen, in the order in which it is seen. */
struct Seen
{
    uint64_t count{0};
    uint64_t hash{0};
    std::vector<std::string> lines; // the first ones, to tell where two runs part

    /// Adds a line. @param what kind of event @param host where @param value what else is seen
    void Add(const std::string& what, uint32_t host, uint64_t value)
    {
        count++;
        hash = MixBits(hash ^ MixBits(static_cast<uint64_t>(PicosecondsNow()) + host));
        hash = MixBits(hash ^ MixBits(value + what.size()));
        if (lines.size() < 5000)
        {
            lines.push_back(what + " at host " + std::to_string(host) + ", " +
                            std::to_string(PicosecondsNow()) + " ps: " + std::to_string(value));
        }
    }
};

/**
 * Hosts whose handlers act on other hosts at the same time: they post messages there, read
 * counters, slow hosts down, change links, and schedule and cancel events. What all handlers see,
 * in the order of time over all hosts, is the same with windows and without them.
 */
struct HostWindowsTest
{
    /** A run: its network, and what was seen. */
    struct Stage
    {
        RdmaNetwork* network{nullptr};
        Ptr<UniformRandomVariable> random;
        std::vector<std::pair<uint32_t, RdmaQueuePair*>> senders; // host, queue pair
        uint64_t posts{0};
        EventId lastEvent;
        Seen seen;
    };

    TopologyGraph MakeTopology(UniformRandomVariable& random) const
    {
        TopologyGraph graph;
        graph.switches = random.GetInteger(1, 5);
        graph.hosts = random.GetInteger(2, 9);
        const auto add = [&](uint32_t a, uint32_t b) {
            const uint64_t rate = random.GetInteger(1, 4) * uint64_t{25000000000};
            const uint32_t longest =
                seed % 3 ? 4 : 40; // times the shortest: beyond the next windows
            const auto delay =
                TimeStep(random.GetInteger(1, longest) * (seed % 2 ? 500000 : 333333));
            graph.links.push_back({a, b, DataRate(rate), delay});
        };
        for (uint32_t host = 0; host < graph.hosts; host++)
        {
            add(host, graph.hosts + random.GetInteger(0, graph.switches - 1));
        }
        for (uint32_t i = 1; i < graph.switches; i++)
        {
            add(graph.hosts + random.GetInteger(0, i - 1), graph.hosts + i);
        }
        return graph;
    }

    void Configure(RdmaNic& nic) const
    {
        nic.SetAttribute("Mtu", UintegerValue(seed % 2 ? 1000 : 4096));
        nic.SetAttribute("AckInterval", UintegerValue(1 + seed % 5 * 4));
        nic.SetAttribute("LossRecovery",
                         StringValue(seed % 7 == 3 ? "selective-repeat" : "go-back-n"));
        nic.SetAttribute("RetransmissionTimeout",
                         TimeValue(seed % 5 == 4 ? NanoSeconds(900) : MicroSeconds(150)));
        nic.SetAttribute("RetryLimit", UintegerValue(seed % 5 == 4 ? 1000 : 7));
        nic.SetAttribute("DoorbellLatency", TimeValue(NanoSeconds(seed % 3 == 1 ? 170 : 0)));
        nic.SetAttribute("CompletionLatency", TimeValue(NanoSeconds(seed % 3 == 2 ? 230 : 0)));
        nic.SetAttribute("InjectionRate",
                         DataRateValue(DataRate(seed % 4 == 2 ? "7Gbps" : "0bps")));
    }

    static void Post(Stage* stage, std::size_t index)
    {
        const auto [host, queuePair] = stage->senders[index];
        const uint64_t bytes = stage->random->GetInteger(0, 1)
                                   ? stage->random->GetInteger(0, 3000)
                                   : stage->random->GetInteger(0, 90000);
        Message request;
        request.bytes = bytes;
        request.immediate = static_cast<uint32_t>(stage->posts);
        if (stage->random->GetInteger(0, 3) == 0)
        {
            const uint64_t post = stage->posts;
            request.sent = [stage, host = host, post]() { stage->seen.Add("sent", host, post); };
        }
        stage->posts++;
        queuePair->Write(std::move(request));
    }

    static void Note(Stage* stage, uint32_t host, uint64_t value)
    {
        stage->seen.Add("event", host, value);
    }

    static void SetReceiveRate(HostDevice* device, uint64_t rate)
    {
        device->SetReceiveRate(DataRate(rate));
    }

    /** What a handler at a host does: something to any host. */
    static void Act(Stage* stage, uint32_t host)
    {
        RdmaNetwork& network = *stage->network;
        UniformRandomVariable& random = *stage->random;
        const auto hosts = static_cast<uint32_t>(network.nics.size());
        const uint32_t other = random.GetInteger(0, hosts - 1);
        const uint32_t node = network.fabric.hosts.Get(other)->GetId();
        const auto delay = TimeStep(random.GetInteger(0, 1) ? random.GetInteger(0, 700000) : 0);
        const std::size_t sender = random.GetInteger(0, stage->senders.size() - 1);
        switch (random.GetInteger(0, 9))
        {
        case 0:
        case 1:
        case 2:
        case 3:
            if (stage->posts < MOST_POSTS)
            {
                Post(stage, sender);
            }
            break;
        case 4:
            if (stage->posts < MOST_POSTS)
            {
                Simulator::ScheduleWithContext(
                    network.fabric.hosts.Get(stage->senders[sender].first)->GetId(),
                    delay,
                    &HostWindowsTest::Post,
                    stage,
                    sender);
            }
            break;
        case 5: {
            const QueuePairCounters counters = stage->senders[sender].second->GetCounters();
            stage->seen.Add("counters", host, counters.sentPackets * 1000 + counters.receivedAcks);
            break;
        }
        case 6: {
            const FabricPort& port = network.fabric.devices[other]->GetPort();
            stage->seen.Add("port", host, port.GetLineBytes() + port.GetQueueBytes(LOSSLESS));
            break;
        }
        case 7:
            stage->lastEvent.Cancel();
            stage->lastEvent = Simulator::Schedule(delay,
                                                   &HostWindowsTest::Note,
                                                   stage,
                                                   host,
                                                   random.GetInteger());
            Simulator::ScheduleWithContext(node, delay, &HostWindowsTest::Note, stage, other, 77);
            break;
        case 8:
            network.fabric.devices[other]->SetReceiveRate(DataRate("40Gbps"));
            Simulator::ScheduleWithContext(node,
                                           MicroSeconds(3) + delay,
                                           &HostWindowsTest::SetReceiveRate,
                                           PeekPointer(network.fabric.devices[other]),
                                           uint64_t{0});
            break;
        case 9:
            network.fabric.devices[other]->GetPort().AddLatency(TimeStep(1000));
            break;
        }
    }

    /** Looks at everything, in no host's context. */
    static void Sample(Stage* stage)
    {
        for (const auto& [host, queuePair] : stage->senders)
        {
            stage->seen.Add("sample", host, queuePair->GetCounters().sentPackets);
        }
        if (stage->seen.count % 3 == 0)
        {
            Act(stage, 0);
        }
    }

    Seen Run(bool usesWindows)
    {
        const auto loop = MakeLoop(usesWindows);
        const ChosenEventLoop chosen(loop, BucketScheduler::GetTypeId());
        Stage stage;
        {
            stage.random = CreateObject<UniformRandomVariable>();
            stage.random->SetStream(2000 + seed);
            const TopologyGraph topology = MakeTopology(*stage.random);
            RdmaNetwork network(
                topology,
                RdmaDcqcn::GetTypeId(),
                [this](RdmaNic& nic) { Configure(nic); },
                seed % 6 == 5 ? 0.002 : 0,
                seed % 4 == 3 ? 10 : 0);
            stage.network = &network;
            for (uint32_t number = 16; number < 16 + 3 * topology.hosts; number++)
            {
                const uint32_t from = number % topology.hosts;
                const uint32_t to =
                    (from + stage.random->GetInteger(1, topology.hosts - 1)) % topology.hosts;
                RdmaQueuePair& queuePair = network.Connect(from, to, number);
                queuePair.SetCompletionHandler([&stage, from](uint64_t request) {
                    stage.seen.Add("completion", from, request);
                    Act(&stage, from);
                });
                network.Get(to, number).SetMessageHandler([&stage, to](const Message& message) {
                    stage.seen.Add("message", to, message.bytes);
                    Act(&stage, to);
                });
                stage.senders.emplace_back(from, &queuePair);
                Simulator::ScheduleWithContext(network.fabric.hosts.Get(from)->GetId(),
                                               TimeStep(stage.random->GetInteger(0, 5000000)),
                                               &HostWindowsTest::Post,
                                               &stage,
                                               stage.senders.size() - 1);
            }
            for (int64_t time = 1000000; time < 60000000; time += 1700001)
            {
                Simulator::ScheduleWithContext(Simulator::NO_CONTEXT,
                                               TimeStep(time),
                                               &HostWindowsTest::Sample,
                                               &stage);
            }
            Simulator::Stop(TimeStep(9000000)); // the caller acts, too
            Simulator::Run();
            Act(&stage, 0);
            Simulator::Run();
            Sample(&stage);
            const PortCounters total = network.fabric.GetTotal();
            stage.seen.Add("frames", 0, total.transmittedFrames);
            stage.seen.Add("drops", 0, total.droppedFrames + total.lostFrames);
            stage.seen.Add("events", 0, Simulator::GetEventCount());
            nodes = loop->GetNNodes();
            all = topology.hosts + topology.switches;
        }
        return stage.seen;
    }

    void Run()
    {
        const Seen expected = Run(false);
        NS_TEST_EXPECT_MSG_EQ(nodes, 0, "no windows");
        const Seen actual = Run(true);
        NS_TEST_EXPECT_MSG_EQ(nodes, all, "all hosts and switches execute events in windows");
        NS_TEST_EXPECT_MSG_GT(expected.count, 100, "much is seen");
        const std::size_t lines = std::min(expected.lines.size(), actual.lines.size());
        const auto [seen, other] = std::mismatch(actual.lines.begin(),
                                                 actual.lines.begin() + static_cast<int64_t>(lines),
                                                 expected.lines.begin());
        if (other != expected.lines.begin() + static_cast<int64_t>(lines))
        {
            NS_TEST_EXPECT_MSG_EQ(*seen, *other, "first line that differs");
        }
        NS_TEST_EXPECT_MSG_EQ(actual.count, expected.count, "number of lines");
        NS_TEST_EXPECT_MSG_EQ(actual.hash, expected.hash, "all lines");
    }

    uint32_t seed; ///< of the network, of the NICs, and of what the handlers do
    std::size_t nodes{0};
    std::size_t all{0};
};

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    for (uint32_t seed = 1; seed <= 60; seed++)
    {
        cases.push_back({"hosts that act on each other, seed " + std::to_string(seed),
                         [seed] { HostWindowsTest{seed}.Run(); }});
    }
    return cases;
}

const Suite g_suite("host-windows", Duration::EXTENSIVE, MakeCases());

} // namespace ns3::training::tests::host_windows_test
