/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-communicator.h"

#include "core/attribute-choice.h"

#include "ns3/block-quantizer.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitchMlCommunicator");
NS_OBJECT_ENSURE_REGISTERED(SwitchMlCommunicator);

TypeId
SwitchMlCommunicator::GetTypeId()
{
    static TypeId tid = AddPacketAttributes(
        AddDataType(TypeId("ns3::training::SwitchMlCommunicator")
                        .SetParent<InNetworkCommunicator>()
                        .SetGroupName("DistributedTraining")
                        .AddConstructor<SwitchMlCommunicator>(),
                    "quantized block by block")
            .AddAttribute("Timer",
                          "Rule of retransmissions: paper (a constant 1 ms) or client (that of "
                          "the released client: 10 ms, which doubles, thread by thread)",
                          StringValue("paper"),
                          MakeStringAccessor(&SwitchMlCommunicator::SetTimer,
                                             &SwitchMlCommunicator::GetTimer),
                          MakeStringChecker())
            .AddAttribute("RetransmissionTimeout",
                          "Timeout of the rule, before it doubles, or four windows on the slowest "
                          "line if that is longer; 0: 1 ms or 10 ms, see Timer",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&SwitchMlCommunicator::m_timeout),
                          MakeTimeChecker(Time(0), Seconds(10))),
        "a sum",
        "Cores that share the packets, slot by slot, each with a thread (released client: 4)");
    return tid;
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
    SetPackets(session.elements);
    const double line = GetLineSeconds();
    m_timers.Configure(
        {m_hasClientTimers, session.message > 0, m_timeout, m_coreCount, m_window, line},
        [this](uint32_t slot) { SendAgain(slot); },
        [this](uint32_t slot, Time silence) { OnSilence(slot, silence); });
    if (session.lineRate > 0 && m_packetCost.IsZero()) // otherwise cores may be the limit
    {
        SetLimits({session.key,
                   session.window,
                   m_window,
                   line,
                   8.0 * m_packets * session.recirculationBytes,
                   session.recirculationRate});
    }
    m_slots.assign(m_window, Slot());
    m_psns.assign(m_window, 0);
    m_receivers.assign(m_window, UnreliableReceiver());
}

void
SwitchMlCommunicator::SetTimer(std::string timer)
{
    m_hasClientTimers =
        FindAllowedValue("SwitchMlCommunicator::Timer", timer, {"paper", "client"}) == 1;
}

double
SwitchMlCommunicator::GetLineSeconds() const
{
    uint32_t bytes = 0;
    for (uint32_t packet = 0; packet < m_packets; packet++)
    {
        bytes +=
            Frame::PREAMBLE_BYTES + Frame::GAP_BYTES +
            (m_session.message > 0
                 ? GetSwitchMlRdmaFrameBytes(GetUnreliableOpcode(packet, m_packets), m_elements)
                 : GetSwitchMlFrameBytes(m_elements));
    }
    const uint64_t rate =
        m_session.lineRate > 0 ? m_session.lineRate : GetDevice().GetPort().GetRate();
    return 8.0 * bytes / static_cast<double>(rate);
}

uint64_t
SwitchMlCommunicator::GetBlockCount(uint64_t bytes) const
{
    const uint64_t message = uint64_t{sizeof(int32_t)} * m_elements * m_packets;
    return (bytes + message - 1) / message;
}

std::pair<uint64_t, uint64_t>
SwitchMlCommunicator::GetBlock(uint64_t block, uint64_t values) const
{
    const uint64_t size = uint64_t{m_elements} * m_packets;
    return {std::min(block * size, values), std::min(block * size + size, values)};
}

void
SwitchMlCommunicator::Begin(const Tensor& tensor)
{
    NS_LOG_FUNCTION(this << tensor.bytes);
    if (!BeginTensor(tensor))
    {
        return;
    }
    if (!m_isInteger && !IsQuantizable(tensor.values.data(), tensor.values.size()))
    {
        Abort("rank " + std::to_string(GetRank()) +
              ": a value that is not below 2^127 cannot be quantized for switchml");
        return;
    }
    m_blocks = GetBlockCount(tensor.bytes);
    const uint64_t batch = std::min<uint64_t>(m_window, m_blocks);
    m_ahead = m_isInteger ? 0 : batch;
    m_total = m_blocks + m_ahead;
    m_received = 0;
    m_exponents.assign(m_ahead, NO_EXPONENT);
    m_known.assign(m_ahead < m_window ? m_ahead : 0, false);
    m_timers.Begin(GetFailureTimeout());
    for (uint64_t message = 0; message < batch; message++)
    {
        Send(message, true);
    }
}

void
SwitchMlCommunicator::Cancel()
{
    PacketWorker::Cancel();
    m_timers.Cancel();
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
    if (message < m_total && !m_timers.IsWaiting(slot) && IsKnown(message))
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
    m_timers.Start(index, isFirst);
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
    Frame* frame = PacketWorker::MakeFrame(header,
                                           GetSwitchMlFrameBytes(m_elements),
                                           sizeof(int32_t) * m_elements,
                                           m_session.switchEndpoint,
                                           m_flowHash);
    if (m_session.message > 0)
    {
        FrameForRdma(*frame, slot, packet);
    }
    if (m_tensor->IsReal() && message >= m_ahead)
    {
        WriteValues(*frame, message - m_ahead, packet);
    }
    return frame;
}

void
SwitchMlCommunicator::FrameForRdma(Frame& frame, uint32_t queuePair, uint32_t packet)
{
    frame.opcode = GetUnreliableOpcode(packet, m_packets);
    frame.bytes = GetSwitchMlRdmaFrameBytes(frame.opcode, m_elements);
    frame.destinationQp = SWITCHML_QUEUE_PAIRS | GetRank() << 16 | queuePair;
    frame.psn = m_psns[queuePair];
    m_psns[queuePair] = (frame.psn + 1) % PSN_MODULUS;
}

void
SwitchMlCommunicator::WriteValues(Frame& frame, uint64_t block, uint32_t packet) const
{
    const auto [begin, end] = GetRange(block * m_packets + packet, m_tensor->values.size());
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
    const auto [begin, end] = GetRange(block * m_packets + packet, m_result.size());
    const int8_t exponent = m_isInteger ? NO_EXPONENT : m_exponents[block % m_ahead];
    const double scale = m_isInteger ? 1 : GetQuantizationScale(exponent, GetSize());
    if (!m_isInteger)
    {
        m_errorBound = std::max(m_errorBound, GetQuantizationErrorBound(exponent, GetSize()));
    }
    const uint8_t* from = GetPayload(frame);
    for (uint64_t i = begin; i < end; i++, from += 4)
    {
        m_result[i] = Dequantize(static_cast<int32_t>(GetWord(from)), scale);
    }
}

void
SwitchMlCommunicator::OnData(Frame* frame)
{
    m_cores.Process(frame->As<SwitchMlHeader>().slot / m_packets,
                    m_packetCost,
                    &SwitchMlCommunicator::Process,
                    this,
                    frame);
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
    const bool isWanted = m_tensor && m_timers.IsWaiting(index) && slot.message == message;
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
    m_timers.Stop(index);
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
        m_timers.Cancel();
        NoteRate(m_total);
        Complete(std::move(m_result));
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
    GiveUp(DescribeSilence("answer",
                           "to",
                           (m_first + m_slots[slot].message) * m_packets,
                           m_session.firstSlot + slot * m_packets,
                           silence));
}

std::string
SwitchMlCommunicator::GetMissing() const
{
    const uint32_t slot = m_timers.GetOldest();
    if (slot == SlotTimers::NONE)
    {
        return "its own cores";
    }
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
