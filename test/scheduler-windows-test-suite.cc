/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chosen-event-loop.h"
#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/bucket-scheduler.h"
#include "ns3/default-simulator-impl.h"
#include "ns3/map-scheduler.h"
#include "ns3/switch-device.h"
#include "ns3/training-mix-bits.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace ns3::training::tests::scheduler_windows_test
{

constexpr int64_t DELAY = 500000; // of each link, ps

/** @return two hosts on each end of a chain of three switches, and a host in the middle */
TopologyGraph
MakeTopology()
{
    TopologyGraph graph;
    graph.hosts = 5;
    graph.switches = 3;
    for (const auto& [a, b] : std::vector<std::pair<uint32_t, uint32_t>>{{0, 5},
                                                                         {1, 5},
                                                                         {2, 6},
                                                                         {3, 7},
                                                                         {4, 7},
                                                                         {5, 6},
                                                                         {6, 7}})
    {
        graph.links.push_back({a, b, 100 * GIGA, TimeStep(DELAY)});
    }
    return graph;
}

/**
 * Nodes whose events schedule, cancel and remove events by a fixed rule, and log what they see.
 * Switches affect others only after the delay of a link, hosts and global events at any time.
 */
class Actors
{
  public:
    Actors()
        : m_fabric(FabricHelper().Install(MakeTopology()))
    {
        for (const auto& device : m_fabric.devicesOfSwitches)
        {
            m_switches.push_back(device->GetObject<Node>()->GetId());
        }
        for (uint32_t i = 0; i < m_fabric.hosts.GetN(); i++)
        {
            m_hosts.push_back(m_fabric.hosts.Get(i)->GetId());
        }
    }

    /** Schedules the first events. */
    void Begin()
    {
        for (uint32_t seed = 1; seed <= 40; seed++)
        {
            Start(m_switches[seed % m_switches.size()], seed * 77777, seed, 40);
            Start(m_hosts[seed % m_hosts.size()], seed * 99991, seed + 1000, 40);
        }
        for (uint32_t seed = 1; seed <= 20; seed++)
        {
            Start(Simulator::NO_CONTEXT, seed * 1234567, seed + 2000, 3);
        }
    }

    /** @return what the events of each node saw, node by node, and how many there were */
    std::string GetLog() const
    {
        std::string text = m_global;
        for (const auto& [node, log] : m_logs)
        {
            text += "node " + std::to_string(node) + "\n" + log;
        }
        return text + std::to_string(Simulator::GetEventCount()) + " events, at " +
               std::to_string(PicosecondsNow()) + "\n";
    }

    /** @return number of events of each node so far */
    std::string GetCounts() const
    {
        std::string text;
        for (const auto& [node, count] : m_counts)
        {
            text += std::to_string(node) + ":" + std::to_string(count) + " ";
        }
        return text;
    }

    /// Number of the event that calls Simulator::Stop(); 0: none.
    uint32_t stopAt{0};

  private:
    void Start(uint32_t node, int64_t delay, uint64_t seed, uint32_t left)
    {
        Simulator::ScheduleWithContext(node, Align(delay), &Actors::Act, this, seed, left);
    }

    /**
     * @return a delay up to 3 ps longer, so that events scheduled by different switches, or by
     *         others, are never simultaneous
     */
    Time Align(int64_t delay) const
    {
        const auto from = std::find(m_switches.begin(), m_switches.end(), Simulator::GetContext());
        const bool isSwitch = m_isActing && from != m_switches.end();
        const int64_t remainder = isSwitch ? 1 + (from - m_switches.begin()) : 0;
        return TimeStep(delay + (4 + remainder - (PicosecondsNow() + delay) % 4) % 4);
    }

    bool IsSwitch(uint32_t node) const
    {
        return std::find(m_switches.begin(), m_switches.end(), node) != m_switches.end();
    }

    void Nothing()
    {
    }

    void Act(uint64_t seed, uint32_t left)
    {
        m_isActing = true;
        const uint32_t node = Simulator::GetContext();
        const uint64_t bits = MixBits(seed * 1000 + left);
        m_counts[node]++;
        std::string& log = m_logs[node];
        log += std::to_string(PicosecondsNow()) + " " + std::to_string(seed);
        std::vector<EventId>& timers = m_timers[node];
        for (EventId& timer : timers) // those of this node only
        {
            log += timer.IsExpired()
                       ? " -"
                       : " " + std::to_string(Simulator::GetDelayLeft(timer).GetTimeStep());
        }
        log += "\n";
        if (node == Simulator::NO_CONTEXT)
        {
            m_global += GetCounts() + "\n"; // the state of all nodes
        }
        else if (!IsSwitch(node) && ++m_hostEvents % 50 == 0)
        {
            WindowSimulatorImpl::Synchronize();
            m_global += GetCounts() + "\n";
        }
        if (m_hostEvents == stopAt && stopAt > 0 && !IsSwitch(node))
        {
            stopAt = 0;
            Simulator::Stop();
        }
        if (timers.size() > 4)
        {
            bits & 1 ? timers[bits % 4].Cancel() : Simulator::Remove(timers[bits % 4]);
            timers.erase(timers.begin() + static_cast<std::ptrdiff_t>(bits % 4));
        }
        timers.push_back(bits & 2
                             ? Simulator::ScheduleNow(&Actors::Nothing, this)
                             : Simulator::Schedule(Align(static_cast<int64_t>(bits % (40 * DELAY))),
                                                   &Actors::Nothing,
                                                   this));
        if (left == 0)
        {
            return;
        }
        const auto own = static_cast<int64_t>(bits >> 8 & 0xfffff) % (2 * DELAY);
        Simulator::Schedule(Align(bits & 4 ? own : own / 1000), &Actors::Act, this, seed, left - 1);
        if ((bits & 0x18) == 0 && left > 1)
        {
            const auto& others = bits & 0x20 ? m_switches : m_hosts;
            const uint32_t other = others[bits % others.size()];
            const int64_t least = IsSwitch(node) && other != node ? DELAY : 0;
            Start(other, least + own % (bits & 0x40 ? 1000 : 3 * DELAY), seed + 100000, left / 2);
        }
    }

    Fabric m_fabric;
    std::vector<uint32_t> m_switches;
    std::vector<uint32_t> m_hosts;
    std::map<uint32_t, std::string> m_logs;
    std::map<uint32_t, uint64_t> m_counts;
    std::map<uint32_t, std::vector<EventId>> m_timers;
    std::string m_global;
    uint32_t m_hostEvents{0};
    bool m_isActing{false}; // an event has been executed
};

/** Stops the simulation: &Simulator::Stop is ambiguous. */
void
StopNow()
{
    Simulator::Stop();
}

/** @return what the actors see with an event loop, with stops on the way */
std::string
Observe(const Ptr<SimulatorImpl>& loop, uint32_t stopAt)
{
    const ChosenEventLoop chosen(loop, BucketScheduler::GetTypeId());
    Actors actors;
    Simulator::Run(); // nodes initialize
    actors.Begin();
    std::ostringstream text;
    for (int64_t microseconds : {1, 3, 7})
    {
        // Without a node, as DefaultSimulatorImpl would take that of the last event.
        Simulator::ScheduleWithContext(Simulator::NO_CONTEXT,
                                       TimeStep(microseconds * 1000000 + 123),
                                       &StopNow);
        Simulator::Run();
        text << PicosecondsNow() << " " << Simulator::GetEventCount() << " " << actors.GetCounts()
             << "\n";
    }
    for (uint32_t i = 1; i <= 3 && stopAt > 0; i++)
    {
        actors.stopAt = i * stopAt;
        Simulator::Run();
        text << PicosecondsNow() << " " << Simulator::GetEventCount() << " "
             << Simulator::IsFinished() << " " << actors.GetCounts() << "\n";
    }
    Simulator::Run();
    text << Simulator::IsFinished() << "\n" << actors.GetLog();
    return text.str();
}

/**
 * @param round length of the rounds, ps
 * @param stopAt number of an event that stops the simulation
 */
void
CheckRounds(int64_t round, uint32_t stopAt, const std::string& expected)
{
    for (const bool windows : {false, true})
    {
        const auto loop = MakeLoop(windows);
        uint32_t rounds = 0;
        bool hasEnded = true;
        const auto exchange = [&](uint64_t next) {
            rounds++;
            hasEnded = next == WindowSimulatorImpl::NEVER;
            // Sometimes as if another process had an event before.
            const uint64_t before =
                rounds % 3 == 0 ? MixBits(rounds) % static_cast<uint64_t>(round) : 0;
            return hasEnded ? next : next - std::min(next, before);
        };
        loop->SetRounds(exchange, TimeStep(static_cast<uint64_t>(round)));
        NS_TEST_EXPECT_MSG_EQ(Observe(loop, stopAt),
                              expected,
                              "rounds of " << round << " ps, stop at " << stopAt);
        NS_TEST_EXPECT_MSG_GT(rounds, 20, "many rounds");
        NS_TEST_EXPECT_MSG_EQ(hasEnded, true, "the last round has no events");
        NS_TEST_EXPECT_MSG_EQ(loop->GetWindow().GetTimeStep(),
                              (windows ? std::min(round, DELAY) : 0),
                              "a window is no longer than a round");
    }
}

/**
 * With windows each node executes the same events at the same times as with ns-3's event loop, and
 * whoever may look at all nodes sees the same: global events, hosts that synchronize, and the
 * caller of Run() after Stop().
 */
void
TestWindowOrder()
{
    for (const uint32_t stopAt : {0, 300, 1001})
    {
        const std::string expected = Observe(CreateObject<DefaultSimulatorImpl>(), stopAt);
        NS_TEST_EXPECT_MSG_GT(std::count(expected.begin(), expected.end(), '\n'),
                              3000,
                              "the test needs many events");
        NS_TEST_EXPECT_MSG_EQ(Observe(MakeLoop(false), stopAt),
                              expected,
                              "without windows, stop at " << stopAt);
        const auto loop = MakeLoop();
        NS_TEST_EXPECT_MSG_EQ(Observe(loop, stopAt), expected, "with windows, stop at " << stopAt);
        NS_TEST_EXPECT_MSG_EQ(loop->GetNNodes(), 3, "the switches");
        NS_TEST_EXPECT_MSG_EQ(loop->GetWindow().GetTimeStep(), DELAY, "length of a window");
        for (const int64_t round : {DELAY / 3, DELAY, 10 * DELAY / 3})
        {
            CheckRounds(round, stopAt, expected);
        }
    }
}

void
OnDrop(const Frame&, uint16_t, DropReason)
{
}

void
OnFrame(const Frame&, bool)
{
}

/** Which switches execute events in windows, and when there are none. */
void
TestWindowChoice()
{
    const auto loop = MakeLoop();
    const ChosenEventLoop chosen(loop, BucketScheduler::GetTypeId());
    const Fabric fabric = FabricHelper().Install(MakeTopology());
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(loop->GetNNodes(), 3, "all switches");
    SwitchDevice& first = *fabric.devicesOfSwitches[0];
    first.TraceConnectWithoutContext("Drop", MakeCallback(&OnDrop));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(loop->GetNNodes(), 2, "one has a trace sink");
    fabric.devicesOfSwitches[1]->GetPort(0).SetTap(&OnFrame);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(loop->GetNNodes(), 1, "another one has a tap");
    first.TraceDisconnectWithoutContext("Drop", MakeCallback(&OnDrop));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(loop->GetNNodes(), 1, "the sink is gone, but was there");
    loop->SetAttribute("Windows", BooleanValue(false));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(loop->GetNNodes(), 0, "switched off");
    NS_TEST_EXPECT_MSG_EQ(loop->GetWindow().GetTimeStep(), 0, "no window");
    loop->SetAttribute("Windows", BooleanValue(true));
    ObjectFactory factory;
    factory.SetTypeId(MapScheduler::GetTypeId());
    Simulator::SetScheduler(factory);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(loop->GetNNodes(), 0, "another event list");
}

void
Count(uint32_t* counter)
{
    ++*counter;
}

void
Throw()
{
    throw std::runtime_error("in an event");
}

void
ScheduleInThread(uint32_t node, uint32_t* counter)
{
    std::thread([=] {
        Simulator::ScheduleWithContext(node, TimeStep(10), &Count, counter);
    }).join();
}

/**
 * The functions of ns3::Simulator: events at destruction, of other threads, after exceptions, and
 * those that are left at the end.
 */
void
TestWindowSimulator()
{
    uint32_t destroyed = 0;
    uint32_t counter = 0;
    {
        const ChosenEventLoop chosen(MakeLoop(), BucketScheduler::GetTypeId());
        const Fabric fabric = FabricHelper().Install(MakeTopology());
        const uint32_t node = fabric.devicesOfSwitches[0]->GetObject<Node>()->GetId();
        Simulator::Run();

        const EventId kept = Simulator::ScheduleDestroy(&Count, &destroyed);
        const EventId removed = Simulator::ScheduleDestroy(&Count, &destroyed);
        Simulator::Remove(removed);
        NS_TEST_EXPECT_MSG_EQ(kept.IsExpired(), false, "an event at the end");
        NS_TEST_EXPECT_MSG_EQ(removed.IsExpired(), true, "one that is removed");

        Simulator::ScheduleWithContext(node, TimeStep(5), &ScheduleInThread, node, &counter);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(counter, 1, "another thread has scheduled an event");

        Simulator::ScheduleWithContext(node, TimeStep(5), &Throw);
        Simulator::ScheduleWithContext(node, TimeStep(6), &Count, &counter);
        std::string error;
        try
        {
            Simulator::Run();
        }
        catch (const std::runtime_error& thrown)
        {
            error = thrown.what();
        }
        NS_TEST_EXPECT_MSG_EQ(error, "in an event", "the exception arrives");
        NS_TEST_EXPECT_MSG_EQ(counter, 1, "the event after it waits");
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(counter, 2, "and is executed by the next run");

        Simulator::ScheduleWithContext(node, TimeStep(100 * DELAY), &Count, &counter);
        NS_TEST_EXPECT_MSG_EQ(Simulator::IsFinished(), false, "an event is left");
    }
    NS_TEST_EXPECT_MSG_EQ(destroyed, 1, "events at the end");
    NS_TEST_EXPECT_MSG_EQ(counter, 2, "the event that is left is dropped");
}

const Suite g_suite("scheduler-windows",
                    Duration::EXTENSIVE,
                    {{"nodes see what they see with DefaultSimulatorImpl, also in rounds",
                      TestWindowOrder},
                     {"observed switches take no part", TestWindowChoice},
                     {"the functions of Simulator keep their meaning", TestWindowSimulator}});

} // namespace ns3::training::tests::scheduler_windows_test
