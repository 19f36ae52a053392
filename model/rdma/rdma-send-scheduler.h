/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_SEND_SCHEDULER_H
#define DISTRIBUTED_TRAINING_RDMA_SEND_SCHEDULER_H

#include "rdma-send-queue.h"

#include "ns3/event-id.h"
#include "ns3/fabric-port.h"

#include <array>
#include <queue>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Schedules the send queues of one NIC on its port: round robin within each traffic class. Paced
 * queues wait in a heap ordered by time, so a packet costs at most the logarithm of their number. A
 * stale heap entry is dropped when its time comes.
 */
class RdmaSendScheduler : public FrameSource
{
  public:
    /**
     * @param port pulls the frames; must outlive the scheduler's use, or null to stop
     * @param injectionRate limit of the total data rate, bit/s; 0: line rate
     */
    void Attach(FabricPort* port, uint64_t injectionRate);

    /**
     * A queue may have a packet to send, or may send it earlier than reported before.
     * @param queue a queue of this NIC
     */
    void Schedule(RdmaSendQueue& queue);

    /**
     * Visits the order of its queues.
     * @param visitor visits it
     * @return whether no queue is paced, so that its timer sends nothing
     */
    bool Visit(StateVisitor& visitor);

    /** Prefetches the queues that send next. */
    void Prefetch() const;

    // FrameSource
    uint8_t GetReady(int64_t now) override;
    Frame* Pull(uint8_t priority, int64_t now) override;
    bool IsOwn(const Frame& frame) const override;
    void OnResize(const Frame& frame, uint32_t before, int64_t now) override;

  private:
    /** A queue and its earliest send time, ps. */
    struct Paced
    {
        int64_t time;
        RdmaSendQueue* queue;
    };

    /** Orders by time, then by number: addresses differ between runs. */
    struct Later
    {
        bool operator()(const Paced& a, const Paced& b) const
        {
            return a.time != b.time ? a.time > b.time : a.queue->GetNumber() > b.queue->GetNumber();
        }
    };

    /** The round-robin list of one traffic class, linked by RdmaSendQueue::m_next. */
    struct Turns
    {
        RdmaSendQueue* first{nullptr};
        RdmaSendQueue* last{nullptr};
    };

    void ScheduleNext(RdmaSendQueue& queue, const Frame& frame, int64_t now);
    int64_t GetInjectionTime(uint32_t bytes) const;
    void Append(RdmaSendQueue& queue);
    RdmaSendQueue* TakeFirst(uint8_t priority);
    void Pace(RdmaSendQueue& queue, int64_t now);
    void MovePacedToReady(int64_t now);
    void SetTimer(int64_t time);
    void OnTimer();

    FabricPort* m_port{nullptr};
    std::array<Turns, PRIORITIES> m_turns;
    uint8_t m_ready{0};             // bit p: m_turns[p] is not empty
    RdmaSendQueue* m_last{nullptr}; // sent last
    std::priority_queue<Paced, std::vector<Paced>, Later> m_paced;
    double m_picosecondsPerByte{0}; // at the injection rate; 0: no limit
    int64_t m_nextInjection{0};     // ps
    EventId m_timer;
    int64_t m_timerTime{0}; // ps
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_SEND_SCHEDULER_H
