/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_SEND_QUEUE_H
#define DISTRIBUTED_TRAINING_RDMA_SEND_QUEUE_H

#include <cstdint>

namespace ns3::training
{

class Frame;

/**
 * @ingroup distributed-training-rdma
 *
 * The sending half of a queue pair of any kind, as the scheduler of the NIC sees it: a source of
 * packets of one traffic class, available now or from a later time on.
 */
class RdmaSendQueue
{
  public:
    /// Cache lines of the object, from its beginning, that most packets need.
    static constexpr std::size_t SEND_LINES = 3;

    /**
     * @param number of the queue pair
     * @param priority traffic class of its packets
     */
    RdmaSendQueue(uint32_t number, uint8_t priority)
        : m_priority(priority),
          m_number(number)
    {
    }

    virtual ~RdmaSendQueue() = default;

    /** @return whether a packet may be sent, regardless of GetNextSendTime() */
    virtual bool CanSend() const = 0;

    /**
     * @param now simulated time, ps
     * @return the next packet; CanSend() must be true
     */
    virtual Frame* MakeFrame(int64_t now) = 0;

    /**
     * Brings into the cache the lines that MakeFrame() is going to need besides the first
     * SEND_LINES of the object, which are there already.
     */
    virtual void Prefetch() const
    {
    }

    /**
     * Checks the retransmission timer, from RdmaTimerWatch::Add() on.
     * @param now simulated time, ps
     * @param next time of the next check, ps: a timeout before it needs an event of its own
     * @return whether an acknowledgement is still awaited, so that the next check is needed
     */
    virtual bool CheckTimer([[maybe_unused]] int64_t now, [[maybe_unused]] int64_t next)
    {
        return false;
    }

    /** Brings into the cache the lines that CheckTimer() is going to need. */
    virtual void PrefetchTimer() const
    {
    }

    /** @return earliest time of the next packet, ps */
    int64_t GetNextSendTime() const
    {
        return m_nextSendTime;
    }

    /** @return number of the queue pair */
    uint32_t GetNumber() const
    {
        return m_number;
    }

    /** @return traffic class of its packets */
    uint8_t GetPriority() const
    {
        return m_priority;
    }

  protected:
    int64_t m_nextSendTime{0}; ///< earliest time of the next packet, ps

  private:
    friend class RdmaSendScheduler;

    /** Its place at the scheduler. */
    enum class State : uint8_t
    {
        IDLE,  ///< nowhere: it has nothing to send
        READY, ///< in the list of queues that take turns
        PACED  ///< in the heap of queues that wait for their time
    };

    RdmaSendQueue* m_next{nullptr}; // in the list
    int64_t m_wakeTime{0};          // of its entry in the heap, ps; others there are stale
    State m_state{State::IDLE};
    uint8_t m_priority;
    uint32_t m_number;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_SEND_QUEUE_H
