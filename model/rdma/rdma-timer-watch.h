/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_TIMER_WATCH_H
#define DISTRIBUTED_TRAINING_RDMA_TIMER_WATCH_H

#include "rdma-send-queue.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Watches the retransmission timers of one NIC: a single periodic event, every half of the shortest
 * timeout, checks each queue pair with an outstanding ACK. That is cheaper than one event per queue
 * pair, or one that moves with every ACK.
 */
class RdmaTimerWatch
{
  public:
    /** @param shortest initial timeout of any queue pair; must outlive the watch */
    void Attach(const Time& shortest);

    /** Removes all queue pairs. */
    void Stop();

    /**
     * @param queue with an outstanding ACK; RdmaSendQueue::CheckTimer() is called periodically
     *        until it returns false
     */
    void Add(RdmaSendQueue& queue);

    /** @return time between two checks, ps */
    int64_t GetPeriod() const
    {
        return std::max<int64_t>(1, m_shortest->GetTimeStep() / 2);
    }

    /** @return time of the next check, ps */
    int64_t GetNextCheck() const
    {
        return m_nextCheck;
    }

  private:
    void Schedule();
    void Check();

    const Time* m_shortest{nullptr};
    std::vector<RdmaSendQueue*> m_queues;
    EventId m_event;
    int64_t m_nextCheck{0}; // ps
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_TIMER_WATCH_H
