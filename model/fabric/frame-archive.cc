/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/frame-archive.h"

#include <array>
#include <cstring>

namespace ns3::training
{

namespace
{

// Flags for the optional parts after the headers.
constexpr uint8_t HAS_PAYLOAD = 1;
constexpr uint8_t HAS_PACKET = 2;
constexpr uint8_t HAS_TELEMETRY = 4;

// The headers in words. Those that are zero, about half of them, are left out.
using Words = std::array<uint64_t, sizeof(FrameHeaders) / sizeof(uint64_t)>;
static_assert(sizeof(Words) == sizeof(FrameHeaders), "headers are whole words");
static_assert(sizeof(Words) / sizeof(uint64_t) <= 16, "a bit for each of them");

void
WriteHeaders(ByteWriter& writer, const FrameHeaders& headers)
{
    Words words;
    std::memcpy(words.data(), &headers, sizeof(headers));
    uint16_t present = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < words.size(); i++)
    {
        const uint64_t word = words[i];
        words[count] = word; // at most at i
        count += word != 0;
        present |= static_cast<uint16_t>((word != 0) << i);
    }
    writer.Append(&present, sizeof(present));
    writer.Append(words.data(), count * sizeof(uint64_t));
}

void
ReadHeaders(ByteReader& reader, FrameHeaders& headers)
{
    uint16_t present;
    std::memcpy(&present, reader.Skip(sizeof(present)), sizeof(present));
    Words words{};
    for (; present != 0; present &= present - 1)
    {
        std::memcpy(&words[__builtin_ctz(present)],
                    reader.Skip(sizeof(uint64_t)),
                    sizeof(uint64_t));
    }
    std::memcpy(static_cast<void*>(&headers), words.data(), sizeof(headers));
}

} // namespace

void
WriteFrame(ByteWriter& writer, const Frame& frame)
{
    const auto extras =
        static_cast<uint8_t>((frame.payload ? HAS_PAYLOAD : 0) |
                             (frame.MayHavePacket() && frame.packet ? HAS_PACKET : 0) |
                             (frame.hasTelemetry ? HAS_TELEMETRY : 0));
    writer(extras);
    WriteHeaders(writer, frame);
    if (frame.kind == FrameKind::PROGRAM)
    {
        writer.Append(frame.programHeader, Frame::PROGRAM_HEADER_BYTES);
    }
    if (frame.payload)
    {
        writer.Append(frame.payload->bytes.data() + frame.payloadOffset, frame.payloadBytes);
    }
    if (extras & HAS_PACKET)
    {
        std::vector<uint8_t> bytes(frame.packet->GetSerializedSize());
        frame.packet->Serialize(bytes.data(), static_cast<uint32_t>(bytes.size()));
        writer(bytes.size());
        writer.Append(bytes.data(), bytes.size());
    }
    if (const TelemetryStack* telemetry = frame.GetTelemetry())
    {
        writer(telemetry->size());
        for (const HopTelemetry& hop : *telemetry)
        {
            writer(hop.time, hop.sentBytes, hop.queueBytes, hop.rate, hop.link);
        }
    }
}

Frame*
ReadFrame(ByteReader& reader)
{
    const auto extras = reader.Next<uint8_t>();
    Frame* frame = Frame::Allocate(FrameKind::IP); // of any kind; all headers follow
    ReadHeaders(reader, *frame);
    frame->payloadOffset = 0; // the archive has only the frame's own payload bytes
    if (frame->kind == FrameKind::PROGRAM)
    {
        std::memcpy(frame->programHeader,
                    reader.Skip(Frame::PROGRAM_HEADER_BYTES),
                    Frame::PROGRAM_HEADER_BYTES);
    }
    if (extras & HAS_PAYLOAD)
    {
        const uint8_t* bytes = reader.Skip(frame->payloadBytes);
        frame->payload = Create<ByteBuffer>();
        frame->payload->bytes.assign(bytes, bytes + frame->payloadBytes);
    }
    if (extras & HAS_PACKET)
    {
        const auto size = reader.Next<uint32_t>();
        // Packet requires 32-bit alignment, which these bytes may not have.
        const uint8_t* bytes = reader.Skip(size);
        std::vector<uint32_t> words((size + 3) / 4);
        std::memcpy(words.data(), bytes, size);
        frame->packet = Create<Packet>(reinterpret_cast<const uint8_t*>(words.data()), size, true);
    }
    if (extras & HAS_TELEMETRY)
    {
        auto telemetry = std::make_unique<TelemetryStack>(reader.Next<std::size_t>());
        for (HopTelemetry& hop : *telemetry)
        {
            reader(hop.time, hop.sentBytes, hop.queueBytes, hop.rate, hop.link);
        }
        frame->SetTelemetry(std::move(telemetry));
    }
    return frame;
}

} // namespace ns3::training
