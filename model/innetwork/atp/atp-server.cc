/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-server.h"

#include "innetwork/saturating-sum.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/number-format.h"
#include "ns3/payload-values.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"
#include "ns3/wire-bytes.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingAtpServer");
NS_OBJECT_ENSURE_REGISTERED(AtpServer);

TypeId
AtpServer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::AtpServer")
            .SetParent<Object>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<AtpServer>()
            .AddAttribute("PacketCost",
                          "CPU time per received packet",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&AtpServer::m_packetCost),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Cores",
                          "Cores that share the packets (released server: 12 threads)",
                          UintegerValue(12),
                          MakeUintegerAccessor(&AtpServer::m_coreCount),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Priority",
                          "Traffic class of results; 0 is lossy, 3 lossless",
                          UintegerValue(0),
                          MakeUintegerAccessor(&AtpServer::m_priority),
                          MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute("Verify",
                          "Whether the program ends when an invariant does not hold, for debugging",
                          BooleanValue(false),
                          MakeBooleanAccessor(&AtpServer::m_verify),
                          MakeBooleanChecker());
    return tid;
}

void
AtpServer::SetSession(const Session& session, Ptr<HostDevice> device)
{
    NS_LOG_FUNCTION(this << +session.job << session.index);
    m_session = session;
    m_device = device;
    m_flowHash = HashFlow(device->GetEndpoint(), session.switchEndpoint, session.job);
    m_ranks = 0;
    m_all.clear();
    for (const auto& child : session.children)
    {
        m_all.push_back(static_cast<uint32_t>((uint64_t{1} << child.size()) - 1));
        m_ranks += static_cast<uint32_t>(child.size());
    }
    m_check.Configure(session.job, 0, m_ranks);
    // No request comes for packets two windows behind: a worker has the sums of all packets a
    // window before those it sends, and no worker sends a window beyond a packet it lacks.
    uint32_t size = 1;
    while (size < 2 * session.window)
    {
        size *= 2;
    }
    m_entries.clear();
    m_entries.resize(size);
    m_marks.assign(uint64_t{size} * session.children.size(), 0);
    m_cores.Configure(1);
    m_slots.Reset(session.job, session.window, session.slots);
    // The host owns this object until it is disposed of.
    device->SetProgramReceiver(
        AtpHeader::PROTOCOL,
        GetAtpServerKey(session.job),
        [self = Ptr<AtpServer>(this)](Frame* frame) { self->OnFrame(frame); });
}

void
AtpServer::Stop()
{
    NS_LOG_FUNCTION(this << +m_session.job);
    m_device->SetProgramReceiver(AtpHeader::PROTOCOL, GetAtpServerKey(m_session.job), nullptr);
}

uint32_t*
AtpServer::GetMarks(const Entry& entry)
{
    return m_marks.data() + (&entry - m_entries.data()) * m_all.size();
}

int32_t*
AtpServer::GetValues(const Entry& entry)
{
    if (m_values.empty())
    {
        m_values.resize(m_entries.size() * m_session.elements);
    }
    return m_values.data() + (&entry - m_entries.data()) * m_session.elements;
}

void
AtpServer::Process(Frame* frame)
{
    const auto& header = frame->As<AtpHeader>();
    if (header.children == 0 || frame->payloadBytes != sizeof(int32_t) * m_session.elements)
    {
        Frame::Free(frame);
        return;
    }
    m_counters.received++;
    Entry& entry = m_entries[header.packet % m_entries.size()];
    const auto age = static_cast<int32_t>(header.packet - entry.packet);
    if (entry.used && age < 0)
    {
        m_counters.stale++;
        Frame::Free(frame);
        return;
    }
    if (!entry.used || age > 0)
    {
        entry = Entry();
        entry.used = true;
        entry.packet = header.packet;
        Begin(entry, State::INTEGERS);
    }
    entry.isReal |= frame->payload != nullptr;
    entry.congested |= header.congested || frame->ecn == Ecn::CE;
    entry.contested |= header.contested;
    entry.slot = header.slot;
    entry.priority = header.priority;
    if (header.collision && !entry.collision)
    {
        entry.newSlot = m_slots.Choose(header.slot, m_session.index, m_session.servers);
        entry.collision = true;
        m_counters.remapped += entry.newSlot != header.slot;
        NS_LOG_LOGIC("packet " << header.packet << " of job " << +header.job
                               << " has collided in slot " << header.slot << ", and gets "
                               << entry.newSlot);
    }
    if (entry.state == State::DONE)
    {
        // The worker may have lost the result, or a switch holds a duplicate in a slot.
        m_counters.duplicates++;
        m_counters.answers++;
        SendResult(entry, false);
    }
    else
    {
        header.overflow ? TakeFloats(entry, *frame) : TakeIntegers(entry, *frame);
    }
    Frame::Free(frame);
}

void
AtpServer::Begin(Entry& entry, State state)
{
    entry.state = state;
    entry.ranks = 0;
    entry.check = 0;
    std::fill_n(GetMarks(entry), m_all.size(), 0);
}

bool
AtpServer::Mark(Entry& entry, const AtpHeader& header)
{
    uint32_t* const marks = GetMarks(entry);
    // Bits of the workers for a part of a rack, otherwise whole children.
    const auto getBits = [&](uint32_t child) {
        return header.isRackSum ? m_all[child] : header.workers & m_all[child];
    };
    for (uint32_t bits = header.children; bits; bits &= bits - 1)
    {
        const auto child = static_cast<uint32_t>(__builtin_ctz(bits));
        if (child >= m_all.size() || marks[child] & getBits(child))
        {
            return false;
        }
    }
    for (uint32_t bits = header.children; bits; bits &= bits - 1)
    {
        const auto child = static_cast<uint32_t>(__builtin_ctz(bits));
        marks[child] |= getBits(child);
        entry.ranks += static_cast<uint32_t>(__builtin_popcount(getBits(child)));
    }
    return true;
}

void
AtpServer::TakeIntegers(Entry& entry, const Frame& frame)
{
    const auto& header = frame.As<AtpHeader>();
    if (entry.state == State::FLOATS)
    {
        if (header.resend)
        {
            SendResult(entry, true); // the worker has lost the request for floats
        }
        return;
    }
    const bool isWhole =
        header.isRackSum && static_cast<uint32_t>(__builtin_popcount(header.children)) ==
                                static_cast<uint32_t>(m_all.size());
    if (isWhole && entry.ranks > 0)
    {
        // The full sum contains the parts received so far, so it replaces them.
        NS_LOG_LOGIC("packet " << header.packet << ": a sum of all takes the place of parts");
        Begin(entry, State::INTEGERS);
    }
    const bool isFirst = entry.ranks == 0;
    if (!Mark(entry, header))
    {
        m_counters.duplicates++;
        return;
    }
    (isWhole ? m_counters.complete : m_counters.added)++;
    entry.check += header.check;
    AddValues(entry, frame, isFirst);
    if (entry.ranks == m_ranks)
    {
        Finish(entry);
    }
}

void
AtpServer::AddValues(Entry& entry, const Frame& frame, bool isFirst)
{
    if (!frame.payload)
    {
        return;
    }
    int32_t* const values = GetValues(entry);
    if (isFirst)
    {
        ReadValues(frame, values, m_session.elements);
        return;
    }
    AddSaturating(values, GetPayload(frame), m_session.elements);
}

void
AtpServer::TakeFloats(Entry& entry, const Frame& frame)
{
    const auto& header = frame.As<AtpHeader>();
    if (entry.state == State::INTEGERS)
    {
        NS_LOG_LOGIC("packet " << header.packet << ": a worker has sent floats, so all must");
        Begin(entry, State::FLOATS);
        SendResult(entry, true);
    }
    if (!Mark(entry, header))
    {
        m_counters.duplicates++;
        return;
    }
    const auto child = static_cast<uint32_t>(__builtin_ctz(header.children));
    const uint32_t worker = header.isRackSum ? 0 : __builtin_ctz(header.workers);
    const uint32_t rank = m_session.children[child][worker];
    entry.check += header.check;
    if (frame.payload)
    {
        if (!entry.floats)
        {
            entry.floats =
                std::make_unique<std::vector<float>>(uint64_t{m_session.elements} * m_ranks);
        }
        float* const values = entry.floats->data() + uint64_t{rank} * m_session.elements;
        ReadValues(frame, values, m_session.elements);
    }
    if (entry.ranks == m_ranks)
    {
        Finish(entry);
    }
}

void
AtpServer::Finish(Entry& entry)
{
    NS_ABORT_MSG_IF(m_verify && entry.check != m_check.GetWhole(entry.packet),
                    "packet " << entry.packet << " does not hold each worker's part once");
    if (entry.isReal)
    {
        const uint32_t elements = m_session.elements;
        const int32_t* const values = GetValues(entry);
        if (entry.state == State::INTEGERS && std::any_of(values, values + elements, IsSaturated))
        {
            NS_LOG_LOGIC("packet " << entry.packet << ": the sum is saturated, so all send floats");
            Begin(entry, State::FLOATS);
            SendResult(entry, true);
            return;
        }
        entry.result = Create<ByteBuffer>();
        entry.result->bytes.resize(sizeof(int32_t) * elements);
        uint8_t* const to = entry.result->bytes.data();
        for (uint32_t i = 0; i < elements; i++)
        {
            if (entry.state == State::INTEGERS)
            {
                SetWord(to + sizeof(int32_t) * i, static_cast<uint32_t>(values[i]));
                continue;
            }
            float sum = 0;
            for (std::size_t at = i; at < entry.floats->size(); at += elements)
            {
                sum += (*entry.floats)[at];
            }
            SetWord(to + sizeof(int32_t) * i, ToBits(sum));
        }
    }
    entry.overflow = entry.state == State::FLOATS;
    entry.floats = nullptr;
    entry.state = State::DONE;
    m_counters.floats += entry.overflow;
    m_counters.results++;
    NS_LOG_LOGIC("packet " << entry.packet << " of job " << +m_session.job << " is complete");
    SendResult(entry, false);
}

void
AtpServer::SendResult(const Entry& entry, bool isFloatRequest)
{
    AtpHeader header;
    header.isResult = true;
    header.job = m_session.job;
    header.packet = entry.packet;
    header.slot = entry.slot;
    header.newSlot = entry.newSlot;
    header.collision = entry.collision && !isFloatRequest;
    header.congested = entry.congested;
    header.contested = entry.contested;
    header.priority = entry.priority;
    header.overflow = isFloatRequest || entry.overflow;
    header.resend =
        !isFloatRequest && entry.overflow; // otherwise switches would take it for a request
    header.check = isFloatRequest ? 0 : entry.check;
    Frame* frame = Frame::Make(header);
    frame->bytes = GetAtpFrameBytes(m_session.elements, m_session.isExtended);
    frame->payloadBytes = sizeof(int32_t) * m_session.elements;
    frame->payload = isFloatRequest ? nullptr : entry.result;
    frame->source = m_device->GetEndpoint();
    frame->destination = m_session.switchEndpoint;
    frame->flowHash = m_flowHash;
    frame->priority = m_priority;
    m_device->GetPort().Send(frame);
}

} // namespace ns3::training
