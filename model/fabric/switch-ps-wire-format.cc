/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-wire-format.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitchPsWireFormat");

void
PutSwitchPs(WireBytes& out, const Frame& frame)
{
    const AggregationHeader& header = frame.aggregation;
    const bool pull = header.type == AggregationHeader::Type::PULL;
    PutUdp(out, frame, SWITCH_PS_UDP_PORT, UDP_BYTES + SWITCH_PS_HEADER_BYTES + frame.payloadBytes);
    PutNumber(out, pull ? SWITCH_PS_PULL : SWITCH_PS_DATA, 1);
    PutNumber(out, header.job, 1);
    PutNumber(out, header.set << 15 | header.slot, 2);
    PutNumber(out, header.packet, 4);
    PutNumber(out, frame.keyRange, 4);
    PutNumber(out, frame.clock, 4);
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
    frame.kind = FrameKind::SWITCH_PS;
    frame.opcode = 0;
    frame.flowHash = static_cast<uint32_t>(GetNumber(udp, 2) & ENTROPY_MASK);
    AggregationHeader header;
    header.type =
        at[0] == SWITCH_PS_PULL ? AggregationHeader::Type::PULL : AggregationHeader::Type::DATA;
    header.job = at[1];
    header.slot = static_cast<uint16_t>(GetNumber(at + 2, 2) & (SWITCH_PS_MOST_SLOTS - 1));
    header.set = at[2] >> 7;
    header.packet = GetWord(at + 4);
    frame.keyRange = GetWord(at + 8);
    frame.clock = GetWord(at + 12);
    frame.aggregation = header;
    TakePayload(frame, udp + HEADERS, bytes - HEADERS);
    return "";
}

} // namespace ns3::training
