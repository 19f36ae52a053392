/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_DEVICE_H
#define DISTRIBUTED_TRAINING_SWITCH_DEVICE_H

#include "forwarding-table.h"
#include "path-chooser.h"
#include "program-host.h"
#include "program-pipeline.h"
#include "traffic-manager.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/training-network-part.h"

#include <string>
#include <unordered_map>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * An output-queued Ethernet switch, store-and-forward or cut-through, aggregated to a plain
 * ns3::Node. It offers each frame to the programs in its data plane (ProgramPipeline), looks up the
 * destination (ForwardingTable), chooses among equal-cost ports (PathChooser), and leaves the rest
 * to its TrafficManager.
 */
class SwitchDevice : public Object, public TrafficManager, public ProgramHost, public NetworkPart
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

    /** @return the forwarding table, for the caller to fill in */
    ForwardingTable& GetTable()
    {
        EventLoop::CatchUp(m_nodeId);
        return m_table;
    }

    /**
     * Configures the buffer, flow control and cut-through. Called after all ports of the fabric
     * have been connected, and before the simulation.
     * @throw ConfigurationError if the buffer is too small, Kmin is above Kmax, a lossless class
     *        has no second class where it needs one, or a neighbor has another flow control
     */
    void Configure();

    /**
     * From here on, frames for an endpoint go to another one, and have its address.
     * @param endpoint endpoint of a host
     * @param other endpoint of another host, with a route
     */
    void Readdress(uint32_t endpoint, uint32_t other);

    /** @return the data used by its path choice (attribute Path) */
    PathContext& GetPathContext()
    {
        EventLoop::CatchUp(m_nodeId);
        return m_paths.GetContext();
    }

    /**
     * Loads a program after those already loaded.
     * @param program program to load
     * @throw ConfigurationError if the remaining resources of the switch are insufficient
     */
    void AddProgram(Ptr<SwitchProgram> program)
    {
        EventLoop::CatchUp(m_nodeId);
        m_pipeline.Add(program, *this);
    }

    /** @return number of loaded programs */
    uint32_t GetNPrograms() const
    {
        return m_pipeline.GetN();
    }

    /**
     * @param index index in loading order
     * @return the program, or null
     */
    Ptr<SwitchProgram> GetProgram(uint32_t index) const
    {
        return m_pipeline.Get(index);
    }

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
    uint64_t GetRecirculatedBytes() const
    {
        EventLoop::CatchUp(m_nodeId);
        return m_pipeline.GetRecirculatedBytes();
    }

    /**
     * Visits its state and that of its ports.
     * @param visitor visits it
     */
    void Visit(StateVisitor& visitor);

    // FabricPortOwner
    void Receive(Frame* frame, FabricPort& port) override;
    void Prefetch(const Frame& frame) override;
    const FabricPort* PrefetchSoon(const Frame& frame) override;

    // ProgramHost
    void Emit(Frame* frame, uint16_t port, Time latency) override;

    void BeginMulticast() override
    {
        m_multicast = m_buffer.BeginMulticast();
        m_isMulticast = true;
    }

    void EndMulticast() override
    {
        m_buffer.Leave(m_multicast);
        m_isMulticast = false;
    }

    void Recirculate(Frame* frame) override;

    int64_t ReserveRecirculation(uint32_t port, uint32_t bytes, int64_t ready) override
    {
        return m_pipeline.Reserve(port, bytes, ready);
    }

    /** A frame has been ECN-marked. (frame, egress port) */
    typedef void (*MarkTracedCallback)(const Frame& frame, uint16_t port);

    /** A frame has been cut to its header. (frame, egress port) */
    typedef void (*TrimTracedCallback)(const Frame& frame, uint16_t port);

  private:
    void DoDispose() override;
    void SetPath(std::string name);
    std::string GetPath() const;
    void Forward(Frame* frame);
    void EndRecirculation(Frame* frame);

    PathChooser m_paths;
    ForwardingTable m_table;
    ProgramPipeline m_pipeline;
    uint64_t m_multicast{0}; // which emitted frames join, if m_isMulticast
    bool m_isMulticast{false};
    std::unordered_map<uint32_t, uint32_t> m_readdressed; // endpoints without a route from here
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_DEVICE_H
