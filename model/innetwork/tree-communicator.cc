/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tree-communicator.h"

#include "ns3/log.h"
#include "ns3/quantity.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tree-wire-format.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTreeCommunicator");
NS_OBJECT_ENSURE_REGISTERED(TreeCommunicator);

namespace
{

/** @return the sum that a switch makes of numbers [begin, end), as it is written */
std::vector<uint8_t>
AddBelow(const TreeCommunicator::Sums& sums,
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
GetHeight(const TreeCommunicator::Sums& sums, uint32_t at = 0)
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
TreeCommunicator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::TreeCommunicator")
            .SetParent<InNetworkCommunicator>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<TreeCommunicator>()
            .AddAttribute(
                "DataType",
                "What numbers travel and are added as: float32, float16, bfloat16, or "
                "int32 (whole numbers)",
                StringValue("float32"),
                MakeStringAccessor(&TreeCommunicator::SetDataType, &TreeCommunicator::GetDataType),
                MakeStringChecker())
            .AddAttribute("Trees",
                          "Trees that share each tensor, with roots of their own if there are "
                          "several equally good ones",
                          UintegerValue(1),
                          MakeUintegerAccessor(&TreeCommunicator::m_trees),
                          MakeUintegerChecker<uint32_t>(1, 64))
            .AddAttribute("StreamingThreshold",
                          "Largest message, bytes of values, that does not go by streaming trees "
                          "(SHARP: 16384)",
                          UintegerValue(16384),
                          MakeUintegerAccessor(&TreeCommunicator::m_threshold),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("LockBatch",
                          "Messages for which a streaming tree is locked; 0: for good (SHARP: "
                          "infinity; 1 if several jobs want it)",
                          UintegerValue(0),
                          MakeUintegerAccessor(&TreeCommunicator::m_lockBatch),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("AckInterval",
                          "Packets of a connection for each acknowledgement",
                          UintegerValue(16),
                          MakeUintegerAccessor(&TreeCommunicator::m_ackInterval),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("AckDelay",
                          "From a packet to its acknowledgement at most",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&TreeCommunicator::m_ackDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("RetransmissionTimeout",
                          "Time without progress of a connection until its packets are sent again; "
                          "doubles (SHARP: code 18, 1.07 s, for links that lose nothing)",
                          TimeValue(MilliSeconds(4)),
                          MakeTimeAccessor(&TreeCommunicator::m_timeout),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("RetryLimit",
                          "Timeouts without progress before a connection is given up (SHARP: 7)",
                          UintegerValue(7),
                          MakeUintegerAccessor(&TreeCommunicator::m_retryLimit),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Priority",
                          "Traffic class of all packets; 0 is lossy, 3 lossless",
                          UintegerValue(3),
                          MakeUintegerAccessor(&TreeCommunicator::m_priority),
                          MakeUintegerChecker<uint8_t>(0, 7))
            .AddAttribute("HostLatency",
                          "From the start of an operation to its first packet: library, doorbell, "
                          "DMA",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&TreeCommunicator::m_hostLatency),
                          MakeTimeChecker(Time(0)));
    return tid;
}

void
TreeCommunicator::DoDispose()
{
    Halt();
    m_channels.clear();
    InNetworkCommunicator::DoDispose();
}

bool
TreeCommunicator::SetDataType(std::string type)
{
    const NumberFormat format = FindNumberFormat(type);
    if (format == NumberFormat::COUNT)
    {
        return false;
    }
    m_dataType = format;
    return true;
}

std::string
TreeCommunicator::GetDataType() const
{
    return ns3::training::GetName(m_dataType);
}

std::string
TreeCommunicator::GetName() const
{
    return "tree";
}

uint32_t
TreeCommunicator::GetTrees() const
{
    return m_trees;
}

TreeConnection::Settings
TreeCommunicator::GetSettings() const
{
    return {m_ackInterval, m_ackDelay, m_timeout, m_retryLimit, m_priority, 0};
}

NumberFormat
TreeCommunicator::GetNumberFormat() const
{
    return m_dataType;
}

uint32_t
TreeCommunicator::GetQueuePair(uint32_t tree, bool streaming)
{
    return 2 * tree + streaming;
}

void
TreeCommunicator::SetSession(const Session& session)
{
    m_session = session;
    m_check.Configure(m_group.job, m_rank, GetSize());
    m_locks.assign(session.places.size(), Lock());
    m_channels.clear();
    TreeConnection::Owner& owner = *this;
    for (uint32_t tree = 0; tree < session.places.size(); tree++)
    {
        const Place& place = session.places[tree];
        for (const bool streaming : {false, true})
        {
            Channel channel;
            const TreeConnection::Peer peer{place.switchEndpoint,
                                            streaming ? place.streaming : place.lowLatency};
            channel.connection = std::make_unique<TreeConnection>(owner,
                                                                  m_device->GetEndpoint(),
                                                                  peer,
                                                                  m_group.job,
                                                                  GetSettings());
            channel.tree = tree;
            channel.isStreaming = streaming;
            channel.window = streaming ? session.credits : session.window;
            m_channels.push_back(std::move(channel));
        }
    }
}

double
TreeCommunicator::GetErrorBound() const
{
    return m_errorBound;
}

bool
TreeCommunicator::HasStreamed() const
{
    return m_hasStreamed;
}

bool
TreeCommunicator::Makes(CollectiveOperation operation) const
{
    return operation == CollectiveOperation::ALL_REDUCE ||
           operation == CollectiveOperation::REDUCE ||
           operation == CollectiveOperation::BROADCAST || operation == CollectiveOperation::BARRIER;
}

void
TreeCommunicator::Transmit(Frame* frame)
{
    m_device->GetPort().Send(frame);
}

void
TreeCommunicator::OnResent(uint64_t packets)
{
    m_counters.resent += packets;
}

void
TreeCommunicator::OnDuplicate()
{
    m_counters.duplicates++;
}

void
TreeCommunicator::OnBroken(const TreeConnection& connection)
{
    GiveUp("rank " + std::to_string(m_rank) + ": the connection to its switch of tree, endpoint " +
           std::to_string(connection.GetPeer().endpoint) + ", is broken after " +
           std::to_string(m_retryLimit) + " retries");
}

std::pair<uint64_t, uint64_t>
TreeCommunicator::GetPart(uint32_t tree, uint64_t values) const
{
    const uint64_t trees = m_session.places.size();
    return {values * tree / trees, values * (tree + 1) / trees};
}

std::pair<uint64_t, uint64_t>
TreeCommunicator::GetRange(const Channel& channel, uint64_t packet) const
{
    const uint64_t begin = channel.begin + packet * channel.elements;
    return {std::min(begin, channel.end), std::min(begin + channel.elements, channel.end)};
}

uint32_t
TreeCommunicator::GetNumber(const Channel& channel, uint64_t packet) const
{
    // A multiple of the window, as slots are numbers modulo the window.
    const uint64_t numbers = std::numeric_limits<uint32_t>::max() / channel.window * channel.window;
    return static_cast<uint32_t>((channel.first + packet) % numbers);
}

uint64_t
TreeCommunicator::GetKey(const Channel& channel, uint64_t packet) const
{
    return uint64_t{GetQueuePair(channel.tree, channel.isStreaming)} << 40 ^
           (channel.first + packet);
}

bool
TreeCommunicator::CheckTensor()
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
TreeCommunicator::Begin(const Tensor& tensor)
{
    NS_LOG_FUNCTION(this << tensor.bytes);
    const CollectiveOperation operation = GetOperation();
    const bool isBroadcast = operation == CollectiveOperation::BROADCAST;
    m_tensor = &tensor;
    m_format = isBroadcast ? NumberFormat::FLOAT32 : m_dataType;
    m_contributes = !isBroadcast || m_rank == GetRoot();
    m_values = (tensor.bytes + sizeof(float) - 1) / sizeof(float);
    m_result.clear();
    if (m_contributes && !CheckTensor())
    {
        return;
    }
    m_latestAnswer = Simulator::Now();
    if (m_watch.IsExpired())
    {
        m_watch = Simulator::Schedule(m_failureTimeout, &TreeCommunicator::Watch, this);
    }
    if (m_hostLatency.IsZero())
    {
        Start();
        return;
    }
    m_start = Simulator::Schedule(m_hostLatency, &TreeCommunicator::Start, this);
}

void
TreeCommunicator::Start()
{
    const auto trees = static_cast<uint32_t>(m_session.places.size());
    m_streams = m_values * GetBytes(m_format) > m_threshold;
    const auto isEmpty = [this](uint32_t tree) {
        const auto [begin, end] = GetPart(tree, m_values);
        return begin == end && (tree > 0 || m_values > 0); // a barrier is a packet of the first
    };
    m_partsLeft = 0;
    for (uint32_t tree = 0; tree < trees; tree++)
    {
        m_partsLeft += isEmpty(tree) ? 0 : 1;
    }
    for (uint32_t tree = 0; tree < trees; tree++)
    {
        if (isEmpty(tree))
        {
            continue;
        }
        if (m_streams && !m_locks[tree].held)
        {
            StartLock(tree);
        }
        else
        {
            StartPart(tree, m_streams);
        }
    }
}

void
TreeCommunicator::StartLock(uint32_t tree)
{
    Channel& channel = m_channels[GetQueuePair(tree, false)];
    channel.Begin(0, 0, 1);
    channel.locks = true;
    channel.unlocks = false;
    Pump(channel);
}

void
TreeCommunicator::StartPart(uint32_t tree, bool streaming)
{
    Channel& channel = m_channels[GetQueuePair(tree, streaming)];
    const auto [begin, end] = GetPart(tree, m_values);
    channel.Begin(begin,
                  end,
                  streaming ? m_session.streamingBytes / GetBytes(m_format) : m_session.elements);
    channel.locks = false;
    channel.unlocks = streaming && ++m_locks[tree].used == m_lockBatch;
    Pump(channel);
}

void
TreeCommunicator::Channel::Begin(uint64_t from, uint64_t to, uint32_t numbers)
{
    first += total;
    begin = from;
    end = to;
    elements = numbers;
    total = std::max<uint64_t>(1, (to - from + numbers - 1) / numbers);
    sent = 0;
    received = 0;
}

void
TreeCommunicator::Pump(Channel& channel)
{
    while (channel.sent < channel.total && channel.sent - channel.received < channel.window)
    {
        SendPacket(channel);
    }
}

void
TreeCommunicator::SendPacket(Channel& channel)
{
    const uint64_t packet = channel.sent++;
    const auto [begin, end] = GetRange(channel, packet);
    const bool isLast = channel.sent == channel.total;
    TreeMessage message;
    AggregationHeader& header = message.header;
    header.job = m_group.job;
    header.packet = GetNumber(channel, packet);
    header.check = m_check.GetPart(GetKey(channel, packet));
    header.format = static_cast<uint8_t>(m_format);
    header.operation =
        (channel.locks ? TREE_LOCK : 0) | (channel.unlocks && isLast ? TREE_UNLOCK : 0) |
        (!channel.locks && GetOperation() == CollectiveOperation::REDUCE ? TREE_TO_ONE : 0);
    header.slot = static_cast<uint16_t>(GetRoot());
    header.exponents[0] = NO_EXPONENT;
    if (m_contributes)
    {
        message.payloadBytes = static_cast<uint32_t>((end - begin) * GetBytes(m_format));
    }
    if (message.payloadBytes > 0 && m_tensor->IsReal())
    {
        const float* const values = m_tensor->values.data() + begin;
        // Of numbers from 2^127 on the bound of the error is not known.
        header.exponents[0] =
            IsQuantizable(values, end - begin) ? GetBlockExponent(values, end - begin) : 127;
        message.payload = Create<ByteBuffer>();
        message.payload->bytes.resize(message.payloadBytes);
        WriteNumbers(m_format, values, end - begin, message.payload->bytes.data());
    }
    m_counters.sent++;
    channel.connection->Send(message);
}

void
TreeCommunicator::OnLateData(Frame* frame)
{
    OnData(frame); // acknowledgements, and what has to be acknowledged again
}

void
TreeCommunicator::OnData(Frame* frame)
{
    Channel* const channel =
        frame->destinationQp < m_channels.size() ? &m_channels[frame->destinationQp] : nullptr;
    if (channel && frame->source == channel->connection->GetPeer().endpoint &&
        (frame->opcode == UD_SEND_ONLY || channel->connection->Receive(*frame)))
    {
        OnResult(*channel, *frame);
    }
    Frame::Free(frame);
}

void
TreeCommunicator::OnResult(Channel& channel, const Frame& frame)
{
    const AggregationHeader& header = frame.aggregation;
    const bool isExpected = m_tensor && channel.received < channel.sent &&
                            header.packet == GetNumber(channel, channel.received);
    if (!isExpected)
    {
        m_counters.duplicates++; // it has come by multicast, or does so before those ahead of it
        return;
    }
    if (header.overflow || header.check != m_check.GetWhole(GetKey(channel, channel.received)))
    {
        Abort("the sum of packet " + std::to_string(header.packet) + " of tree job " +
              std::to_string(header.job) +
              (header.overflow ? " overflows " + ns3::training::GetName(m_format)
                               : std::string(" does not hold each rank's part once")));
        return;
    }
    m_latestAnswer = Simulator::Now();
    m_counters.received++;
    if (channel.locks)
    {
        channel.received++;
        TakeLock(channel.tree, !(header.operation & TREE_REFUSED));
        return;
    }
    if (frame.payload)
    {
        TakeValues(channel, frame);
    }
    channel.received++;
    if (channel.received < channel.total)
    {
        Pump(channel);
        return;
    }
    if (channel.unlocks)
    {
        m_locks[channel.tree] = Lock();
    }
    if (--m_partsLeft == 0)
    {
        if (m_result.empty())
        {
            m_result = m_tensor->values; // of a rank that is not the root
        }
        m_tensor = nullptr;
        m_hasStreamed = m_streams;
        Complete(std::move(m_result));
    }
}

void
TreeCommunicator::TakeLock(uint32_t tree, bool granted)
{
    NS_LOG_LOGIC("rank " << m_rank << ": streaming tree " << tree << (granted ? "" : " not")
                         << " granted");
    m_locks[tree].held = granted;
    m_streams = m_streams && granted;
    StartPart(tree, granted);
}

void
TreeCommunicator::TakeValues(const Channel& channel, const Frame& frame)
{
    const auto [begin, end] = GetRange(channel, channel.received);
    m_result.resize(m_values);
    ReadNumbers(m_format,
                frame.payload->bytes.data() + frame.payloadOffset,
                end - begin,
                m_result.data() + begin);
    const int8_t exponent = frame.aggregation.exponents[0];
    if (GetOperation() == CollectiveOperation::BROADCAST || exponent <= m_exponent)
    {
        return;
    }
    m_exponent = exponent;
    for (const Sums& sums : *m_session.sums)
    {
        const auto switches = static_cast<uint32_t>(sums.size());
        m_errorBound =
            std::max(m_errorBound,
                     GetSumErrorBound(m_format, exponent, GetSize(), switches, GetHeight(sums)));
    }
}

void
TreeCommunicator::Watch()
{
    if (!m_tensor)
    {
        return;
    }
    const Time silence = Simulator::Now() - m_latestAnswer;
    if (silence >= m_failureTimeout)
    {
        GiveUp("rank " + std::to_string(m_rank) + " has had no answer of tree for " +
               FormatTime(silence) + "; it waits for " + GetMissing());
        return;
    }
    m_watch = Simulator::Schedule(m_failureTimeout - silence, &TreeCommunicator::Watch, this);
}

void
TreeCommunicator::Halt()
{
    m_tensor = nullptr;
    m_result.clear();
    for (Channel& channel : m_channels)
    {
        channel.connection->Close();
    }
    Simulator::Cancel(m_watch);
    Simulator::Cancel(m_start);
}

std::string
TreeCommunicator::GetMissing() const
{
    const auto found = std::find_if(m_channels.begin(), m_channels.end(), [](const auto& channel) {
        return channel.received < channel.total;
    });
    if (found == m_channels.end())
    {
        return "its own host";
    }
    return (found->locks ? "the lock of tree " : "the sum of tree ") + std::to_string(found->tree) +
           ", packet " + std::to_string(GetNumber(*found, found->received)) + " (" +
           std::to_string(found->received) + " of " + std::to_string(found->total) + " received)";
}

std::vector<float>
TreeCommunicator::GetSum(const std::vector<std::vector<float>>& inputs) const
{
    if (inputs.size() == 1)
    {
        return inputs[0];
    }
    std::vector<float> sum(inputs[0].size());
    for (uint32_t tree = 0; tree < m_session.places.size(); tree++)
    {
        const auto [begin, end] = GetPart(tree, sum.size());
        const auto bytes = AddBelow((*m_session.sums)[tree], 0, m_dataType, inputs, begin, end);
        ReadNumbers(m_dataType, bytes.data(), end - begin, sum.data() + begin);
    }
    return sum;
}

} // namespace ns3::training
