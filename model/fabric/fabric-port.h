/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_PORT_H
#define DISTRIBUTED_TRAINING_FABRIC_PORT_H

#include "flow-control.h"
#include "link-credits.h"
#include "pause-receiver.h"
#include "port-line.h"

#include "ns3/nstime.h"
#include "ns3/training-event-loop.h"
#include "ns3/training-prefetch.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ns3::training
{

class StateVisitor;
class SteadyWatch;

/**
 * @ingroup distributed-training-fabric
 *
 * One end of a full-duplex link, with its queues (PortQueues), its line (PortLine) and the flow
 * control of both directions (PauseReceiver, LinkCredits).
 *
 * An idle port sends a frame immediately and only schedules the arrival at the peer. While frames
 * are queued, the port itself is the pending "line is free" event.
 */
class alignas(64) FabricPort final : public PortLine
{
  public:
    using PortLine::PortLine;

    /**
     * Makes this port one end of a link.
     * @param peer the other end
     * @param bitsPerSecond line rate of this direction
     * @param delay delay from sending the last bit to its arrival: propagation plus the receiver's
     *        pipeline
     */
    void Connect(FabricPort& peer, uint64_t bitsPerSecond, Time delay)
    {
        ConnectTo(peer, peer.m_nodeId, peer.m_index, bitsPerSecond, delay);
    }

    /**
     * Drops all queued frames and clears all pauses by the peer, because the device has restarted.
     */
    void Flush();

    /** @param flowControl of the link; CREDIT: see ReceiveWithCredits() */
    void SetFlowControl(FlowControl flowControl)
    {
        m_flowControl = flowControl;
    }

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

    /** @return the pauses by the peer, made at the first call */
    PauseReceiver& GetPauses()
    {
        if (!m_pauses)
        {
            m_pauses = std::make_unique<PauseReceiver>(*this);
        }
        return *m_pauses;
    }

    /** Makes SendIfIdle() refuse all frames, so that each one is stored and released. */
    void StoreAll()
    {
        m_storesAll = true;
    }

    /**
     * Drops all queued frames of a class and releases their space.
     * @param priority traffic class
     */
    void Purge(uint8_t priority);

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
     * Holds back all frames after the one that is about to be sent, at least for a time, because
     * the owner is busy with that frame.
     * @param duration from now on
     */
    void Occupy(Time duration);

    void Wake() override;

    /**
     * Handles the arrival of a frame; called by the frame itself.
     * @param frame the frame; owned by the port from now on
     */
    void Arrive(Frame* frame);

    /** Prefetches the members that every frame needs. */
    void PrefetchSelf() const
    {
        PrefetchBytes(this, 128);
    }

  private:
    void Notify() override; // the line is free
    void ScheduleLineFree(int64_t now);
    void SendNext(int64_t now);
    void Transmit(Frame* frame, int64_t now);
    void OnTransmit(const Frame& frame);
    void ApplyImpairments(Frame* frame, int64_t now, int64_t arrival, std::size_t first);
    int64_t Retry(const Frame& frame, int64_t response);

    /// Times that a link with link-level retry sends a frame again.
    static constexpr uint32_t MAX_RETRIES = 16;

    void ArriveSpecially(Frame* frame);
    void Take(Frame* frame);
    void OnPause(const Frame& frame);
    LinkCredits& MakeCredits();
    bool IsCredited() const;
    bool HasTimedPauses();
    void AddCredits(uint8_t priority, int64_t bytes);

    std::unique_ptr<LinkCredits> m_credits;  // null: no class has any
    std::unique_ptr<PauseReceiver> m_pauses; // null: none yet
    int64_t m_occupiedUntil{0};              // by the owner, ps
    SteadyWatch* m_steadyWatch{nullptr};
    FlowControl m_flowControl{FlowControl::PFC};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PORT_H
