/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WINDOW_ITEM_H
#define DISTRIBUTED_TRAINING_WINDOW_ITEM_H

#include "ns3/event-impl.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/** An event of a known node in a known window. */
struct WindowItem
{
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

    WindowItem() = default;

    // Lets vectors be filled from registers: a copy of an item just made would wait for it.
    WindowItem(uint64_t itsKey, EventImpl* itsImpl)
        : key(itsKey),
          impl(itsImpl)
    {
    }

    /**
     * Prefetches the event: switches read only the first cache line of a frame.
     * @param isAtHost whether its node is a host
     */
    void Prefetch(bool isAtHost) const
    {
        __builtin_prefetch(impl, 1);
        if (isAtHost || key & NO_FRAME)
        {
            __builtin_prefetch(reinterpret_cast<const char*>(impl) + 64, 1);
        }
    }

    uint64_t key{0}; ///< order within the window: offset of the time, order of simultaneous ones
    EventImpl* impl{nullptr}; ///< the event
};

/** Events of a node in a window. */
using WindowItems = std::vector<WindowItem>;

/** Sorts the earliest event first. */
struct EarlierItem
{
    /// @return whether a comes before b
    bool operator()(const WindowItem& a, const WindowItem& b) const;
};

/** Sorts the events of nodes, with memory of its own. */
class WindowItemSorter
{
  public:
    /**
     * @param items to be sorted by EarlierItem
     * @param length of the window, time steps
     */
    void Sort(WindowItems& items, uint64_t length);

  private:
    bool SortRoughly(WindowItems& items, uint64_t length);

    WindowItems m_sorted;
    std::vector<uint32_t> m_begins;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WINDOW_ITEM_H
