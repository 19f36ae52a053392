/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_PORT_H
#define DISTRIBUTED_TRAINING_FABRIC_PORT_H

#include "drop-reason.h"
#include "fabric-frame.h"
#include "fabric-port-owner.h"
#include "fabric-traffic-class.h"
#include "flow-control.h"
#include "frame-border.h"
#include "frame-queue.h"
#include "frame-source.h"
#include "link-credits.h"
#include "link-impairment.h"
#include "port-counters.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/training-event-loop.h"
#include "ns3/training-prefetch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3::training
{

class PauseWatchdog;
class StateVisitor;
class SteadyWatch;

/// Maximum pause time, in units of 512 bit times; the pause expires then unless renewed or resumed.
static constexpr uint16_t MAX_PAUSE = 65535;

/**
 * @ingroup distributed-training-fabric
 *
 * One end of a full-duplex link: eight queues, a scheduler, and priority flow control.
 *
 * An idle port sends a frame immediately and only schedules the arrival at the peer. While frames
 * are queued, the port itself is the pending "line is free" event. PortScheduling selects the
 * priority to serve.
 */
class alignas(64) FabricPort : public EventImpl
{
  public:
    /**
     * @param owner device that owns this port and receives its frames
     * @param nodeId node id, the context of its events
     * @param index port number at the owner
     */
    FabricPort(FabricPortOwner& owner, uint32_t nodeId, uint16_t index);
    FabricPort(const FabricPort&) = delete;
    FabricPort& operator=(const FabricPort&) = delete;

    /**
     * Makes this port one end of a link.
     * @param peer the other end
     * @param bitsPerSecond line rate of this direction
     * @param delay delay from sending the last bit to its arrival: propagation plus the receiver's
     *        pipeline
     */
    void Connect(FabricPort& peer, uint64_t bitsPerSecond, Time delay);

    /**
     * Enables cut-through: frames arrive at the peer with their first 64 bytes instead of their
     * last byte.
     */
    void EnableCutThrough();

    /** @param latency added to the delay of every frame sent from now on */
    void AddLatency(Time latency);

    /**
     * Applies an impairment to every frame sent from now on.
     * @param impairment impairment to apply after the existing ones
     */
    void AddImpairment(std::shared_ptr<LinkImpairment> impairment);

    /**
     * Removes an impairment.
     * @param impairment impairment added before
     */
    void RemoveImpairment(const std::shared_ptr<LinkImpairment>& impairment);

    /** @return whether an impairment takes the link down */
    bool IsDown() const
    {
        return m_down;
    }

    /**
     * Drops all queued frames and clears all pauses by the peer, because the device has restarted.
     */
    void Flush();

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
        m_counters.markedFrames++;
        Use().counters[priority].markedFrames++;
    }

    /** Counts a frame that the device has cut to its header for this port. */
    void CountTrim()
    {
        m_counters.trimmedFrames++;
    }

    /**
     * Counts a frame of a lossless class that the device drops for lack of buffer space.
     * @param priority its class
     */
    void CountLosslessDrop(uint8_t priority)
    {
        Use().counters[priority].losslessDrops++;
    }

    /** Enables in-band telemetry for frames that request it. */
    void EnableTelemetry();

    /** @param flowControl of the link; CREDIT: see ReceiveWithCredits() */
    void SetFlowControl(FlowControl flowControl);

    /** @return how this port and its peer keep each other from overrunning lossless classes */
    FlowControl GetFlowControl() const
    {
        return m_flowControl;
    }

    /**
     * Lets the peer send frames of some classes only for credits, that is, for free space here.
     * @param classes bit p: class p
     * @param bytes space for each of the classes, apart from that for one frame
     */
    void ReceiveWithCredits(uint8_t classes, uint64_t bytes);

    /**
     * Grants the peer what has become free, see FabricPortOwner::GetHeldBytes().
     * @param priority a class that is received with credits
     */
    void GrantCredits(uint8_t priority);

    /** @return its credits, or null */
    const LinkCredits* GetCredits() const
    {
        EventLoop::CatchUp(m_nodeId);
        return m_credits.get();
    }

    /**
     * @param priority traffic class
     * @return whether the peer sends the class only for credits
     */
    bool ReceivesWithCredits(uint8_t priority) const
    {
        return m_credits && m_credits->GetReceivingClasses() >> priority & 1;
    }

    /**
     * @param priority traffic class
     * @return whether this port sends the class only for credits
     */
    bool SendsWithCredits(uint8_t priority) const
    {
        return m_credits && m_credits->GetSendingClasses() >> priority & 1;
    }

    /** Makes SendIfIdle() refuse all frames, so that each one is stored and released. */
    void StoreAll();

    /** @param watchdog decides which pauses the port obeys; null: all; must outlive the port */
    void SetWatchdog(PauseWatchdog* watchdog);

    /**
     * Ends a pause before its time, or begins one without an end.
     * @param priority traffic class
     * @param paused whether it stays paused until the next call
     */
    void OverridePause(uint8_t priority, bool paused);

    /**
     * Drops all queued frames of a class and releases their space.
     * @param priority traffic class
     */
    void Purge(uint8_t priority);

    /**
     * Counts a pause storm.
     * @param priority traffic class
     */
    void CountStorm(uint8_t priority)
    {
        Use().counters[priority].pauseStorms++;
    }

    /** @return time from the arrival of a pause until this port obeys it */
    Time GetPauseResponse() const
    {
        return m_owner.GetPauseResponse(m_rate);
    }

    /** @param border receives every frame sent from now on; null: none; must outlive the port */
    void SetBorder(FrameBorder* border);

    /** @param watch learns of long messages that begin at this port; null: none */
    void SetSteadyWatch(SteadyWatch* watch)
    {
        m_steadyWatch = watch;
    }

    /** @return what was set, or null */
    SteadyWatch* GetSteadyWatch() const
    {
        return m_steadyWatch;
    }

    /**
     * @param now simulated time, ps
     * @return whether both directions of its link have been idle for so long that no frame is on
     *         the way
     */
    bool IsIdle(int64_t now) const;

    /**
     * Visits its state and the frames in its queues.
     * @param visitor visits it
     * @param repeats whether the owner allows frames on this port in a steady state
     */
    void Visit(StateVisitor& visitor, bool repeats);

    /** Observes a frame on the link. (the frame, whether this port sends it) */
    using Tap = std::function<void(const Frame&, bool)>;

    /** @param tap called with every sent frame (before link loss) and every received frame */
    void SetTap(Tap tap);

    /** @return whether a tap observes its frames */
    bool HasTap() const
    {
        return m_tap != nullptr;
    }

    /** @return whether its frames are neither changed, delayed, credited nor seen by others */
    bool IsPlain() const
    {
        return !m_down && !m_isHooked && !m_isImpaired;
    }

    /** @param source frame source that is polled when the line is free; null: none */
    void SetSource(FrameSource* source);

    /**
     * Enqueues a frame by its priority.
     * @param frame the frame; owned by the port from now on
     */
    void Send(Frame* frame);

    /**
     * Sends a frame immediately if the port is idle; the frame then takes no buffer space.
     * @param frame frame to send; owned by the port from now on if the result is true
     * @return whether it was sent; if not, the caller must enqueue it with Send()
     */
    bool SendIfIdle(Frame* frame);

    /**
     * The owner has changed the size of the frame that is about to be sent, see
     * FabricPortOwner::BeginTransmit(). RoCE data are taken to come from the frame source.
     * @param frame the frame, with its new size
     * @param before its former size, bytes
     */
    void OnResize(const Frame& frame, uint32_t before);

    /**
     * Holds back all frames after the one that is about to be sent, at least for a time, because
     * the owner is busy with that frame.
     * @param duration from now on
     */
    void Occupy(Time duration);

    /** Notifies the port that its frame source is ready: sends if the line is free. */
    void Wake();

    /**
     * Sends a pause frame ahead of all queued frames.
     * @param classes class-enable vector: bit p enables priority p
     * @param quanta pause time, in units of 512 bit times; 0: resume
     */
    void SendPause(uint8_t classes, uint16_t quanta);

    /**
     * Handles the arrival of a frame; called by the frame itself.
     * @param frame the frame; owned by the port from now on
     */
    void Arrive(Frame* frame);

    /** @param frame frame that arrives after a few other events */
    void Prefetch(const Frame& frame)
    {
        m_owner.Prefetch(frame);
    }

    /**
     * @param frame frame that arrives very soon
     * @return as FabricPortOwner::PrefetchSoon()
     */
    const FabricPort* PrefetchSoon(const Frame& frame)
    {
        return m_owner.PrefetchSoon(frame);
    }

    /** Prefetches the members that every frame needs. */
    void PrefetchSelf() const
    {
        PrefetchBytes(this, 128);
    }

    /** Prefetches the queue that is served next. */
    void PrefetchQueue() const
    {
        if (m_classes)
        {
            __builtin_prefetch(&m_classes->queues[GetNextPriority()], 1);
            __builtin_prefetch(&m_classes->counters[GetNextPriority()], 1);
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
     * Prefetches what else sending a frame needs, after PrefetchSelf().
     * @param priority priority of the frame
     */
    void PrefetchSend(uint8_t priority) const
    {
        if (m_classes)
        {
            __builtin_prefetch(&m_classes->counters[priority], 1);
        }
    }

    /** @return line rate, bit/s */
    uint64_t GetRate() const
    {
        return m_rate;
    }

    /** @return delay of the link: propagation plus the receiver's pipeline */
    Time GetDelay() const
    {
        return TimeStep(m_delay);
    }

    /**
     * As all functions that tell the state of a port, it tells that of the current time, and must
     * be called again later.
     * @return the counters
     */
    PortCounters GetCounters() const;

    /** @return frames sent, as in GetCounters() */
    uint64_t GetTransmittedFrames() const
    {
        EventLoop::CatchUp(m_nodeId);
        return m_counters.transmittedFrames;
    }

    /** @return bytes sent, with preamble and gap of each frame: the time of the line */
    uint64_t GetLineBytes() const
    {
        EventLoop::CatchUp(m_nodeId);
        return m_counters.transmittedBytes +
               m_counters.transmittedFrames * (Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
    }

    /** @param counters counters from the process that simulates this port */
    void SetCounters(const PortCounters& counters);

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

    /** @return the port at the other end of the link, or null */
    FabricPort* GetPeer() const
    {
        return m_peer;
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
     * @param now simulated time, ps
     * @return time at which the line will have sent all frames queued now, ps
     */
    int64_t GetDrainTime(int64_t now) const
    {
        EventLoop::CatchUp(m_nodeId);
        return std::max(m_lineFree, now) +
               static_cast<int64_t>(static_cast<double>(m_queuedBytes) * m_picosecondsPerByte);
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
     * @param bytes frame size, excluding preamble and gap
     * @return time from the start of one frame to the earliest start of the next, ps
     */
    int64_t GetLineTime(uint32_t bytes) const
    {
        return static_cast<int64_t>(
            (bytes + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES) * m_picosecondsPerByte + 0.5);
    }

  private:
    /** What a port has for each traffic class, from its first frame or pause on. */
    struct alignas(64) Classes
    {
        CountersByPriority counters{};
        FrameQueues queues{};
        Frame* pauses{nullptr}; // queued pause frames, sent first
        std::array<int64_t, PRIORITIES> pausedUntil{};
        std::array<int64_t, PRIORITIES> pausedSince{};
        EventId pauseExpiry;
        int64_t occupiedUntil{0}; // by the owner, ps
        // Of a priority of which both the queue and the source have frames: bytes of the queue,
        // less those of the source.
        std::array<int64_t, PRIORITIES> lead{};
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

    /** @return the priority most likely served next */
    uint8_t GetNextPriority() const
    {
        return m_waiting ? PortScheduling::GetHighest(m_waiting) : 0;
    }

    void MakeClasses();
    void Notify() override; // the line is free
    void ScheduleLineFree(int64_t now);
    void SendNext(int64_t now);
    void Transmit(Frame* frame, int64_t now);
    void OnTransmit(const Frame& frame, int64_t now);
    void ArriveSpecially(Frame* frame);
    void Take(Frame* frame);
    void AddCredits(uint8_t priority, int64_t bytes, int64_t now);
    LinkCredits& MakeCredits();
    void ApplyImpairments(Frame* frame, int64_t now, int64_t arrival, std::size_t first);
    void ScheduleArrival(Frame* frame, int64_t now, int64_t arrival);
    void CountLoss(Frame* frame, DropReason reason);
    void SetPaused(uint8_t priority, bool paused, int64_t now);
    Frame* PopPause();
    Frame* Pop(uint8_t priority);
    Frame* TakeShared(uint8_t priority, int64_t now);
    void OnPause(const Frame& frame);
    void ObeyPause(uint8_t classes, int64_t until);
    void OnPauseExpired();

    // Hot members first: up to the first four counters they are in two cache lines. Three bytes
    // fill the end of the base class.
    uint8_t m_waiting{0}; // bit p: queue p is not empty
    uint8_t m_paused{0};  // bit p: paused by the peer
    uint8_t m_current{0}; // round robin position
    FabricPortOwner& m_owner;
    FabricPort* m_peer{nullptr};
    int64_t m_lineFree{0};
    int64_t m_reach{0}; // time from the end of a frame's line time to its arrival, ps
    double m_picosecondsPerByte{0};
    uint32_t m_peerNodeId{0};
    uint16_t m_peerIndex{0};
    uint16_t m_index;

    uint32_t m_nodeId;
    bool m_lineFreePending : 1;
    bool m_hasPauses : 1; // pause frames are queued
    bool m_storesAll : 1;
    bool m_down : 1;
    bool m_isHooked : 1; // frames need OnTransmit() and ArriveSpecially()
    bool m_cutThrough : 1;
    bool m_addsTelemetry : 1;
    bool m_isImpaired : 1;
    bool m_isAtBorder : 1;
    uint64_t m_queuedBytes{0};          // of all priorities
    std::unique_ptr<Classes> m_classes; // null: nothing was sent or paused
    FrameSource* m_source{nullptr};
    PortTotals m_counters;

    int64_t m_delay{0};
    uint64_t m_rate{0};
    FrameBorder* m_border{nullptr};
    PauseWatchdog* m_watchdog{nullptr};
    SteadyWatch* m_steadyWatch{nullptr};
    FlowControl m_flowControl{FlowControl::PFC};
    std::unique_ptr<LinkCredits> m_credits; // null: no class has any
    std::unique_ptr<Tap> m_tap;             // null: none
    std::unique_ptr<std::vector<std::shared_ptr<LinkImpairment>>> m_impairments; // null: none yet
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PORT_H
