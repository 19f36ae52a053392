/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "frame-archive.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFrameArchive");

namespace
{

/// What follows the plain fields.
constexpr uint8_t HAS_PAYLOAD = 1;
constexpr uint8_t HAS_PACKET = 2;
constexpr uint8_t HAS_TELEMETRY = 4;

/** Hands all plain fields but the kind to a reader or a writer. */
template <typename Archive, typename FrameType>
void
VisitFields(Archive& archive, FrameType& frame)
{
    archive(frame.bytes, frame.source, frame.destination, frame.flowHash, frame.priority);
    archive(frame.ecn, frame.payloadBytes, frame.timestamp, frame.ackRequest, frame.ecnEcho);
    archive(frame.opcode, frame.destinationQp, frame.psn, frame.immediate, frame.remoteAddress);
    archive(frame.messageBytes, frame.sourceQp, frame.messageNumber, frame.selectivePsn);
    archive(frame.protocol, frame.pauseQuanta, frame.pauseClasses, frame.syndrome);
    if (IsAggregation(frame.kind))
    {
        auto& header = frame.aggregation;
        archive(header.check, header.packet, header.slot, header.set, header.job, header.type);
        archive(header.exponents[0], header.exponents[1], header.overflow, header.heard);
        archive(header.workers, header.children, header.newSlot, header.isRackSum, header.resend);
        archive(header.collision, header.congested, header.contested, header.priority);
        archive(header.fanIn[0], header.fanIn[1]);
        archive(header.operation, header.format);
    }
}

} // namespace

void
WriteFrame(ByteWriter& writer, const Frame& frame)
{
    const auto extras =
        static_cast<uint8_t>((frame.payload ? HAS_PAYLOAD : 0) | (frame.packet ? HAS_PACKET : 0) |
                             (frame.telemetry ? HAS_TELEMETRY : 0));
    writer(frame.kind, extras);
    VisitFields(writer, frame);
    if (frame.payload)
    {
        writer.Append(frame.payload->bytes.data() + frame.payloadOffset, frame.payloadBytes);
    }
    if (frame.packet)
    {
        std::vector<uint8_t> bytes(frame.packet->GetSerializedSize());
        frame.packet->Serialize(bytes.data(), static_cast<uint32_t>(bytes.size()));
        writer(bytes.size());
        writer.Append(bytes.data(), bytes.size());
    }
    if (frame.telemetry)
    {
        writer(frame.telemetry->size());
        for (const HopTelemetry& hop : *frame.telemetry)
        {
            writer(hop.time, hop.sentBytes, hop.queueBytes, hop.rate);
        }
    }
}

Frame*
ReadFrame(ByteReader& reader)
{
    Frame* frame = Frame::Allocate(reader.Next<FrameKind>());
    const auto extras = reader.Next<uint8_t>();
    VisitFields(reader, *frame);
    if (extras & HAS_PAYLOAD)
    {
        const uint8_t* bytes = reader.Skip(frame->payloadBytes);
        frame->payload = Create<ByteBuffer>();
        frame->payload->bytes.assign(bytes, bytes + frame->payloadBytes);
        frame->payloadOffset = 0;
    }
    if (extras & HAS_PACKET)
    {
        const auto size = reader.Next<uint32_t>();
        // Packet reads 32-bit words, which the bytes here need not be aligned to.
        const uint8_t* bytes = reader.Skip(size);
        std::vector<uint32_t> words((size + 3) / 4);
        std::memcpy(words.data(), bytes, size);
        frame->packet = Create<Packet>(reinterpret_cast<const uint8_t*>(words.data()), size, true);
    }
    if (extras & HAS_TELEMETRY)
    {
        frame->telemetry = std::make_unique<TelemetryStack>(reader.Next<std::size_t>());
        for (HopTelemetry& hop : *frame->telemetry)
        {
            reader(hop.time, hop.sentBytes, hop.queueBytes, hop.rate);
        }
    }
    return frame;
}

} // namespace ns3::training
