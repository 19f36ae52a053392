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
class StateVisitor;

/**
 * @ingroup distributed-training-rdma
 *
 * The send queue of any type of queue pair, as the NIC's scheduler sees it: a source of packets of
 * one traffic class, which are available now or from a later time on.
 */
class RdmaSendQueue
{
  public:
    /// Leading cache lines of the object that most packets need.
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

    /** @return whether a packet may be sent, regardless of its time */
    virtual bool CanSend() const = 0;

    /**
     * @param now simulated time, ps
     * @return the next packet; CanSend() must be true
     */
    virtual Frame* MakeFrame(int64_t now) = 0;

    /**
     * A program in the NIC has changed the size of the packet made last, before its transmission.
     * @param frame the packet, with its size on the line
     * @param before its size when it was made, bytes
     * @param now simulated time, ps
     */
    virtual void OnResize([[maybe_unused]] const Frame& frame,
                          [[maybe_unused]] uint32_t before,
                          [[maybe_unused]] int64_t now)
    {
    }

    /**
     * Prefetches the cache lines that MakeFrame() will touch besides the first SEND_LINES of the
     * object, which are cached already.
     */
    virtual void Prefetch() const
    {
    }

    /**
     * Checks the retransmission timer. RdmaTimerWatch calls it after Add().
     * @param now simulated time, ps
     * @param next time of the next check, ps: an earlier timeout needs its own event
     * @return whether an ACK is still outstanding, so that the next check is needed
     */
    virtual bool CheckTimer([[maybe_unused]] int64_t now, [[maybe_unused]] int64_t next)
    {
        return false;
    }

    /** Prefetches the cache lines that CheckTimer() will touch. */
    virtual void PrefetchTimer() const
    {
    }

    /**
     * The time until which the rate is known (m_rateEnd) is over, and the queue still waits.
     * @param now simulated time, ps
     */
    virtual void Review([[maybe_unused]] int64_t now)
    {
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
    /**
     * @param priority traffic class of its next packets
     * @return false if it has packets to send, and keeps its class
     */
    bool SetPriority(uint8_t priority)
    {
        m_priority = m_state == State::IDLE ? priority : m_priority;
        return m_state == State::IDLE;
    }

    /**
     * Visits its place in the scheduler.
     * @param visitor visits it
     */
    void VisitTurn(StateVisitor& visitor);

    int64_t m_nextSendTime{0}; ///< earliest time of the next packet, ps
    int64_t m_rateEnd{0};      ///< time until which the rate is known, ps; not after now: unknown

  private:
    friend class RdmaSendScheduler;

    /** Its position in the scheduler. */
    enum class State : uint8_t
    {
        IDLE,  ///< in neither container: nothing to send
        READY, ///< in the round-robin list
        PACED  ///< in the heap, waiting for its send time
    };

    RdmaSendQueue* m_next{nullptr}; // in the round-robin list
    int64_t m_wakeTime{0};          // time of its heap entry, ps; its other entries are stale
    State m_state{State::IDLE};
    uint8_t m_priority;
    uint32_t m_number;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_SEND_QUEUE_H
