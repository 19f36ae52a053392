/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PAUSE_RECEIVER_H
#define DISTRIBUTED_TRAINING_PAUSE_RECEIVER_H

#include "fabric-traffic-class.h"
#include "port-queues.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <array>
#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * Decides which pauses a port obeys.
 */
class PauseFilter
{
  public:
    virtual ~PauseFilter() = default;

    /**
     * A pause or resume frame takes effect.
     * @param classes its classes
     * @param paused whether it pauses them
     * @return the classes that obey it
     */
    virtual uint8_t Filter(uint8_t classes, bool paused) = 0;

    /**
     * A class is paused or resumed from now on.
     * @param priority the class
     * @param paused whether it is paused
     */
    virtual void NotifyPause(uint8_t priority, bool paused) = 0;
};

/**
 * @ingroup distributed-training-fabric
 *
 * Obeys pauses by the peer of one port, per priority (IEEE 802.1Qbb), as far as a filter lets it. A
 * pause ends when its time is over, unless the peer has renewed it or has resumed the priority.
 */
class PauseReceiver
{
  public:
    /** @param queues what is paused; must outlive this */
    explicit PauseReceiver(PortQueues& queues);
    PauseReceiver(const PauseReceiver&) = delete;
    PauseReceiver& operator=(const PauseReceiver&) = delete;

    /** @param filter decides which pauses are obeyed; null: all; must outlive this */
    void SetFilter(PauseFilter* filter)
    {
        m_filter = filter;
    }

    /** @return whether somebody decides which pauses are obeyed, or hears of them */
    bool HasFilter() const
    {
        return m_filter;
    }

    /**
     * A pause frame has arrived.
     * @param classes bit p: priority p
     * @param length pause time, ps; 0: resume
     * @param response time until the port obeys it
     */
    void Receive(uint8_t classes, int64_t length, Time response);

    /**
     * Ends a pause before its time, or begins one without an end.
     * @param priority traffic class
     * @param paused whether it stays paused until the next call
     */
    void Override(uint8_t priority, bool paused);

    /**
     * Ends a pause, because the device has lost its state in a restart.
     * @param priority traffic class
     */
    void Forget(uint8_t priority);

  private:
    void Set(uint8_t priority, bool paused, int64_t now);
    void Obey(uint8_t classes, int64_t until);
    void OnExpired();

    PortQueues& m_queues;
    PauseFilter* m_filter{nullptr};
    std::array<int64_t, PRIORITIES> m_until{}; // of each pause, ps
    EventId m_expiry;                          // of the pause that ends first
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PAUSE_RECEIVER_H
