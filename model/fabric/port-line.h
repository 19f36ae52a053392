/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PORT_LINE_H
#define DISTRIBUTED_TRAINING_PORT_LINE_H

#include "frame-border.h"
#include "link-impairment.h"
#include "port-queues.h"

#include "ns3/nstime.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The line of a port: how long it takes a frame from the queues of the port, when the frame arrives
 * at the peer, what can happen to it on the link, and who watches.
 */
class PortLine : public PortQueues
{
  public:
    /**
     * @param owner device that owns the port
     * @param nodeId node id, the context of its events
     * @param index port number at the owner
     */
    PortLine(FabricPortOwner& owner, uint32_t nodeId, uint16_t index);

    /**
     * Enables cut-through: frames arrive at the peer with their first 64 bytes instead of their
     * last byte.
     */
    void EnableCutThrough()
    {
        m_cutThrough = true;
    }

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

    /** Enables in-band telemetry for frames that request it. */
    void EnableTelemetry()
    {
        m_addsTelemetry = true;
    }

    /** @param border receives every frame sent from now on; null: none; must outlive the port */
    void SetBorder(FrameBorder* border);

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

    /** @return the port at the other end of the link, or null */
    FabricPort* GetPeer() const
    {
        return m_peer;
    }

    /** @return line rate, bit/s */
    uint64_t GetRate() const
    {
        return m_rate;
    }

    /** @return delay of the link: propagation plus the receiver's pipeline */
    Time GetDelay() const
    {
        return TimeStep(m_reach + GetGapTime());
    }

    /** @return time from the arrival of a pause until this port obeys it */
    Time GetPauseResponse() const
    {
        return m_owner.GetPauseResponse(m_rate);
    }

    /**
     * @param bytes frame size, excluding preamble and gap
     * @return time from the start of one frame to the earliest start of the next, ps
     */
    int64_t GetLineTime(uint32_t bytes) const
    {
        return GetTimeOf(bytes + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
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
     * As all functions that tell the state of a port, it tells that of the current time, and must
     * be called again later.
     * @return the counters
     */
    PortCounters GetCounters() const;

    /** @param counters counters from the process that simulates this port */
    void SetCounters(const PortCounters& counters);

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

  protected:
    /**
     * Connects it to the peer.
     * @param peer the other end
     * @param peerNodeId its node id
     * @param peerIndex its port number
     * @param bitsPerSecond line rate of this direction
     * @param delay see GetDelay()
     */
    void ConnectTo(FabricPort& peer,
                   uint32_t peerNodeId,
                   uint16_t peerIndex,
                   uint64_t bitsPerSecond,
                   Time delay);

    /**
     * The transmission of a frame begins.
     * @param frame the frame; telemetry is added
     * @param now simulated time, ps
     * @return when the frame arrives at the peer, ps
     */
    int64_t Begin(Frame& frame, int64_t now)
    {
        if (frame.hasTelemetry && m_addsTelemetry && frame.kind == FrameKind::ROCE_DATA)
        {
            const uint64_t link = uint64_t{m_peerNodeId} << 16 | m_peerIndex;
            frame.AddTelemetry({now, GetLineBytes(), m_queuedBytes, m_rate, link});
        }
        m_lineFree = now + GetLineTime(frame.bytes);
        m_counters.transmittedFrames++;
        m_counters.transmittedBytes += frame.bytes;
        return m_cutThrough ? now + GetTimeOf(CUT_THROUGH_BYTES) + m_reach + GetGapTime()
                            : m_lineFree + m_reach;
    }

    /**
     * Lets a frame arrive at the peer.
     * @param frame the frame; owned by the peer from its arrival on
     * @param now simulated time, ps
     * @param arrival time of its arrival, ps
     */
    void ScheduleArrival(Frame* frame, int64_t now, int64_t arrival)
    {
        frame->port = m_peer;
        frame->ingress = m_peerIndex;
        if (m_isAtBorder)
        {
            m_border->Cross(frame, arrival);
            return;
        }
        frame->Ref(); // the simulator releases one reference after the event
        EventLoop::Schedule(m_peerNodeId, now, arrival, frame);
    }

    /**
     * Counts, traces and frees a frame that is lost on the link.
     * @param frame the frame
     * @param reason why
     */
    void CountLoss(Frame* frame, DropReason reason);

    FabricPort* m_peer{nullptr};    ///< @see GetPeer()
    int64_t m_lineFree{0};          ///< when the next frame may be sent, ps
    int64_t m_reach{0};             ///< time from the end of a frame's line time to its arrival, ps
    double m_picosecondsPerByte{0}; ///< by line rate
    uint32_t m_peerNodeId{0};       ///< node id of the peer
    uint16_t m_peerIndex{0};        ///< port number of the peer
    bool m_lineFreePending : 1;     ///< whether its event is scheduled or busy
    bool m_down : 1;                ///< @see IsDown()
    bool m_isHooked : 1;            ///< whether frames need more than to be counted and sent
    bool m_isImpaired : 1;          ///< whether there are impairments
    bool m_isAtBorder : 1;          ///< whether there is a border
    bool m_cutThrough : 1;          ///< @see EnableCutThrough()
    bool m_addsTelemetry : 1;       ///< @see EnableTelemetry()
    LineCounters m_counters;        ///< up to here in two cache lines

    std::vector<std::shared_ptr<LinkImpairment>> m_impairments; ///< in the order of their effect
    std::unique_ptr<Tap> m_tap;                                 ///< null: none

  private:
    /// Bytes that a cut-through switch receives before forwarding: all headers.
    static constexpr uint32_t CUT_THROUGH_BYTES = Frame::MIN_BYTES + Frame::PREAMBLE_BYTES;

    int64_t GetTimeOf(uint32_t bytes) const
    {
        return static_cast<int64_t>(bytes * m_picosecondsPerByte + 0.5);
    }

    int64_t GetGapTime() const
    {
        return GetTimeOf(Frame::GAP_BYTES);
    }

    uint64_t m_rate{0};
    FrameBorder* m_border{nullptr};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PORT_LINE_H
