/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-nic.h"

#include "rdma-dcqcn.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaNic");
NS_OBJECT_ENSURE_REGISTERED(RdmaNic);

namespace
{

/** @return numbers in sequence for numbers in sequence, as most are, so that they share cache lines
 */
std::size_t
HashNumber(uint32_t number)
{
    return number ^ number >> 8 ^ number >> 16;
}

} // namespace

TypeId
RdmaNic::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::RdmaNic")
            .SetParent<Object>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<RdmaNic>()
            .AddAttribute("Mtu",
                          "Payload of a full packet (the InfiniBand MTU), bytes",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RdmaNic::m_mtu),
                          MakeUintegerChecker<uint32_t>(1, 9000))
            .AddAttribute("AckInterval",
                          "An acknowledgement is asked for every so many packets, and at the end "
                          "of a message",
                          UintegerValue(16),
                          MakeUintegerAccessor(&RdmaNic::m_ackInterval),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("BaseRoundTrip",
                          "Round trip of a full packet and its acknowledgement on the idle network "
                          "(HPCC's T, 13 us in its simulations)",
                          TimeValue(MicroSeconds(13)),
                          MakeTimeAccessor(&RdmaNic::m_baseRoundTrip),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("PathHops",
                          "Links on the longest path between hosts: room for telemetry in a packet",
                          UintegerValue(6),
                          MakeUintegerAccessor(&RdmaNic::m_pathHops),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("RetransmissionTimeout",
                          "Time from asking for an acknowledgement, without progress, until the "
                          "oldest packet is sent again; doubled with each expiry (IB: 4.096 us * "
                          "2^n)",
                          TimeValue(MilliSeconds(4)),
                          MakeTimeAccessor(&RdmaNic::m_timeout),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute(
                "RetryLimit",
                "Expiries without progress before a queue pair reports an error (NCCL: 7)",
                UintegerValue(7),
                MakeUintegerAccessor(&RdmaNic::m_retryLimit),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("LossRecovery",
                          "What is sent again after a loss: go-back-n or selective-repeat",
                          StringValue("go-back-n"),
                          MakeStringAccessor(&RdmaNic::m_recoveryName),
                          MakeStringChecker())
            .AddAttribute("TimeoutLow",
                          "Selective repeat: RetransmissionTimeout with up to three packets in "
                          "flight (IRN: RTO_low)",
                          TimeValue(MicroSeconds(100)),
                          MakeTimeAccessor(&RdmaNic::m_timeoutLow),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("TimeoutHigh",
                          "Selective repeat: RetransmissionTimeout with more packets in flight "
                          "(IRN: RTO_high)",
                          TimeValue(MicroSeconds(320)),
                          MakeTimeAccessor(&RdmaNic::m_timeoutHigh),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("InFlightLimit",
                          "Most payload of a queue pair that may be unacknowledged, bytes; 0: no "
                          "limit with go-back-N; with selective repeat what the line carries in "
                          "BaseRoundTrip and AckInterval packets (IRN: BDP cap)",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RdmaNic::m_inFlightLimit),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("RnrRetryLimit",
                          "Refusals without progress (receiver not ready) before a queue pair "
                          "reports an error; 7: no limit (IB, NCCL)",
                          UintegerValue(7),
                          MakeUintegerAccessor(&RdmaNic::m_rnrRetryLimit),
                          MakeUintegerChecker<uint32_t>(0, 7))
            .AddAttribute("MinRnrTimer",
                          "Code of the time that the sender is to wait after a refusal (IB: 12 is "
                          "0.64 ms; NCCL)",
                          UintegerValue(12),
                          MakeUintegerAccessor(&RdmaNic::m_minRnrTimer),
                          MakeUintegerChecker<uint8_t>(0, 31))
            .AddAttribute("InjectionRate",
                          "Rate of all data of the NIC together, if below the line rate; 0: no "
                          "limit",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&RdmaNic::m_injectionRate),
                          MakeDataRateChecker())
            .AddAttribute("DoorbellLatency",
                          "From the posting of a message until the NIC has its work request; a "
                          "doorbell takes about 150 ns, fetching the work request 500 ns",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RdmaNic::m_doorbellLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("DmaReadLatency",
                          "From then until the NIC has the first bytes of the message; about 600 "
                          "ns over PCIe",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RdmaNic::m_dmaReadLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("CompletionLatency",
                          "From the last packet of a message until the receiving host knows; "
                          "writing it to memory takes about 500 ns, the completion 150 ns, polling "
                          "100 ns",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&RdmaNic::m_completionLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("CnpInterval",
                          "Shortest time between two congestion notifications of a queue pair "
                          "(ConnectX MIN_TIME_BETWEEN_CNPS)",
                          TimeValue(MicroSeconds(4)),
                          MakeTimeAccessor(&RdmaNic::m_cnpInterval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("DataPriority",
                          "Traffic class of data (RoCE: 3, lossless)",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RdmaNic::m_dataPriority),
                          MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute("DatagramPriority",
                          "Traffic class of unreliable datagrams; 0 is lossy, 3 lossless",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RdmaNic::m_datagramPriority),
                          MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute("ControlPriority",
                          "Traffic class of acknowledgements and congestion notifications "
                          "(ConnectX CNP_802P_PRIO: 6, strict)",
                          UintegerValue(6),
                          MakeUintegerAccessor(&RdmaNic::m_controlPriority),
                          MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute("CongestionControl",
                          "Class that decides the rate of each queue pair",
                          TypeIdValue(RdmaDcqcn::GetTypeId()),
                          MakeTypeIdAccessor(&RdmaNic::m_congestionControlType),
                          MakeTypeIdChecker())
            .AddTraceSource("Rate",
                            "The congestion control has changed the rate of a queue pair; noticed "
                            "at its next packet, acknowledgement or CNP",
                            MakeTraceSourceAccessor(&RdmaNic::m_rateTrace),
                            "ns3::training::RdmaNic::RateTracedCallback")
            .AddTraceSource("Retransmission",
                            "A packet is sent again",
                            MakeTraceSourceAccessor(&RdmaNic::m_retransmissionTrace),
                            "ns3::training::RdmaNic::RetransmissionTracedCallback")
            .AddTraceSource("Completion",
                            "A work request is complete at its sender",
                            MakeTraceSourceAccessor(&RdmaNic::m_completionTrace),
                            "ns3::training::RdmaNic::CompletionTracedCallback");
    return tid;
}

RdmaNic::RdmaNic() = default;
RdmaNic::~RdmaNic() = default;

void
RdmaNic::DoDispose()
{
    if (m_device)
    {
        m_device->SetRdmaReceiver(nullptr);
    }
    m_device = nullptr;
    m_listener = nullptr;
    m_scheduler.Attach(nullptr, 0);
    m_queuePairs.clear();
    m_index = {nullptr};
    Simulator::Cancel(m_watch);
    m_watched.clear();
    m_datagramQueuePairs.clear();
    Object::DoDispose();
}

void
RdmaNic::Attach(Ptr<HostDevice> device)
{
    m_device = device;
    m_scheduler.Attach(&device->GetPort(), m_injectionRate.GetBitRate());
    m_device->GetPort().SetSource(&m_scheduler);
    m_device->SetRdmaReceiver([this](Frame* frame) { Receive(frame); },
                              [this](const Frame& frame, bool isSoon) { Expect(frame, isSoon); });
    m_congestionControl.SetTypeId(m_congestionControlType);
    // Attributes that do not go together are refused here, not when the first message is sent.
    m_congestionControl.Create<RdmaCongestionControl>()->Initialize(GetPath(GetLineRate()));
    m_recovery = &Registry<LossRecoveryEntry>::Find(m_recoveryName);
    m_isSelective = m_recovery->make()->IsSelective();
    m_postLatency = m_doorbellLatency + m_dmaReadLatency;
}

Ptr<RdmaQueuePair>
RdmaNic::CreateQueuePair(uint32_t number,
                         uint32_t remoteEndpoint,
                         uint32_t remoteNumber,
                         uint64_t pathRate)
{
    NS_LOG_FUNCTION(this << number << remoteEndpoint << remoteNumber << pathRate);
    NS_ASSERT_MSG(number < PSN_MODULUS && remoteNumber < PSN_MODULUS, "24 bits on the wire");
    Ptr<RdmaQueuePair> queuePair =
        Create<RdmaQueuePair>(*this,
                              number,
                              RdmaRemote{remoteEndpoint, remoteNumber, 0},
                              pathRate > 0 ? std::min(pathRate, GetLineRate()) : GetLineRate(),
                              m_congestionControl.Create<RdmaCongestionControl>(),
                              m_recovery->make());
    const bool added = m_queuePairs.emplace(number, queuePair).second;
    NS_ABORT_MSG_UNLESS(added, "queue pair " << number << " exists");
    if (2 * m_queuePairs.size() > m_index.size())
    {
        m_index.assign(4 * m_index.size(), nullptr);
        for (const auto& [other, pointer] : m_queuePairs)
        {
            AddToIndex(PeekPointer(pointer));
        }
    }
    else
    {
        AddToIndex(PeekPointer(queuePair));
    }
    return queuePair;
}

Ptr<RdmaDatagramQueuePair>
RdmaNic::CreateDatagramQueuePair(uint32_t number)
{
    NS_LOG_FUNCTION(this << number);
    NS_ASSERT_MSG(number < PSN_MODULUS, "24 bits on the wire");
    Ptr<RdmaDatagramQueuePair> queuePair = Create<RdmaDatagramQueuePair>(*this, number);
    const bool added = m_datagramQueuePairs.emplace(number, queuePair).second;
    NS_ABORT_MSG_UNLESS(added, "queue pair " << number << " for datagrams exists");
    return queuePair;
}

void
RdmaNic::SetListener(Listener listener)
{
    m_listener = std::move(listener);
}

const std::unordered_map<uint32_t, Ptr<RdmaQueuePair>>&
RdmaNic::GetQueuePairs() const
{
    return m_queuePairs;
}

uint32_t
RdmaNic::GetEndpoint() const
{
    return m_device->GetEndpoint();
}

uint64_t
RdmaNic::GetLineRate() const
{
    return m_device->GetPort().GetRate();
}

RdmaCongestionControl::Path
RdmaNic::GetPath(uint64_t rate) const
{
    RdmaCongestionControl::Path path;
    path.lineRate = static_cast<double>(rate);
    path.roundTrip = m_baseRoundTrip.GetTimeStep();
    path.mtu = m_mtu;
    path.hops = m_pathHops;
    return path;
}

void
RdmaNic::SendControl(Frame* frame)
{
    m_device->GetPort().Send(frame);
}

void
RdmaNic::Watch(RdmaQueuePair& queuePair)
{
    m_watched.push_back(&queuePair);
    if (m_watch.IsExpired())
    {
        ScheduleWatch();
    }
}

void
RdmaNic::ScheduleWatch()
{
    const int64_t shortest = (m_isSelective ? m_timeoutLow : m_timeout).GetTimeStep();
    const int64_t period = std::max<int64_t>(1, shortest / 2);
    m_nextWatch = Simulator::Now().GetTimeStep() + period;
    m_watch = Simulator::Schedule(TimeStep(period), &RdmaNic::OnWatch, this);
}

void
RdmaNic::OnWatch()
{
    const int64_t now = m_nextWatch;
    ScheduleWatch();
    std::vector<RdmaQueuePair*> watched;
    watched.swap(m_watched);
    constexpr std::size_t AHEAD = 4; // they have left the cache since
    for (std::size_t i = 0; i < watched.size(); i++)
    {
        if (i + AHEAD < watched.size())
        {
            watched[i + AHEAD]->PrefetchTimer();
        }
        if (watched[i]->Watch(now, m_nextWatch))
        {
            m_watched.push_back(watched[i]);
        }
    }
    if (m_watched.empty())
    {
        Simulator::Remove(m_watch);
    }
}

void
RdmaNic::AddToIndex(RdmaQueuePair* queuePair)
{
    const std::size_t mask = m_index.size() - 1;
    std::size_t slot = HashNumber(queuePair->GetNumber()) & mask;
    while (m_index[slot])
    {
        slot = (slot + 1) & mask;
    }
    m_index[slot] = queuePair;
}

RdmaQueuePair*
RdmaNic::Find(uint32_t number) const
{
    const std::size_t mask = m_index.size() - 1;
    std::size_t slot = HashNumber(number) & mask;
    while (m_index[slot] && m_index[slot]->GetNumber() != number)
    {
        slot = (slot + 1) & mask;
    }
    return m_index[slot];
}

void
RdmaNic::Expect(const Frame& frame, bool isSoon) const
{
    RdmaQueuePair* const* slot = &m_index[HashNumber(frame.destinationQp) & (m_index.size() - 1)];
    if (!isSoon)
    {
        __builtin_prefetch(slot);
    }
    else if (*slot) // most likely the right one; to be sure would take the wait that this is to
                    // save
    {
        (*slot)->Expect(frame);
    }
}

void
RdmaNic::Receive(Frame* frame)
{
    if (frame->kind == FrameKind::ROCE_DATA && IsDatagram(frame->opcode))
    {
        const auto found = m_datagramQueuePairs.find(frame->destinationQp);
        if (found != m_datagramQueuePairs.end())
        {
            found->second->Receive(*frame);
        }
        Frame::Free(frame);
        return;
    }
    RdmaQueuePair* queuePair = Find(frame->destinationQp);
    if (!queuePair && m_listener)
    {
        queuePair = m_listener(frame->destinationQp);
    }
    if (!queuePair)
    {
        NS_LOG_WARN("no queue pair " << frame->destinationQp);
        Frame::Free(frame);
        return;
    }
    queuePair->Receive(frame);
}

} // namespace ns3::training
