/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FRAME_QUEUE_H
#define DISTRIBUTED_TRAINING_FRAME_QUEUE_H

#include "fabric-frame.h"
#include "fabric-traffic-class.h"

#include <array>
#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * Frames of one priority that wait for the line, first in, first out, linked by Frame::next.
 */
class FrameQueue
{
  public:
    /** @return whether nothing waits */
    bool IsEmpty() const
    {
        return !m_head;
    }

    /** @return the frame that is served next, or null */
    Frame* GetHead() const
    {
        return m_head;
    }

    /** @return bytes that wait */
    uint64_t GetBytes() const
    {
        return m_bytes;
    }

    /** @param frame waits from now on, behind the others */
    void Push(Frame* frame)
    {
        frame->next = nullptr;
        (m_head ? m_tail->next : m_head) = frame;
        m_tail = frame;
        m_bytes += frame->bytes;
    }

    /** @return the frame that has waited longest, owned by the caller; the queue is not empty */
    Frame* Pop()
    {
        Frame* frame = m_head;
        m_head = frame->next;
        m_bytes -= frame->bytes;
        return frame;
    }

    int64_t credit{0}; ///< bytes that it may send in its turn (deficit round robin)

  private:
    Frame* m_head{nullptr};
    Frame* m_tail{nullptr};
    uint64_t m_bytes{0};
};

/// The queues of a port, by priority.
using FrameQueues = std::array<FrameQueue, PRIORITIES>;

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_QUEUE_H
