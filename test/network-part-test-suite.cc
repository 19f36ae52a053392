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
#include "ns3/object-factory.h"
#include "ns3/switch-device.h"
#include "ns3/training-event-loop.h"
#include "ns3/uinteger.h"

#include <map>
#include <random>
#include <set>

namespace ns3::training::tests::network_part_test
{

/// Time, node, and two values: what a sink or a reader has seen.
using Sights = std::vector<std::tuple<int64_t, uint64_t, uint64_t, uint64_t>>;

/** A network in which somebody connects sinks, sets attributes and reads while it runs. */
struct RunningNetwork
{
    /** Who acts: an event of a node of this kind. */
    enum class Actor
    {
        NOBODY, ///< an event without a node
        HOST,
        SWITCH
    };

    Sights Run(bool windows)
    {
        sights.clear();
        const auto loop = MakeLoop(windows);
        const ChosenEventLoop chosen(loop, BucketScheduler::GetTypeId());
        std::mt19937_64 random(seed);
        const auto draw = [&random](uint64_t from, uint64_t to) {
            return from + random() % (to - from + 1);
        };
        {
            TopologyGraph tree; // two leaves, one spine, slower: queues grow
            tree.hosts = 6;
            tree.switches = 3;
            for (uint32_t host = 0; host < 6; host++)
            {
                tree.links.push_back({host, 6 + host / 3, 100 * GIGA, NanoSeconds(500 + host)});
            }
            tree.links.push_back({6, 8, 150 * GIGA, NanoSeconds(700)});
            tree.links.push_back({7, 8, 170 * GIGA, NanoSeconds(800)});
            RdmaNetwork made(tree, RdmaDcqcn::GetTypeId());
            network = &made;
            for (uint32_t from = 0; from < 6; from++)
            {
                RdmaQueuePair& queuePair = made.Connect(from, (from + 3) % 6, 16 + from);
                controls.push_back(queuePair.GetCongestionControl());
                Simulator::ScheduleWithContext(made.fabric.hosts.Get(from)->GetId(),
                                               NanoSeconds(draw(0, 20000)),
                                               &RunningNetwork::Post,
                                               &queuePair,
                                               draw(100000, 2000000));
            }
            for (uint32_t i = 0; i < 30; i++)
            {
                const uint32_t node = actor == Actor::NOBODY ? Simulator::NO_CONTEXT
                                      : actor == Actor::HOST
                                          ? made.fabric.hosts.Get(draw(0, 5))->GetId()
                                          : made.fabric.switches.Get(draw(0, 2))->GetId();
                Simulator::ScheduleWithContext(node,
                                               TimeStep(draw(1000000, 100000000)),
                                               &RunningNetwork::Act,
                                               this,
                                               static_cast<uint32_t>(draw(0, 5)),
                                               draw(1, 20));
            }
            Simulator::Run();
            hadWindows = loop->GetWindow() > Time(0) || loop->GetNNodes() > 0;
            for (const Delivery& delivery : made.deliveries)
            {
                sights.emplace_back(delivery.time, 0, delivery.message.bytes, 0);
            }
            controls.clear();
        }
        return sights;
    }

    static void Post(RdmaQueuePair* queuePair, uint64_t bytes)
    {
        Write(*queuePair, bytes);
    }

    void Act(uint32_t which, uint64_t value)
    {
        if (act)
        {
            act(*this, which, value);
        }
    }

    void See(uint64_t node, uint64_t a, uint64_t b)
    {
        sights.emplace_back(PicosecondsNow(), node, a, b);
    }

    Ptr<SwitchDevice> GetSwitch(uint32_t which) const
    {
        return network->fabric.devicesOfSwitches[which % 3];
    }

    Actor actor{Actor::NOBODY};
    std::function<void(RunningNetwork&, uint32_t, uint64_t)> act{};
    uint32_t seed{1};
    RdmaNetwork* network{nullptr};
    std::vector<Ptr<RdmaCongestionControl>> controls{};
    std::set<uint32_t> connected{};
    bool hadWindows{false};
    Sights sights{};
};

void
SetAttributes(RunningNetwork& network, uint32_t which, uint64_t value)
{
    network.GetSwitch(which)->SetAttribute("PipelineDelay", TimeValue(NanoSeconds(100 * value)));
    network.network->nics[which]->SetAttribute("AckInterval", UintegerValue(value));
    network.controls[which]->SetAttribute("AdditiveIncrease",
                                          DoubleValue(0.0001 * static_cast<double>(value)));
}

void
SeeQueue(RunningNetwork* network, uint32_t node, uint16_t port, uint8_t, uint64_t bytes)
{
    network->See(node, port, bytes);
}

void
ConnectSinks(RunningNetwork& network, uint32_t which, uint64_t)
{
    if (!network.connected.insert(which).second)
    {
        return;
    }
    if (which < 3)
    {
        network.GetSwitch(which)->TraceConnectWithoutContext(
            "QueueLength",
            MakeBoundCallback(&SeeQueue, &network, which % 3));
    }
    else
    {
        RunningNetwork* seen = &network;
        network.network->fabric.devices[which]->GetPort().SetTap(
            [seen, which](const Frame& frame, bool isSent) {
                seen->See(which, frame.bytes, isSent);
            });
    }
}

void
ReadState(RunningNetwork& network, uint32_t which, uint64_t)
{
    for (const Ptr<SwitchDevice>& device : network.network->fabric.devicesOfSwitches)
    {
        network.See(100,
                    device->GetPort(which % 2).GetQueueBytes(0),
                    device->GetBuffer().GetUsed());
    }
    for (const Ptr<RdmaNic>& nic : network.network->nics)
    {
        for (const auto& [number, queuePair] : nic->GetQueuePairs())
        {
            network.See(number,
                        queuePair->GetCounters().sentPackets,
                        queuePair->GetCounters().receivedAcks);
        }
    }
}

/** All is as if every event were executed in the order of its time. */
template <void (*ACT)(RunningNetwork&, uint32_t, uint64_t)>
void
TestActing()
{
    using Actor = RunningNetwork::Actor;
    for (const Actor actor : {Actor::NOBODY, Actor::HOST, Actor::SWITCH})
    {
        for (uint32_t seed = 1; seed <= 6; seed++)
        {
            const auto run = [&](bool windows) {
                RunningNetwork network{actor, ACT, seed};
                const Sights sights = network.Run(windows);
                NS_TEST_EXPECT_MSG_EQ((network.hadWindows || !windows || ACT == &ConnectSinks),
                                      true,
                                      "nodes execute events in windows");
                return sights;
            };
            const Sights expected = run(false);
            const Sights sights = run(true);
            NS_TEST_EXPECT_MSG_GT(expected.size(), 5, "something was seen");
            NS_TEST_ASSERT_MSG_EQ(sights.size(), expected.size(), "as much was seen");
            for (std::size_t i = 0; i < sights.size(); i++)
            {
                NS_TEST_ASSERT_MSG_EQ(sights[i],
                                      expected[i],
                                      "actor " << static_cast<int>(actor) << ", seed " << seed
                                               << ", sight " << i << " at "
                                               << std::get<0>(sights[i]) << " ps");
            }
        }
    }
}

/// Trace sources whose events are executed in order anyway.
const std::set<std::string> IN_ORDER_ANYWAY{"ns3::training::HostDevice::MacRx",
                                            "ns3::training::HostDevice::MacTx",
                                            "ns3::training::HostDevice::MacTxDrop",
                                            "ns3::training::HostDevice::Pause",
                                            "ns3::training::RdmaNic::Completion"};

/** Each attribute of a class in windows catches up, and each trace source tells of a sink. */
void
TestAllClasses()
{
    TopologyGraph pair;
    pair.hosts = 2;
    pair.switches = 1;
    pair.links = {{0, 2, 100 * GIGA, MicroSeconds(1)}, {1, 2, 100 * GIGA, MicroSeconds(1)}};
    RdmaNetwork network(pair);
    std::map<TypeId, Ptr<Object>> parts;
    parts[SwitchDevice::GetTypeId()] = network.fabric.devicesOfSwitches[0];
    parts[HostDevice::GetTypeId()] = network.fabric.devices[0];
    parts[RdmaNic::GetTypeId()] = network.nics[0];
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId type = TypeId::GetRegistered(i);
        if (type.IsChildOf(RdmaCongestionControl::GetTypeId()) && type.HasConstructor() &&
            type.GetName().find("::tests::") == std::string::npos)
        {
            ObjectFactory factory;
            factory.SetTypeId(type);
            const auto control = factory.Create<RdmaCongestionControl>();
            control->SetNodeId(0);
            parts[type] = control;
        }
    }
    static uint64_t caughtUp;
    static uint64_t sinks;
    caughtUp = 0;
    sinks = 0;
    const uint64_t now = 0;
    EventLoop::Set(
        &now,
        nullptr,
        [](void*, uint32_t, uint64_t, EventImpl*) {},
        [](void*, uint32_t) { caughtUp++; },
        [](void*) { sinks++; });
    EventLoop::SetBehind(true);
    uint32_t attributes = 0;
    uint32_t sources = 0;
    for (const auto& [type, part] : parts)
    {
        for (std::size_t i = 0; i < type.GetAttributeN(); i++)
        {
            const TypeId::AttributeInformation info = type.GetAttribute(i);
            const uint64_t before = caughtUp;
            const Ptr<AttributeValue> value = info.checker->Create();
            if (info.accessor->HasGetter())
            {
                info.accessor->Get(PeekPointer(part), *value);
                NS_TEST_EXPECT_MSG_GT(caughtUp, before, type << "::" << info.name << " is read");
            }
            attributes++;
        }
        for (std::size_t i = 0; i < type.GetTraceSourceN(); i++)
        {
            const TypeId::TraceSourceInformation info = type.GetTraceSource(i);
            const std::string name = type.GetName() + "::" + info.name;
            const uint64_t before = sinks;
            info.accessor->ConnectWithoutContext(PeekPointer(part), CallbackBase());
            NS_TEST_EXPECT_MSG_EQ((sinks > before), (IN_ORDER_ANYWAY.count(name) == 0), name);
            sources++;
        }
    }
    EventLoop::Reset();
    NS_TEST_EXPECT_MSG_GT(attributes, 100, "attributes");
    NS_TEST_EXPECT_MSG_EQ(sources, 14, "trace sources");
}

const Suite g_suite("network-part",
                    Duration::QUICK,
                    {{"attributes set while the network runs", TestActing<SetAttributes>},
                     {"sinks connected while the network runs", TestActing<ConnectSinks>},
                     {"state read while the network runs", TestActing<ReadState>},
                     {"all attributes and trace sources", TestAllClasses}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::network_part_test
