/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sharp-endpoint.h"

#include "core/attribute-choice.h"

#include "ns3/log.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSharpEndpoint");
NS_OBJECT_ENSURE_REGISTERED(SharpEndpoint);

TypeId
SharpEndpoint::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::SharpEndpoint")
            .SetParent<InNetworkCommunicator>()
            .SetGroupName("DistributedTraining")
            .AddAttribute(
                "DataType",
                "What numbers travel and are added as: float32, float16, bfloat16, or "
                "int32 (whole numbers)",
                StringValue("float32"),
                MakeStringAccessor(&SharpEndpoint::SetDataType, &SharpEndpoint::GetDataType),
                MakeStringChecker())
            .AddAttribute("AckInterval",
                          "Packets of a connection for each acknowledgement",
                          UintegerValue(16),
                          MakeUintegerAccessor(&SharpEndpoint::m_ackInterval),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("AckDelay",
                          "Maximum delay of an acknowledgement",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&SharpEndpoint::m_ackDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("RetransmissionTimeout",
                          "Retransmission timeout of a connection without progress; doubles "
                          "(SHARP: code 18, 1.07 s, for links that lose nothing)",
                          TimeValue(MilliSeconds(4)),
                          MakeTimeAccessor(&SharpEndpoint::m_timeout),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("RetryLimit",
                          "Timeouts without progress before a connection is given up (SHARP: 7)",
                          UintegerValue(7),
                          MakeUintegerAccessor(&SharpEndpoint::m_retryLimit),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Priority",
                          "Traffic class of all packets; 0 is lossy, 3 lossless",
                          UintegerValue(3),
                          MakeUintegerAccessor(&SharpEndpoint::m_priority),
                          MakeUintegerChecker<uint8_t>(0, 7))
            .AddAttribute("HostLatency",
                          "From the start of an operation to its first packet: library, doorbell, "
                          "DMA",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&SharpEndpoint::m_hostLatency),
                          MakeTimeChecker(Time(0)));
    return tid;
}

void
SharpEndpoint::DoDispose()
{
    Cancel();
    m_connections.clear();
    InNetworkCommunicator::DoDispose();
}

void
SharpEndpoint::SetDataType(std::string type)
{
    m_dataType = FindNumberFormat(type);
    if (m_dataType == NumberFormat::COUNT)
    {
        ThrowInvalidAttribute("SharpEndpoint::DataType", type, "float32, int32, float16, bfloat16");
    }
}

std::string
SharpEndpoint::GetDataType() const
{
    return ns3::training::GetName(m_dataType);
}

SharpConnection::Settings
SharpEndpoint::GetSettings() const
{
    return {m_ackInterval, m_ackDelay, m_timeout, m_retryLimit, m_priority, 0};
}

void
SharpEndpoint::SetSums(std::shared_ptr<const std::vector<SharpSums>> sums,
                       uint32_t member,
                       uint32_t members)
{
    m_trees.Set(std::move(sums));
    m_check.Configure(GetJob(), member, members);
}

uint32_t
SharpEndpoint::Connect(const SharpConnection::Peer& peer)
{
    SharpConnection::Owner& owner = *this;
    m_connections.push_back(std::make_unique<SharpConnection>(owner,
                                                              GetDevice().GetEndpoint(),
                                                              peer,
                                                              GetJob(),
                                                              GetSettings()));
    return static_cast<uint32_t>(m_connections.size() - 1);
}

void
SharpEndpoint::Send(uint32_t connection, const SharpMessage& message)
{
    m_connections[connection]->Send(message);
}

void
SharpEndpoint::Transmit(Frame* frame)
{
    GetDevice().GetPort().Send(frame);
}

void
SharpEndpoint::OnPacket(const Frame& frame)
{
    OnMessage(frame.destinationQp, frame);
}

void
SharpEndpoint::OnBroken(const SharpConnection& connection)
{
    NS_LOG_FUNCTION(this << connection.GetPeer().endpoint);
    GiveUp("rank " + std::to_string(GetRank()) + ": the connection to its switch of " + GetName() +
           ", endpoint " + std::to_string(connection.GetPeer().endpoint) + ", is broken after " +
           std::to_string(m_retryLimit) + " retries");
}

uint32_t
SharpEndpoint::GetNumber(uint64_t packet, uint32_t window)
{
    const uint64_t numbers = std::numeric_limits<uint32_t>::max() / window * window;
    return static_cast<uint32_t>(packet % numbers);
}

bool
SharpEndpoint::CheckTensor()
{
    const auto& values = m_tensor->values;
    const auto found = std::find_if(values.begin(), values.end(), [this](float value) {
        return !IsWritable(m_format, value);
    });
    if (found == values.end())
    {
        return true;
    }
    Abort("rank " + std::to_string(GetRank()) + ": " + FormatDouble(*found) + " is no " +
          ns3::training::GetName(m_format) + ", which DataType asks for");
    return false;
}

void
SharpEndpoint::Begin(const Tensor& tensor)
{
    NS_LOG_FUNCTION(this << tensor.bytes);
    const bool isBroadcast = GetOperation() == CollectiveOperation::BROADCAST;
    m_tensor = &tensor;
    m_format = isBroadcast ? NumberFormat::FLOAT32 : m_dataType;
    m_contributes = !isBroadcast || GetRank() == GetRoot();
    m_values = (tensor.bytes + sizeof(float) - 1) / sizeof(float);
    m_result.clear();
    if (m_contributes && !CheckTensor())
    {
        return;
    }
    NoteAnswer();
    if (m_watch.IsExpired())
    {
        m_watch = Simulator::Schedule(GetFailureTimeout(), &SharpEndpoint::Watch, this);
    }
    const Time hostTime = GetHostTime(tensor.bytes);
    if (hostTime.IsZero())
    {
        Start();
        return;
    }
    m_start = Simulator::Schedule(hostTime, &SharpEndpoint::Start, this);
}

Time
SharpEndpoint::GetHostTime([[maybe_unused]] uint64_t bytes) const
{
    return m_hostLatency;
}

void
SharpEndpoint::End()
{
    if (m_result.empty())
    {
        m_result = m_tensor->values; // a rank other than the root keeps its input
    }
    m_tensor = nullptr;
    Complete(std::move(m_result));
}

void
SharpEndpoint::Cancel()
{
    m_tensor = nullptr;
    m_result.clear();
    for (const auto& connection : m_connections)
    {
        connection->Close();
    }
    Simulator::Cancel(m_watch);
    Simulator::Cancel(m_start);
}

void
SharpEndpoint::Watch()
{
    if (!m_tensor)
    {
        return;
    }
    const Time silence = Simulator::Now() - m_latestAnswer;
    if (silence >= GetFailureTimeout())
    {
        GiveUp("rank " + std::to_string(GetRank()) + " has had no answer of " + GetName() +
               " for " + FormatTime(silence) + "; it waits for " + GetMissing());
        return;
    }
    m_watch = Simulator::Schedule(GetFailureTimeout() - silence, &SharpEndpoint::Watch, this);
}

void
SharpEndpoint::OnLateData(Frame* frame)
{
    OnData(frame); // handles acknowledgements and repeats them
}

void
SharpEndpoint::OnData(Frame* frame)
{
    const uint32_t number = frame->destinationQp;
    const bool isKnown =
        number < m_connections.size() && frame->source == m_connections[number]->GetPeer().endpoint;
    if (isKnown && frame->opcode != UD_SEND_ONLY)
    {
        m_connections[number]->Receive(frame);
        return;
    }
    if (isKnown)
    {
        OnMessage(number, *frame);
    }
    Frame::Free(frame);
}

SharpMessage
SharpEndpoint::MakeMessage(uint32_t connection, uint64_t packet, uint8_t operation) const
{
    SharpMessage message;
    message.header.job = GetJob();
    message.header.check = m_check.GetPart(GetKey(connection, packet));
    message.header.format = static_cast<uint8_t>(m_format);
    message.header.operation = operation;
    message.header.exponent = NO_EXPONENT;
    return message;
}

void
SharpEndpoint::WriteValues(SharpMessage& message, uint64_t begin, uint64_t end) const
{
    message.payloadBytes = static_cast<uint32_t>((end - begin) * GetBytes(m_format));
    if (!m_tensor->IsReal() || begin == end)
    {
        return;
    }
    const float* const values = m_tensor->values.data() + begin;
    // The error bound is undefined for numbers from 2^127 on.
    message.header.exponent =
        IsQuantizable(values, end - begin) ? GetBlockExponent(values, end - begin) : 127;
    message.payload = Create<ByteBuffer>();
    message.payload->bytes.resize(message.payloadBytes);
    WriteNumbers(m_format, values, end - begin, message.payload->bytes.data());
}

void
SharpEndpoint::ReadValues(const Frame& frame, uint64_t begin, uint64_t end, bool isSum)
{
    if (!frame.payload)
    {
        return;
    }
    m_result.resize(m_values);
    ReadNumbers(m_format,
                frame.payload->bytes.data() + frame.payloadOffset,
                end - begin,
                m_result.data() + begin);
    const int8_t exponent = frame.As<SharpHeader>().exponent;
    if (!isSum || exponent <= m_exponent)
    {
        return;
    }
    m_exponent = exponent;
    m_errorBound = std::max(m_errorBound, m_trees.GetErrorBound(m_format, exponent, GetSize()));
}

bool
SharpEndpoint::Check(const SharpHeader& header, uint32_t connection, uint64_t packet)
{
    const bool isWhole = header.check == m_check.GetWhole(GetKey(connection, packet));
    if (isWhole && !header.overflow)
    {
        return true;
    }
    Abort("the sum of packet " + std::to_string(header.packet) + " of " + GetName() + " job " +
          std::to_string(header.job) +
          (isWhole ? " overflows " + ns3::training::GetName(m_format)
                   : std::string(" does not hold each rank's part once")));
    return false;
}

double
SharpEndpoint::GetLineShare() const
{
    return static_cast<double>(GetBytes(m_dataType)) / sizeof(float);
}

std::vector<float>
SharpEndpoint::GetSum(const std::vector<std::vector<float>>& inputs) const
{
    if (inputs.size() == 1)
    {
        return inputs[0];
    }
    std::vector<float> sum(inputs[0].size());
    for (uint32_t tree = 0; tree < m_trees.GetCount(); tree++)
    {
        const auto [begin, end] = m_trees.GetPart(tree, sum.size());
        m_trees.Add(tree, m_dataType, inputs, begin, end, sum);
    }
    return sum;
}

} // namespace ns3::training
