/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WINDOW_SIMULATOR_IMPL_H
#define DISTRIBUTED_TRAINING_WINDOW_SIMULATOR_IMPL_H

#include "bucket-scheduler.h"
#include "engine/window-loop.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/ptr.h"
#include "ns3/scheduler.h"
#include "ns3/simulator-impl.h"

#include <cstdint>
#include <list>
#include <thread>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The event loop of ns3::DefaultSimulatorImpl, with the same results, but faster in large networks:
 * switches and hosts execute events in windows (EventWindows), one node after another, so that the
 * state of a node is loaded into the cache once per window instead of once per event.
 *
 * All events of a switch take part, and the quiet ones of a host, which call nobody (RdmaEngine),
 * up to the first one of the window that is not quiet. All other events, such as the end of a
 * message, and those without a node, are executed in the order of their times. They come first in a
 * window, since nodes affect each other only after the delay of a link. Before each one, its own
 * host executes its events up to that time; before an event without a node, which may look at
 * anything, all nodes do. So do they when Stop() has been called. An event that looks at the state
 * of another node, or acts on it, lets that node execute its events first (EventLoop::CatchUp());
 * the functions of SwitchDevice, HostDevice, FabricPort, RdmaNic and RdmaQueuePair do that.
 *
 * A node takes part if nobody observes its events: a switch without program, trace sink and
 * capture, whose node has no net devices or applications; a host all of whose net devices are
 * HostDevices with such an RdmaNic, without program, capture and trace sinks apart from Completion
 * and Pause. It must have no link with a delay below 100 ns, as so short a window is not worth it.
 * This is found out when Run() is called, and again when a trace sink is connected. What a program
 * schedules at a switch itself is executed in the order of time, like the events of hosts that are
 * not quiet. Switches schedule only frames at other nodes; a switch that schedules other events
 * there, for the very time of an event that the other node has scheduled itself, finds no fixed
 * order of the two. What
 * a quiet event schedules at its own node within the window is taken to be quiet, too.
 *
 * A simulation that is shared among processes advances in rounds (SetRounds()), in which each
 * process executes windows.
 *
 * After Run() there is no current node. So events that the caller schedules then belong to no node,
 * whereas those of ns3::DefaultSimulatorImpl belong to the node of the last event.
 *
 * Windows need BucketScheduler. With other schedulers, or with the attribute Windows set to false,
 * all events are executed in the order of the scheduler.
 */
class WindowSimulatorImpl : public SimulatorImpl
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    WindowSimulatorImpl();
    ~WindowSimulatorImpl() override;

    /// A time after all events.
    static constexpr uint64_t NEVER = WindowLoop::NEVER;

    /// Exchanges events with other processes. Takes a time not after the next event of this
    /// process, time steps, and returns one not after the next event of any process. NEVER: none.
    using Exchange = WindowLoop::Exchange;

    /**
     * Makes this event loop the default of the global value SimulatorImplementationType. Must be
     * called before any event is scheduled, and before the command line is parsed so that a user
     * can still select another one.
     */
    static void UseByDefault();

    /** @return the event loop of the running simulation, or null if it is another one */
    static WindowSimulatorImpl* GetCurrent();

    /**
     * Lets switches execute all their events before the current event, so that the caller sees
     * their state at this time. Does nothing with other event loops, or during an event of a
     * switch.
     */
    static void Synchronize();

    /**
     * Divides the simulation into rounds. Within a round this process executes its events without
     * knowing those of other processes. Run() returns when all processes have been stopped or have
     * no events.
     * @param exchange called between rounds, by all processes
     * @param lookAhead longest round: what a process does affects others not before it has passed
     */
    void SetRounds(Exchange exchange, Time lookAhead);

    /**
     * The event list must be a BucketScheduler.
     * @return all events, in any order
     */
    std::vector<BucketScheduler::Entry> GetEntries() const;

    /**
     * Delays events, after Synchronize(). The event list must be a BucketScheduler.
     * @param moves tells which ones
     * @param delay by which time, time steps
     */
    void Delay(const EventFilter& moves, uint64_t delay);

    /** @return number of nodes that executed their events in windows in the last Run() */
    std::size_t GetNNodes() const;

    /** @return length of a window in the last Run(); 0: there were none */
    Time GetWindow() const;

    // SimulatorImpl
    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    /// The result of Stop(): nothing, or from ns-3.41 on an event id.
    using StopResult = decltype(std::declval<SimulatorImpl&>().Stop(std::declval<const Time&>()));
    StopResult Stop(const Time& delay) override;
    EventId Schedule(const Time& delay, EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event) override;
    EventId ScheduleNow(EventImpl* event) override;
    EventId ScheduleDestroy(EventImpl* event) override;
    void Remove(const EventId& id) override;
    void Cancel(const EventId& id) override;
    bool IsExpired(const EventId& id) const override;
    void Run() override;
    Time Now() const override;
    Time GetDelayLeft(const EventId& id) const override;
    Time GetMaximumSimulationTime() const override;
    void SetScheduler(ObjectFactory schedulerFactory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;

  private:
    void DoDispose() override;

    bool m_usesWindows{true};
    WindowLoop m_loop;
    std::list<EventId> m_destroyEvents;
    std::thread::id m_mainThread;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WINDOW_SIMULATOR_IMPL_H
