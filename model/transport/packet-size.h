/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PACKET_SIZE_H
#define DISTRIBUTED_TRAINING_PACKET_SIZE_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 * Size of a full packet of a transport on the line, bytes.
 */
struct PacketSize
{
    uint32_t payload; ///< message payload
    uint32_t headers; ///< all headers, with Ethernet's preamble and gap

    /** @return goodput of a long message: the payload's share of the line rate */
    double GetGoodput() const
    {
        return static_cast<double>(payload) / (payload + headers);
    }

    /**
     * @param mtu payload of a full packet, bytes
     * @return a packet of an RDMA WRITE
     */
    static PacketSize OfRdma(uint32_t mtu);

    /**
     * @param mtu payload of a full packet, bytes
     * @return a packet of Ultra Ethernet, without credit
     */
    static PacketSize OfUec(uint32_t mtu);

    /**
     * @param mtu payload of a full packet, bytes
     * @param hasRoutes whether packets carry their route
     * @return a packet of Multipath Reliable Connection
     */
    static PacketSize OfMrc(uint32_t mtu, bool hasRoutes);

    /**
     * @param mtu largest IP packet, bytes
     * @return a segment of TCP without options
     */
    static PacketSize OfTcp(uint32_t mtu);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PACKET_SIZE_H
