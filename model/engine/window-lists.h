/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WINDOW_LISTS_H
#define DISTRIBUTED_TRAINING_WINDOW_LISTS_H

#include "engine/far-events.h"
#include "engine/window-item.h"

#include "ns3/training-prefetch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/** The events of each node in the current window and the next ones. Nodes have indices. */
class WindowLists
{
  public:
    /// Windows that have lists; more take more cache lines.
    static constexpr uint64_t SLOTS = 8;

    /** The arrival of an acknowledgement at a host, which is not quiet if it ends a message. */
    struct AckArrival
    {
        WindowItem item; ///< the arrival
        uint32_t index;  ///< the host
    };

    /**
     * Sets the nodes. There must be no events.
     * @param nodes number of nodes
     * @param switches number of switches among them, which come first
     */
    void SetNodes(std::size_t nodes, uint32_t switches);

    /**
     * @param window a window
     * @param index a node
     * @param key key of the event
     * @param impl the event
     */
    void Append(uint64_t window, uint32_t index, uint64_t key, EventImpl* impl);

    /**
     * @param window a window
     * @param index a node
     * @return its events, in no particular order
     */
    WindowItems& Get(uint64_t window, uint32_t index)
    {
        return m_nodes[index].items[window % SLOTS];
    }

    /**
     * @param window a window
     * @return nodes that have events in it; one may be there twice, or without events
     */
    std::vector<uint32_t>& GetActive(uint64_t window)
    {
        return m_active[window % SLOTS];
    }

    /**
     * @param window a window
     * @return acknowledgements that arrive in it
     */
    std::vector<AckArrival>& GetAcks(uint64_t window)
    {
        return m_acks[window % SLOTS];
    }

    /**
     * @param window a window
     * @param index a node
     * @param impl an event
     * @return whether it was there; now it is not
     */
    bool Remove(uint64_t window, uint32_t index, const EventImpl* impl);

    /**
     * Keeps the memory of a list.
     * @param index its node
     * @param items the list, which is empty now
     */
    void Recycle(uint32_t index, WindowItems& items);

    /**
     * @param first first window
     * @return the first window that has events, or first + SLOTS
     */
    uint64_t FindWindow(uint64_t first) const;

    /**
     * @param first first window
     * @param length of a window, time steps
     * @return all events, those of a node in order; none are left
     */
    std::vector<FarEvents::Item> TakeAll(uint64_t first, uint64_t length);

    /**
     * @param first first window
     * @param length of a window, time steps
     * @return all events, in no particular order
     */
    std::vector<FarEvents::Item> List(uint64_t first, uint64_t length) const;

    /**
     * Prefetches a list.
     * @param window a window
     * @param index a node
     */
    void Prefetch(uint64_t window, uint32_t index) const
    {
        const WindowItems& items = m_nodes[index].items[window % SLOTS];
        PrefetchBytes(items.data(), items.size() * sizeof(WindowItem));
    }

  private:
    struct Node
    {
        std::array<WindowItems, SLOTS> items; // of window w at w modulo SLOTS
    };

    uint32_t m_switches{0};
    std::vector<Node> m_nodes;
    std::array<std::vector<uint32_t>, SLOTS> m_active;
    std::array<std::vector<AckArrival>, SLOTS> m_acks;
    // LIFO lists of empty lists with memory, still cached: those of switches, which are longer, and
    // those of hosts.
    std::array<std::vector<WindowItems>, 2> m_spare;
};

inline void
WindowLists::Append(uint64_t window, uint32_t index, uint64_t key, EventImpl* impl)
{
    const uint64_t slot = window % SLOTS;
    WindowItems& items = m_nodes[index].items[slot];
    if ((key & (WindowItem::NO_FRAME | WindowItem::ACK)) == WindowItem::ACK)
    {
        m_acks[slot].push_back({{key, impl}, index});
    }
    if (items.empty())
    {
        m_active[slot].push_back(index);
        std::vector<WindowItems>& spare = m_spare[index >= m_switches];
        if (items.capacity() == 0 && !spare.empty())
        {
            items.swap(spare.back());
            spare.pop_back();
        }
    }
    items.emplace_back(key, impl);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WINDOW_LISTS_H
