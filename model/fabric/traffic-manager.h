/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAFFIC_MANAGER_H
#define DISTRIBUTED_TRAINING_TRAFFIC_MANAGER_H

#include "dateline-classes.h"
#include "fabric-port.h"
#include "pause-sender.h"
#include "shared-buffer.h"
#include "switch-settings.h"

#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"
#include "ns3/training-event-loop.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The traffic manager of a switch: its ports, and the packet memory between them. It stores a frame
 * in a SharedBuffer, ECN-marks it according to the queue length at dequeue or drops it early
 * (RedCurve), cuts it to its header if its queue is full (TrimRule), and keeps senders of lossless
 * classes from overrunning it by pauses (PauseSender) or credits (LinkCredits), see
 * SwitchFlowControl.
 */
class TrafficManager : public FabricPortOwner, public SwitchSettings
{
  public:
    TrafficManager();

    /** @return a new port, numbered from 0 */
    FabricPort& AddPort();

    /**
     * @param index port number
     * @return the port
     */
    FabricPort& GetPort(uint16_t index)
    {
        return *m_ports.at(index);
    }

    /**
     * Lists them at the first call, when all are linked.
     * @return ports that frames may pass: not those to hosts that this process does not simulate
     */
    const std::vector<FabricPort*>& ListActivePorts();

    /** @return number of ports */
    uint16_t GetNPorts() const
    {
        return static_cast<uint16_t>(m_ports.size());
    }

    /**
     * Sets the properties of the link of a port in a topology with datelines, see DatelineClasses.
     * @param index port number
     * @param dimension dimension of its link
     * @param dateline whether its link is a dateline
     */
    void SetDimension(uint16_t index, uint8_t dimension, bool dateline)
    {
        m_datelines.SetPort(index, dimension, dateline);
    }

    /**
     * Makes it a switch of a scale-up network, such as an NVSwitch: its links have credits, unless
     * the attribute FlowControl says otherwise. Called before Configure().
     */
    void SetScaleUp()
    {
        m_flowControl.SetScaleUp();
    }

    /** @return flow control of its links */
    FlowControl GetFlowControl() const
    {
        return m_flowControl.Get();
    }

    /** @return the packet memory */
    const SharedBuffer& GetBuffer() const
    {
        EventLoop::CatchUp(m_nodeId);
        return m_buffer;
    }

    /** @return delay from the arrival of a frame to its earliest departure */
    Time GetPipelineDelay() const
    {
        return m_pipelineDelay;
    }

    /**
     * @param stream first random number stream
     * @return number of streams used
     */
    int64_t AssignStreams(int64_t stream)
    {
        m_random->SetStream(stream);
        return 1;
    }

    // FabricPortOwner
    bool BeginTransmit(Frame& frame, FabricPort& port) override;

    uint64_t GetHeldBytes(uint16_t port, uint8_t priority) const override
    {
        return m_buffer.GetHeld(port, priority);
    }

    Time GetPauseResponse(uint64_t bitsPerSecond) const override
    {
        return ResolvePauseResponse(m_pauseResponse, bitsPerSecond);
    }

  protected:
    /**
     * @return whether there are watchdogs, which want to know the lengths of queues
     * @throw ConfigurationError as SwitchDevice::Configure()
     */
    bool ConfigureQueues();

    /** Loses all queued frames and pauses. */
    void RestartQueues();

    /**
     * Visits its state and that of its ports.
     * @param visitor visits it
     * @param repeats whether frames may be sent in a steady state
     */
    void VisitQueues(StateVisitor& visitor, bool repeats);

    /**
     * Sends a frame, stores it, or drops it.
     * @param frame the frame; owned by the port from now on
     * @param port egress port
     */
    void SendFrom(Frame* frame, uint16_t port);

    /**
     * Drops a frame.
     * @param frame the frame
     * @param port port that counts it
     * @param reason why
     */
    void DropFrom(Frame* frame, FabricPort& port, DropReason reason);

    uint32_t m_nodeId{0};                               ///< id of its node
    std::vector<Ptr<FabricPort>> m_ports;               ///< by number
    Ptr<UniformRandomVariable> m_random;                ///< for all random choices of the switch
    SharedBuffer m_buffer;                              ///< @see GetBuffer()
    TracedCallback<const Frame&, uint16_t> m_markTrace; ///< a frame has been marked
    TracedCallback<const Frame&, uint16_t> m_trimTrace; ///< a frame has been trimmed

  private:
    uint8_t GetLosslessClasses() const;
    bool SendCopyIfIdle(Frame* frame, FabricPort& egress);
    bool IsDroppedEarly(const Frame& frame, const FabricPort& port);
    bool Trim(Frame& frame, FabricPort& port);
    void UpdatePause(uint16_t ingress, uint8_t priority);
    void Mark(Frame& frame, FabricPort& port);
    bool Happens(double probability);

    uint64_t m_randomChoices{0}; // numbers drawn for marks and early drops
    DatelineClasses m_datelines;
    std::deque<PauseSender> m_pauses;                      // by port
    std::optional<std::vector<FabricPort*>> m_activePorts; // none: not listed yet
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAFFIC_MANAGER_H
