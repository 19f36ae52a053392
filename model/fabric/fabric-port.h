/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_PORT_H
#define DISTRIBUTED_TRAINING_FABRIC_PORT_H

#include "fabric-frame.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace ns3::training
{

class FabricPort;

/** Traffic classes of IEEE 802.1Q. */
static constexpr uint8_t PRIORITIES = 8;

/**
 * @ingroup distributed-training-fabric
 * What a port belongs to: a host device or a switch.
 */
class FabricPortOwner
{
  public:
    virtual ~FabricPortOwner() = default;

    /**
     * A frame has arrived (its last bit; a pause frame never gets here).
     * @param frame the frame, now owned by the callee
     * @param port the port it came in by
     */
    virtual void Receive(Frame* frame, FabricPort& port) = 0;

    /**
     * A frame's transmission begins, so it no longer takes buffer space.
     * @param frame the frame; its ECN field may be changed
     * @param port the port that sends it
     */
    virtual void BeginTransmit(Frame& frame, FabricPort& port) = 0;
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

/** Counts of one port. Conservation: a link's transmitted = received at the far end + lost. */
struct PortCounters
{
    uint64_t transmittedFrames{0}; ///< frames sent, pause frames included
    uint64_t transmittedBytes{0};  ///< their bytes, without preamble and gap
    /// Frames sent of each priority; a pause frame has none.
    std::array<uint64_t, PRIORITIES> transmittedByPriority{};
    uint64_t receivedFrames{0}; ///< frames that arrived
    uint64_t receivedBytes{0};  ///< their bytes
    uint64_t lostFrames{0};     ///< frames sent that the link lost
    uint64_t lostBytes{0};      ///< their bytes
    uint64_t droppedFrames{0};  ///< frames for this port that found no buffer space
    uint64_t droppedBytes{0};   ///< their bytes
    uint64_t markedFrames{0};   ///< frames marked congestion experienced on leaving
    uint64_t pausesSent{0};     ///< pause frames sent, resumes included
    uint64_t pausesReceived{0}; ///< pause frames that arrived, resumes included
    uint64_t peakQueueBytes{0}; ///< most bytes that ever waited for the line
};

/**
 * @ingroup distributed-training-fabric
 *
 * One end of a full-duplex link: eight queues, a scheduler, and priority flow control.
 *
 * An idle port sends at once and schedules nothing but the arrival at its peer; an event for "line
 * is free" exists only while something waits. Priorities 6 and 7 are strict, the rest share by
 * deficit round robin with equal weights.
 */
class FabricPort
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
     * Loses frames at random from now on.
     * @param rate probability for each frame, 0 to 1
     * @param stream random number stream
     */
    void SetLoss(double rate, int64_t stream);

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

    PortCounters counters; ///< what went through

  private:
    /** A first-in-first-out list through Frame::next. */
    struct Queue
    {
        Frame* head{nullptr};
        Frame* tail{nullptr};
        uint64_t bytes{0};
        int64_t deficit{0};
    };

    class LineFree;

    void OnLineFree();
    void ScheduleLineFree(int64_t now);
    void SendNext(int64_t now);
    void Transmit(Frame* frame, int64_t now);
    uint8_t Choose(uint8_t eligible);
    Frame* Pop(uint8_t priority);
    void OnPause(const Frame& frame);
    void OnPauseExpired();

    FabricPortOwner& m_owner;
    FabricPort* m_peer{nullptr};
    FrameSource* m_source{nullptr};
    int64_t m_lineFree{0};
    int64_t m_delay{0};
    int64_t m_gap{0}; // the inter-packet gap, ps
    double m_picosecondsPerByte{0};
    uint8_t m_waiting{0}; // bit p: queue p is not empty
    uint8_t m_paused{0};  // bit p: paused by the peer
    uint8_t m_current{0}; // round robin position
    bool m_lineFreePending{false};
    uint16_t m_index;
    uint32_t m_nodeId;
    uint64_t m_rate{0};
    uint64_t m_queuedBytes{0};      // of all priorities
    Frame* m_pauses{nullptr};       // pause frames that wait for the line, ahead of all
    Ptr<EventImpl> m_lineFreeEvent; // one for the life of the port: none is allocated per frame
    std::array<Queue, PRIORITIES> m_queues;
    std::array<int64_t, PRIORITIES> m_pausedUntil{};
    EventId m_pauseExpiry;
    bool m_addsTelemetry{false};
    FrameBorder* m_border{nullptr};
    std::unique_ptr<Tap> m_tap;
    double m_lossRate{0};
    Ptr<UniformRandomVariable> m_random;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PORT_H
