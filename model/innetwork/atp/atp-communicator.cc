/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-communicator.h"

#include "core/attribute-choice.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/rdma-settings.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingAtpCommunicator");
NS_OBJECT_ENSURE_REGISTERED(AtpCommunicator);

namespace
{

const char* const CONTROLS[] = {"fixed", "ecn", "a2tp"};

} // namespace

TypeId
AtpCommunicator::GetTypeId()
{
    static TypeId tid = AddPacketAttributes(
        AddDataType(
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
                    MakeStringChecker()),
            "multiplied by ScalingFactor")
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
                          MakeUintegerChecker<uint8_t>(0, ATP_MAX_PRIORITY)),
        "a result");
    return tid;
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

void
AtpCommunicator::SetSession(const Session& session)
{
    m_session = session;
    m_flowHashes.clear();
    for (const Route& route : session.routes)
    {
        m_flowHashes.push_back(HashFlow(GetDevice().GetEndpoint(), route.server, GetJob()));
    }
    SetPackets(session.elements);
    m_numbers.Configure(m_isInteger, m_scalingFactor, m_largestValue);
    const uint32_t bytes = GetAtpFrameBytes(session.elements, session.isExtended);
    const double line = 8.0 * (bytes + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES) /
                        static_cast<double>(GetDevice().GetPort().GetRate());
    m_usualTimeout = SlotTimers::Raise(m_timeout, session.window, line);
    m_slotOf.Reset(GetJob(), session.window, session.slots);
    m_window.Reset(m_control,
                   session.window,
                   m_threads,
                   bytes - FCS_BYTES,
                   m_baseRoundTrip.GetTimeStep());
    m_slots.assign(session.window, Slot());
    // Otherwise cores, or the line of a server, may be the limit.
    if (m_packetCost.IsZero() && !session.sharesLines)
    {
        SetLimits({"window", session.window, session.window, line});
    }
    m_timers.Configure(
        session.window,
        {m_initialTimeout},
        [this](uint32_t index) { OnTimeout(index); },
        [this](uint32_t index, Time silence) {
            const uint64_t packet = m_first + m_slots[index].packet;
            GiveUp(DescribeSilence("result", "of", packet, m_slotOf.Get(packet), silence));
        });
}

bool
AtpCommunicator::NeedsFloats(uint64_t packet) const
{
    const auto& values = m_tensor->values;
    const auto [begin, end] = GetRange(packet, values.size());
    return m_numbers.NeedFloats(values.data() + begin, end - begin);
}

void
AtpCommunicator::Begin(const Tensor& tensor)
{
    NS_LOG_FUNCTION(this << tensor.bytes);
    if (!BeginTensor(tensor))
    {
        return;
    }
    m_total = GetPackets(tensor.bytes);
    m_base = 0;
    m_next = 0;
    m_recovery.Begin(m_first, m_session.routes.size(), m_reorderingThreshold);
    m_hasResult = false;
    m_hasLoss = false;
    m_timers.Begin(GetFailureTimeout());
    SendNew();
}

void
AtpCommunicator::Cancel()
{
    PacketWorker::Cancel();
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
        m_slots[index] = {m_next, NeedsFloats(m_next), Simulator::Now().GetTimeStep(), 0};
        m_timers.Start(index);
        CountSent(1);
        Send(m_slots[index], m_next >= slotsEnd);
        m_next++;
    }
}

void
AtpCommunicator::SendAgain(uint32_t index)
{
    NS_LOG_LOGIC("rank " << GetRank() << ": packet " << m_first + m_slots[index].packet
                         << " is sent again");
    m_timers.Restart(index);
    m_slots[index].sentAt = 0;
    CountResent(1);
    Send(m_slots[index], true);
}

void
AtpCommunicator::RepairLoss(uint32_t index)
{
    // All workers have sent it, since later results exist, so its result takes a round trip. But it
    // waits for their retransmissions, too.
    SendAgain(index);
    const int64_t usual = m_usualTimeout.GetTimeStep();
    const int64_t measured = m_roundTrip.Get() == 0 ? usual : m_roundTrip.GetTimeout() * 5 / 4;
    const uint32_t doublings = std::min(m_slots[index].losses++, RdmaSettings::MAX_DOUBLINGS);
    m_timers.Restart(index,
                     std::min(std::min(measured, usual) << doublings, std::max(measured, usual)));
    m_hasLoss = true;
    // Like a tail loss probe (RFC 8985, section 7).
    m_timers.SetTimeout(TimeStep(std::min(2 * measured, usual)));
}

void
AtpCommunicator::Send(const Slot& slot, bool resend)
{
    const uint64_t number = m_first + slot.packet;
    const uint64_t server = number % m_session.routes.size();
    const Route& route = m_session.routes[server];
    AtpHeader header = route.header;
    header.job = GetJob();
    header.packet = static_cast<uint32_t>(number);
    header.slot = m_slotOf.Get(number);
    header.check = m_check.GetPart(header.packet);
    header.resend = resend;
    header.overflow = slot.isFloat;
    header.priority = m_jobPriority;
    Frame* frame = MakeFrame(header,
                             GetAtpFrameBytes(m_elements, m_session.isExtended),
                             sizeof(int32_t) * m_elements,
                             route.server,
                             m_flowHashes[server]);
    frame->ecn = Ecn::ECT;
    if (m_tensor->IsReal())
    {
        const auto [begin, end] = GetRange(slot.packet, m_tensor->values.size());
        m_numbers.Write(m_tensor->values.data() + begin,
                        end - begin,
                        slot.isFloat,
                        frame->payload->bytes.data());
    }
    GetDevice().GetPort().Send(frame);
}

void
AtpCommunicator::OnData(Frame* frame)
{
    // Each thread processes its own packets in order; together they act like one faster thread.
    m_cores.Process(0, m_packetCost / m_threads, &AtpCommunicator::Process, this, frame);
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
        const auto [begin, end] = GetRange(packet, m_result.size());
        const double bound = m_numbers.Read(GetPayload(frame),
                                            end - begin,
                                            header.overflow,
                                            GetSize(),
                                            m_result.data() + begin);
        m_errorBound = std::max(m_errorBound, bound);
    }
    if (header.collision)
    {
        NS_LOG_LOGIC("rank " << GetRank() << ": packet " << m_first + packet
                             << " has collided, and gets slot " << header.newSlot);
        m_slotOf.Set(m_first + packet, header.newSlot);
        m_collisions++;
    }
    m_timers.Stop(index);
    const int64_t now = Simulator::Now().GetTimeStep();
    if (m_slots[index].sentAt > 0 && !m_recovery.IsLate(packet))
    {
        m_roundTrip.Add(now - m_slots[index].sentAt);
    }
    if (!m_hasResult)
    {
        m_hasResult = true;
        m_timers.Shorten(m_usualTimeout);
    }
    m_window.OnResult(now, header.congested, header.contested);
    if (packet == m_base)
    {
        while (m_base < m_next && !m_timers.IsWaiting(GetIndex(m_base)))
        {
            m_base++;
        }
        m_window.OnProgress(now, m_first + m_base, m_first + m_next);
    }
    m_recovery.OnResult(
        packet,
        m_base,
        m_next,
        [this](uint64_t other) { return m_timers.IsWaiting(GetIndex(other)); },
        [this](uint64_t other) { RepairLoss(GetIndex(other)); });
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
        Complete(std::move(m_result));
        return;
    }
    SendNew();
}

void
AtpCommunicator::OnTimeout(uint32_t index)
{
    if (m_slots[index].losses > 0 || (m_hasLoss && m_slots[index].packet == m_base))
    {
        RepairLoss(index);
        return;
    }
    // The others may only be waiting for a slow worker, as this one was. They stay in the switches
    // until results of the retransmissions show that they are lost too.
    if (m_slots[index].packet != m_base)
    {
        return;
    }
    NS_LOG_LOGIC("rank " << GetRank() << ": timeout of packet " << m_first + m_base);
    SendAgain(index);
    m_recovery.OnTimeout(m_base, m_next);
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
AtpCommunicator::GetExpectedSum(const std::vector<std::vector<float>>& inputs,
                                const std::vector<float>& result) const
{
    if (inputs.size() == 1)
    {
        return inputs[0];
    }
    std::vector<float> sum(inputs[0].size());
    for (uint64_t packet = 0; packet < GetPackets(sizeof(float) * sum.size()); packet++)
    {
        const auto [begin, end] = GetRange(packet, sum.size());
        m_numbers.Add(inputs, begin, end, result, sum);
    }
    return sum;
}

} // namespace ns3::training
