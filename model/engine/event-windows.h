/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_EVENT_WINDOWS_H
#define DISTRIBUTED_TRAINING_EVENT_WINDOWS_H

#include "bucket-scheduler.h"

#include "ns3/event-impl.h"
#include "ns3/simulator.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::training
{

/** The event that is being executed: what ns-3's event loop knows of it. */
struct CurrentEvent
{
    uint64_t time{0};                        ///< time stamp, time steps
    uint32_t uid{0};                         ///< uid; 0: a frame arrives
    uint32_t context{Simulator::NO_CONTEXT}; ///< node
};

/**
 * @ingroup distributed-training-fabric
 *
 * The events of nodes that affect other nodes only after a lookahead, such as switches, whose
 * frames take a link's delay. Time is divided into windows as long as the lookahead. Within a
 * window no event of such a node can depend on an event of another one. So each node executes all
 * its events of the window in turn, and its state stays in the cache. The order of events at a node
 * is that of BucketScheduler.
 */
class EventWindows
{
  public:
    /// Longest window, time steps: offsets in a window fit into 30 bits.
    static constexpr uint64_t MAX_LENGTH = uint64_t{1} << 30;

    /** @param current the executed event, which this class sets; must outlive it */
    explicit EventWindows(CurrentEvent& current);
    EventWindows(const EventWindows&) = delete;
    EventWindows& operator=(const EventWindows&) = delete;

    /**
     * Sets the nodes. There must be no events.
     * @param nodes ids of the nodes, each once
     * @param length lookahead, 1 to MAX_LENGTH time steps: an event of such a node schedules events
     *        of other nodes at least so much later
     * @param now current time, time steps
     */
    void SetNodes(const std::vector<uint32_t>& nodes, uint64_t length, uint64_t now);

    /** @return the nodes, as given to SetNodes() */
    const std::vector<uint32_t>& GetNodes() const
    {
        return m_ids;
    }

    /** @return length of a window, time steps */
    uint64_t GetLength() const
    {
        return m_length;
    }

    /**
     * @param context a node, or Simulator::NO_CONTEXT
     * @return whether its events are kept here
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
     */
    void Insert(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl);

    /**
     * Removes an event, if it is there.
     * @param time time stamp, time steps
     * @param context its node; Has() must be true
     * @param impl the event
     */
    void Remove(uint64_t time, uint32_t context, const EventImpl* impl);

    /** @return number of events that wait */
    uint64_t GetSize() const
    {
        return m_size;
    }

    /** @return number of events executed so far */
    uint64_t GetExecuted() const
    {
        return m_executed;
    }

    /** @return the event that was executed with the latest time, and among these the last node */
    const CurrentEvent& GetLast() const
    {
        return m_last;
    }

    /** @return whether a node is executing its events */
    bool IsExecuting() const
    {
        return m_executing != NONE;
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
     * Executes the events of the current window before an event elsewhere.
     * @param time its time, time steps
     * @param context its node: of events at the same time, those of lower nodes precede it
     */
    void ExecuteBefore(uint64_t time, uint32_t context);

    /** Executes the remaining events of the current window. */
    void ExecuteAll();

    /** Takes an event. (time, node, uid, event) */
    using Taker = std::function<void(uint64_t, uint32_t, uint32_t, EventImpl*)>;

    /**
     * Removes all events, those of a node in their order.
     * @param taker called with each event
     */
    void Drain(const Taker& taker);

    /** @param entries gets all events, in no particular order */
    void AddEntries(std::vector<BucketScheduler::Entry>& entries) const;

    /**
     * Delays events. No node may be executing events.
     * @param moves tells which ones
     * @param delay by which time, time steps
     */
    void Delay(bool (*moves)(const EventImpl& event), uint64_t delay);

    /** Puts events back that an exception has left behind. */
    void Recover();

  private:
    /** An event of a known node in a known window. */
    struct Item
    {
        /// Order within the window: offset of the time, non-frame bit, port number or uid.
        uint64_t key;
        EventImpl* impl;
    };

    using Items = std::vector<Item>;

    /** An event beyond the windows that have lists. */
    struct FarItem
    {
        uint64_t time;
        uint64_t order; // non-frame bit, port number or uid
        EventImpl* impl;
        uint32_t index;
    };

    static constexpr uint32_t NONE = 0xffffffff;
    static constexpr uint64_t SLOTS = 16; // windows that have lists

    struct Node
    {
        std::array<Items, SLOTS> items; // of window w at w modulo SLOTS
    };

    /** Sorts the earliest event first. */
    struct Earlier
    {
        bool operator()(const Item& a, const Item& b) const;
    };

    /** Of a heap with the earliest event on top. */
    struct FarLater
    {
        bool operator()(const FarItem& a, const FarItem& b) const;
    };

    std::vector<FarItem> TakeAll();
    void Place(uint64_t time, uint64_t order, uint32_t index, EventImpl* impl);
    void InsertNow(const Item& item);
    void Append(uint64_t slot, uint32_t index, const Item& item);
    void Execute(uint32_t index, uint64_t limit);
    void PutBack();
    static void Prefetch(const Item& item);

    CurrentEvent& m_current;
    CurrentEvent m_last{0, 0, 0};
    std::vector<uint32_t> m_ids;
    std::vector<uint32_t> m_indices; // by node id; NONE: not here
    std::vector<Node> m_nodes;
    std::array<std::vector<uint32_t>, SLOTS> m_active; // nodes that have events in a window
    std::vector<FarItem> m_far;
    std::vector<Items> m_spare; // LIFO list of empty lists with memory, still cached
    uint64_t m_length{0};
    uint64_t m_window{0}; // number of the current window
    uint64_t m_end{0};    // its end, time steps
    uint64_t m_size{0};
    uint64_t m_executed{0};

    // The node that is executing events.
    uint32_t m_executing{NONE};
    Items m_batch; // its events of the window, in order
    std::size_t m_nextInBatch{0};
    Items m_added; // events added meanwhile, in order
    std::size_t m_nextAdded{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_EVENT_WINDOWS_H
