/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tree-endpoint.h"

#include "ns3/attribute-choice.h"
#include "ns3/log.h"
#include "ns3/quantity.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTreeEndpoint");
NS_OBJECT_ENSURE_REGISTERED(TreeEndpoint);

namespace
{

/** @return the sum that a switch makes of numbers [begin, end), as it is written */
std::vector<uint8_t>
AddBelow(const TreeSums& sums,
         uint32_t at,
         NumberFormat format,
         const std::vector<std::vector<float>>& inputs,
         uint64_t begin,
         uint64_t end)
{
    std::vector<std::vector<uint8_t>> parts;
    for (const TreeSum::Child& child : sums[at].children)
    {
        if (!child.isRank)
        {
            parts.push_back(AddBelow(sums, child.index, format, inputs, begin, end));
            continue;
        }
        parts.emplace_back((end - begin) * GetBytes(format));
        WriteNumbers(format, inputs[child.index].data() + begin, end - begin, parts.back().data());
    }
    std::vector<const uint8_t*> addends;
    for (const auto& part : parts)
    {
        addends.push_back(part.data());
    }
    AddNumbers(format, addends, end - begin, parts[0].data());
    return parts[0];
}

/** @return the most switches on the way from a rank to the root */
uint32_t
GetHeight(const TreeSums& sums, uint32_t at = 0)
{
    uint32_t below = 0;
    for (const TreeSum::Child& child : sums[at].children)
    {
        below = std::max(below, child.isRank ? 0 : GetHeight(sums, child.index));
    }
    return below + 1;
}

} // namespace

TypeId
TreeEndpoint::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::TreeEndpoint")
            .SetParent<InNetworkCommunicator>()
            .SetGroupName("DistributedTraining")
            .AddAttribute(
                "DataType",
                "What numbers travel and are added as: float32, float16, bfloat16, or "
                "int32 (whole numbers)",
                StringValue("float32"),
                MakeStringAccessor(&TreeEndpoint::SetDataType, &TreeEndpoint::GetDataType),
                MakeStringChecker())
            .AddAttribute("AckInterval",
                          "Packets of a connection for each acknowledgement",
                          UintegerValue(16),
                          MakeUintegerAccessor(&TreeEndpoint::m_ackInterval),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("AckDelay",
                          "From a packet to its acknowledgement at most",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&TreeEndpoint::m_ackDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("RetransmissionTimeout",
                          "Time without progress of a connection until its packets are sent again; "
                          "doubles (SHARP: code 18, 1.07 s, for links that lose nothing)",
                          TimeValue(MilliSeconds(4)),
                          MakeTimeAccessor(&TreeEndpoint::m_timeout),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("RetryLimit",
                          "Timeouts without progress before a connection is given up (SHARP: 7)",
                          UintegerValue(7),
                          MakeUintegerAccessor(&TreeEndpoint::m_retryLimit),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Priority",
                          "Traffic class of all packets; 0 is lossy, 3 lossless",
                          UintegerValue(3),
                          MakeUintegerAccessor(&TreeEndpoint::m_priority),
                          MakeUintegerChecker<uint8_t>(0, 7))
            .AddAttribute("HostLatency",
                          "From the start of an operation to its first packet: library, doorbell, "
                          "DMA",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&TreeEndpoint::m_hostLatency),
                          MakeTimeChecker(Time(0)));
    return tid;
}

void
TreeEndpoint::DoDispose()
{
    Halt();
    m_connections.clear();
    InNetworkCommunicator::DoDispose();
}

void
TreeEndpoint::SetDataType(std::string type)
{
    m_dataType = FindNumberFormat(type);
    if (m_dataType == NumberFormat::COUNT)
    {
        RefuseAttribute("TreeEndpoint::DataType", type, "float32, int32, float16, bfloat16");
    }
}

std::string
TreeEndpoint::GetDataType() const
{
    return ns3::training::GetName(m_dataType);
}

TreeConnection::Settings
TreeEndpoint::GetSettings() const
{
    return {m_ackInterval, m_ackDelay, m_timeout, m_retryLimit, m_priority, 0};
}

NumberFormat
TreeEndpoint::GetNumberFormat() const
{
    return m_dataType;
}

void
TreeEndpoint::SetSums(std::shared_ptr<const std::vector<TreeSums>> sums)
{
    m_sums = std::move(sums);
    m_check.Configure(m_group.job, m_rank, GetSize());
}

uint32_t
TreeEndpoint::Connect(const TreeConnection::Peer& peer)
{
    TreeConnection::Owner& owner = *this;
    m_connections.push_back(std::make_unique<TreeConnection>(owner,
                                                             m_device->GetEndpoint(),
                                                             peer,
                                                             m_group.job,
                                                             GetSettings()));
    return static_cast<uint32_t>(m_connections.size() - 1);
}

void
TreeEndpoint::Send(uint32_t connection, const TreeMessage& message)
{
    m_connections[connection]->Send(message);
}

void
TreeEndpoint::Transmit(Frame* frame)
{
    m_device->GetPort().Send(frame);
}

void
TreeEndpoint::OnResent(uint64_t packets)
{
    m_counters.resent += packets;
}

void
TreeEndpoint::OnDuplicate()
{
    m_counters.duplicates++;
}

void
TreeEndpoint::OnBroken(const TreeConnection& connection)
{
    GiveUp("rank " + std::to_string(m_rank) + ": the connection to its switch of " + GetName() +
           ", endpoint " + std::to_string(connection.GetPeer().endpoint) + ", is broken after " +
           std::to_string(m_retryLimit) + " retries");
}

uint32_t
TreeEndpoint::GetNumber(uint64_t packet, uint32_t window)
{
    const uint64_t numbers = std::numeric_limits<uint32_t>::max() / window * window;
    return static_cast<uint32_t>(packet % numbers);
}

uint32_t
TreeEndpoint::GetTreeCount() const
{
    return static_cast<uint32_t>(m_sums->size());
}

std::pair<uint64_t, uint64_t>
TreeEndpoint::GetPart(uint32_t tree, uint64_t values) const
{
    const uint64_t trees = GetTreeCount();
    return {values * tree / trees, values * (tree + 1) / trees};
}

uint64_t
TreeEndpoint::GetKey(uint32_t connection, uint64_t packet)
{
    return uint64_t{connection} << 40 ^ packet;
}

bool
TreeEndpoint::CheckTensor()
{
    const auto& values = m_tensor->values;
    const auto found = std::find_if(values.begin(), values.end(), [this](float value) {
        return !IsWritable(m_format, value);
    });
    if (found == values.end())
    {
        return true;
    }
    Abort("rank " + std::to_string(m_rank) + ": " + FormatDouble(*found) + " is no " +
          ns3::training::GetName(m_format) + ", which DataType asks for");
    return false;
}

void
TreeEndpoint::Begin(const Tensor& tensor)
{
    NS_LOG_FUNCTION(this << tensor.bytes);
    const bool isBroadcast = GetOperation() == CollectiveOperation::BROADCAST;
    m_tensor = &tensor;
    m_format = isBroadcast ? NumberFormat::FLOAT32 : m_dataType;
    m_contributes = !isBroadcast || m_rank == GetRoot();
    m_values = (tensor.bytes + sizeof(float) - 1) / sizeof(float);
    m_result.clear();
    if (m_contributes && !CheckTensor())
    {
        return;
    }
    NoteAnswer();
    if (m_watch.IsExpired())
    {
        m_watch = Simulator::Schedule(m_failureTimeout, &TreeEndpoint::Watch, this);
    }
    if (m_hostLatency.IsZero())
    {
        Start();
        return;
    }
    m_start = Simulator::Schedule(m_hostLatency, &TreeEndpoint::Start, this);
}

void
TreeEndpoint::End()
{
    if (m_result.empty())
    {
        m_result = m_tensor->values; // of a rank that is not the root
    }
    m_tensor = nullptr;
    Complete(std::move(m_result));
}

void
TreeEndpoint::Halt()
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
TreeEndpoint::NoteAnswer()
{
    m_latestAnswer = Simulator::Now();
}

void
TreeEndpoint::Watch()
{
    if (!m_tensor)
    {
        return;
    }
    const Time silence = Simulator::Now() - m_latestAnswer;
    if (silence >= m_failureTimeout)
    {
        GiveUp("rank " + std::to_string(m_rank) + " has had no answer of " + GetName() + " for " +
               FormatTime(silence) + "; it waits for " + GetMissing());
        return;
    }
    m_watch = Simulator::Schedule(m_failureTimeout - silence, &TreeEndpoint::Watch, this);
}

void
TreeEndpoint::OnLateData(Frame* frame)
{
    OnData(frame); // acknowledgements, and what has to be acknowledged again
}

void
TreeEndpoint::OnData(Frame* frame)
{
    const uint32_t number = frame->destinationQp;
    if (number < m_connections.size() &&
        frame->source == m_connections[number]->GetPeer().endpoint &&
        (frame->opcode == UD_SEND_ONLY || m_connections[number]->Receive(*frame)))
    {
        OnMessage(number, *frame);
    }
    Frame::Free(frame);
}

TreeMessage
TreeEndpoint::MakeMessage(uint32_t connection, uint64_t packet, uint8_t operation) const
{
    TreeMessage message;
    message.header.job = m_group.job;
    message.header.check = m_check.GetPart(GetKey(connection, packet));
    message.header.format = static_cast<uint8_t>(m_format);
    message.header.operation = operation;
    message.header.exponents[0] = NO_EXPONENT;
    return message;
}

void
TreeEndpoint::WriteValues(TreeMessage& message, uint64_t begin, uint64_t end) const
{
    message.payloadBytes = static_cast<uint32_t>((end - begin) * GetBytes(m_format));
    if (!m_tensor->IsReal() || begin == end)
    {
        return;
    }
    const float* const values = m_tensor->values.data() + begin;
    // Of numbers from 2^127 on the bound of the error is not known.
    message.header.exponents[0] =
        IsQuantizable(values, end - begin) ? GetBlockExponent(values, end - begin) : 127;
    message.payload = Create<ByteBuffer>();
    message.payload->bytes.resize(message.payloadBytes);
    WriteNumbers(m_format, values, end - begin, message.payload->bytes.data());
}

void
TreeEndpoint::ReadValues(const Frame& frame, uint64_t begin, uint64_t end, bool isSum)
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
    const int8_t exponent = frame.aggregation.exponents[0];
    if (!isSum || exponent <= m_exponent)
    {
        return;
    }
    m_exponent = exponent;
    for (const TreeSums& sums : *m_sums)
    {
        const auto switches = static_cast<uint32_t>(sums.size());
        m_errorBound =
            std::max(m_errorBound,
                     GetSumErrorBound(m_format, exponent, GetSize(), switches, GetHeight(sums)));
    }
}

bool
TreeEndpoint::Check(const AggregationHeader& header, uint32_t connection, uint64_t packet)
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
TreeEndpoint::GetErrorBound() const
{
    return m_errorBound;
}

std::vector<float>
TreeEndpoint::GetSum(const std::vector<std::vector<float>>& inputs) const
{
    if (inputs.size() == 1)
    {
        return inputs[0];
    }
    std::vector<float> sum(inputs[0].size());
    for (uint32_t tree = 0; tree < GetTreeCount(); tree++)
    {
        const auto [begin, end] = GetPart(tree, sum.size());
        const auto bytes = AddBelow((*m_sums)[tree], 0, m_dataType, inputs, begin, end);
        ReadNumbers(m_dataType, bytes.data(), end - begin, sum.data() + begin);
    }
    return sum;
}

} // namespace ns3::training
