/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tree-wire-format.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTreeWireFormat");

void
PutTree(WireBytes& out, const Frame& frame)
{
    const AggregationHeader& header = frame.aggregation;
    const bool isAcknowledge = frame.opcode == ACKNOWLEDGE;
    const uint32_t datagram = IsDatagram(frame.opcode) ? DETH_BYTES : 0;
    PutUdp(out,
           frame,
           TREE_UDP_PORT,
           UDP_BYTES + TREE_TRANSPORT_BYTES + datagram +
               (isAcknowledge ? AETH_BYTES : TREE_HEADER_BYTES + (frame.payloadBytes + 3) / 4 * 4));
    PutNumber(out, frame.opcode, 1);
    PutNumber(out, header.job, 1); // in place of migration state, pad count and version
    PutNumber(out, 0xffff, 2);     // default partition
    PutNumber(out, frame.destinationQp, 4);
    PutNumber(out, frame.psn, 4);
    if (isAcknowledge)
    {
        PutNumber(out, frame.syndrome, 1);
        PutNumber(out, 0, 3); // message sequence number: not simulated
        return;
    }
    PutNumber(out, 0, datagram); // queue key and source: not simulated
    PutNumber(out, header.operation, 1);
    PutNumber(out, header.format, 1);
    PutNumber(out, header.slot, 2);
    PutNumber(out, header.packet, 4);
    PutNumber(out, frame.payloadBytes, 4);
    PutNumber(out, 0, 4); // reserved
    PutPayload(out, frame);
}

std::string
ReadTree(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    const std::string error = CheckUdp(udp, bytes);
    if (!error.empty())
    {
        return error;
    }
    constexpr uint32_t TRANSPORT = UDP_BYTES + TREE_TRANSPORT_BYTES;
    const uint8_t* at = udp + UDP_BYTES;
    const bool isAcknowledge = bytes >= TRANSPORT + AETH_BYTES && at[0] == ACKNOWLEDGE;
    const uint32_t datagram = bytes > TRANSPORT && at[0] == UD_SEND_ONLY ? DETH_BYTES : 0;
    if (!isAcknowledge &&
        (bytes < TRANSPORT + datagram + TREE_HEADER_BYTES || (at[0] != SEND_ONLY && datagram == 0)))
    {
        return "no packet of an aggregation tree";
    }
    frame.kind = FrameKind::TREE;
    frame.opcode = at[0];
    frame.flowHash = static_cast<uint32_t>(GetNumber(udp, 2) & ENTROPY_MASK);
    frame.destinationQp = static_cast<uint32_t>(GetNumber(at + 4, 4));
    frame.psn = static_cast<uint32_t>(GetNumber(at + 8, 4));
    AggregationHeader header;
    header.job = at[1];
    at += TREE_TRANSPORT_BYTES;
    if (isAcknowledge)
    {
        frame.syndrome = at[0];
        frame.aggregation = header;
        return "";
    }
    at += datagram;
    header.operation = at[0];
    header.format = at[1];
    header.slot = static_cast<uint16_t>(GetNumber(at + 2, 2));
    header.packet = static_cast<uint32_t>(GetNumber(at + 4, 4));
    frame.aggregation = header;
    const auto payload = static_cast<uint32_t>(GetNumber(at + 8, 4));
    if (payload > TREE_MOST_PAYLOAD ||
        (payload + 3) / 4 * 4 != bytes - TRANSPORT - datagram - TREE_HEADER_BYTES)
    {
        return "an aggregation tree's packet of another size";
    }
    if (payload > 0)
    {
        TakePayload(frame, at + TREE_HEADER_BYTES, payload);
    }
    return "";
}

} // namespace ns3::training
