/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ENDPOINT_ADDRESS_H
#define DISTRIBUTED_TRAINING_ENDPOINT_ADDRESS_H

#include "ns3/ipv4-address.h"
#include "ns3/mac48-address.h"

#include <cstdint>
#include <optional>

/**
 * @file
 * @ingroup distributed-training-fabric
 * Addresses of the fabric's endpoints: endpoint e is 10.0.0.1 + e in IPv4, and in Ethernet 02:00
 * (locally administered) followed by e. So no address resolution protocol is needed.
 */
namespace ns3::training
{

/// IPv4 address of endpoint 0: 10.0.0.1.
static constexpr uint32_t FIRST_IPV4_ADDRESS = 0x0a000001;
/// EtherType of IPv4.
static constexpr uint16_t ETHERTYPE_IPV4 = 0x0800;

/**
 * @param endpoint endpoint number
 * @return its IPv4 address
 */
inline Ipv4Address
GetEndpointIpv4Address(uint32_t endpoint)
{
    return Ipv4Address(FIRST_IPV4_ADDRESS + endpoint);
}

/**
 * @param endpoint endpoint number
 * @return its MAC address
 */
inline Mac48Address
GetEndpointMacAddress(uint32_t endpoint)
{
    const uint8_t bytes[6] = {0x02,
                              0x00,
                              static_cast<uint8_t>(endpoint >> 24),
                              static_cast<uint8_t>(endpoint >> 16),
                              static_cast<uint8_t>(endpoint >> 8),
                              static_cast<uint8_t>(endpoint)};
    Mac48Address address;
    address.CopyFrom(bytes);
    return address;
}

/**
 * @param address a MAC address
 * @return the endpoint that has it; none: it is a group address, or of another network
 */
inline std::optional<uint32_t>
FindEndpoint(const Mac48Address& address)
{
    uint8_t bytes[6];
    address.CopyTo(bytes);
    if (bytes[0] != 0x02 || bytes[1] != 0x00)
    {
        return std::nullopt;
    }
    return static_cast<uint32_t>(bytes[2]) << 24 | static_cast<uint32_t>(bytes[3]) << 16 |
           static_cast<uint32_t>(bytes[4]) << 8 | bytes[5];
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ENDPOINT_ADDRESS_H
