/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_EVENT_WINDOWS_H
#define DISTRIBUTED_TRAINING_EVENT_WINDOWS_H

#include "bucket-scheduler.h"
#include "engine/far-events.h"
#include "engine/window-hosts.h"
#include "engine/window-item.h"
#include "engine/window-lists.h"
#include "engine/window-node.h"
#include "engine/window-turn.h"

#include "ns3/event-impl.h"
#include "ns3/simulator.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The events of nodes that affect other nodes only after a lookahead, such as switches, whose
 * frames take a link's delay. Time is divided into windows as long as the lookahead. Within a
 * window no event of such a node can depend on an event of another one. So each node executes all
 * its events of the window in turn, and its state stays in the cache. The order of events at a node
 * is that of BucketScheduler.
 *
 * Of a host only the quiet events are kept here (RdmaEngine), up to the first one of the window
 * that is not quiet. From then on, all its events of the window are executed in the order of time,
 * among those of other such nodes: they are passed on. So are those of a host that something else
 * looks at or acts on.
 */
class EventWindows
{
  public:
    /// Longest window, time steps: offsets in a window fit into 30 bits.
    static constexpr uint64_t MAX_LENGTH = uint64_t{1} << 30;

    /** Takes an event. (time, node, uid, event) */
    using Taker = WindowHosts::Taker;

    /**
     * @param current the executed event, which this class sets; must outlive it
     * @param passOn takes events that are to be executed in the order of time
     */
    EventWindows(CurrentEvent& current, Taker passOn);
    EventWindows(const EventWindows&) = delete;
    EventWindows& operator=(const EventWindows&) = delete;

    /**
     * Sets the nodes. There must be no events.
     * @param nodes the nodes, each once, switches first
     * @param length lookahead, 1 to MAX_LENGTH time steps: an event of such a node schedules events
     *        of other nodes at least so much later
     * @param now current time, time steps
     */
    void SetNodes(std::vector<WindowNode> nodes, uint64_t length, uint64_t now);

    /** @return the nodes, as given to SetNodes() */
    const std::vector<WindowNode>& GetNodes() const
    {
        return m_who;
    }

    /** @return length of a window, time steps */
    uint64_t GetLength() const
    {
        return m_length;
    }

    /**
     * @param context a node, or Simulator::NO_CONTEXT
     * @return whether it is one of the nodes
     */
    bool Has(uint32_t context) const
    {
        return context < m_indices.size() && m_indices[context] != NONE;
    }

    /**
     * Adds an event. An event of another node than the one that executes events must lie beyond the
     * current window; if not, the program ends, because the order is lost.
     * @param time time stamp, time steps
     * @param context a node; Has() must be true
     * @param uid uid of the event
     * @param impl the event
     * @return false if it is not kept here, but must be executed in the order of time
     */
    bool Insert(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl);

    /**
     * Removes an event, if it is there.
     * @param time time stamp, time steps
     * @param context its node; Has() must be true
     * @param impl the event
     * @return whether it was there
     */
    bool Remove(uint64_t time, uint32_t context, const EventImpl* impl);

    /** @return number of events that wait */
    uint64_t GetSize() const
    {
        return m_kept - GetExecuted() - m_hosts.GetPassedOn();
    }

    /** @return number of events executed so far */
    uint64_t GetExecuted() const
    {
        return m_turn.GetExecuted();
    }

    /** @return the event that was executed with the latest time, and among these the last node */
    const CurrentEvent& GetLast() const
    {
        return m_turn.GetLast();
    }

    /** @return whether a node is executing its events */
    bool IsExecuting() const
    {
        return m_turn.GetIndex() != NONE;
    }

    /** @return end of the current window, time steps */
    uint64_t GetEnd() const
    {
        return m_end;
    }

    /** @return a time not after the next event, time steps; the largest number if there is none */
    uint64_t GetEarliestTime() const;

    /**
     * Enters a window, unless it is a past one.
     * @param time a time in it, not after any event, time steps
     */
    void Enter(uint64_t time);

    /**
     * Begins a window: passes on the events of hosts that come after one that is not quiet. May be
     * called again.
     */
    void Screen()
    {
        m_hosts.Screen();
    }

    /**
     * Executes the events of a node before another event, and passes on the other events of a host
     * in the current window. Does nothing if this has happened already.
     * @param context a node; Has() must be true
     * @param time time of the other event, time steps
     * @param order sort key of the other event, see QueuedEvent
     */
    void Order(uint32_t context, uint64_t time, uint64_t order);

    /**
     * As Order(), for an event of another node that looks at the host or acts on it.
     * @param host the host; IsHost() must be true
     * @param time time of that event, time steps
     * @param context the other node: of events at the same time, those of lower nodes precede it
     */
    void CatchUp(uint32_t host, uint64_t time, uint32_t context);

    /**
     * Passes on the events of all hosts in the current window: something else acts on any of them.
     * Call ExecuteBefore() first.
     */
    void OrderAll()
    {
        m_hosts.OrderAll();
    }

    /**
     * @param context a node; Has() must be true
     * @return whether it is a host
     */
    bool IsHost(uint32_t context) const
    {
        return m_indices[context] >= m_switches;
    }

    /**
     * Executes the events of the current window before an event elsewhere.
     * @param time its time, time steps
     * @param context its node: of events at the same time, those of lower nodes precede it
     */
    void ExecuteBefore(uint64_t time, uint32_t context);

    /** Executes the remaining events of the current window. */
    void ExecuteAll();

    /** Passes on all events, those of a node in their order. */
    void Drain();

    /** @param entries gets all events, in no particular order */
    void AddEntries(std::vector<BucketScheduler::Entry>& entries) const;

    /**
     * Delays events. No node may be executing events.
     * @param moves tells which ones
     * @param delay by which time, time steps
     */
    void Delay(const EventFilter& moves, uint64_t delay);

    /** Puts events back that an exception has left behind. */
    void Recover();

  private:
    using Item = WindowItem;
    using Items = WindowItems;

    static constexpr uint32_t NONE = WindowTurn::NONE;

    bool Keeps(uint64_t time, uint32_t index, const EventImpl& impl) const;
    std::vector<FarEvents::Item> TakeAll();
    void Place(uint64_t time, uint64_t order, uint32_t index, EventImpl* impl);
    void Execute(uint32_t index, uint64_t limit);
    void Sort(Items& items, uint32_t index);
    void ExecuteUpTo(uint32_t index, uint64_t limit);
    void OrderFrom(uint32_t index, uint64_t key);

    CurrentEvent& m_current;
    std::vector<WindowNode> m_who;   // switches first
    uint32_t m_switches{0};          // number of switches among them
    std::vector<uint32_t> m_indices; // by node id; NONE: not here
    WindowLists m_lists;
    FarEvents m_far; // beyond the windows that have lists
    WindowHosts m_hosts;
    WindowTurn m_turn;
    WindowItemSorter m_sorter;
    uint64_t m_length{0};
    uint64_t m_window{0};  // number of the current window
    uint64_t m_end{0};     // its end, time steps
    bool m_isLarge{false}; // the state of nodes is prefetched, too
    uint64_t m_kept{0};    // events added, less those removed
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_EVENT_WINDOWS_H
