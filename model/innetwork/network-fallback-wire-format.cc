/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "innetwork/network-fallback-wire-format.h"

#include "ns3/fabric-wire-format.h"

namespace ns3::training
{

namespace
{

/// Bit of the flags byte.
constexpr uint8_t HAS_HEARD = 0x01;

void
PutNotice(WireBytes& out, const Frame& frame)
{
    const auto& header = frame.As<NetworkFallbackHeader>();
    PutUdp(out, frame, NETWORK_FALLBACK_UDP_PORT, UDP_BYTES + NETWORK_FALLBACK_HEADER_BYTES);
    PutNumber(out, header.system, 2);
    PutNumber(out, header.job, 1);
    PutNumber(out, header.heard ? HAS_HEARD : 0, 1);
    PutNumber(out, header.completed, 4);
}

std::string
ReadNotice(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    const std::string error = CheckUdp(udp, bytes);
    if (!error.empty())
    {
        return error;
    }
    if (bytes != UDP_BYTES + NETWORK_FALLBACK_HEADER_BYTES)
    {
        return "a fallback notice of another size";
    }
    const uint8_t* const at = udp + UDP_BYTES;
    frame.flowHash = static_cast<uint32_t>(GetNumber(udp, 2) & ENTROPY_MASK);
    NetworkFallbackHeader header;
    header.system = static_cast<uint16_t>(GetNumber(at, 2));
    header.job = at[2];
    header.heard = at[3] & HAS_HEARD;
    header.completed = GetWord(at + 4);
    frame.Set(header);
    return "";
}

uint32_t
GetNoticeKey(const Frame& frame)
{
    const auto& header = frame.As<NetworkFallbackHeader>();
    return GetNetworkFallbackKey(header.system, header.job);
}

const WireFormat::Entry g_networkFallback({"fallback notices",
                                           NetworkFallbackHeader::PROTOCOL,
                                           &GetNoticeKey,
                                           &PutNotice,
                                           {WireFormat::Udp(NETWORK_FALLBACK_UDP_PORT,
                                                            &ReadNotice)}});

} // namespace

} // namespace ns3::training
