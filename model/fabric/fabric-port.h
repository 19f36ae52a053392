/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_PORT_H
#define DISTRIBUTED_TRAINING_FABRIC_PORT_H

#include "fabric-frame.h"
#include "link-impairment.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

class FabricPort;

/** Traffic classes of IEEE 802.1Q. */
static constexpr uint8_t PRIORITIES = 8;

/// A pause lasts this long unless renewed or resumed, 512 bit times each (the longest there is).
static constexpr uint16_t LONGEST_PAUSE = 65535;

/** How a port serves its priorities. */
struct PortScheduling
{
    /// Bit p: priority p goes before all that are not strict, and before lower strict ones.
    uint8_t strict{0xc0};
    /// Share of each other priority (deficit round robin), relative to the others.
    std::array<uint16_t, PRIORITIES> weights{1, 1, 1, 1, 1, 1, 1, 1};

    /**
     * @param attribute that is given them, such as SwitchDevice::Weights
     * @param text eight weights of 1 to 1000, separated by spaces
     * @throw ConfigurationError if it is not right; nothing has changed then
     */
    void ReadWeights(const std::string& attribute, const std::string& text);

    /** @return the weights as text */
    std::string WriteWeights() const;
};

/**
 * @ingroup distributed-training-fabric
 * What a port belongs to: a host device or a switch.
 */
class FabricPortOwner
{
  public:
    virtual ~FabricPortOwner() = default;

    /**
     * The length of a queue has changed. (port, priority, bytes that wait)
     */
    typedef void (*QueueLengthTracedCallback)(uint16_t port, uint8_t priority, uint64_t bytes);
    /**
     * The peer has paused or resumed a priority, or its pause has expired. (port, priority, paused)
     */
    typedef void (*PauseTracedCallback)(uint16_t port, uint8_t priority, bool paused);

    PortScheduling scheduling; ///< of all its ports
    TracedCallback<uint16_t, uint8_t, uint64_t>
        queueLengthTrace;                               ///< @see QueueLengthTracedCallback
    TracedCallback<uint16_t, uint8_t, bool> pauseTrace; ///< @see PauseTracedCallback

    /**
     * A frame has arrived (its last bit; a pause frame never gets here).
     * @param frame the frame, now owned by the callee
     * @param port the port it came in by
     */
    virtual void Receive(Frame* frame, FabricPort& port) = 0;

    /**
     * A frame is going to arrive soon: brings into the cache what Receive() is going to need. Not
     * called for every frame.
     * @param frame the frame
     */
    virtual void Expect([[maybe_unused]] const Frame& frame)
    {
    }

    /**
     * Likewise, but a few events later: what depends on what Expect() has asked for.
     * @param frame the frame
     */
    virtual void ExpectSoon([[maybe_unused]] const Frame& frame)
    {
    }

    /**
     * A frame's transmission begins, so it no longer takes buffer space.
     * @param frame the frame; its ECN field may be changed
     * @param port the port that sends it
     * @return whether it is to be sent; if not, the callee owns it now
     */
    virtual bool BeginTransmit(Frame& frame, FabricPort& port) = 0;
};

/**
 * @ingroup distributed-training-fabric
 *
 * Frames that are made only when the line can take them: the NIC's queue pairs. They compete with
 * the frames that wait in the port's own queues.
 */
class FrameSource
{
  public:
    virtual ~FrameSource() = default;

    /**
     * @param now simulated time, ps
     * @return bit p is set if a frame of priority p can be had now
     */
    virtual uint8_t GetReady(int64_t now) = 0;

    /**
     * @param priority one that GetReady() named
     * @param now simulated time, ps
     * @return a frame of that priority, owned by the caller
     */
    virtual Frame* Pull(uint8_t priority, int64_t now) = 0;
};

/**
 * @ingroup distributed-training-fabric
 * The end of this process's part of a simulation: takes what is sent to a peer in another one.
 */
class FrameBorder
{
  public:
    virtual ~FrameBorder() = default;

    /**
     * @param frame owned by the callee; `port` is the peer, which lives in another process
     * @param arrival when it arrives there, ps
     */
    virtual void Cross(Frame* frame, int64_t arrival) = 0;
};

/** Counts of one priority of a port. */
struct PriorityCounters
{
    uint64_t transmittedFrames{0}; ///< frames sent
    uint64_t transmittedBytes{0};  ///< their bytes, without preamble and gap
    uint64_t peakQueueBytes{0};    ///< most bytes that ever waited
    uint64_t droppedFrames{0};     ///< frames for this port that found no buffer space or route
    uint64_t markedFrames{0};      ///< frames marked congestion experienced on leaving
    int64_t pausedTime{0};         ///< how long the peer has paused it, until the last resume, ps
};

/**
 * Counts of one port; of a priority, pause frames are left out.
 * Conservation: both directions of a link together, transmitted + duplicated = received + lost +
 * on the way.
 */
struct PortCounters
{
    uint64_t transmittedFrames{0}; ///< frames sent, pause frames included
    uint64_t transmittedBytes{0};  ///< their bytes, without preamble and gap
    uint64_t receivedFrames{0};    ///< frames that arrived
    uint64_t receivedBytes{0};     ///< their bytes
    uint64_t lostFrames{0};        ///< frames lost on the link: on sending, or before they arrived
    uint64_t lostBytes{0};         ///< their bytes
    uint64_t duplicatedFrames{0};  ///< frames sent that the link doubled
    uint64_t droppedFrames{0};     ///< frames for this port that found no buffer space or route
    uint64_t droppedBytes{0};      ///< their bytes
    uint64_t markedFrames{0};      ///< frames marked congestion experienced on leaving
    uint64_t pausesSent{0};        ///< pause frames sent, resumes included
    uint64_t pausesReceived{0};    ///< pause frames that arrived, resumes included
    uint64_t peakQueueBytes{0};    ///< most bytes that ever waited for the line
    std::array<PriorityCounters, PRIORITIES> byPriority{}; ///< of these, by priority

    /**
     * Adds another port's counts; of peaks the higher one stays.
     * @param other the other port's
     * @return this
     */
    PortCounters& operator+=(const PortCounters& other);
};

/**
 * @ingroup distributed-training-fabric
 *
 * One end of a full-duplex link: eight queues, a scheduler, and priority flow control.
 *
 * An idle port sends at once and schedules nothing but the arrival at its peer; only while
 * something waits is there an event for "line is free", which is the port itself. Some priorities
 * are strict, the rest share by deficit round robin (PortScheduling).
 */
class alignas(64) FabricPort : public EventImpl
{
  public:
    /**
     * @param owner receives this port's frames
     * @param nodeId context of its events
     * @param index number of this port at its owner
     */
    FabricPort(FabricPortOwner& owner, uint32_t nodeId, uint16_t index);
    FabricPort(const FabricPort&) = delete;
    FabricPort& operator=(const FabricPort&) = delete;

    /**
     * Makes this port one end of a link.
     * @param peer the other end
     * @param bitsPerSecond line rate of this direction
     * @param delay from the last bit sent to its arrival: propagation, and the receiver's pipeline
     */
    void Connect(FabricPort& peer, uint64_t bitsPerSecond, Time delay);

    /**
     * Hands frames to the peer when their first 64 bytes are there (cut-through), and not the last.
     */
    void EnableCutThrough();

    /**
     * @param latency that every frame sent takes longer from now on
     */
    void AddLatency(Time latency);

    /**
     * Treats frames badly from now on.
     * @param impairment what happens to them; after those already there
     */
    void AddImpairment(std::shared_ptr<LinkImpairment> impairment);

    /**
     * @param impairment one that was added; ends
     */
    void RemoveImpairment(const std::shared_ptr<LinkImpairment>& impairment);

    /** @return whether an impairment lets nothing through */
    bool IsDown() const
    {
        return m_down;
    }

    /** Drops all that waits, and forgets what the peer has paused. */
    void Flush();

    /** Adds in-band telemetry from now on to frames that ask for it. */
    void EnableTelemetry();

    /** @param border takes every frame from now on, or null; must outlive the port */
    void SetBorder(FrameBorder* border);

    /** Looks at a frame on the line. (the frame, whether this port sends it) */
    using Tap = std::function<void(const Frame&, bool)>;

    /** @param tap called with every frame sent (before a loss on the link) or received */
    void SetTap(Tap tap);

    /** @param source asked for frames when the line is free */
    void SetSource(FrameSource* source);

    /**
     * Queues a frame by its priority.
     * @param frame owned by the port from now on
     */
    void Send(Frame* frame);

    /**
     * Sends a frame at once if nothing is in its way; it then takes no buffer space.
     * @param frame owned by the port from now on if the result is true
     * @return whether it was sent; if not, it is to be queued by Send()
     */
    bool SendIfIdle(Frame* frame);

    /** The source has become ready: sends if the line is free. */
    void Wake();

    /**
     * Sends a pause frame ahead of all others.
     * @param classes bit p set: for priority p
     * @param quanta how long, in 512 bit times; 0 resumes
     */
    void SendPause(uint8_t classes, uint16_t quanta);

    /**
     * Called by an arriving frame.
     * @param frame the frame
     */
    void Arrive(Frame* frame);

    /** @param frame that is going to arrive, after a few other events */
    void Expect(const Frame& frame)
    {
        m_owner.Expect(frame);
    }

    /** @param frame that is going to arrive very soon */
    void ExpectSoon(const Frame& frame)
    {
        m_owner.ExpectSoon(frame);
    }

    /** Brings into the cache what every frame needs of the port. */
    void PrefetchSelf() const
    {
        __builtin_prefetch(this, 1);
        __builtin_prefetch(reinterpret_cast<const char*>(this) + 64, 1);
    }

    /** Brings into the cache the queue that is served next. */
    void PrefetchQueue() const
    {
        __builtin_prefetch(&m_queues[GetNextPriority()], 1);
        __builtin_prefetch(&counters.byPriority[GetNextPriority()], 1);
    }

    /** Brings into the cache the frame that is served next. */
    void PrefetchHead() const
    {
        __builtin_prefetch(m_queues[GetNextPriority()].head, 1);
    }

    /**
     * Brings into the cache what the sending of a frame needs.
     * @param priority of the frame
     */
    void PrefetchSend(uint8_t priority) const
    {
        PrefetchSelf();
        __builtin_prefetch(&counters.byPriority[priority], 1);
    }

    /** @return line rate, bit/s */
    uint64_t GetRate() const
    {
        return m_rate;
    }

    /** @return delay of the link, propagation and receiver's pipeline */
    Time GetDelay() const
    {
        return TimeStep(m_delay);
    }

    /** @return number of this port at its owner */
    uint16_t GetIndex() const
    {
        return m_index;
    }

    /** @return the node it is on */
    uint32_t GetNodeId() const
    {
        return m_nodeId;
    }

    /** @return the other end, or null */
    FabricPort* GetPeer() const
    {
        return m_peer;
    }

    /**
     * @param priority traffic class
     * @return bytes that wait in its queue
     */
    uint64_t GetQueueBytes(uint8_t priority) const
    {
        return m_queues[priority].bytes;
    }

    /**
     * @param priority traffic class
     * @return first frame that waits in its queue, the others linked by Frame::next; or null
     */
    const Frame* GetQueue(uint8_t priority) const
    {
        return m_queues[priority].head;
    }

    /**
     * @param priority traffic class
     * @return whether the peer has paused it
     */
    bool IsPaused(uint8_t priority) const
    {
        return m_paused >> priority & 1;
    }

    /**
     * @param bytes frame size, without preamble and gap
     * @return from the start of one frame to the earliest start of the next, ps
     */
    int64_t GetLineTime(uint32_t bytes) const
    {
        return static_cast<int64_t>(
            (bytes + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES) * m_picosecondsPerByte + 0.5);
    }

    /** @return when the frame under way has left, ps; in the past if the line is idle */
    int64_t GetLineFree() const
    {
        return m_lineFree;
    }

  private:
    /** A first-in-first-out list through Frame::next. */
    struct Queue
    {
        Frame* head{nullptr};
        Frame* tail{nullptr};
        uint64_t bytes{0};
        int64_t deficit{0};
    };

    /** @return priority that is served next, most likely */
    uint8_t GetNextPriority() const
    {
        return m_waiting ? 31 - __builtin_clz(m_waiting) : 0;
    }

    void Notify() override; // the line is free
    void ScheduleLineFree(int64_t now);
    void SendNext(int64_t now);
    void Transmit(Frame* frame, int64_t now);
    void Impair(Frame* frame, int64_t now, int64_t arrival, std::size_t first);
    void Launch(Frame* frame, int64_t now, int64_t arrival);
    void SetPaused(uint8_t priority, bool paused, int64_t now);
    uint8_t Choose(uint8_t eligible);
    Frame* Pop(uint8_t priority);
    void OnPause(const Frame& frame);
    void OnPauseExpired();

    // What every frame needs comes first, to lie in two cache lines with the counters behind it.
    FabricPortOwner& m_owner;
    FabricPort* m_peer{nullptr};
    int64_t m_lineFree{0};
    int64_t m_reach{0}; // from the end of a frame's line time to its arrival, ps
    double m_picosecondsPerByte{0};
    uint32_t m_peerNodeId{0};
    uint16_t m_peerIndex{0};
    uint8_t m_waiting{0}; // bit p: queue p is not empty
    uint8_t m_paused{0};  // bit p: paused by the peer

    FrameSource* m_source{nullptr};
    Frame* m_pauses{nullptr};  // pause frames that wait for the line, ahead of all
    uint64_t m_queuedBytes{0}; // of all priorities
    uint32_t m_nodeId;
    uint16_t m_index;
    uint8_t m_current{0}; // round robin position
    bool m_lineFreePending : 1;
    bool m_down : 1;
    bool m_cutThrough : 1;
    bool m_addsTelemetry : 1;
    bool m_isTapped : 1;
    bool m_isImpaired : 1;
    bool m_isAtBorder : 1;

  public:
    PortCounters counters; ///< what went through

  private:
    alignas(64) std::array<Queue, PRIORITIES> m_queues;
    int64_t m_delay{0};
    uint64_t m_rate{0};
    std::array<int64_t, PRIORITIES> m_pausedUntil{};
    std::array<int64_t, PRIORITIES> m_pausedSince{};
    EventId m_pauseExpiry;
    FrameBorder* m_border{nullptr};
    Tap m_tap;
    std::vector<std::shared_ptr<LinkImpairment>> m_impairments;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PORT_H
