/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FOREIGN_EVENTS_H
#define DISTRIBUTED_TRAINING_FOREIGN_EVENTS_H

#include "ns3/event-impl.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace ns3::training
{

/** Events that other threads schedule, which do not know the time. */
class ForeignEvents
{
  public:
    /** An event. */
    struct Item
    {
        uint32_t context; ///< its node
        uint64_t delay;   ///< from when it is taken on, time steps
        EventImpl* impl;  ///< the event
    };

    /** @param item an event, of any thread */
    void Add(const Item& item)
    {
        const std::lock_guard lock(m_mutex);
        m_items.push_back(item);
        m_hasItems.store(true, std::memory_order_release);
    }

    /** @return all events, in the order of Add(); none are left */
    std::vector<Item> Take()
    {
        std::vector<Item> items;
        if (!m_hasItems.load(std::memory_order_acquire))
        {
            return items;
        }
        const std::lock_guard lock(m_mutex);
        items.swap(m_items);
        m_hasItems = false;
        return items;
    }

  private:
    std::atomic<bool> m_hasItems{false};
    std::mutex m_mutex;
    std::vector<Item> m_items;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FOREIGN_EVENTS_H
