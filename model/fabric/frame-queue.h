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
 * FIFO queue of frames of one priority at a port, linked by Frame::next.
 */
class FrameQueue
{
  public:
    /** @return whether the queue is empty */
    bool IsEmpty() const
    {
        return !m_head;
    }

    /** @return the first frame, or null */
    Frame* GetHead() const
    {
        return m_head;
    }

    /** @return queued bytes */
    uint64_t GetBytes() const
    {
        return m_bytes;
    }

    /** @param frame frame to append */
    void Push(Frame* frame)
    {
        frame->next = nullptr;
        (m_head ? m_tail->next : m_head) = frame;
        m_tail = frame;
        m_bytes += frame->bytes;
    }

    /** @return the first frame, owned by the caller; the queue must not be empty */
    Frame* Pop()
    {
        Frame* frame = m_head;
        m_head = frame->next;
        m_bytes -= frame->bytes;
        return frame;
    }

    int64_t credit{0}; ///< deficit counter, bytes (deficit round robin)

  private:
    Frame* m_head{nullptr};
    Frame* m_tail{nullptr};
    uint64_t m_bytes{0};
};

/// The queues of a port, by priority.
using FrameQueues = std::array<FrameQueue, PRIORITIES>;

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_QUEUE_H
