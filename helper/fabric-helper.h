/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_HELPER_H
#define DISTRIBUTED_TRAINING_FABRIC_HELPER_H

#include "ns3/fabric-channel.h"
#include "ns3/host-device.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/switch-device.h"
#include "ns3/topology-graph.h"

#include <vector>

namespace ns3::training
{

/** The objects a topology became; index h is host h, index s is switch s, index l is link l. */
struct Fabric
{
    TopologyGraph topology;                           ///< what it was built from
    NodeContainer hosts;                              ///< a node for each host
    NodeContainer switches;                           ///< a node for each switch
    std::vector<Ptr<HostDevice>> devices;             ///< the port of each host
    std::vector<Ptr<SwitchDevice>> devicesOfSwitches; ///< the device of each switch
    std::vector<Ptr<FabricChannel>> channels;         ///< each link
    /// PFC headroom that packet memories could not hold, all switches together, bytes.
    uint64_t missingHeadroom{0};

    /**
     * @param link index of a link
     * @param end 0 or 1
     * @return a name such as "host3", "switch1", for tables
     */
    std::string GetEndName(uint32_t link, uint32_t end) const;

    /** @return frames sent by all ports: each is one packet-hop */
    uint64_t GetPacketHops() const;

    /** @return sum of all ports' counters */
    PortCounters GetTotal() const;
};

/**
 * @ingroup distributed-training-helper
 *
 * Turns a TopologyGraph into nodes, devices, links and routes. Link l of the graph becomes channel
 * l, whose end 0 is its node a.
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

    /**
     * Loses frames at random on every link.
     * @param rate probability for each frame, 0 to 1
     */
    void SetLoss(double rate);

    /**
     * @param topology hosts have one link each
     * @return the fabric, routed, with random streams assigned
     * @throw ConfigurationError if a host has no link or several, or not all hosts reach each other
     */
    Fabric Install(const TopologyGraph& topology) const;

    /// First random number stream of a fabric; switches, then links follow.
    static constexpr int64_t FIRST_STREAM = 1000;

  private:
    void SetRoutes(Fabric& fabric, const std::vector<std::vector<uint16_t>>& portOfLink) const;

    ObjectFactory m_host;
    ObjectFactory m_switch;
    double m_loss{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_HELPER_H
