/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WINDOW_LOOP_H
#define DISTRIBUTED_TRAINING_WINDOW_LOOP_H

#include "bucket-scheduler.h"
#include "engine/event-windows.h"
#include "engine/foreign-events.h"

#include "ns3/event-id.h"
#include "ns3/ptr.h"
#include "ns3/scheduler.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The events of a process and the order of their execution, as WindowSimulatorImpl describes it.
 * Times are time steps.
 */
class WindowLoop
{
  public:
    /// A time after all events.
    static constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

    /// Exchanges events with other processes, see WindowSimulatorImpl.
    using Exchange = std::function<uint64_t(uint64_t)>;

    /** @param uid that of the first event */
    explicit WindowLoop(uint32_t uid);

    /**
     * Divides the simulation into rounds, see WindowSimulatorImpl.
     * @param exchange called between rounds
     * @param lookAhead longest round
     */
    void SetRounds(Exchange exchange, uint64_t lookAhead);

    /** @param scheduler takes the events that are executed in the order of time, and keeps them */
    void SetScheduler(Ptr<Scheduler> scheduler);

    /** Drops all events and the scheduler. */
    void Clear();

    /**
     * Adds an event.
     * @param time time stamp
     * @param context node, or Simulator::NO_CONTEXT
     * @param impl the event
     * @return its uid
     */
    uint32_t Insert(uint64_t time, uint32_t context, EventImpl* impl);

    /**
     * Removes an event that is there.
     * @param id the event
     */
    void Remove(const EventId& id);

    /** Counts an event that is kept elsewhere. */
    void SkipUid()
    {
        m_uid++;
    }

    /**
     * Executes events until there are none, or until Stop().
     * @param usesWindows whether nodes may execute events in windows
     */
    void Run(bool usesWindows);

    /** Ends Run() after the current event. Signal handlers may call it. */
    void Stop()
    {
        m_stop = true;
    }

    /** @return whether Run() would execute nothing */
    bool IsFinished() const
    {
        return m_stop || (m_size == 0 && m_windows.GetSize() == 0);
    }

    /** @return the event that is being executed */
    const CurrentEvent& GetCurrent() const
    {
        return m_current;
    }

    /** @return number of events executed so far */
    uint64_t GetExecuted() const
    {
        return m_executed + m_windows.GetExecuted();
    }

    /** @return number of nodes that execute their events in windows */
    std::size_t GetNNodes() const
    {
        return m_windows.GetNodes().size();
    }

    /** @return length of a window; 0: there are none */
    uint64_t GetWindow() const
    {
        return GetNNodes() > 0 ? m_windows.GetLength() : 0;
    }

    /** @return events that other threads add */
    ForeignEvents& GetForeign()
    {
        return m_foreign;
    }

    /** @return all events, in any order; the scheduler must be a BucketScheduler */
    std::vector<BucketScheduler::Entry> GetEntries() const;

    /**
     * Delays events, after Synchronize(). The scheduler must be a BucketScheduler.
     * @param moves tells which ones
     * @param delay by which time
     */
    void Delay(const EventFilter& moves, uint64_t delay);

    /** Lets nodes execute all their events before the current event. */
    void Synchronize();

  private:
    void Place(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl);
    void InsertInOrder(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl);
    static void CatchUp(void* self, uint32_t node);
    static void OnSink(void* self);
    static void ScheduleFor(void* self, uint32_t context, uint64_t time, EventImpl* impl);
    Scheduler::Event TakeNext();
    void DrainWindows();
    void ChooseNodes();
    void TakeForeignEvents();
    uint64_t GetEarliestTime() const;
    bool BeginRound();
    bool HasEventInRound() const;
    void RunInOrder();
    void RunInWindows();
    void Execute(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl);
    void ExecuteOthers();
    void CatchUpNow(uint32_t node);

    bool m_usesWindows{true};
    bool m_stop{false};
    bool m_choosesAgain{false}; // which nodes execute events in windows: a sink was connected
    CurrentEvent m_current;
    uint32_t m_uid; // of the next event
    uint64_t m_executed{0};
    uint64_t m_size{0}; // number of events in m_events
    EventWindows m_windows;
    Exchange m_exchange; // null: this is the only process
    uint64_t m_lookAhead{EventWindows::MAX_LENGTH};
    uint64_t m_roundEnd{NEVER}; // where a window ends, if there are windows
    Ptr<Scheduler> m_events;
    BucketScheduler* m_buckets{nullptr}; // m_events, or null if it is another scheduler
    ForeignEvents m_foreign;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WINDOW_LOOP_H
