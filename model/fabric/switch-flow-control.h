/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_FLOW_CONTROL_H
#define DISTRIBUTED_TRAINING_SWITCH_FLOW_CONTROL_H

#include "fabric-port.h"
#include "flow-control.h"
#include "pause-watchdog.h"
#include "shared-buffer.h"

#include "ns3/ptr.h"

#include <deque>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The flow control of a switch, as its attributes and its place in the topology have it: divides
 * the packet memory accordingly, gives the ports their credits or their watchdogs.
 */
class SwitchFlowControl
{
  public:
    /**
     * @param memory packet memory by attributes; without flow control its lossless classes are
     * lossy
     * @param headroom headroom by attributes, for pauses
     * @param watchdog its attributes, for pauses
     * @param ports the ports of the switch
     * All must outlive this.
     */
    SwitchFlowControl(const SharedBuffer::Configuration& memory,
                      const SharedBuffer::Headroom& headroom,
                      PauseWatchdog::Settings& watchdog,
                      const std::vector<Ptr<FabricPort>>& ports);

    /// Attribute CreditBuffer: receive buffer of a port and class, bytes; 0: by the packet memory.
    uint64_t creditBuffer{0};

    /**
     * @param name value of the attribute FlowControl
     * @throw ConfigurationError if there is no such value
     */
    void Choose(const std::string& name);
    /** @return value of the attribute FlowControl */
    std::string GetChoice() const;

    /**
     * @param name value of the attribute WatchdogAction
     * @throw ConfigurationError if there is no such value
     */
    void SetWatchdogAction(const std::string& name);
    /** @return value of the attribute WatchdogAction */
    std::string GetWatchdogAction() const;

    /** Makes its links those of a scale-up network, which have credits by default. */
    void SetScaleUp();

    /** @return what its links have */
    FlowControl Get() const;

    /** @return bit p: class p is lossless; without the second classes of datelines */
    uint8_t GetLosslessClasses() const;

    /**
     * @param neighbor flow control of a neighbor
     * @throw ConfigurationError if it is another one
     */
    void CheckNeighbor(FlowControl neighbor) const;

    /**
     * Divides the packet memory, also after a restart.
     * @param lossless bit p: class p is lossless
     * @param[out] buffer packet memory
     * @throw ConfigurationError if it is too small
     */
    void ConfigureMemory(uint8_t lossless, SharedBuffer& buffer) const;

    /**
     * Gives the ports, and hosts at their links, what the flow control needs. Called once.
     * @param lossless bit p: class p is lossless
     * @param isLastHop whether the link of a port leads to a host
     * @return whether there are watchdogs, which want to know the lengths of queues
     */
    bool ConfigurePorts(uint8_t lossless, bool (*isLastHop)(const FabricPort& port));

    /**
     * Tells a watchdog that a queue has another length.
     * @param port index of the port
     * @param priority class of the queue
     * @param bytes new length
     */
    void NotifyQueueLength(uint16_t port, uint8_t priority, uint64_t bytes);

  private:
    uint64_t GetCreditBytes(const FabricPort& port, uint8_t lossless) const;

    const SharedBuffer::Configuration& m_memory;
    const SharedBuffer::Headroom& m_headroom;
    PauseWatchdog::Settings& m_watchdog;
    const std::vector<Ptr<FabricPort>>& m_ports;
    std::size_t m_choice{0}; // index of its name
    bool m_isScaleUp{false};
    std::deque<PauseWatchdog> m_watchdogs; // by port; empty: none
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_FLOW_CONTROL_H
