/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PORT_QUEUES_H
#define DISTRIBUTED_TRAINING_PORT_QUEUES_H

#include "drop-reason.h"
#include "fabric-frame.h"
#include "fabric-port-owner.h"
#include "fabric-traffic-class.h"
#include "frame-queue.h"
#include "frame-source.h"
#include "port-counters.h"

#include "ns3/event-impl.h"
#include "ns3/training-event-loop.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

namespace ns3::training
{

class StateVisitor;

/// Maximum pause time, in units of 512 bit times; the pause expires then unless renewed or resumed.
static constexpr uint16_t MAX_PAUSE = 65535;

/**
 * @ingroup distributed-training-fabric
 *
 * The frames that wait at a port: eight queues, a frame source beside them, and pause frames ahead
 * of them. PortScheduling selects the priority to serve among those that are not paused. As an
 * event, it is the moment from which the next frame may be sent.
 */
class PortQueues : public EventImpl
{
  public:
    /**
     * @param owner device that owns the port
     * @param nodeId node id, the context of its events
     * @param index port number at the owner
     */
    PortQueues(FabricPortOwner& owner, uint32_t nodeId, uint16_t index);
    PortQueues(const PortQueues&) = delete;
    PortQueues& operator=(const PortQueues&) = delete;

    /** @return the device that owns the port */
    FabricPortOwner& GetOwner() const
    {
        return m_owner;
    }

    /** @return port number at the owner */
    uint16_t GetIndex() const
    {
        return m_index;
    }

    /** @return id of its node */
    uint32_t GetNodeId() const
    {
        return m_nodeId;
    }

    /** @param source frame source that is polled when the line is free; null: none */
    void SetSource(FrameSource* source)
    {
        m_source = source;
    }

    /** A frame can be sent that could not be before: sends if the line is free. */
    virtual void Wake() = 0;

    /**
     * Sends a pause frame ahead of all queued frames.
     * @param classes class-enable vector: bit p enables priority p
     * @param quanta pause time, in units of 512 bit times; 0: resume
     */
    void SendPause(uint8_t classes, uint16_t quanta);

    /**
     * @param priority traffic class
     * @param paused whether it may not be served; not what it was before
     * @param now simulated time, ps
     */
    void SetPaused(uint8_t priority, bool paused, int64_t now);

    /**
     * @param priority traffic class
     * @return whether the peer has paused the priority
     */
    bool IsPaused(uint8_t priority) const
    {
        EventLoop::CatchUp(m_nodeId);
        return m_paused >> priority & 1;
    }

    /**
     * The owner has changed the size of the frame that is about to be sent, see
     * FabricPortOwner::BeginTransmit(). RoCE data are taken to come from the frame source.
     * @param frame the frame, with its new size
     * @param before its former size, bytes
     */
    void OnResize(const Frame& frame, uint32_t before);

    /**
     * Counts, traces and frees a frame that the device drops.
     * @param frame the frame; owned by the port from now on
     * @param reason drop reason
     */
    void Drop(Frame* frame, DropReason reason);

    /**
     * Counts an ECN mark set by the device.
     * @param priority priority of the frame
     */
    void CountMark(uint8_t priority)
    {
        Use().totals.markedFrames++;
        Use().counters[priority].markedFrames++;
    }

    /** Counts a frame that the device has cut to its header for this port. */
    void CountTrim()
    {
        Use().totals.trimmedFrames++;
    }

    /**
     * Counts a frame of a lossless class that the device drops for lack of buffer space.
     * @param priority its class
     */
    void CountLosslessDrop(uint8_t priority)
    {
        Use().counters[priority].losslessDrops++;
    }

    /**
     * Counts a pause storm.
     * @param priority traffic class
     */
    void CountStorm(uint8_t priority)
    {
        Use().counters[priority].pauseStorms++;
    }

    /**
     * @param priority traffic class
     * @return queued bytes of the priority
     */
    uint64_t GetQueueBytes(uint8_t priority) const
    {
        EventLoop::CatchUp(m_nodeId);
        return m_classes ? m_classes->queues[priority].GetBytes() : 0;
    }

    /**
     * @param priority traffic class
     * @return first frame in the queue, linked to the others by Frame::next; null if empty
     */
    const Frame* GetQueue(uint8_t priority) const
    {
        EventLoop::CatchUp(m_nodeId);
        return m_classes ? m_classes->queues[priority].GetHead() : nullptr;
    }

    /** Prefetches the queue that is served next. */
    void PrefetchQueue() const
    {
        if (m_classes)
        {
            __builtin_prefetch(&m_classes->queues[GetNextPriority()], 1);
            PrefetchSend(GetNextPriority());
        }
    }

    /** Prefetches the frame that is served next. */
    void PrefetchHead() const
    {
        if (m_classes)
        {
            __builtin_prefetch(m_classes->queues[GetNextPriority()].GetHead(), 1);
        }
    }

    /**
     * Prefetches what else sending a frame needs.
     * @param priority priority of the frame
     */
    void PrefetchSend(uint8_t priority) const
    {
        if (m_classes)
        {
            __builtin_prefetch(&m_classes->counters[priority], 1);
        }
    }

  protected:
    /** What a port has for each traffic class, from its first frame or pause on. */
    struct alignas(64) Classes
    {
        CountersByPriority counters{};                 ///< of sent frames
        FrameQueues queues{};                          ///< waiting frames
        Frame* pauses{nullptr};                        ///< queued pause frames, sent first
        PortTotals totals;                             ///< counters of all priorities
        std::array<int64_t, PRIORITIES> pausedSince{}; ///< when a priority was paused, ticks
        /// Of a priority of which both the queue and the source have frames: bytes of the queue,
        /// less those of the source.
        std::array<int32_t, PRIORITIES> lead{};
    };

    /** @return its classes */
    Classes& Use()
    {
        if (!m_classes)
        {
            MakeClasses();
        }
        return *m_classes;
    }

    /**
     * @param time ps
     * @return bit p is set if the source has a frame of priority p at that time
     */
    uint8_t GetReady(int64_t time) const
    {
        return m_source ? m_source->GetReady(time) : 0;
    }

    /** @param frame frame to append to the queue of its priority */
    void Push(Frame* frame)
    {
        Classes& classes = Use();
        FrameQueue& queue = classes.queues[frame->priority];
        queue.Push(frame);
        m_queuedBytes += frame->bytes;
        classes.totals.peakQueueBytes = std::max(classes.totals.peakQueueBytes, m_queuedBytes);
        PriorityCounters& ofPriority = classes.counters[frame->priority];
        ofPriority.peakQueueBytes = std::max(ofPriority.peakQueueBytes, queue.GetBytes());
        m_owner.NotifyQueueLength(m_index, frame->priority, queue.GetBytes());
        m_waiting |= 1 << frame->priority;
    }

    /**
     * @param priority a priority that has queued frames
     * @return the first of them
     */
    Frame* Pop(uint8_t priority)
    {
        FrameQueue& queue = m_classes->queues[priority];
        Frame* frame = queue.Pop();
        m_queuedBytes -= frame->bytes;
        if (queue.IsEmpty())
        {
            m_waiting &= ~(1 << priority);
        }
        else
        {
            __builtin_prefetch(queue.GetHead()); // a long-queued frame is likely no longer cached
        }
        m_owner.NotifyQueueLength(m_index, priority, queue.GetBytes());
        return frame;
    }

    /** @return the first queued pause frame; there must be one */
    Frame* PopPause();

    /**
     * @param ready what GetReady() returns
     * @param now simulated time, ps
     * @return the next frame; a priority that is not paused must have one
     */
    Frame* TakeNext(uint8_t ready, int64_t now)
    {
        Classes& classes = Use();
        const uint8_t eligible = (m_waiting | ready) & ~m_paused;
        const uint8_t priority =
            m_owner.GetScheduling().Choose(eligible, m_current, classes.queues);
        const uint32_t bit = 1 << priority;
        Frame* frame = !(m_waiting & bit) ? m_source->Pull(priority, now)
                       : ready & bit      ? TakeShared(priority, now)
                                          : Pop(priority);
        classes.queues[priority].credit -= frame->bytes;
        return frame;
    }

    /**
     * Counts a frame whose transmission begins.
     * @param frame not a pause frame
     */
    void CountSent(const Frame& frame)
    {
        PriorityCounters& ofPriority = Use().counters[frame.priority];
        ofPriority.transmittedFrames++;
        ofPriority.transmittedBytes += frame.bytes;
        ofPriority.answerFrames +=
            frame.kind == FrameKind::ROCE_ACK || frame.kind == FrameKind::ROCE_CNP;
    }

    /**
     * Visits what each class has.
     * @param visitor visits it
     * @param repeats whether frames may be sent in a steady state
     */
    void VisitClasses(StateVisitor& visitor, bool repeats);

    // Three bytes fill the end of the base class.
    uint8_t m_waiting{0};               ///< bit p: queue p is not empty
    uint8_t m_paused{0};                ///< bit p: paused by the peer
    uint8_t m_current{0};               ///< round robin position
    FabricPortOwner& m_owner;           ///< @see GetOwner()
    uint64_t m_queuedBytes{0};          ///< of all priorities
    std::unique_ptr<Classes> m_classes; ///< null: nothing was sent or paused
    uint32_t m_nodeId;                  ///< @see GetNodeId()
    uint16_t m_index;                   ///< @see GetIndex()
    bool m_hasPauses{false};            ///< whether pause frames are queued
    bool m_storesAll{false};            ///< whether each frame is queued before it is sent

  private:
    /** @return the priority most likely served next */
    uint8_t GetNextPriority() const
    {
        return m_waiting ? PortScheduling::GetHighest(m_waiting) : 0;
    }

    void MakeClasses();
    Frame* TakeShared(uint8_t priority, int64_t now);

    FrameSource* m_source{nullptr};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PORT_QUEUES_H
