/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_HELPER_H
#define DISTRIBUTED_TRAINING_FABRIC_HELPER_H

#include "ns3/object-factory.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-fabric.h"

#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Creates nodes, devices, links and routes from a TopologyGraph. Link l of the graph becomes
 * channel l, whose end 0 is its node a.
 */
class FabricHelper
{
  public:
    FabricHelper();

    /**
     * @param name attribute of HostDevice
     * @param value its value
     */
    void SetHostAttribute(const std::string& name, const AttributeValue& value);

    /**
     * @param name attribute of SwitchDevice
     * @param value its value
     */
    void SetSwitchAttribute(const std::string& name, const AttributeValue& value);

    /** @param attributes of HostDevice and SwitchDevice; they override those set by name */
    void SetAttributes(const AttributeList& attributes);

    /**
     * Divides the nodes among the processes of a simulation.
     * @param processOf process number of each node of the topology; empty: all 0
     */
    void SetPartition(std::vector<uint32_t> processOf);

    /**
     * Limits the routes to the first hosts, as only these receive frames; see Fabric::RouteTo().
     * @param hosts their number
     */
    void SetRoutedHosts(uint32_t hosts);

    /**
     * Refuses a network that cannot be built.
     * @param topology the network
     * @throw ConfigurationError if a switch has more than ForwardingTable::MAX_PORTS ports, or the
     *        network needs more memory than there is
     */
    static void CheckSize(const TopologyGraph& topology);

    /**
     * @param topology hosts have at least one link each; see CheckSize()
     * @return the fabric, routed, with random streams assigned
     * @throw ConfigurationError if some hosts cannot reach each other, or an attribute of the
     *        switches is invalid
     */
    Fabric Install(const TopologyGraph& topology) const;

    /**
     * Makes nodes of the caller hosts and switches. A host may have other devices, and be a host of
     * other fabrics.
     * @param hosts host h of the topology is node h
     * @param switches switch s of the topology is node s
     * @param topology as above
     * @return the fabric, as above
     * @throw ConfigurationError if the topology has another number of hosts or switches, a link of
     *        it is invalid, a node is given twice or is a switch already, or SetPartition() divides
     *        nodes; then nothing is installed. And as above
     */
    Fabric Install(const NodeContainer& hosts,
                   const NodeContainer& switches,
                   const TopologyGraph& topology) const;

  private:
    void CheckNodes(const NodeContainer& hosts,
                    const NodeContainer& switches,
                    const TopologyGraph& topology) const;
    Fabric InstallOn(const NodeContainer& hosts,
                     const NodeContainer& switches,
                     const TopologyGraph& topology) const;
    void AddRails(Fabric& fabric) const;
    static void SetDimensions(Fabric& fabric);
    static void SetOrder(Fabric& fabric);

    ObjectFactory m_host;
    ObjectFactory m_switch;
    std::vector<uint32_t> m_processOf;
    uint32_t m_routedHosts{Fabric::NO_LINK}; // all
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_HELPER_H
