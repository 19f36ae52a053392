/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_DEVICE_H
#define DISTRIBUTED_TRAINING_SWITCH_DEVICE_H

#include "dateline-classes.h"
#include "fabric-port.h"
#include "forwarding-table.h"
#include "path-chooser.h"
#include "pause-sender.h"
#include "program-host.h"
#include "program-pipeline.h"
#include "red-curve.h"
#include "shared-buffer.h"
#include "switch-flow-control.h"
#include "trim-rule.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"
#include "ns3/training-network-part.h"

#include <deque>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * An output-queued Ethernet switch, store-and-forward or cut-through, aggregated to a plain
 * ns3::Node. It offers each frame to the programs in its data plane (ProgramPipeline), looks up the
 * destination (ForwardingTable), chooses among equal-cost ports (PathChooser), stores the frame in
 * a SharedBuffer, ECN-marks it according to the queue length at dequeue or drops it early
 * (RedCurve), cuts it to its header if its queue is full (TrimRule), and keeps senders of lossless
 * classes from overrunning it by pauses (PauseSender) or credits (LinkCredits), see
 * SwitchFlowControl.
 */
class SwitchDevice : public Object, public FabricPortOwner, public ProgramHost, public NetworkPart
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    SwitchDevice();
    ~SwitchDevice() override;

    /**
     * Sets the hash seed of ECMP from the node, --RngSeed and --RngRun, so that every run draws
     * other collisions of flows.
     * @param nodeId id of its node
     */
    void SetNodeId(uint32_t nodeId);

    /** @return a new port, numbered from 0 */
    FabricPort& AddPort();

    /**
     * @param index port number
     * @return the port
     */
    FabricPort& GetPort(uint16_t index);

    /** @return number of ports */
    uint16_t GetNPorts() const;

    /**
     * Sets the properties of the link of a port in a topology with datelines, see DatelineClasses.
     * @param index port number
     * @param dimension dimension of its link
     * @param dateline whether its link is a dateline
     */
    void SetDimension(uint16_t index, uint8_t dimension, bool dateline);

    /** @return the forwarding table, for the caller to fill in */
    ForwardingTable& GetTable();

    /**
     * Makes it a switch of a scale-up network, such as an NVSwitch: its links have credits, unless
     * the attribute FlowControl says otherwise. Called before Configure().
     */
    void SetScaleUp();

    /**
     * Configures the buffer, flow control and cut-through. Called after all ports of the fabric
     * have been connected, and before the simulation.
     * @throw ConfigurationError if the buffer is too small, Kmin is above Kmax, a lossless class
     *        has no second class where it needs one, or a neighbor has another flow control
     */
    void Configure();

    /** @return flow control of its links */
    FlowControl GetFlowControl() const;

    /** @return the data used by its path choice (attribute Path) */
    PathContext& GetPathContext();

    /** @return the packet memory */
    const SharedBuffer& GetBuffer() const;

    /** @return delay from the arrival of a frame to its earliest departure */
    Time GetPipelineDelay() const;

    /**
     * @param stream first random number stream
     * @return number of streams used
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Loads a program after those already loaded.
     * @param program program to load
     * @throw ConfigurationError if the remaining resources of the switch are insufficient
     */
    void AddProgram(Ptr<SwitchProgram> program);

    /** @return number of loaded programs */
    uint32_t GetNPrograms() const;

    /**
     * @param index index in loading order
     * @return the program, or null
     */
    Ptr<SwitchProgram> GetProgram(uint32_t index) const;

    /**
     * Restarts the switch: it loses all state except routes, that is, queued frames, pauses,
     * flowlets, and the memory of programs.
     */
    void Restart();

    /**
     * @return whether nobody is called when it handles a frame: it has no program, and neither
     *         trace sinks nor taps
     */
    bool IsUnobserved() const;

    // NetworkPart
    void CatchUp() const override
    {
        EventLoop::CatchUp(m_nodeId);
    }

    /** @return recirculated bytes */
    uint64_t GetRecirculatedBytes() const;

    /**
     * Visits its state and that of its ports.
     * @param visitor visits it
     */
    void Visit(StateVisitor& visitor);

    // FabricPortOwner
    void Receive(Frame* frame, FabricPort& port) override;
    void Prefetch(const Frame& frame) override;
    const FabricPort* PrefetchSoon(const Frame& frame) override;
    bool BeginTransmit(Frame& frame, FabricPort& port) override;
    uint64_t GetHeldBytes(uint16_t port, uint8_t priority) const override;
    Time GetPauseResponse(uint64_t bitsPerSecond) const override;

    // ProgramHost
    void Emit(Frame* frame, uint16_t port, Time latency) override;
    void BeginMulticast() override;
    void EndMulticast() override;
    void Recirculate(Frame* frame) override;
    int64_t ReserveRecirculation(uint32_t port, uint32_t bytes, int64_t ready) override;

    /** A frame has been ECN-marked. (frame, egress port) */
    typedef void (*MarkTracedCallback)(const Frame& frame, uint16_t port);

    /** A frame has been cut to its header. (frame, egress port) */
    typedef void (*TrimTracedCallback)(const Frame& frame, uint16_t port);

  private:
    void DoDispose() override;
    void SetPath(std::string name);
    std::string GetPath() const;
    void SetFlowControl(std::string name);
    std::string GetFlowControlName() const;
    void SetWatchdogAction(std::string name);
    std::string GetWatchdogAction() const;
    uint8_t GetLosslessClasses() const;
    void SetWeights(std::string weights);
    std::string GetWeights() const;
    void Forward(Frame* frame);
    void SendFrom(Frame* frame, uint16_t port);
    bool SendCopyIfIdle(Frame* frame, FabricPort& egress);
    void EndRecirculation(Frame* frame);
    bool IsDroppedEarly(const Frame& frame, const FabricPort& port);
    void DropFrom(Frame* frame, FabricPort& port, DropReason reason);
    bool Trim(Frame& frame, FabricPort& port);
    void UpdatePause(uint16_t ingress, uint8_t priority);
    void Mark(Frame& frame, FabricPort& port);
    bool Happens(double probability);

    std::vector<Ptr<FabricPort>> m_ports;
    Ptr<UniformRandomVariable> m_random;
    uint64_t m_randomChoices{0}; // numbers drawn for marks and early drops
    PathChooser m_paths;
    ForwardingTable m_table;
    SharedBuffer m_buffer;
    DatelineClasses m_datelines;
    ProgramPipeline m_pipeline;
    std::deque<PauseSender> m_pauses; // by port
    uint32_t m_nodeId{0};
    RedCurve m_ecn;
    RedCurve m_wred;
    uint64_t m_multicast{0}; // which emitted frames join, if m_isMulticast
    bool m_isMulticast{false};
    TrimRule m_trim;
    bool m_marksLastHop;
    SharedBuffer::Configuration m_memory; // as set by attributes
    SharedBuffer::Headroom m_headroom;
    Time m_pauseResponse; // negative: limit of the standard
    PauseWatchdog::Settings m_watchdog;
    SwitchFlowControl m_flowControl;
    ProgramPipeline::Capacity m_capacity;
    bool m_cutThrough;
    Time m_pipelineDelay;
    TracedCallback<const Frame&, uint16_t> m_markTrace;
    TracedCallback<const Frame&, uint16_t> m_trimTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_DEVICE_H
