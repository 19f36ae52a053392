/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "packet-size.h"

#include "tcp-transport.h"

#include "ns3/fabric-frame.h"
#include "ns3/roce-wire-format.h"
#include "ns3/uec-wire-format.h"

namespace ns3::training
{

PacketSize
PacketSize::OfRdma(uint32_t mtu)
{
    return {mtu,
            GetDataFrameBytes(WRITE_MIDDLE, mtu) - mtu + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES};
}

PacketSize
PacketSize::OfUec(uint32_t mtu)
{
    return {mtu, GetUecFrameBytes(mtu, false) - mtu + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES};
}

PacketSize
PacketSize::OfMrc(uint32_t mtu, bool hasRoutes)
{
    const auto protocol = hasRoutes ? UecProtocol::MRC_ROUTED : UecProtocol::MRC;
    return {mtu,
            GetUecBytes(protocol, UecType::REQUEST) + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES};
}

PacketSize
PacketSize::OfTcp(uint32_t mtu)
{
    constexpr uint32_t HEADERS = TcpTransport::PACKET_HEADER_BYTES;
    return {mtu - HEADERS,
            HEADERS + Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES};
}

} // namespace ns3::training
