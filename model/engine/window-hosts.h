/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WINDOW_HOSTS_H
#define DISTRIBUTED_TRAINING_WINDOW_HOSTS_H

#include "engine/far-events.h"
#include "engine/window-lists.h"
#include "engine/window-node.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::training
{

/**
 * The hosts among the nodes of EventWindows: it tells their quiet events from others, which it
 * passes on. Nodes have indices, switches first.
 */
class WindowHosts
{
  public:
    /** Takes an event. (time, node, uid, event) */
    using Taker = std::function<void(uint64_t, uint32_t, uint32_t, EventImpl*)>;

    /**
     * @param lists lists of events; must outlive it
     * @param passOn takes events that are to be executed in the order of time
     */
    WindowHosts(WindowLists& lists, Taker passOn);

    /**
     * Sets the nodes.
     * @param nodes all nodes; must outlive their use
     * @param switches number of switches among them
     * @param length of a window, time steps
     */
    void SetNodes(const std::vector<WindowNode>& nodes, uint32_t switches, uint64_t length);

    /** @param window the current window */
    void Enter(uint64_t window)
    {
        m_window = window;
    }

    /**
     * @param impl an event
     * @param node id of its node
     * @return whether it is quiet at a quiet host, unless it is the arrival of an ACK
     */
    static bool MayBeQuiet(const EventImpl& impl, uint32_t node);

    /**
     * @param index a host
     * @return whether its events in the current window are passed on
     */
    bool IsOrdered(uint32_t index) const
    {
        return m_hosts[index - m_switches].ordered == m_window || m_ordered == m_window;
    }

    /**
     * @param index a host
     * @return whether it was not quiet the last time, so that none of its events is kept
     */
    bool IsLoud(uint32_t index) const
    {
        return m_hosts[index - m_switches].isLoud;
    }

    /** Passes on the events of the current window that come after one that is not quiet. */
    void Screen();

    /**
     * Lets a host be ordered in the current window: something acts on it.
     * @param index the host
     */
    void Order(uint32_t index);

    /** As Order() for all hosts, and passes on their events of the current window. */
    void OrderAll();

    /**
     * Passes on all events of a host in the current window.
     * @param index the host
     */
    void PassOnAll(uint32_t index);

    /** @param item an event of any node and time, which is passed on */
    void PassOn(const FarEvents::Item& item);

    /** @return number of events passed on so far */
    uint64_t GetPassedOn() const
    {
        return m_passedOn;
    }

    /**
     * Prefetches what the next nodes of the current window need.
     * @param current place of the current one among the active nodes
     */
    void Prefetch(std::size_t current) const;

  private:
    /** What is known of a host, small, as it is looked at in each window. */
    struct Host
    {
        const HostDevice* device{nullptr};  // the first one
        uint64_t ordered{FarEvents::NEVER}; // window in which its events are passed on
        uint64_t quiet{0};                  // value of m_epoch when found quiet; 0: unknown
        bool isLoud{false};                 // not quiet the last time
    };

    bool IsQuiet(uint32_t index) const;
    void PassOn(uint32_t index, const WindowItem& item);
    void PassOnFrom(uint32_t index, const WindowItem& first);
    void ScreenAcks();

    WindowLists& m_lists;
    const Taker m_passOn;
    const std::vector<WindowNode>* m_nodes{nullptr};
    uint32_t m_switches{0};
    std::vector<Host> m_hosts; // in the order of the nodes, without the switches
    uint64_t m_length{0};
    uint64_t m_window{0};                 // number of the current window
    uint64_t m_ordered{FarEvents::NEVER}; // window in which the events of all are passed on
    uint64_t m_epoch{1};                  // changes when something may have happened to any host
    uint64_t m_passedOn{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WINDOW_HOSTS_H
