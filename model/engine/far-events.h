/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FAR_EVENTS_H
#define DISTRIBUTED_TRAINING_FAR_EVENTS_H

#include "ns3/event-impl.h"

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3::training
{

/** Events of windows that are too far away for lists of each node. */
class FarEvents
{
  public:
    /** An event. */
    struct Item
    {
        uint64_t time;   ///< time stamp, time steps
        uint64_t order;  ///< lower part of a WindowItem's key
        EventImpl* impl; ///< the event
        uint32_t index;  ///< its node
    };

    /// A time after all events.
    static constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

    /**
     * @param item an event
     * @param window its window
     * @param current the current window
     */
    void Insert(const Item& item, uint64_t window, uint64_t current);

    /**
     * @param impl an event
     * @param window its window
     * @param current the current window
     * @return whether it was there; now it is not
     */
    bool Remove(const EventImpl* impl, uint64_t window, uint64_t current);

    /**
     * @param first first window that has events here
     * @param length of a window, time steps
     * @return a time not after the next event, time steps, or NEVER
     */
    uint64_t GetEarliestTime(uint64_t first, uint64_t length) const;

    /**
     * Takes events whose windows have come near.
     * @param first first window that had events here
     * @param next first window that has events here from now on
     * @param length of a window, time steps
     * @return the events, valid until the next call
     */
    const std::vector<Item>& TakeReached(uint64_t first, uint64_t next, uint64_t length);

    /** @return all events, in order; none are left */
    std::vector<Item> TakeAll();

    /** @return all events, in no particular order */
    std::vector<Item> List() const;

  private:
    /** Of a heap with the earliest event on top. */
    struct Later
    {
        bool operator()(const Item& a, const Item& b) const;
    };

    static constexpr uint64_t SLOTS = 1024; // windows that have a list

    std::array<std::vector<Item>, SLOTS> m_coming; // of window w at w modulo SLOTS
    uint64_t m_nComing{0};                         // number of events in m_coming
    std::vector<Item> m_reached;                   // result of TakeReached()
    std::vector<Item> m_far;                       // heap of those even later
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FAR_EVENTS_H
