/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-communicator.h"

#include "atp-wire-format.h"

#include "ns3/block-quantizer.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/number-format.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-attribute-choice.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"
#include "ns3/wire-bytes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingAtpCommunicator");
NS_OBJECT_ENSURE_REGISTERED(AtpCommunicator);

namespace
{

/// Minimum timeout, in window transmission times on the worker's line.
constexpr double WINDOWS_BEFORE_TIMEOUT = 4;
/// Packets to retransmit per result after a timeout; doubles them every round trip.
constexpr uint32_t PACKETS_FOR_RESULT = 2;
constexpr int64_t MAX_INTEGER = std::numeric_limits<int32_t>::max();
const char* const CONTROLS[] = {"fixed", "ecn", "a2tp"};

} // namespace

TypeId
AtpCommunicator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::AtpCommunicator")
            .SetParent<InNetworkCommunicator>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<AtpCommunicator>()
            .AddAttribute(
                "ParameterServers",
                "Hosts with the job's servers, up to 4, separated by commas; auto: one on "
                "the first host without a rank, or else on that of the last rank",
                StringValue("auto"),
                MakeStringAccessor(&AtpCommunicator::m_servers),
                MakeStringChecker())
            .AddAttribute(
                "DataType",
                "float32 (multiplied by ScalingFactor) or int32 (whole numbers, added as "
                "they are)",
                StringValue("float32"),
                MakeStringAccessor(&AtpCommunicator::SetDataType, &AtpCommunicator::GetDataType),
                MakeStringChecker())
            .AddAttribute("ScalingFactor",
                          "From float32 values to integers (released client: 1e6; paper: 1e8)",
                          DoubleValue(1e6),
                          MakeDoubleAccessor(&AtpCommunicator::m_scalingFactor),
                          MakeDoubleChecker<double>(std::numeric_limits<float>::min()))
            .AddAttribute("LargestValue",
                          "Packets with a value above that in magnitude go as floats (released "
                          "client: 213)",
                          DoubleValue(213),
                          MakeDoubleAccessor(&AtpCommunicator::m_largestValue),
                          MakeDoubleChecker<double>(0))
            .AddAttribute(
                "WindowControl",
                "fixed, ecn (ATP) or a2tp (two windows)",
                StringValue("ecn"),
                MakeStringAccessor(&AtpCommunicator::SetControl, &AtpCommunicator::GetControlName),
                MakeStringChecker())
            .AddAttribute("Threads",
                          "Threads of the client: cores that share the packets, and steps of the "
                          "window; of a default window each has 100 packets (released client: 12)",
                          UintegerValue(12),
                          MakeUintegerAccessor(&AtpCommunicator::m_threads),
                          MakeUintegerChecker<uint32_t>(1, 1000))
            .AddAttribute("BaseRoundTrip",
                          "A2TP: results within that time are urgent (released client: 20 us)",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&AtpCommunicator::m_baseRoundTrip),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("InitialTimeout",
                          "Retransmission timeout until the first result of a tensor (released "
                          "client: 50 ms)",
                          TimeValue(MilliSeconds(50)),
                          MakeTimeAccessor(&AtpCommunicator::m_initialTimeout),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("RetransmissionTimeout",
                          "The same afterwards, or four windows on the worker's line if that is "
                          "longer (released client: 200 us)",
                          TimeValue(MicroSeconds(200)),
                          MakeTimeAccessor(&AtpCommunicator::m_timeout),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("ReorderingThreshold",
                          "Results of later packets that trigger a retransmission (paper: 3; "
                          "released client: 1); 0: only after timeouts",
                          UintegerValue(3),
                          MakeUintegerAccessor(&AtpCommunicator::m_reorderingThreshold),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("JobPriority",
                          "Of the job where switches have Preemption (ESA), 0 to 127",
                          UintegerValue(0),
                          MakeUintegerAccessor(&AtpCommunicator::m_jobPriority),
                          MakeUintegerChecker<uint8_t>(0, ATP_MAX_PRIORITY))
            .AddAttribute("PacketCost",
                          "CPU time per packet: receive a result, store it, send the next packet",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&AtpCommunicator::m_packetCost),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Priority",
                          "Traffic class of all packets; 0 is lossy, 3 lossless",
                          UintegerValue(0),
                          MakeUintegerAccessor(&AtpCommunicator::m_priority),
                          MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1));
    return tid;
}

void
AtpCommunicator::DoDispose()
{
    Cancel();
    InNetworkCommunicator::DoDispose();
}

void
AtpCommunicator::SetDataType(std::string type)
{
    m_isInteger = FindAllowedValue("AtpCommunicator::DataType", type, {"float32", "int32"}) == 1;
}

std::string
AtpCommunicator::GetDataType() const
{
    return m_isInteger ? "int32" : "float32";
}

void
AtpCommunicator::SetControl(std::string control)
{
    m_control = static_cast<AtpWindow::Control>(
        FindAllowedValue("AtpCommunicator::WindowControl",
                         control,
                         {std::begin(CONTROLS), std::end(CONTROLS)}));
}

std::string
AtpCommunicator::GetControlName() const
{
    return CONTROLS[static_cast<std::size_t>(m_control)];
}

AtpWindow::Control
AtpCommunicator::GetControl() const
{
    return m_control;
}

const std::string&
AtpCommunicator::GetServers() const
{
    return m_servers;
}

uint32_t
AtpCommunicator::GetThreads() const
{
    return m_threads;
}

const AtpWindow&
AtpCommunicator::GetWindow() const
{
    return m_window;
}

uint16_t
AtpCommunicator::GetProtocol() const
{
    return AtpHeader::PROTOCOL;
}

std::string
AtpCommunicator::GetName() const
{
    return "atp";
}

void
AtpCommunicator::SetSession(const Session& session)
{
    m_session = session;
    m_flowHashes.clear();
    for (const Route& route : session.routes)
    {
        m_flowHashes.push_back(HashFlow(GetDevice().GetEndpoint(), route.server, GetJob()));
    }
    m_check.Configure(GetJob(), GetRank(), GetSize());
    const uint32_t bytes = GetAtpFrameBytes(session.elements, session.isExtended);
    const double line = 8.0 * (bytes + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES) /
                        static_cast<double>(GetDevice().GetPort().GetRate());
    m_usualTimeout = std::max(m_timeout, Seconds(WINDOWS_BEFORE_TIMEOUT * line * session.window));
    m_slotOf.Reset(GetJob(), session.window, session.slots);
    m_window.Reset(m_control,
                   session.window,
                   m_threads,
                   bytes - FCS_BYTES,
                   m_baseRoundTrip.GetTimeStep());
    m_slots.assign(session.window, Slot());
    m_cores.Configure(1);
    // Otherwise cores, or the line of a server, may be the limit.
    if (m_packetCost.IsZero() && !session.sharesLines)
    {
        SetLimits({"window", session.window, session.window, line});
    }
    m_timers.Configure(
        session.window,
        {m_initialTimeout},
        [this](uint32_t index) { OnTimeout(index); },
        [this](uint32_t index, Time silence) { OnSilence(index, silence); });
}

uint64_t
AtpCommunicator::GetCollisions() const
{
    return m_collisions;
}

uint64_t
AtpCommunicator::GetResults() const
{
    return m_first;
}

double
AtpCommunicator::GetPacketBytes() const
{
    return static_cast<double>(sizeof(int32_t) * m_session.elements);
}

double
AtpCommunicator::GetErrorBound() const
{
    return m_errorBound;
}

uint32_t
AtpCommunicator::GetIndex(uint64_t packet) const
{
    return static_cast<uint32_t>((m_first + packet) % m_slots.size());
}

double
AtpCommunicator::GetScale() const
{
    return m_isInteger ? 1 : m_scalingFactor;
}

double
AtpCommunicator::GetLargest() const
{
    // A value rounded to the end of the range would count as saturated.
    return std::min(m_largestValue, (MAX_INTEGER - 1) / m_scalingFactor);
}

std::pair<uint64_t, uint64_t>
AtpCommunicator::GetRange(uint64_t packet, uint64_t values) const
{
    const uint64_t begin = packet * m_session.elements;
    return {std::min(begin, values), std::min(begin + m_session.elements, values)};
}

bool
AtpCommunicator::NeedsFloats(const std::vector<float>& values, uint64_t packet) const
{
    if (m_isInteger || values.empty())
    {
        return false;
    }
    const auto [begin, end] = GetRange(packet, values.size());
    const double largest = GetLargest();
    return !std::all_of(values.begin() + static_cast<int64_t>(begin),
                        values.begin() + static_cast<int64_t>(end),
                        [=](float value) { return std::abs(value) <= largest; });
}

void
AtpCommunicator::Begin(const Tensor& tensor)
{
    NS_LOG_FUNCTION(this << tensor.bytes);
    m_tensor = &tensor;
    if (m_isInteger && !AreIntegers(tensor.values.data(), tensor.values.size()))
    {
        Abort("rank " + std::to_string(GetRank()) +
              ": a value is no 32-bit integer, which DataType int32 asks for");
        return;
    }
    const uint64_t packetBytes = sizeof(int32_t) * m_session.elements;
    m_sum.assign(tensor.values.size(), 0);
    m_total = (tensor.bytes + packetBytes - 1) / packetBytes;
    m_base = 0;
    m_next = 0;
    m_streams.assign(m_session.routes.size(), Stream());
    for (uint64_t packet = 0; packet < m_streams.size(); packet++)
    {
        m_streams[(m_first + packet) % m_streams.size()].base = packet;
    }
    m_nextResend = 0;
    m_resendEnd = 0;
    m_hasResult = false;
    m_timers.Begin(GetFailureTimeout());
    SendNew();
}

void
AtpCommunicator::Cancel()
{
    m_tensor = nullptr;
    m_sum.clear();
    m_timers.Cancel();
}

void
AtpCommunicator::SendNew()
{
    const uint64_t end = std::min(m_total, m_base + m_window.GetPackets());
    // Packets beyond the slot window go to the server unaggregated.
    const uint64_t slotsEnd = m_base + m_window.GetSlots();
    while (m_next < end)
    {
        const uint32_t index = GetIndex(m_next);
        m_slots[index] = {m_next, NeedsFloats(m_tensor->values, m_next), false};
        m_timers.Start(index);
        CountSent(1);
        Send(m_slots[index], m_next >= slotsEnd);
        m_next++;
    }
}

void
AtpCommunicator::SendAgain(uint32_t index)
{
    m_timers.Restart(index);
    CountResent(1);
    Send(m_slots[index], true);
}

void
AtpCommunicator::Send(const Slot& slot, bool resend)
{
    const uint64_t number = m_first + slot.packet;
    const uint64_t server = number % m_session.routes.size();
    const Route& route = m_session.routes[server];
    AtpHeader header;
    header.job = GetJob();
    header.packet = static_cast<uint32_t>(number);
    header.slot = m_slotOf.Get(number);
    header.check = m_check.GetPart(header.packet);
    header.isRackSum = route.isDirect;
    header.workers = route.workers;
    header.children = route.children;
    header.fanIn[0] = route.fanIn[0];
    header.fanIn[1] = route.fanIn[1];
    header.resend = resend;
    header.overflow = slot.isFloat;
    header.priority = m_jobPriority;
    Frame* frame = Frame::Make(header);
    frame->bytes = GetAtpFrameBytes(m_session.elements, m_session.isExtended);
    frame->payloadBytes = sizeof(int32_t) * m_session.elements;
    frame->source = GetDevice().GetEndpoint();
    frame->destination = route.server;
    frame->flowHash = m_flowHashes[server];
    frame->priority = m_priority;
    frame->ecn = Ecn::ECT;
    if (m_tensor->IsReal())
    {
        frame->payload = Create<ByteBuffer>();
        frame->payload->bytes.assign(frame->payloadBytes, 0);
        WriteValues(*frame, slot);
    }
    GetDevice().GetPort().Send(frame);
}

void
AtpCommunicator::WriteValues(Frame& frame, const Slot& slot) const
{
    const auto [begin, end] = GetRange(slot.packet, m_tensor->values.size());
    const double scale = GetScale();
    uint8_t* to = frame.payload->bytes.data();
    for (uint64_t i = begin; i < end; i++, to += sizeof(int32_t))
    {
        const float value = m_tensor->values[i];
        SetWord(to, slot.isFloat ? ToBits(value) : static_cast<uint32_t>(Quantize(value, scale)));
    }
}

void
AtpCommunicator::TakeValues(const Frame& frame, uint64_t packet)
{
    const auto [begin, end] = GetRange(packet, m_sum.size());
    const double scale = GetScale();
    const uint8_t* from = frame.payload->bytes.data() + frame.payloadOffset;
    double largest = 0;
    for (uint64_t i = begin; i < end; i++, from += sizeof(int32_t))
    {
        const uint32_t bits = GetWord(from);
        m_sum[i] = frame.As<AtpHeader>().overflow ? ToFloat(bits)
                                                  : Dequantize(static_cast<int32_t>(bits), scale);
        largest = std::max<double>(largest, std::abs(m_sum[i]));
    }
    if (!m_isInteger && !frame.As<AtpHeader>().overflow)
    {
        // Half a quantization step per worker, and the rounding to float32.
        m_errorBound = std::max(m_errorBound, GetSize() * 0.5 / scale + std::ldexp(largest, -24));
    }
}

void
AtpCommunicator::OnData(Frame* frame)
{
    if (m_packetCost.IsZero())
    {
        Process(frame);
        return;
    }
    // Each thread processes its own packets in order; together they act like one faster thread.
    Simulator::Schedule(m_cores.Take(0, m_packetCost / m_threads),
                        &AtpCommunicator::Process,
                        this,
                        frame);
}

void
AtpCommunicator::Process(Frame* frame)
{
    const auto& header = frame->As<AtpHeader>();
    // Packet numbers of a tensor differ by less than 2^32.
    const uint32_t packet = header.packet - static_cast<uint32_t>(m_first);
    const uint32_t index = GetIndex(packet);
    if (!m_tensor || !header.isResult || !m_timers.IsWaiting(index) ||
        m_slots[index].packet != packet)
    {
        CountDuplicate();
    }
    else if (header.overflow && !header.resend)
    {
        HandleFloatRequest(index);
    }
    else
    {
        TakeResult(*frame, index);
    }
    Frame::Free(frame);
}

void
AtpCommunicator::HandleFloatRequest(uint32_t index)
{
    Slot& slot = m_slots[index];
    if (m_isInteger)
    {
        Abort("the sum of packet " + std::to_string(m_first + slot.packet) + " of atp job " +
              std::to_string(GetJob()) + " overflows 32 bits");
        return;
    }
    if (!slot.isFloat)
    {
        NS_LOG_LOGIC("rank " << GetRank() << ": the server asks for packet "
                             << m_first + slot.packet << " as floats");
        slot.isFloat = true;
        SendAgain(index);
    }
}

void
AtpCommunicator::TakeResult(const Frame& frame, uint32_t index)
{
    const auto& header = frame.As<AtpHeader>();
    const uint64_t packet = m_slots[index].packet;
    if (header.check != m_check.GetWhole(header.packet))
    {
        Abort("the sum of packet " + std::to_string(m_first + packet) + " of atp job " +
              std::to_string(GetJob()) + " does not hold each worker's part once");
        return;
    }
    CountReceived();
    if (m_tensor->IsReal())
    {
        TakeValues(frame, packet);
    }
    if (header.collision)
    {
        NS_LOG_LOGIC("rank " << GetRank() << ": packet " << m_first + packet
                             << " has collided, and gets slot " << header.newSlot);
        m_slotOf.Set(m_first + packet, header.newSlot);
        m_collisions++;
    }
    m_timers.Stop(index);
    if (!m_hasResult)
    {
        m_hasResult = true;
        m_timers.Shorten(m_usualTimeout);
    }
    const int64_t now = Simulator::Now().GetTimeStep();
    m_window.OnResult(now, header.congested, header.contested);
    if (packet == m_base)
    {
        while (m_base < m_next && !m_timers.IsWaiting(GetIndex(m_base)))
        {
            m_base++;
        }
        m_window.OnProgress(now, m_first + m_base, m_first + m_next);
    }
    Repair(packet);
    if (m_nextResend < m_resendEnd)
    {
        Recover(packet);
    }
    if (m_base == m_total)
    {
        NS_LOG_LOGIC("rank " << GetRank() << " has the results of all " << m_total << " packets");
        m_first += m_total;
        m_tensor = nullptr;
        m_timers.Cancel();
        // Otherwise marked packets or servers may be the limit.
        if (m_window.GetPackets() == m_session.window && m_collisions == 0)
        {
            NoteRate(m_total);
        }
        Complete(std::move(m_sum));
        return;
    }
    SendNew();
}

void
AtpCommunicator::Repair(uint64_t packet)
{
    // Results of different servers arrive in any order.
    const uint64_t servers = m_session.routes.size();
    Stream& stream = m_streams[(m_first + packet) % servers];
    if (packet == stream.base)
    {
        while (stream.base < m_next && !m_timers.IsWaiting(GetIndex(stream.base)))
        {
            stream.base += servers;
        }
        stream.past = 0;
        return;
    }
    stream.highest = std::max(stream.highest, packet);
    if (m_reorderingThreshold == 0 || ++stream.past < m_reorderingThreshold)
    {
        return;
    }
    for (stream.repaired = std::max(stream.repaired, stream.base); stream.repaired < stream.highest;
         stream.repaired += servers)
    {
        const uint32_t index = GetIndex(stream.repaired);
        if (m_timers.IsWaiting(index) && !m_slots[index].isRepaired)
        {
            NS_LOG_LOGIC("rank " << GetRank() << ": results have come past packet "
                                 << m_first + stream.repaired << ", which is sent again");
            m_slots[index].isRepaired = true;
            SendAgain(index);
        }
    }
}

void
AtpCommunicator::OnTimeout(uint32_t index)
{
    // The others may only be waiting for a slow worker, as this one was. They stay in the switches
    // until results of the retransmissions show that they are lost too.
    if (m_slots[index].packet == m_base)
    {
        NS_LOG_LOGIC("rank " << GetRank() << ": timeout of packet "
                             << m_first + m_slots[index].packet);
        CountResent(1);
        Send(m_slots[index], true);
        m_nextResend = m_base + 1;
        m_resendEnd = m_next;
    }
}

void
AtpCommunicator::Recover(uint64_t packet)
{
    uint32_t allowed = packet < m_nextResend ? PACKETS_FOR_RESULT : 0;
    for (m_nextResend = std::max(m_nextResend, m_base); allowed > 0 && m_nextResend < m_resendEnd;
         m_nextResend++)
    {
        const uint32_t index = GetIndex(m_nextResend);
        if (m_timers.IsWaiting(index))
        {
            allowed--;
            SendAgain(index);
        }
    }
}

void
AtpCommunicator::OnSilence(uint32_t slot, Time silence)
{
    GiveUp("rank " + std::to_string(GetRank()) + " has had no result of packet " +
           std::to_string(m_first + m_slots[slot].packet) + " in slot " +
           std::to_string(m_slotOf.Get(m_first + m_slots[slot].packet)) +
           " of atp, nor of any other, for " + FormatTime(MicroSeconds(silence.GetMicroSeconds())));
}

std::string
AtpCommunicator::GetMissing() const
{
    const uint32_t oldest = m_timers.GetOldest();
    if (oldest == SlotTimers::NONE)
    {
        return "its own cores";
    }
    return "the result of packet " + std::to_string(m_first + m_slots[oldest].packet) + " (" +
           std::to_string(m_base) + " of " + std::to_string(m_total) + " in order)";
}

std::vector<float>
AtpCommunicator::GetSum(const std::vector<std::vector<float>>& inputs) const
{
    return GetExpectedSum(inputs, {});
}

std::vector<float>
AtpCommunicator::GetExpectedSum(const std::vector<std::vector<float>>& inputs,
                                const std::vector<float>& result) const
{
    if (inputs.size() == 1)
    {
        return inputs[0];
    }
    std::vector<float> sum(inputs[0].size());
    const double scale = GetScale();
    const uint64_t packets = (sum.size() + m_session.elements - 1) / m_session.elements;
    for (uint64_t packet = 0; packet < packets; packet++)
    {
        const auto [begin, end] = GetRange(packet, sum.size());
        bool hasFloats = std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) {
            return NeedsFloats(input, packet);
        });
        bool mayHaveFloats = false;
        for (uint64_t i = begin; i < end && !hasFloats; i++)
        {
            int64_t above = 0; // largest and smallest sum of any subset of the ranks
            int64_t below = 0;
            for (const auto& input : inputs)
            {
                const int64_t part = Quantize(input[i], scale);
                (part > 0 ? above : below) += part;
            }
            const auto isSaturated = [](int64_t part) {
                return part >= MAX_INTEGER || part <= -MAX_INTEGER - 1;
            };
            hasFloats = isSaturated(above + below);
            mayHaveFloats |= isSaturated(above) || isSaturated(below);
            sum[i] = Dequantize(static_cast<int32_t>(above + below), scale);
        }
        // The result depends on which parts a switch or server adds first.
        hasFloats |= mayHaveFloats && !result.empty() &&
                     !std::equal(sum.begin() + begin, sum.begin() + end, result.begin() + begin);
        for (uint64_t i = begin; i < end && hasFloats; i++)
        {
            sum[i] = 0;
            for (const auto& input : inputs)
            {
                sum[i] += input[i];
            }
        }
    }
    return sum;
}

} // namespace ns3::training
