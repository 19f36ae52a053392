/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "adder-communicator.h"

#include "adder-wire-format.h"

#include "ns3/host-device.h"
#include "ns3/wire-bytes.h"

#include <algorithm>
#include <cmath>

using namespace ns3;
using namespace ns3::training;

NS_OBJECT_ENSURE_REGISTERED(AdderCommunicator);

TypeId
AdderCommunicator::GetTypeId()
{
    static TypeId tid = TypeId("example::AdderCommunicator")
                            .SetParent<InNetworkCommunicator>()
                            .SetGroupName("Example")
                            .AddConstructor<AdderCommunicator>()
                            .AddAttribute("RetransmissionTimeout",
                                          "Time without a sum after which a packet is sent again",
                                          TimeValue(MicroSeconds(100)),
                                          MakeTimeAccessor(&AdderCommunicator::m_timeout),
                                          MakeTimeChecker(TimeStep(1)));
    return tid;
}

void
AdderCommunicator::DoDispose()
{
    Cancel();
    InNetworkCommunicator::DoDispose();
}

void
AdderCommunicator::SetSession(const Session& session)
{
    m_session = session;
    m_flying.resize(session.window);
    m_timers.Configure(
        session.window,
        {m_timeout},
        [this](uint32_t slot) {
            CountResent(1);
            SendFrame(m_flying[slot]);
        },
        [this](uint32_t, Time silence) { OnSilence(silence); });
}

std::string
AdderCommunicator::GetName() const
{
    return "adder";
}

uint16_t
AdderCommunicator::GetProtocol() const
{
    return AdderHeader::PROTOCOL;
}

int32_t
AdderCommunicator::ToFixedPoint(float value) const
{
    return static_cast<int32_t>(std::lrint(std::ldexp(value, m_session.fractionBits)));
}

float
AdderCommunicator::ToFloat(int32_t value) const
{
    return static_cast<float>(std::ldexp(value, -static_cast<int>(m_session.fractionBits)));
}

std::vector<float>
AdderCommunicator::GetSum(const std::vector<std::vector<float>>& inputs) const
{
    std::vector<float> result;
    for (std::size_t i = 0; i < inputs[0].size(); i++)
    {
        int32_t sum = 0;
        for (const auto& input : inputs)
        {
            sum += ToFixedPoint(input[i]);
        }
        result.push_back(ToFloat(sum));
    }
    return result;
}

double
AdderCommunicator::GetErrorBound() const
{
    // Half a unit per worker, and half a float32 unit of the largest sum.
    return std::ldexp(0.5 * GetSize(), -static_cast<int>(m_session.fractionBits)) +
           std::ldexp(1, 31 - 25 - static_cast<int>(m_session.fractionBits));
}

void
AdderCommunicator::Begin(const Tensor& tensor)
{
    const double limit = std::ldexp(1, 31 - static_cast<int>(m_session.fractionBits)) / GetSize();
    for (float value : tensor.values)
    {
        if (!(std::abs(value) < limit - 1))
        {
            Abort("rank " + std::to_string(GetRank()) + ": " + std::to_string(value) +
                  " is too large for adder (allowed: below " + std::to_string(limit - 1) + ")");
            return;
        }
    }
    const uint64_t bytes = sizeof(int32_t) * m_session.elements;
    m_tensor = &tensor;
    m_sum.assign(tensor.values.size(), 0);
    m_packets = static_cast<uint32_t>((tensor.bytes + bytes - 1) / bytes);
    m_received = 0;
    m_first = m_next;
    m_next += m_packets;
    m_timers.Begin(GetFailureTimeout());
    for (uint32_t packet = 0; packet < std::min(m_session.window, m_packets); packet++)
    {
        Send(packet);
    }
}

void
AdderCommunicator::Send(uint32_t packet)
{
    const uint32_t slot = (m_first + packet) % m_session.window;
    m_flying[slot] = packet;
    m_timers.Start(slot);
    CountSent(1);
    SendFrame(packet);
}

void
AdderCommunicator::SendFrame(uint32_t packet)
{
    AdderHeader header;
    header.packet = m_first + packet;
    header.job = GetJob();
    Frame* frame = Frame::Make(header);
    frame->bytes = GetAdderFrameBytes(m_session.elements);
    frame->payloadBytes = sizeof(int32_t) * m_session.elements;
    frame->source = GetDevice().GetEndpoint();
    frame->destination = m_session.switchEndpoint;
    frame->flowHash = HashFlow(frame->source, frame->destination, GetJob());
    if (m_tensor->IsReal())
    {
        frame->payload = Create<ByteBuffer>();
        frame->payload->bytes.assign(frame->payloadBytes, 0);
        const std::size_t begin = std::size_t{packet} * m_session.elements;
        const std::size_t end = std::min(begin + m_session.elements, m_tensor->values.size());
        for (std::size_t i = begin; i < end; i++)
        {
            SetWord(frame->payload->bytes.data() + 4 * (i - begin),
                    static_cast<uint32_t>(ToFixedPoint(m_tensor->values[i])));
        }
    }
    GetDevice().GetPort().Send(frame);
}

void
AdderCommunicator::OnData(Frame* frame)
{
    const uint32_t packet = frame->As<AdderHeader>().packet - m_first;
    const uint32_t slot = (m_first + packet) % m_session.window;
    if (!m_timers.IsWaiting(slot) || m_flying[slot] != packet)
    {
        CountDuplicate();
        Frame::Free(frame);
        return;
    }
    m_timers.Stop(slot);
    CountReceived();
    if (m_tensor->IsReal())
    {
        const std::size_t begin = std::size_t{packet} * m_session.elements;
        const std::size_t end = std::min(begin + m_session.elements, m_sum.size());
        const uint8_t* values = frame->payload->bytes.data() + frame->payloadOffset;
        for (std::size_t i = begin; i < end; i++)
        {
            m_sum[i] = ToFloat(static_cast<int32_t>(GetWord(values + 4 * (i - begin))));
        }
    }
    Frame::Free(frame);
    if (packet + m_session.window < m_packets)
    {
        Send(packet + m_session.window);
    }
    if (++m_received == m_packets)
    {
        m_tensor = nullptr;
        m_timers.Cancel();
        Complete(std::move(m_sum));
    }
}

void
AdderCommunicator::OnSilence(Time silence)
{
    GiveUp("rank " + std::to_string(GetRank()) + ": no answer of the adder for " +
           std::to_string(silence.ToDouble(Time::MS)) + " ms");
}

void
AdderCommunicator::Cancel()
{
    m_tensor = nullptr;
    m_sum.clear();
    m_timers.Cancel();
}

std::string
AdderCommunicator::GetMissing() const
{
    return std::to_string(m_packets - m_received) + " of " + std::to_string(m_packets) +
           " sums of the adder";
}
