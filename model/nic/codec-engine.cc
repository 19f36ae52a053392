/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec-engine.h"

#include "core/record-sum.h"
#include "fabric/coded-payload.h"
#include "fabric/gradient-tag.h"
#include "fabric/ip-frame.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/message-coding.h"
#include "ns3/string.h"
#include "ns3/training-float-bits.h"
#include "ns3/training-mix-bits.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstring>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCodecEngine");
NS_OBJECT_ENSURE_REGISTERED(CodecEngine);

namespace
{

/** @return size of a payload on the line: RoCE pads it to whole words */
uint32_t
Pad(const Frame& frame, uint32_t bytes)
{
    return frame.kind == FrameKind::ROCE_DATA ? (bytes + 3) / 4 * 4 : bytes;
}

/** @return what the random numbers of a packet's coding depend on: its contents, if there are any
 */
CodecKey
MakeKey(const GradientCodec& codec, const float* values, uint64_t count)
{
    CodecKey key;
    if (codec.GetTraits().random)
    {
        for (uint64_t i = 0; i < count; i++)
        {
            key.seed = MixBits(key.seed ^ ToBits(values[i]));
        }
    }
    return key;
}

/** @return size of the frame of an IP packet */
uint32_t
GetIpFrameBytes(uint32_t packet)
{
    return std::max<uint32_t>(packet + Frame::ETHERNET_BYTES, Frame::MIN_BYTES);
}

} // namespace

const std::vector<RecordField<CodecCounters>>&
CodecCounters::GetFields()
{
    using C = CodecCounters;
    static const std::vector<RecordField<CodecCounters>> fields{
        {"coded_packets", "", "packets sent as code", &C::codedPackets},
        {"plain_bytes", "byte", "their payload before coding", &C::plainBytes},
        {"coded_bytes", "byte", "their payload on the line", &C::codedBytes},
        {"bypassed_packets", "", "packets with gradients sent plain", &C::bypassedPackets},
        {"bypassed_bytes", "byte", "gradients in them", &C::bypassedBytes}};
    return fields;
}

void
CodecCounters::Add(const CodecCounters& other)
{
    AddMembers(GetFields(), other, *this);
    if (classes.empty())
    {
        classes = other.classes;
        return;
    }
    for (std::size_t i = 0; i < other.classes.size(); i++)
    {
        classes[i].count += other.classes[i].count;
    }
}

double
CodecCounters::GetRatio() const
{
    const uint64_t line = codedBytes + bypassedBytes;
    return line == 0 ? 1
                     : static_cast<double>(plainBytes + bypassedBytes) / static_cast<double>(line);
}

TypeId
CodecEngine::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::CodecEngine")
            .SetParent<NicProgram>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<CodecEngine>()
            .AddAttribute("Codec",
                          "Gradient codec, with keys",
                          StringValue("inceptionn"),
                          MakeStringAccessor(&CodecEngine::SetCodec, &CodecEngine::GetCodecSpec),
                          MakeStringChecker())
            .AddAttribute("Lanes",
                          "Numbers that the engine codes, or decodes, in a cycle",
                          UintegerValue(8),
                          MakeUintegerAccessor(&CodecEngine::m_lanes),
                          MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("Clock",
                          "Clock of the engine, Hz",
                          DoubleValue(100e6),
                          MakeDoubleAccessor(&CodecEngine::m_clock),
                          MakeDoubleChecker<double>(1e3, 1e12))
            .AddAttribute("Tos",
                          "Type of service of the packets that the engine codes, a multiple of 4",
                          UintegerValue(GRADIENT_TYPE_OF_SERVICE),
                          MakeUintegerAccessor(&CodecEngine::m_typeOfService),
                          MakeUintegerChecker<uint8_t>(4, MAX_TYPE_OF_SERVICE))
            .AddAttribute("SendLatency",
                          "From the host to the line; not published: ten cycles",
                          TimeValue(NanoSeconds(100)),
                          MakeTimeAccessor(&CodecEngine::m_sendLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("ReceiveLatency",
                          "From the line to the host; not published: ten cycles",
                          TimeValue(NanoSeconds(100)),
                          MakeTimeAccessor(&CodecEngine::m_receiveLatency),
                          MakeTimeChecker(Time(0)));
    return tid;
}

void
CodecEngine::SetCodec(std::string spec)
{
    m_codec = MakeCodec(spec);
    m_spec = std::move(spec);
    m_counters.classes = m_codec->CountClasses(nullptr, 0);
}

void
CodecEngine::RoundTrip(const GradientCodec& codec, float* values, uint64_t count)
{
    codec.RoundTrip(values, count, MakeKey(codec, values, count));
}

Time
CodecEngine::GetTime(uint32_t bytes) const
{
    const uint32_t cycles = (bytes / FLOAT_BYTES + m_lanes - 1) / m_lanes;
    return TimeStep(static_cast<int64_t>(cycles * 1e12 / m_clock + 0.5));
}

void
CodecEngine::CountCoded(uint32_t plain, uint32_t coded)
{
    m_counters.codedPackets++;
    m_counters.plainBytes += plain;
    m_counters.codedBytes += coded;
}

void
CodecEngine::CountBypassed(uint32_t bytes)
{
    m_counters.bypassedPackets++;
    m_counters.bypassedBytes += bytes;
}

uint32_t
CodecEngine::Code(const uint8_t* bytes, uint32_t size)
{
    const uint32_t count = size / FLOAT_BYTES;
    m_values.resize(count);
    std::memcpy(m_values.data(), bytes, count * FLOAT_BYTES);
    m_codec->Encode(m_values.data(), count, MakeKey(*m_codec, m_values.data(), count), m_code);
    const auto classes = m_codec->CountClasses(m_values.data(), count);
    for (std::size_t i = 0; i < classes.size(); i++)
    {
        m_counters.classes[i].count += classes[i].count;
    }
    m_code.insert(m_code.end(), bytes + count * FLOAT_BYTES, bytes + size);
    return static_cast<uint32_t>(m_code.size());
}

void
CodecEngine::Decode(uint8_t* bytes, uint32_t size)
{
    const uint32_t count = size / FLOAT_BYTES;
    m_codec->Decode(m_code.data(),
                    m_code.size() - size % FLOAT_BYTES,
                    CodecKey(),
                    m_values.data(),
                    count);
    std::memcpy(bytes, m_values.data(), count * FLOAT_BYTES);
}

Ptr<ByteBuffer>
CodecEngine::Restore(const Frame& frame)
{
    const uint32_t size = GetPlainBytes(frame);
    const uint32_t count = size / FLOAT_BYTES;
    const uint32_t rest = size % FLOAT_BYTES;
    const uint8_t* const code = frame.payload->bytes.data() + frame.payloadOffset;
    const uint32_t codeBytes = frame.payloadBytes - rest;
    m_values.resize(count);
    m_codec->Decode(code, codeBytes, CodecKey(), m_values.data(), count);
    auto plain = Create<ByteBuffer>();
    plain->bytes.resize(size);
    std::memcpy(plain->bytes.data(), m_values.data(), count * FLOAT_BYTES);
    std::copy(code + codeBytes, code + frame.payloadBytes, plain->bytes.end() - rest);
    return plain;
}

bool
CodecEngine::OnSend(Frame& frame)
{
    m_sendTime = Time(0);
    if (frame.kind == FrameKind::IP)
    {
        SendSegment(frame);
    }
    else if (frame.kind != FrameKind::PAUSE && frame.typeOfService == m_typeOfService)
    {
        SendData(frame);
    }
    return true;
}

bool
CodecEngine::OnReceive(Frame& frame)
{
    m_receiveTime = Time(0);
    if (IsCoded(frame))
    {
        m_receiveTime = GetTime(GetPlainBytes(frame));
        frame.kind == FrameKind::IP ? ReceiveSegment(frame) : ReceiveData(frame);
        frame.identification = 0;
    }
    return true;
}

void
CodecEngine::SendData(Frame& frame)
{
    const uint32_t size = frame.payloadBytes;
    if (size == 0)
    {
        return;
    }
    m_sendTime = GetTime(size);
    const uint8_t* const bytes =
        frame.payload ? frame.payload->bytes.data() + frame.payloadOffset : nullptr;
    const auto coded = bytes ? Code(bytes, size)
                             : static_cast<uint32_t>(m_codec->GetCodedBytes(size / FLOAT_BYTES)) +
                                   size % FLOAT_BYTES;
    if (coded >= size)
    {
        CountBypassed(size);
        if (bytes)
        {
            auto rounded = Create<ByteBuffer>();
            rounded->bytes.assign(bytes, bytes + size);
            Decode(rounded->bytes.data(), size);
            frame.payload = rounded;
            frame.payloadOffset = 0;
        }
        return;
    }
    CountCoded(size, coded);
    if (bytes)
    {
        frame.payload = Create<ByteBuffer>();
        frame.payload->bytes = m_code;
        frame.payloadOffset = 0;
    }
    frame.bytes -= Pad(frame, size) - Pad(frame, coded);
    frame.payloadBytes = coded;
    MarkCoded(frame, size);
}

void
CodecEngine::ReceiveData(Frame& frame)
{
    const uint32_t size = GetPlainBytes(frame);
    if (frame.payload)
    {
        frame.payload = Restore(frame);
        frame.payloadOffset = 0;
    }
    const uint32_t saved = Pad(frame, size) - Pad(frame, frame.payloadBytes);
    frame.bytes += saved;
    frame.payloadBytes = size;
    if (frame.kind == FrameKind::PROGRAM)
    {
        frame.savedBytes = saved;
    }
}

CodecEngine::Segment
CodecEngine::Parse(const Packet& packet) const
{
    Segment segment;
    segment.headers = GetTcpHeaderBytes(packet);
    segment.payload = packet.GetSize() - segment.headers;
    auto tags = packet.GetByteTagIterator();
    while (segment.headers > 0 && tags.HasNext())
    {
        const auto item = tags.Next();
        if (item.GetTypeId() != GradientTag::GetTypeId())
        {
            continue;
        }
        GradientTag tag;
        item.GetTag(tag);
        if (tag.GetTypeOfService() != m_typeOfService)
        {
            continue;
        }
        segment.isReal = tag.IsReal();
        const auto begin = static_cast<uint32_t>(item.GetStart()) - segment.headers;
        const auto end = static_cast<uint32_t>(item.GetEnd()) - segment.headers;
        segment.numbers += end - begin;
        segment.ranges.push_back({begin, end});
    }
    return segment;
}

void
CodecEngine::SendSegment(Frame& frame)
{
    const Segment segment = Parse(*frame.packet);
    if (segment.numbers == 0)
    {
        return;
    }
    m_sendTime = GetTime(segment.numbers);
    const bool isWhole = segment.numbers == segment.payload;
    uint32_t coded = segment.payload;
    if (segment.isReal)
    {
        m_plain.resize(segment.headers + segment.payload);
        frame.packet->CopyData(m_plain.data(), static_cast<uint32_t>(m_plain.size()));
        uint8_t* const payload = m_plain.data() + segment.headers;
        const std::vector<Range> together{{0, segment.payload}};
        for (const Range& range : isWhole ? together : segment.ranges)
        {
            const uint32_t size = range.end - range.begin;
            NS_ABORT_MSG_UNLESS(size % FLOAT_BYTES == 0, "a segment splits a number");
            const uint32_t code = Code(payload + range.begin, size);
            coded = isWhole ? code : coded;
            if (coded >= segment.payload)
            {
                Decode(payload + range.begin, size);
            }
        }
        auto packet = frame.packet->CreateFragment(0, segment.headers);
        if (coded >= segment.payload)
        {
            packet->AddAtEnd(Create<Packet>(payload, segment.payload));
        }
        frame.packet = packet;
    }
    else if (isWhole)
    {
        coded = static_cast<uint32_t>(m_codec->GetCodedBytes(segment.payload / FLOAT_BYTES)) +
                segment.payload % FLOAT_BYTES;
    }
    if (coded >= segment.payload)
    {
        CountBypassed(segment.numbers);
        return;
    }
    CountCoded(segment.payload, coded);
    if (segment.isReal)
    {
        frame.payload = Create<ByteBuffer>();
        frame.payload->bytes = m_code;
        frame.payloadOffset = 0;
    }
    frame.payloadBytes = coded;
    frame.bytes = GetIpFrameBytes(segment.headers + coded);
    frame.typeOfService = m_typeOfService;
    MarkCoded(frame, segment.payload);
}

void
CodecEngine::ReceiveSegment(Frame& frame)
{
    if (frame.payload)
    {
        const auto plain = Restore(frame);
        auto packet = frame.packet->Copy();
        packet->AddAtEnd(
            Create<Packet>(plain->bytes.data(), static_cast<uint32_t>(plain->bytes.size())));
        frame.packet = packet;
        frame.payload = nullptr;
    }
    frame.payloadBytes = 0;
    frame.typeOfService = 0;
    frame.bytes = GetIpFrameBytes(frame.packet->GetSize());
}

} // namespace ns3::training
