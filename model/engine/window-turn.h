/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WINDOW_TURN_H
#define DISTRIBUTED_TRAINING_WINDOW_TURN_H

#include "engine/window-item.h"

#include "ns3/simulator.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ns3::training
{

class FabricPort;

/** The event that is being executed: what ns-3's event loop knows of it. */
struct CurrentEvent
{
    uint64_t time{0};                        ///< time stamp, time steps
    uint32_t uid{0};                         ///< uid; 0: a frame arrives
    uint32_t context{Simulator::NO_CONTEXT}; ///< node
};

/** The node whose turn it is: it executes its events of the window. */
class WindowTurn
{
  public:
    /// Index of no node.
    static constexpr uint32_t NONE = 0xffffffff;
    /// Prefetch distances in events: a frame, what its arrival needs, and what that leads to.
    static constexpr std::size_t AHEAD = 8;
    static constexpr std::size_t MIDDLE = 5; ///< see AHEAD
    static constexpr std::size_t NEAR = 3;   ///< see AHEAD

    /** @param current the executed event, which this class sets; must outlive it */
    explicit WindowTurn(CurrentEvent& current);

    /** @return the node, or NONE */
    uint32_t GetIndex() const
    {
        return m_index;
    }

    /** @return events for the next Begin(), in order */
    WindowItems& GetBatch()
    {
        return m_batch;
    }

    /**
     * Executes the events of GetBatch(), and those that they add. Call End() afterwards.
     * @param index the node
     * @param node its id
     * @param begin of the window, time steps
     * @param limit key that added events must be below, as all others are
     * @param isHost whether the node is a host
     * @param isLarge whether the state of nodes is prefetched, too
     */
    void Execute(uint32_t index,
                 uint32_t node,
                 uint64_t begin,
                 uint64_t limit,
                 bool isHost,
                 bool isLarge);

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

    /**
     * Adds an event that the node has scheduled.
     * @param key its key
     * @param impl the event
     */
    void Insert(uint64_t key, EventImpl* impl);

    /**
     * @param impl an event
     * @return whether it was there; now it is not
     */
    bool Erase(const EventImpl* impl);

    /**
     * Ends the turn.
     * @param items get the events that are left
     */
    void End(WindowItems& items);

  private:
    bool TakeNext(uint64_t limit, WindowItem& item, bool isHost, bool isLarge);
    void PrefetchAhead(bool isHost, bool isLarge);

    CurrentEvent& m_current;
    CurrentEvent m_last{0, 0, 0};
    uint64_t m_executed{0};
    uint32_t m_index{NONE};
    WindowItems m_batch; // its events of the window, in order
    std::size_t m_nextInBatch{0};
    std::array<const FabricPort*, NEAR> m_egress{}; // of coming frames in m_batch; null: unknown
    WindowItems m_added;                            // events added meanwhile, in order
    std::size_t m_nextAdded{0};
};

inline void
WindowTurn::Insert(uint64_t key, EventImpl* impl)
{
    if (m_nextAdded == m_added.size())
    {
        m_added.clear();
        m_nextAdded = 0;
    }
    m_added.emplace_back(key, impl);
    // Most events are later than those that were added before.
    for (std::size_t place = m_added.size() - 1;
         place > m_nextAdded && EarlierItem()(m_added[place], m_added[place - 1]);
         place--)
    {
        std::swap(m_added[place], m_added[place - 1]);
    }
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WINDOW_TURN_H
