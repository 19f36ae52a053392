/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-communicator.h"

#include "ns3/block-quantizer.h"
#include "ns3/log.h"
#include "ns3/number-format.h"
#include "ns3/simulator.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitchPsCommunicator");
NS_OBJECT_ENSURE_REGISTERED(SwitchPsCommunicator);

namespace
{

/**
 * @param header of a sum, whose exponent e bounds all contributions by 2^e
 * @param workers number of contributions
 * @return error bound of a number: each partial sum of k contributions is below k 2^e and rounded
 *         by at most 2^-24 of that; infinite if a sum can be infinite
 */
double
GetBound(const SwitchPsHeader& header, uint32_t workers)
{
    const int exponent = header.exponent;
    if (header.overflow || std::ldexp(workers, exponent) > std::numeric_limits<float>::max())
    {
        return std::numeric_limits<double>::infinity();
    }
    return std::ldexp(workers * (workers + 1) / 2.0 - 1, exponent - 24);
}

} // namespace

TypeId
SwitchPsCommunicator::GetTypeId()
{
    static TypeId tid = AddPacketAttributes(
        TypeId("ns3::training::SwitchPsCommunicator")
            .SetParent<InNetworkCommunicator>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<SwitchPsCommunicator>()
            .AddAttribute("Tensors",
                          "With an optimizer: all-reduces per training step, each with its own "
                          "weights, which the next step uses again; 0: no weights are used again",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SwitchPsCommunicator::m_tensors),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("RetransmissionTimeout",
                          "Retransmission timeout of a packet without an answer, or four windows "
                          "on the worker's line if that is longer",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&SwitchPsCommunicator::m_timeout),
                          MakeTimeChecker(TimeStep(1))),
        "an answer",
        "Cores that share the packets, slot by slot",
        4096);
    return tid;
}

void
SwitchPsCommunicator::SetSession(const Session& session)
{
    m_session = session;
    m_flowHash = HashFlow(GetDevice().GetEndpoint(), session.switchEndpoint, GetJob());
    SetPackets(session.elements);
    m_packetOf.assign(session.window, 0);
    const uint32_t bytes =
        GetSwitchPsFrameBytes(session.elements) + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
    const double line = 8.0 * bytes / static_cast<double>(GetDevice().GetPort().GetRate());
    m_timers.Configure(
        session.window,
        {SlotTimers::Raise(m_timeout, session.window, line)},
        [this](uint32_t slot) { SendAgain(slot); },
        [this](uint32_t slot, Time silence) { OnSilence(slot, silence); });
    // Otherwise cores, adders or the optimizer may be the limit.
    if (m_packetCost.IsZero() && session.fillsLines)
    {
        SetLimits({session.key, session.window, session.window, line});
    }
}

void
SwitchPsCommunicator::SetTensorsOfStep(uint32_t tensors)
{
    m_tensors = m_tensors > 0 ? m_tensors : tensors;
}

uint32_t
SwitchPsCommunicator::GetTurn(uint32_t turn) const
{
    return m_tensors > 0 ? turn % m_tensors : turn;
}

bool
SwitchPsCommunicator::FindPlace(uint64_t bytes)
{
    const uint32_t turn = GetTurn(m_turn);
    const auto packets = static_cast<uint32_t>(GetPackets(bytes));
    if (turn == m_places.size())
    {
        if (uint64_t{m_rangesUsed} + packets > m_session.ranges)
        {
            Abort("rank " + std::to_string(GetRank()) + ": tensor " + std::to_string(turn) +
                  " of switch-ps needs " + std::to_string(packets) +
                  " key ranges (allowed: " + std::to_string(m_session.ranges - m_rangesUsed) +
                  ", as the switch has memory for " + std::to_string(m_session.ranges) + " of " +
                  std::to_string(m_elements) + " weights)");
            return false;
        }
        m_places.push_back({m_rangesUsed, packets, 0});
        m_rangesUsed += packets;
    }
    if (m_places[turn].packets != packets)
    {
        Abort("rank " + std::to_string(GetRank()) + ": tensor " + std::to_string(turn) +
              " of switch-ps has " + std::to_string(packets) +
              " key ranges (allowed: " + std::to_string(m_places[turn].packets) + ", as before)");
        return false;
    }
    m_place = m_places[turn];
    return true;
}

void
SwitchPsCommunicator::Begin(const Tensor& tensor)
{
    NS_LOG_FUNCTION(this << tensor.bytes);
    BeginTensor(tensor);
    m_isPull = false;
    m_skip = 0;
    m_first = m_pushed;
    m_packets = GetPackets(tensor.bytes);
    if (m_session.optimizer.KeepsWeights() && !FindPlace(tensor.bytes))
    {
        return;
    }
    StartWindow();
}

void
SwitchPsCommunicator::Pull(Ptr<Tensor> tensor, uint32_t place, uint64_t first, Done done)
{
    NS_LOG_FUNCTION(this << tensor->bytes << place << first);
    Queue(tensor, done, [this, tensor, place, first] {
        BeginTensor(*tensor);
        BeginPull(place, first);
    });
}

void
SwitchPsCommunicator::BeginPull(uint32_t place, uint64_t first)
{
    m_isPull = true;
    if (m_tensor->bytes == 0)
    {
        m_tensor = nullptr;
        Complete({});
        return;
    }
    m_skip = first % m_elements;
    m_first = m_pulled;
    m_packets = GetPackets(sizeof(float) * m_skip + m_tensor->bytes);
    const uint64_t firstPacket = first / m_elements;
    if (place >= m_places.size() || firstPacket + m_packets > m_places[place].packets)
    {
        Abort("rank " + std::to_string(GetRank()) + " pulls weights " + std::to_string(first) +
              " and on of tensor " + std::to_string(place) +
              " of switch-ps (allowed: of what has been pushed)");
        return;
    }
    m_place = m_places[place];
    m_place.firstRange += static_cast<uint32_t>(firstPacket);
    StartWindow();
}

void
SwitchPsCommunicator::StartWindow()
{
    m_received = 0;
    m_timers.Begin(GetFailureTimeout());
    for (uint64_t packet = 0; packet < std::min<uint64_t>(m_session.window, m_packets); packet++)
    {
        Send(packet);
    }
}

void
SwitchPsCommunicator::Cancel()
{
    PacketWorker::Cancel();
    m_timers.Cancel();
}

void
SwitchPsCommunicator::Send(uint64_t packet)
{
    const uint32_t slot = GetSlot(packet);
    m_packetOf[slot] = packet;
    m_timers.Start(slot);
    CountSent(1);
    GetDevice().GetPort().Send(MakeFrame(packet));
}

Frame*
SwitchPsCommunicator::MakeFrame(uint64_t packet)
{
    const uint64_t number = m_first + packet;
    const auto& values = m_tensor->values;
    const bool hasValues = m_tensor->IsReal() && !m_isPull;
    const auto [begin, end] = GetRange(packet, values.size());
    SwitchPsHeader header;
    header.isPull = m_isPull;
    header.job = GetJob();
    header.packet = static_cast<uint32_t>(number);
    header.slot = static_cast<uint16_t>(m_session.firstSlot + GetSlot(packet));
    header.set = number / m_session.window % 2;
    header.check = m_check.GetPart(number);
    header.keyRange = m_place.firstRange + static_cast<uint32_t>(packet);
    header.clock = m_place.clock;
    header.overflow = hasValues && !IsQuantizable(&values[begin], end - begin);
    header.exponent =
        hasValues && !header.overflow ? GetBlockExponent(&values[begin], end - begin) : NO_EXPONENT;
    // The empty payload of a pull tells the switch to answer with numbers.
    const uint32_t elements = m_isPull ? 0 : m_elements;
    Frame* frame = PacketWorker::MakeFrame(header,
                                           GetSwitchPsFrameBytes(elements),
                                           sizeof(float) * elements,
                                           m_session.switchEndpoint,
                                           m_flowHash);
    if (hasValues)
    {
        uint8_t* to = frame->payload->bytes.data();
        for (uint64_t i = begin; i < end; i++, to += sizeof(float))
        {
            SetWord(to, ToBits(values[i]));
        }
    }
    return frame;
}

void
SwitchPsCommunicator::TakeValues(const Frame& frame, uint64_t packet)
{
    const uint64_t elements = m_elements;
    // Index into the result; the first packet of a pull may begin before it.
    const uint64_t begin = packet * elements;
    const uint64_t skipped = m_skip > begin ? m_skip - begin : 0;
    const uint8_t* from = GetPayload(frame);
    for (uint64_t i = skipped; i < elements && begin + i - m_skip < m_result.size(); i++)
    {
        m_result[begin + i - m_skip] = ToFloat(GetWord(from + sizeof(float) * i));
    }
}

void
SwitchPsCommunicator::OnData(Frame* frame)
{
    m_cores.Process(frame->As<SwitchPsHeader>().slot,
                    m_packetCost,
                    &SwitchPsCommunicator::Process,
                    this,
                    frame);
}

std::string
SwitchPsCommunicator::Check(const Frame& frame)
{
    const auto& header = frame.As<SwitchPsHeader>();
    if (m_isPull)
    {
        return "";
    }
    const std::string name = "the answer to packet " + std::to_string(header.packet) + " in slot " +
                             std::to_string(header.slot) + " of switch-ps job " +
                             std::to_string(header.job);
    if (m_session.staleness > 0)
    {
        const uint32_t lead = m_place.clock + 1 - header.clock;
        m_largestLead = std::max(m_largestLead, lead);
        return lead <= m_session.staleness ? ""
                                           : name + " lets rank " + std::to_string(GetRank()) +
                                                 " go " + std::to_string(lead) + " steps ahead";
    }
    const uint64_t number =
        m_first + static_cast<uint32_t>(header.packet - static_cast<uint32_t>(m_first));
    return header.check == m_check.GetWhole(number)
               ? ""
               : name + " does not hold each worker's part once";
}

void
SwitchPsCommunicator::Process(Frame* frame)
{
    const auto header = frame->As<SwitchPsHeader>();
    // Packet numbers of a tensor differ by less than 2^32.
    const uint32_t packet = header.packet - static_cast<uint32_t>(m_first);
    const uint32_t slot = GetSlot(packet);
    if (!m_tensor || header.isPull != m_isPull || packet >= m_packets ||
        !m_timers.IsWaiting(slot) || m_packetOf[slot] != packet)
    {
        NS_LOG_LOGIC("rank " << GetRank() << ": packet " << header.packet << " is not awaited");
        CountDuplicate();
        Frame::Free(frame);
        return;
    }
    const std::string wrong = Check(*frame);
    if (!wrong.empty())
    {
        Frame::Free(frame);
        Abort(wrong);
        return;
    }
    CountReceived();
    if (m_tensor->IsReal())
    {
        TakeValues(*frame, packet);
        if (ReturnsSum())
        {
            m_errorBound = std::max(m_errorBound, GetBound(header, GetSize()));
        }
    }
    Frame::Free(frame);
    m_timers.Stop(slot);
    m_received++;
    if (packet + m_session.window < m_packets)
    {
        Send(packet + m_session.window);
    }
    if (m_received < m_packets)
    {
        return;
    }
    NS_LOG_LOGIC("rank " << GetRank() << " has the answers to all " << m_packets << " packets");
    m_tensor = nullptr;
    m_timers.Cancel();
    (m_isPull ? m_pulled : m_pushed) += m_packets;
    if (!m_isPull && m_session.optimizer.KeepsWeights())
    {
        m_places[GetTurn(m_turn++)].clock++;
    }
    NoteRate(m_packets);
    Complete(std::move(m_result));
}

void
SwitchPsCommunicator::SendAgain(uint32_t slot)
{
    NS_LOG_LOGIC("rank " << GetRank() << ": packet " << m_packetOf[slot] << " in slot " << slot
                         << " has no answer, and is sent again");
    CountResent(1);
    GetDevice().GetPort().Send(MakeFrame(m_packetOf[slot]));
}

void
SwitchPsCommunicator::OnSilence(uint32_t slot, Time silence)
{
    const std::string reason = DescribeSilence("answer",
                                               "to",
                                               m_first + m_packetOf[slot],
                                               m_session.firstSlot + slot,
                                               silence);
    if (ReturnsSum())
    {
        GiveUp(reason);
    }
    else
    {
        Abort(reason + "; the hosts cannot go on, as the weights are in the switch");
    }
}

std::string
SwitchPsCommunicator::GetMissing() const
{
    const uint32_t slot = m_timers.GetOldest();
    if (slot == SlotTimers::NONE)
    {
        return "its own cores";
    }
    return "the answer to packet " + std::to_string(m_first + m_packetOf[slot]) + " in slot " +
           std::to_string(m_session.firstSlot + slot) + " (" + std::to_string(m_received) + " of " +
           std::to_string(m_packets) + " received)";
}

std::vector<float>
SwitchPsCommunicator::GetSum(const std::vector<std::vector<float>>& inputs) const
{
    std::vector<float> sum = inputs[0];
    for (std::size_t rank = 1; rank < inputs.size(); rank++)
    {
        for (std::size_t i = 0; i < sum.size(); i++)
        {
            sum[i] += inputs[rank][i];
        }
    }
    const OptimizerSettings& settings = m_session.optimizer;
    if (ReturnsSum())
    {
        return sum;
    }
    if (m_session.staleness > 0)
    {
        throw ConfigurationError(
            "SwitchPsProgram::Staleness=" + std::to_string(m_session.staleness) +
            " with real payload: what each worker gets depends on the times "
            "(allowed: 0, or virtual payload)");
    }
    const uint32_t place = m_tensors > 0 ? GetTurn(m_replicaTurn++) : 0;
    m_replicas.resize(std::max<std::size_t>(m_replicas.size(), place + 1));
    Replica& replica = m_replicas[place];
    const auto& optimizer = Registry<SwitchOptimizer>::Find(settings.name);
    if (m_tensors == 0 || replica.values.empty())
    {
        replica = Replica();
        replica.values.assign(sum.size() * optimizer.arrays, 0);
    }
    const auto count = static_cast<uint32_t>(sum.size());
    optimizer.step(settings, sum.data(), replica.values.data(), count, replica.powers);
    return {replica.values.begin(), replica.values.begin() + count};
}

} // namespace ns3::training
