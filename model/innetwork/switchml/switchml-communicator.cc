/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-communicator.h"

#include "switchml-wire-format.h"

#include "ns3/block-quantizer.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-attribute-choice.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

/// Timeout of the paper, ms.
constexpr uint64_t PAPER_TIMEOUT = 1;
/// Timeout of the released client, ms.
constexpr uint64_t CLIENT_TIMEOUT = 10;
/// The released client's timeouts until the timeout doubles, and what is added each time.
constexpr uint32_t CLIENT_THRESHOLD = 100;
/// The released client over RDMA compares whole milliseconds, which must exceed the timeout; ms.
constexpr uint64_t CLIENT_RDMA_DELAY = 1;

} // namespace

NS_LOG_COMPONENT_DEFINE("TrainingSwitchMlCommunicator");
NS_OBJECT_ENSURE_REGISTERED(SwitchMlCommunicator);

TypeId
SwitchMlCommunicator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::SwitchMlCommunicator")
            .SetParent<InNetworkCommunicator>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<SwitchMlCommunicator>()
            .AddAttribute("DataType",
                          "float32 (quantized block by block) or int32 (whole numbers, added as "
                          "they are)",
                          StringValue("float32"),
                          MakeStringAccessor(&SwitchMlCommunicator::SetDataType,
                                             &SwitchMlCommunicator::GetDataType),
                          MakeStringChecker())
            .AddAttribute("Timer",
                          "Rule of retransmissions: paper (a constant 1 ms) or client (that of "
                          "the released client: 10 ms, which doubles, thread by thread)",
                          StringValue("paper"),
                          MakeStringAccessor(&SwitchMlCommunicator::SetTimer,
                                             &SwitchMlCommunicator::GetTimer),
                          MakeStringChecker())
            .AddAttribute("RetransmissionTimeout",
                          "Timeout of the rule, before it doubles; 0: 1 ms or 10 ms, see Timer",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&SwitchMlCommunicator::m_timeout),
                          MakeTimeChecker(Time(0), Seconds(10)))
            .AddAttribute("PacketCost",
                          "CPU time per packet: receive a sum, store it, send the next packet",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&SwitchMlCommunicator::m_packetCost),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Cores",
                          "Cores that share the packets, slot by slot, each with a thread "
                          "(released client: 4)",
                          UintegerValue(4),
                          MakeUintegerAccessor(&SwitchMlCommunicator::m_cores),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Priority",
                          "Traffic class of all packets; 0 is lossy, 3 lossless",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SwitchMlCommunicator::m_priority),
                          MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1));
    return tid;
}

void
SwitchMlCommunicator::DoDispose()
{
    Cancel();
    InNetworkCommunicator::DoDispose();
}

void
SwitchMlCommunicator::SetDataType(std::string type)
{
    m_isInteger =
        FindAllowedValue("SwitchMlCommunicator::DataType", type, {"float32", "int32"}) == 1;
}

std::string
SwitchMlCommunicator::GetDataType() const
{
    return m_isInteger ? "int32" : "float32";
}

uint16_t
SwitchMlCommunicator::GetProtocol() const
{
    return SwitchMlHeader::PROTOCOL;
}

std::string
SwitchMlCommunicator::GetName() const
{
    return "switchml";
}

void
SwitchMlCommunicator::SetSession(const Session& session)
{
    if (GetSize() > MAX_QUANTIZED_GROUP)
    {
        throw ConfigurationError("switchml with " + std::to_string(GetSize()) +
                                 " workers (allowed: up to " + std::to_string(MAX_QUANTIZED_GROUP) +
                                 ")");
    }
    m_session = session;
    m_packets = std::max<uint32_t>(1, session.message);
    m_window = session.window / m_packets;
    if (m_window == 0)
    {
        throw ConfigurationError("switchml messages of " + std::to_string(m_packets) +
                                 " packets (allowed: up to the window, " +
                                 std::to_string(session.window) + ")");
    }
    m_flowHash = HashFlow(GetDevice().GetEndpoint(), session.switchEndpoint, GetJob());
    m_check.Configure(GetJob(), GetRank(), GetSize());
    ConfigureTimers();
    ConfigureLimits();
    m_slots.assign(m_window, Slot());
    m_psns.assign(m_window, 0);
    m_receivers.assign(m_window, UnreliableReceiver());
    m_coresInUse.Configure(m_cores);
}

void
SwitchMlCommunicator::SetTimer(std::string timer)
{
    m_hasClientTimers =
        FindAllowedValue("SwitchMlCommunicator::Timer", timer, {"paper", "client"}) == 1;
}

std::string
SwitchMlCommunicator::GetTimer() const
{
    return m_hasClientTimers ? "client" : "paper";
}

TimeoutRule
SwitchMlCommunicator::GetTimeoutRule() const
{
    TimeoutRule rule;
    rule.timeout = m_timeout;
    if (m_timeout.IsZero())
    {
        rule.timeout = MilliSeconds(m_hasClientTimers ? CLIENT_TIMEOUT : PAPER_TIMEOUT);
    }
    if (!m_hasClientTimers)
    {
        return rule;
    }
    rule.increment = CLIENT_THRESHOLD;
    if (m_session.message > 0)
    {
        rule.threshold = CLIENT_THRESHOLD + 1; // this client's count must exceed the threshold
        rule.delay = MilliSeconds(CLIENT_RDMA_DELAY);
        rule.isKept = true;
        return rule;
    }
    rule.threshold = CLIENT_THRESHOLD;
    rule.firstFactor = std::max<uint32_t>(1, m_window / m_cores);
    rule.isPolled = true;
    return rule;
}

void
SwitchMlCommunicator::ConfigureTimers()
{
    const uint32_t threads = m_hasClientTimers ? std::min(m_cores, m_window) : 1;
    m_timers.resize(threads);
    for (uint32_t thread = 0; thread < threads; thread++)
    {
        m_timers[thread].Configure(
            (m_window - thread + threads - 1) / threads,
            GetTimeoutRule(),
            [this, threads, thread](uint32_t slot) { SendAgain(slot * threads + thread); },
            [this, threads, thread](uint32_t slot, Time silence) {
                OnSilence(slot * threads + thread, silence);
            });
    }
}

void
SwitchMlCommunicator::ConfigureLimits()
{
    if (m_session.lineRate == 0 || m_packetCost.IsStrictlyPositive())
    {
        return; // the cores may be the limit
    }
    uint32_t bytes = 0;
    for (uint32_t packet = 0; packet < m_packets; packet++)
    {
        bytes += Frame::PREAMBLE_BYTES + Frame::GAP_BYTES +
                 (m_session.message > 0
                      ? GetSwitchMlRdmaFrameBytes(GetUnreliableOpcode(packet, m_packets),
                                                  m_session.elements)
                      : GetSwitchMlFrameBytes(m_session.elements));
    }
    SetLimits({m_session.key,
               m_session.window,
               m_window,
               8.0 * bytes / static_cast<double>(m_session.lineRate),
               8.0 * m_packets * m_session.recirculationBytes,
               m_session.recirculationRate});
}

SlotTimers&
SwitchMlCommunicator::GetTimers(uint32_t slot)
{
    return m_timers[slot % m_timers.size()];
}

uint32_t
SwitchMlCommunicator::GetTimerOf(uint32_t slot) const
{
    return slot / static_cast<uint32_t>(m_timers.size());
}

bool
SwitchMlCommunicator::IsWaiting(uint32_t slot) const
{
    return m_timers[slot % m_timers.size()].IsWaiting(GetTimerOf(slot));
}

std::string
SwitchMlCommunicator::DescribeTimers() const
{
    const TimeoutRule rule = GetTimeoutRule();
    const std::string timeout = FormatTime(rule.timeout);
    if (!m_hasClientTimers)
    {
        return "switchml: timers of the paper: packets time out after " + timeout + ", always";
    }
    return "switchml: timers of the released client: packets time out after " + timeout +
           (rule.firstFactor > 1
                ? " (in the first window " + FormatTime(rule.timeout * rule.firstFactor) + ")"
                : "") +
           ", doubled after " + std::to_string(rule.threshold) + " timeouts of a thread, then " +
           std::to_string(rule.threshold + rule.increment) + ", and so on, " +
           (rule.isKept ? "for good" : "until the tensor ends");
}

double
SwitchMlCommunicator::GetPacketBytes() const
{
    return static_cast<double>(sizeof(int32_t) * m_session.elements);
}

double
SwitchMlCommunicator::GetErrorBound() const
{
    return m_errorBound;
}

uint64_t
SwitchMlCommunicator::GetBlockCount(uint64_t bytes) const
{
    const uint64_t message = uint64_t{sizeof(int32_t)} * m_session.elements * m_packets;
    return (bytes + message - 1) / message;
}

std::pair<uint64_t, uint64_t>
SwitchMlCommunicator::GetBlock(uint64_t block, uint64_t values) const
{
    const uint64_t size = uint64_t{m_session.elements} * m_packets;
    return {std::min(block * size, values), std::min(block * size + size, values)};
}

std::pair<uint64_t, uint64_t>
SwitchMlCommunicator::GetRange(uint64_t block, uint32_t packet, uint64_t values) const
{
    const uint64_t begin = (block * m_packets + packet) * m_session.elements;
    return {std::min(begin, values), std::min(begin + m_session.elements, values)};
}

bool
SwitchMlCommunicator::CheckTensor(const Tensor& tensor)
{
    const auto& values = tensor.values;
    if (!m_isInteger && !IsQuantizable(values.data(), values.size()))
    {
        Abort("rank " + std::to_string(GetRank()) +
              ": a value that is not below 2^127 cannot be quantized for switchml");
        return false;
    }
    if (m_isInteger && !AreIntegers(values.data(), values.size()))
    {
        Abort("rank " + std::to_string(GetRank()) +
              ": a value is no 32-bit integer, which DataType int32 asks for");
        return false;
    }
    return true;
}

void
SwitchMlCommunicator::Begin(const Tensor& tensor)
{
    NS_LOG_FUNCTION(this << tensor.bytes);
    m_tensor = &tensor;
    if (!CheckTensor(tensor))
    {
        return;
    }
    m_sum.assign(tensor.values.size(), 0);
    m_blocks = GetBlockCount(tensor.bytes);
    const uint64_t batch = std::min<uint64_t>(m_window, m_blocks);
    m_ahead = m_isInteger ? 0 : batch;
    m_total = m_blocks + m_ahead;
    m_received = 0;
    m_exponents.assign(m_ahead, NO_EXPONENT);
    m_known.assign(m_ahead < m_window ? m_ahead : 0, false);
    for (SlotTimers& timers : m_timers)
    {
        timers.Begin(GetFailureTimeout());
    }
    for (uint64_t message = 0; message < batch; message++)
    {
        Send(message, true);
    }
}

void
SwitchMlCommunicator::CancelTimers()
{
    for (SlotTimers& timers : m_timers)
    {
        timers.Cancel();
    }
}

void
SwitchMlCommunicator::Cancel()
{
    m_tensor = nullptr;
    m_sum.clear();
    CancelTimers();
}

bool
SwitchMlCommunicator::IsKnown(uint64_t message) const
{
    // With a full window the exponent arrived with the sum that freed the slot.
    return message < m_ahead || m_known.empty() || m_known[message - m_ahead];
}

void
SwitchMlCommunicator::SendIfPossible(uint64_t message)
{
    const auto slot = static_cast<uint32_t>((m_first + message) % m_window);
    if (message < m_total && !IsWaiting(slot) && IsKnown(message))
    {
        Send(message, false);
    }
}

void
SwitchMlCommunicator::Send(uint64_t message, bool isFirst)
{
    const auto index = static_cast<uint32_t>((m_first + message) % m_window);
    Slot& slot = m_slots[index];
    slot.message = message;
    slot.taken = 0;
    GetTimers(index).Start(GetTimerOf(index), isFirst);
    CountSent(m_packets);
    SendPackets(slot);
}

void
SwitchMlCommunicator::SendPackets(const Slot& slot)
{
    for (uint32_t packet = 0; packet < m_packets; packet++)
    {
        GetDevice().GetPort().Send(MakeFrame(slot.message, packet));
    }
}

Frame*
SwitchMlCommunicator::MakeFrame(uint64_t message, uint32_t packet)
{
    const uint64_t index = (m_first + message) % (2 * m_window);
    const auto slot = static_cast<uint32_t>(index % m_window);
    const uint64_t number = (m_first + message) * m_packets + packet;
    SwitchMlHeader header;
    header.job = GetJob();
    header.packet = static_cast<uint32_t>(number);
    header.slot = static_cast<uint16_t>(m_session.firstSlot + slot * m_packets + packet);
    header.set = index >= m_window;
    header.check = m_check.GetPart(number);
    header.exponents[0] = NO_EXPONENT;
    header.exponents[1] = NO_EXPONENT;
    if (!m_isInteger && m_tensor->IsReal() && message < m_blocks && packet + 1 == m_packets)
    {
        const auto [begin, end] = GetBlock(message, m_tensor->values.size());
        header.exponents[0] = GetBlockExponent(m_tensor->values.data() + begin, end - begin);
    }
    Frame* frame = Frame::Make(header);
    frame->bytes = GetSwitchMlFrameBytes(m_session.elements);
    frame->payloadBytes = sizeof(int32_t) * m_session.elements;
    frame->source = GetDevice().GetEndpoint();
    frame->destination = m_session.switchEndpoint;
    frame->flowHash = m_flowHash;
    frame->priority = m_priority;
    if (m_session.message > 0)
    {
        FrameForRdma(*frame, slot, packet);
    }
    if (m_tensor->IsReal())
    {
        frame->payload = Create<ByteBuffer>();
        frame->payload->bytes.assign(frame->payloadBytes, 0);
        if (message >= m_ahead)
        {
            WriteValues(*frame, message - m_ahead, packet);
        }
    }
    return frame;
}

void
SwitchMlCommunicator::FrameForRdma(Frame& frame, uint32_t queuePair, uint32_t packet)
{
    frame.opcode = GetUnreliableOpcode(packet, m_packets);
    frame.bytes = GetSwitchMlRdmaFrameBytes(frame.opcode, m_session.elements);
    frame.destinationQp = SWITCHML_QUEUE_PAIRS | GetRank() << 16 | queuePair;
    frame.psn = m_psns[queuePair];
    m_psns[queuePair] = (frame.psn + 1) % PSN_MODULUS;
}

void
SwitchMlCommunicator::WriteValues(Frame& frame, uint64_t block, uint32_t packet) const
{
    const auto [begin, end] = GetRange(block, packet, m_tensor->values.size());
    const double scale =
        m_isInteger ? 1 : GetQuantizationScale(m_exponents[block % m_ahead], GetSize());
    uint8_t* to = frame.payload->bytes.data();
    for (uint64_t i = begin; i < end; i++, to += 4)
    {
        SetWord(to, static_cast<uint32_t>(Quantize(m_tensor->values[i], scale)));
    }
}

void
SwitchMlCommunicator::TakeValues(const Frame& frame, uint64_t block, uint32_t packet)
{
    const auto [begin, end] = GetRange(block, packet, m_sum.size());
    const int8_t exponent = m_isInteger ? NO_EXPONENT : m_exponents[block % m_ahead];
    const double scale = m_isInteger ? 1 : GetQuantizationScale(exponent, GetSize());
    if (!m_isInteger)
    {
        m_errorBound = std::max(m_errorBound, GetQuantizationErrorBound(exponent, GetSize()));
    }
    const uint8_t* from = frame.payload->bytes.data() + frame.payloadOffset;
    for (uint64_t i = begin; i < end; i++, from += 4)
    {
        m_sum[i] = Dequantize(static_cast<int32_t>(GetWord(from)), scale);
    }
}

void
SwitchMlCommunicator::OnData(Frame* frame)
{
    if (m_packetCost.IsZero())
    {
        Process(frame);
        return;
    }
    const Time done = m_coresInUse.Take(frame->As<SwitchMlHeader>().slot / m_packets, m_packetCost);
    Simulator::Schedule(done, &SwitchMlCommunicator::Process, this, frame);
}

void
SwitchMlCommunicator::Process(Frame* frame)
{
    const auto header = frame->As<SwitchMlHeader>();
    if (m_session.message > 0 &&
        (frame->destinationQp >= m_window ||
         !m_receivers[frame->destinationQp].Accept(frame->opcode, frame->psn)))
    {
        Frame::Free(frame);
        return;
    }
    // Packet numbers of a tensor differ by less than 2^32.
    const uint32_t offset = header.packet - static_cast<uint32_t>(m_first * m_packets);
    const uint64_t message = offset / m_packets;
    const uint32_t packet = offset % m_packets;
    const auto index = static_cast<uint32_t>((m_first + message) % m_window);
    Slot& slot = m_slots[index];
    const bool isWanted = m_tensor && IsWaiting(index) && slot.message == message;
    if (isWanted && packet == 0)
    {
        slot.taken = 0; // the message is answered again
    }
    if (!isWanted || packet != slot.taken)
    {
        NS_LOG_LOGIC("rank " << GetRank() << ": packet " << header.packet << " is not awaited");
        CountDuplicate();
        Frame::Free(frame);
        return;
    }
    const bool isComplete = header.check == m_check.GetWhole(m_first * m_packets + offset);
    if (!isComplete || header.overflow)
    {
        Frame::Free(frame);
        Abort("the sum of packet " + std::to_string(header.packet) + " in slot " +
              std::to_string(header.slot) + " of switchml job " + std::to_string(header.job) +
              (isComplete ? " overflows 32 bits" : " does not hold each worker's part once"));
        return;
    }
    CountReceived();
    if (m_tensor->IsReal() && message >= m_ahead)
    {
        TakeValues(*frame, message - m_ahead, packet);
    }
    Frame::Free(frame);
    if (++slot.taken == m_packets)
    {
        Finish(slot, header);
    }
}

void
SwitchMlCommunicator::Finish(Slot& slot, const SwitchMlHeader& header)
{
    const uint64_t message = slot.message;
    // Only a complete message counts as an answer.
    const auto index = static_cast<uint32_t>((m_first + message) % m_window);
    GetTimers(index).Stop(GetTimerOf(index));
    m_received++;
    if (m_ahead > 0 && message < m_blocks)
    {
        m_exponents[message % m_ahead] = header.exponents[0];
        if (!m_known.empty())
        {
            m_known[message] = true;
            SendIfPossible(message + m_ahead);
        }
    }
    SendIfPossible(message + m_window);
    if (m_received == m_total)
    {
        NS_LOG_LOGIC("rank " << GetRank() << " has the sums of all " << m_total << " messages");
        m_first += m_total;
        m_tensor = nullptr;
        CancelTimers();
        NoteRate(m_total);
        Complete(std::move(m_sum));
    }
}

void
SwitchMlCommunicator::SendAgain(uint32_t slot)
{
    NS_LOG_LOGIC("rank " << GetRank() << ": message " << m_slots[slot].message << " in slot "
                         << slot << " has no answer, and is sent again");
    CountResent(m_packets);
    SendPackets(m_slots[slot]);
}

void
SwitchMlCommunicator::OnSilence(uint32_t slot, Time silence)
{
    GiveUp("rank " + std::to_string(GetRank()) + " has had no answer to packet " +
           std::to_string((m_first + m_slots[slot].message) * m_packets) + " in slot " +
           std::to_string(m_session.firstSlot + slot * m_packets) +
           " of switchml, nor to any other, for " +
           FormatTime(MicroSeconds(silence.GetMicroSeconds())));
}

std::string
SwitchMlCommunicator::GetMissing() const
{
    const auto threads = static_cast<uint32_t>(m_timers.size());
    uint32_t thread = 0;
    while (thread + 1 < threads && m_timers[thread].GetOldest() == SlotTimers::NONE)
    {
        thread++;
    }
    if (m_timers[thread].GetOldest() == SlotTimers::NONE)
    {
        return "its own cores";
    }
    const uint32_t slot = m_timers[thread].GetOldest() * threads + thread;
    return "the sum of packet " + std::to_string((m_first + m_slots[slot].message) * m_packets) +
           " in slot " + std::to_string(m_session.firstSlot + slot * m_packets) + " (" +
           std::to_string(m_received) + " of " + std::to_string(m_total) + " received)";
}

std::vector<float>
SwitchMlCommunicator::GetSum(const std::vector<std::vector<float>>& inputs) const
{
    if (inputs.size() == 1)
    {
        return inputs[0];
    }
    std::vector<float> sum(inputs[0].size());
    const auto workers = static_cast<uint32_t>(inputs.size());
    for (uint64_t block = 0; block < GetBlockCount(sum.size() * sizeof(float)); block++)
    {
        const auto [begin, end] = GetBlock(block, sum.size());
        int8_t exponent = NO_EXPONENT;
        for (const auto& input : inputs)
        {
            exponent = std::max(exponent, GetBlockExponent(input.data() + begin, end - begin));
        }
        const double scale = m_isInteger ? 1 : GetQuantizationScale(exponent, workers);
        for (uint64_t i = begin; i < end; i++)
        {
            int64_t total = 0;
            for (const auto& input : inputs)
            {
                total += Quantize(input[i], scale);
            }
            sum[i] = Dequantize(static_cast<int32_t>(total), scale);
        }
    }
    return sum;
}

} // namespace ns3::training
