/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IP_NEIGHBORS_H
#define DISTRIBUTED_TRAINING_IP_NEIGHBORS_H

#include "fabric-net-device.h"

#include "ns3/ipv4-address.h"
#include "ns3/ipv4-header.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The IPv4 neighbors on a fabric: which endpoint has which address. It takes the place of ARP: a
 * device without ARP gets a packet, but not the next hop that the routing of its node has chosen.
 * FindNextHop() asks the routing again.
 *
 * Addresses are those of the interfaces of the hosts' IP stacks at the time of the question, so
 * they may change during a simulation. If two hosts have the same address, the one with the lower
 * endpoint number is found. A host without an IP stack has the address
 * HostDevice::GetIpv4Address(), unless another one has it.
 */
class IpNeighbors
{
  public:
    /// Value in place of an endpoint: no host has the address.
    static constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

    /** @param devices of all hosts of a fabric, by endpoint; see Remove() */
    explicit IpNeighbors(std::vector<const FabricNetDevice*> devices);

    /**
     * @param device that sends a packet
     * @param header of the packet
     * @return endpoint of the gateway on the route of the packet through this device, or of its
     *         destination if there is no gateway; NONE if none has that address, and for broadcasts
     *         and multicasts
     */
    uint32_t FindNextHop(Ptr<FabricNetDevice> device, const Ipv4Header& header);

    /**
     * @param neighbors of the fabric; null: hosts have their usual addresses
     * @param device that sends a packet
     * @param header of the packet
     * @param mac address that the stack gives it, or one that says nothing
     * @return endpoint of its next hop, or NONE
     */
    static uint32_t Resolve(IpNeighbors* neighbors,
                            FabricNetDevice& device,
                            const Ipv4Header& header,
                            const Address& mac);

    /**
     * @param address of an interface on the fabric
     * @return its endpoint, or NONE
     */
    uint32_t Find(Ipv4Address address);

    /** @return number of endpoints */
    uint32_t GetSize() const
    {
        return static_cast<uint32_t>(m_devices.size());
    }

    /** @param endpoint whose device ends */
    void Remove(uint32_t endpoint);

  private:
    bool HasAddress(uint32_t endpoint, Ipv4Address address) const;
    void Collect();

    std::vector<const FabricNetDevice*> m_devices;      // by endpoint; null: removed
    std::unordered_map<uint32_t, uint32_t> m_endpoints; // by address; may be out of date
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IP_NEIGHBORS_H
