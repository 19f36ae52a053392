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
#include "ns3/training-prefetch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace ns3::training
{

class FabricPort;
class HostDevice;

/** The event that is being executed: what ns-3's event loop knows of it. */
struct CurrentEvent
{
    uint64_t time{0};                        ///< time stamp, time steps
    uint32_t uid{0};                         ///< uid; 0: a frame arrives
    uint32_t context{Simulator::NO_CONTEXT}; ///< node
};

/** A node that executes events in windows. */
struct WindowNode
{
    uint32_t id{0};                         ///< id of the node
    std::vector<const HostDevice*> devices; ///< of a host: its ports; none: a switch

    /// @return whether two nodes are the same
    friend bool operator==(const WindowNode& a, const WindowNode& b)
    {
        return a.id == b.id && a.devices == b.devices;
    }
};

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
    using Taker = std::function<void(uint64_t, uint32_t, uint32_t, EventImpl*)>;

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
     * Begins a window: passes on the events of hosts that come after one that is not quiet. May be
     * called again.
     */
    void Screen();

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
    void OrderAll();

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
    void Delay(bool (*moves)(const EventImpl& event), uint64_t delay);

    /** Puts events back that an exception has left behind. */
    void Recover();

  private:
    /** An event of a known node in a known window. */
    struct Item
    {
        Item() = default;

        // Lets vectors be filled from registers: a copy of an Item just made would wait for it.
        Item(uint64_t itsKey, EventImpl* itsImpl)
            : key(itsKey),
              impl(itsImpl)
        {
        }

        uint64_t key{0}; // order within the window: offset of the time, order of simultaneous ones
        EventImpl* impl{nullptr};
    };

    // The order of simultaneous events is that of BucketScheduler: arrivals by port, and the others
    // by uid.

    /// Key bit that is set for all events except arrivals.
    static constexpr uint64_t NO_FRAME = uint64_t{1} << 32;
    /// The bits above it hold the offset of the time in the window.
    static constexpr uint32_t OFFSET_SHIFT = 33;
    /// The others: order of simultaneous events.
    static constexpr uint64_t ORDER = (uint64_t{1} << OFFSET_SHIFT) - 1;
    /// Of an arrival: the port number, with the next bit below it.
    static constexpr uint32_t INGRESS_SHIFT = 1;
    /// Key bit of the arrival of an acknowledgement at a host.
    static constexpr uint64_t ACK = 1;

    /// Prefetch distances in events: a frame, what its arrival needs, and what that leads to.
    static constexpr std::size_t AHEAD = 8;
    static constexpr std::size_t MIDDLE = 5;
    static constexpr std::size_t NEAR = 3;

    using Items = std::vector<Item>;

    /** An event beyond the windows that have lists of each node. */
    struct FarItem
    {
        uint64_t time;
        uint64_t order; // lower part of an Item's key
        EventImpl* impl;
        uint32_t index;
    };

    static constexpr uint32_t NONE = 0xffffffff;
    static constexpr uint64_t SLOTS = 8; // windows that have lists; more take more cache lines

    static constexpr uint64_t FAR_SLOTS = 1024; // windows that have a list of all nodes
    static constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

    struct Node
    {
        std::array<Items, SLOTS> items; // of window w at w modulo SLOTS
    };

    /** What is known of a host, small, as it is looked at in each window. */
    struct Host
    {
        const HostDevice* device{nullptr}; // the first one
        uint64_t ordered{NEVER};           // window in which its events are passed on
        uint64_t quiet{0};                 // value of m_epoch when found quiet; 0: unknown
        bool isLoud{false};                // not quiet the last time: none of its events is kept
    };

    /** The arrival of an acknowledgement at a host, which is not quiet if it ends a message. */
    struct AckArrival
    {
        Item item;
        uint32_t index;
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

    /** @return whether the events of a host in the current window are passed on */
    bool IsOrdered(uint32_t index) const
    {
        return m_hosts[index - m_switches].ordered == m_window || m_ordered == m_window;
    }

    bool Keeps(uint64_t time, uint32_t index, const EventImpl& impl) const;
    bool IsQuiet(uint32_t index) const;
    void PassOn(uint64_t time, uint64_t order, uint32_t index, EventImpl* impl);
    void PassOn(uint32_t index, const Item& item);
    void PassOnAll(uint32_t index);
    void PassOnFrom(uint32_t index, const Item& first);
    void ScreenAcks(const std::vector<AckArrival>& acks);
    std::vector<FarItem> TakeAll();
    void Place(uint64_t time, uint64_t order, uint32_t index, EventImpl* impl);
    void InsertNow(uint64_t key, EventImpl* impl);
    void Append(uint64_t slot, uint32_t index, uint64_t key, EventImpl* impl);
    void Execute(uint32_t index, uint64_t limit);
    void Sort(Items& items, uint32_t index);
    bool SortRoughly(Items& items);
    void ExecuteUpTo(uint32_t index, uint64_t limit);
    void OrderFrom(uint32_t index, uint64_t key);
    void PutBack();

    /// Prefetches an event: switches read only the first cache line of a frame.
    static void Prefetch(const Item& item, bool isAtHost)
    {
        __builtin_prefetch(item.impl, 1);
        if (isAtHost || item.key & NO_FRAME)
        {
            __builtin_prefetch(reinterpret_cast<const char*>(item.impl) + 64, 1);
        }
    }

    void PrefetchAhead();
    void PrefetchList(uint32_t index) const;
    void PrefetchNodes(const std::vector<uint32_t>& active, std::size_t current) const;

    CurrentEvent& m_current;
    CurrentEvent m_last{0, 0, 0};
    const Taker m_passOn;
    std::vector<WindowNode> m_who;   // switches first
    uint32_t m_switches{0};          // number of switches among them
    std::vector<uint32_t> m_indices; // by node id; NONE: not here
    std::vector<Node> m_nodes;
    std::vector<Host> m_hosts; // in the order of m_who, without the switches
    std::array<std::vector<uint32_t>, SLOTS> m_active;    // nodes that have events in a window
    std::array<std::vector<AckArrival>, SLOTS> m_acks;    // in a window
    std::array<std::vector<FarItem>, FAR_SLOTS> m_coming; // of window w at w modulo FAR_SLOTS
    uint64_t m_nComing{0};                                // number of events in m_coming
    std::vector<FarItem> m_reached;                       // scratch of Enter()
    std::vector<FarItem> m_far;     // heap of those even later, the earliest on top
    Items m_sorted;                 // scratch of Sort()
    std::vector<uint32_t> m_begins; // scratch of Sort()
    // LIFO lists of empty lists with memory, still cached: those of switches, which are longer, and
    // those of hosts.
    std::array<std::vector<Items>, 2> m_spare;
    uint64_t m_length{0};
    uint64_t m_window{0};      // number of the current window
    uint64_t m_ordered{NEVER}; // window in which the events of all hosts are passed on
    uint64_t m_epoch{1};       // changes when something may have happened to any host
    uint64_t m_end{0};         // its end, time steps
    bool m_isLarge{false};     // the state of nodes is prefetched, too
    uint64_t m_size{0};
    uint64_t m_executed{0};

    // The node that is executing events.
    uint32_t m_executing{NONE};
    Items m_batch; // its events of the window, in order
    std::size_t m_nextInBatch{0};
    std::array<const FabricPort*, NEAR> m_egress{}; // of coming frames in m_batch; null: unknown
    Items m_added;                                  // events added meanwhile, in order
    std::size_t m_nextAdded{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_EVENT_WINDOWS_H
