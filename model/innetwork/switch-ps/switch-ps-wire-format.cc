/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-wire-format.h"

#include "ns3/fabric-wire-format.h"

namespace ns3::training
{

namespace
{

void
PutSwitchPs(WireBytes& out, const Frame& frame)
{
    const auto& header = frame.As<SwitchPsHeader>();
    PutUdp(out, frame, SWITCH_PS_UDP_PORT, UDP_BYTES + SWITCH_PS_HEADER_BYTES + frame.payloadBytes);
    PutNumber(out, header.isPull ? SWITCH_PS_PULL : SWITCH_PS_DATA, 1);
    PutNumber(out, header.job, 1);
    PutNumber(out, header.set << 15 | header.slot, 2);
    PutNumber(out, header.packet, 4);
    PutNumber(out, header.keyRange, 4);
    PutNumber(out, header.clock, 4);
    PutPayload(out, frame);
}

std::string
ReadSwitchPs(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    constexpr uint32_t HEADERS = UDP_BYTES + SWITCH_PS_HEADER_BYTES;
    const std::string error = CheckUdp(udp, bytes);
    if (!error.empty())
    {
        return error;
    }
    if (bytes < HEADERS || (bytes - HEADERS) % 4 != 0)
    {
        return "a parameter server's packet of another size";
    }
    const uint8_t* const at = udp + UDP_BYTES;
    if (at[0] != SWITCH_PS_DATA && at[0] != SWITCH_PS_PULL)
    {
        return "unknown parameter server message type " + std::to_string(at[0]);
    }
    frame.flowHash = static_cast<uint32_t>(GetNumber(udp, 2) & ENTROPY_MASK);
    SwitchPsHeader header;
    header.isPull = at[0] == SWITCH_PS_PULL;
    header.job = at[1];
    header.slot = static_cast<uint16_t>(GetNumber(at + 2, 2) & (SWITCH_PS_MAX_SLOTS - 1));
    header.set = at[2] >> 7;
    header.packet = GetWord(at + 4);
    header.keyRange = GetWord(at + 8);
    header.clock = GetWord(at + 12);
    frame.Set(header);
    TakePayload(frame, udp + HEADERS, bytes - HEADERS);
    return "";
}

uint32_t
GetSwitchPsJob(const Frame& frame)
{
    return frame.As<SwitchPsHeader>().job;
}

const WireFormat::Entry g_switchPs({"switch-ps",
                                    SwitchPsHeader::PROTOCOL,
                                    &GetSwitchPsJob,
                                    &PutSwitchPs,
                                    {WireFormat::Udp(SWITCH_PS_UDP_PORT, &ReadSwitchPs)}});

} // namespace

} // namespace ns3::training
