/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-nic.h"

#include "core/field-accessor.h"
#include "rdma/congestion/rdma-dcqcn.h"
#include "roce-wire-format.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/state-visitor.h"
#include "ns3/string.h"
#include "ns3/training-prefetch.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaNic");
NS_OBJECT_ENSURE_REGISTERED(RdmaNic);

TypeId
RdmaNic::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::RdmaNic")
            .SetParent<Object>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<RdmaNic>()
            .AddAttribute(
                "Mtu",
                "Payload of a full packet (the InfiniBand MTU), bytes",
                UintegerValue(4096),
                MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings, &RdmaSettings::mtu),
                MakeUintegerChecker<uint32_t>(1, 9000))
            .AddAttribute(
                "AckInterval",
                "Packets per requested acknowledgement; one is requested at the end "
                "of a message",
                UintegerValue(16),
                MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings, &RdmaSettings::ackInterval),
                MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "BaseRoundTrip",
                "Round trip of a full packet and its acknowledgement without queues; with data in "
                "both directions the latter waits for a packet on each link (HPCC's T, 13 us in "
                "its simulations)",
                TimeValue(MicroSeconds(13)),
                MakeFieldAccessor<TimeValue>(&RdmaNic::m_settings, &RdmaSettings::baseRoundTrip),
                MakeTimeChecker(TimeStep(1)))
            .AddAttribute(
                "PathHops",
                "Links on the longest path between hosts: room for telemetry in a packet",
                UintegerValue(6),
                MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings, &RdmaSettings::pathHops),
                MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "RetransmissionTimeout",
                "Time without progress since an acknowledgement was requested until the "
                "oldest packet is retransmitted; doubled with each expiry (IB: 4.096 us * "
                "2^n)",
                TimeValue(MilliSeconds(4)),
                MakeFieldAccessor<TimeValue>(&RdmaNic::m_settings, &RdmaSettings::timeout),
                MakeTimeChecker(TimeStep(1)))
            .AddAttribute(
                "RetryLimit",
                "Expiries without progress before a queue pair reports an error (NCCL: 7)",
                UintegerValue(7),
                MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings, &RdmaSettings::retryLimit),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("LossRecovery",
                          "Recovery from losses: NAME or NAME:key=value,... of a "
                          "LossRecoveryEntry",
                          StringValue("go-back-n"),
                          InOrder(MakeStringAccessor(&RdmaNic::m_recoveryName)),
                          MakeStringChecker())
            .AddAttribute(
                "TimeoutLow",
                "Selective repeat: RetransmissionTimeout with up to three packets in "
                "flight (IRN: RTO_low)",
                TimeValue(MicroSeconds(100)),
                MakeFieldAccessor<TimeValue>(&RdmaNic::m_settings, &RdmaSettings::timeoutLow),
                MakeTimeChecker(TimeStep(1)))
            .AddAttribute(
                "TimeoutHigh",
                "Selective repeat: RetransmissionTimeout with more packets in flight "
                "(IRN: RTO_high)",
                TimeValue(MicroSeconds(320)),
                MakeFieldAccessor<TimeValue>(&RdmaNic::m_settings, &RdmaSettings::timeoutHigh),
                MakeTimeChecker(TimeStep(1)))
            .AddAttribute("InFlightLimit",
                          "Limit of unacknowledged payload of a queue pair, bytes; 0: no "
                          "limit with go-back-N; with selective repeat the bytes of the line in "
                          "BaseRoundTrip and AckInterval packets (IRN: BDP cap)",
                          UintegerValue(0),
                          MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings,
                                                           &RdmaSettings::inFlightLimit),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("RnrRetryLimit",
                          "Refusals without progress (receiver not ready) before a queue pair "
                          "reports an error; 7: no limit (IB, NCCL)",
                          UintegerValue(7),
                          MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings,
                                                           &RdmaSettings::rnrRetryLimit),
                          MakeUintegerChecker<uint32_t>(0, 7))
            .AddAttribute(
                "MinRnrTimer",
                "Code of the time that the sender waits after a refusal (IB: 12 is "
                "0.64 ms; NCCL)",
                UintegerValue(12),
                MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings, &RdmaSettings::minRnrTimer),
                MakeUintegerChecker<uint8_t>(0, 31))
            .AddAttribute("PathRateCap",
                          "Whether a queue pair sends at most at the rate of the slowest link on "
                          "its path; a real NIC knows the rate of its port only",
                          BooleanValue(false),
                          InOrder(MakeBooleanAccessor(&RdmaNic::m_pathRateCap)),
                          MakeBooleanChecker())
            .AddAttribute("InjectionRate",
                          "Rate of all data of the NIC together, if below the line rate; 0: no "
                          "limit",
                          DataRateValue(DataRate(0)),
                          InOrder(MakeDataRateAccessor(&RdmaNic::m_injectionRate)),
                          MakeDataRateChecker())
            .AddAttribute(
                "DoorbellLatency",
                "From the posting of a message until the NIC has its work request; a "
                "doorbell takes about 150 ns, fetching the work request 500 ns",
                TimeValue(Time(0)),
                MakeFieldAccessor<TimeValue>(&RdmaNic::m_settings, &RdmaSettings::doorbellLatency),
                MakeTimeChecker(Time(0)))
            .AddAttribute(
                "DmaReadLatency",
                "From then until the NIC has the first bytes of the message; about 600 "
                "ns over PCIe",
                TimeValue(Time(0)),
                MakeFieldAccessor<TimeValue>(&RdmaNic::m_settings, &RdmaSettings::dmaReadLatency),
                MakeTimeChecker(Time(0)))
            .AddAttribute("CompletionLatency",
                          "From the last packet of a message until the receiving host knows; "
                          "writing it to memory takes about 500 ns, the completion 150 ns, polling "
                          "100 ns",
                          TimeValue(Time(0)),
                          MakeFieldAccessor<TimeValue>(&RdmaNic::m_settings,
                                                       &RdmaSettings::completionLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute(
                "CnpInterval",
                "Shortest time between two congestion notifications of a queue pair "
                "(ConnectX MIN_TIME_BETWEEN_CNPS)",
                TimeValue(MicroSeconds(4)),
                MakeFieldAccessor<TimeValue>(&RdmaNic::m_settings, &RdmaSettings::cnpInterval),
                MakeTimeChecker(Time(0)))
            .AddAttribute(
                "DataPriority",
                "Traffic class of data (RoCE: 3, lossless)",
                UintegerValue(3),
                MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings, &RdmaSettings::dataPriority),
                MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute(
                "LosslessClasses",
                "Bit p set: the network pauses priority p, so that a loss says nothing of "
                "congestion; set by the programs",
                UintegerValue(0),
                MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings,
                                                 &RdmaSettings::losslessClasses),
                MakeUintegerChecker<uint8_t>())
            .AddAttribute("DatagramPriority",
                          "Traffic class of unreliable datagrams; 0 is lossy, 3 lossless",
                          UintegerValue(0),
                          MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings,
                                                           &RdmaSettings::datagramPriority),
                          MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute(
                "AckPriority",
                "Traffic class of acknowledgements; 8: DataPriority, as RoCE NICs",
                UintegerValue(PRIORITIES),
                MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings, &RdmaSettings::ackPriority),
                MakeUintegerChecker<uint8_t>(0, PRIORITIES))
            .AddAttribute(
                "CnpPriority",
                "Traffic class of congestion notifications (ConnectX CNP_802P_PRIO: 6, "
                "strict)",
                UintegerValue(6),
                MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings, &RdmaSettings::cnpPriority),
                MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute(
                "PacingBurst",
                "Unused sending time that the pacing of a queue pair keeps, in packets: "
                "after a delay by others it sends so many packets ahead of its rate",
                UintegerValue(4),
                MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings, &RdmaSettings::pacingBurst),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("CongestionControl",
                          "Class that decides the rate of each queue pair",
                          TypeIdValue(RdmaDcqcn::GetTypeId()),
                          InOrder(MakeTypeIdAccessor(&RdmaNic::m_congestionControlType)),
                          MakeTypeIdChecker())
            .AddTraceSource("Rate",
                            "The congestion control has changed the rate of a queue pair; noticed "
                            "at its next packet, acknowledgement or CNP",
                            InOrder(MakeTraceSourceAccessor(&RdmaNic::m_rateTrace)),
                            "ns3::training::RdmaPort::RateTracedCallback")
            .AddTraceSource("Retransmission",
                            "A packet is retransmitted",
                            InOrder(MakeTraceSourceAccessor(&RdmaNic::m_retransmissionTrace)),
                            "ns3::training::RdmaPort::RetransmissionTracedCallback")
            .AddTraceSource("Completion",
                            "A work request is complete at its sender",
                            MakeTraceSourceAccessor(&RdmaNic::m_completionTrace),
                            "ns3::training::RdmaPort::CompletionTracedCallback");
    return tid;
}

RdmaNic::RdmaNic() = default;
RdmaNic::~RdmaNic() = default;

void
RdmaNic::DoDispose()
{
    if (m_device)
    {
        m_device->SetRdmaEngine(nullptr);
    }
    m_device = nullptr;
    m_scheduler.Attach(nullptr, 0);
    m_queuePairs.Clear();
    m_timers.Stop();
    m_datagramQueuePairs.clear();
    Object::DoDispose();
}

void
RdmaNic::Attach(Ptr<HostDevice> device)
{
    m_device = device;
    m_line = &device->GetPort();
    m_endpoint = device->GetEndpoint();
    m_scheduler.Attach(m_line, m_injectionRate.GetBitRate());
    m_line->SetSource(&m_scheduler);
    m_device->SetRdmaEngine(this);
    m_congestionControl.SetTypeId(m_congestionControlType);
    // Refuses inconsistent attributes here, not when the first message is sent.
    m_congestionControl.Create<RdmaCongestionControl>()->Initialize(MakePath(m_line->GetRate()));
    m_recovery = Choose<LossRecoveryEntry>(m_recoveryName);
    m_keepsPackets = MakeRecovery()->IsSelective();
    m_timers.Attach(m_keepsPackets ? m_settings.timeoutLow : m_settings.timeout);
}

Ptr<RdmaQueuePair>
RdmaNic::CreateQueuePair(uint32_t number,
                         uint32_t remoteEndpoint,
                         uint32_t remoteNumber,
                         uint64_t rate,
                         uint64_t pathRate)
{
    CatchUp();
    NS_LOG_FUNCTION(this << number << remoteEndpoint << remoteNumber << rate << pathRate);
    NS_ASSERT_MSG(number < PSN_MODULUS && remoteNumber < PSN_MODULUS, "24 bits on the wire");
    uint64_t limit = m_line->GetRate();
    limit = rate > 0 ? std::min(rate, limit) : limit;
    limit = m_pathRateCap && pathRate > 0 ? std::min(pathRate, limit) : limit;
    // Any hash of the numbers works; this one keeps the paths of earlier versions.
    const uint32_t flowHash =
        HashFlow(m_endpoint, remoteEndpoint, (number - 1) << 16 ^ (remoteNumber - 1));
    Ptr<RdmaQueuePair> queuePair =
        Create<RdmaQueuePair>(*this,
                              number,
                              RdmaRemote{remoteEndpoint, remoteNumber, flowHash},
                              MakePath(limit),
                              m_congestionControl.Create<RdmaCongestionControl>(),
                              MakeRecovery());
    NS_ABORT_MSG_UNLESS(m_queuePairs.Add(queuePair), "queue pair " << number << " exists");
    return queuePair;
}

void
RdmaNic::Close(const std::vector<uint32_t>& numbers)
{
    CatchUp();
    NS_LOG_FUNCTION(this << numbers.size());
    m_queuePairs.Close(numbers);
}

Ptr<RdmaDatagramQueuePair>
RdmaNic::CreateDatagramQueuePair(uint32_t number)
{
    CatchUp();
    NS_LOG_FUNCTION(this << number);
    NS_ASSERT_MSG(number < PSN_MODULUS, "24 bits on the wire");
    Ptr<RdmaDatagramQueuePair> queuePair = Create<RdmaDatagramQueuePair>(*this, number);
    const bool added = m_datagramQueuePairs.emplace(number, queuePair).second;
    NS_ABORT_MSG_UNLESS(added, "queue pair " << number << " for datagrams exists");
    return queuePair;
}

void
RdmaNic::SetCongestionControl(const ObjectFactory& factory)
{
    m_congestionControlType = factory.GetTypeId();
    m_congestionControl = factory;
}

const std::unordered_map<uint32_t, Ptr<RdmaQueuePair>>&
RdmaNic::GetQueuePairs() const
{
    CatchUp();
    return m_queuePairs.GetAll();
}

bool
RdmaNic::IsLong(uint32_t flow) const
{
    CatchUp();
    return m_queuePairs.GetAll().at(flow)->GetSender().IsLong();
}

void
RdmaNic::ReportPeriods(uint32_t flow, bool reports)
{
    CatchUp();
    m_queuePairs.GetAll().at(flow)->GetSender().ReportPeriods(reports);
}

/** Visits what may change: nothing, if all is acknowledged and no frame comes or goes. */
bool
RdmaNic::Visit(StateVisitor& visitor, bool isIdle)
{
    static_assert(StateVisitor::IsSize(sizeof(RdmaNic) - sizeof(Object), 1056),
                  "a new member: visit it unless it stays, then correct the size");
    visitor.Same({m_started, m_completed, m_hasLosses});
    if (visitor.PassesOver(isIdle && m_started == m_completed))
    {
        return true;
    }
    for (const auto& [number, queuePair] : m_queuePairs.GetAll())
    {
        queuePair->Visit(visitor);
    }
    return m_scheduler.Visit(visitor) && m_datagramQueuePairs.empty();
}

void
RdmaNic::CatchUp() const
{
    if (m_line)
    {
        RdmaPort::CatchUp();
    }
}

uint64_t
RdmaNic::GetLeastTimeToEnd() const
{
    CatchUp();
    if (m_started == m_completed)
    {
        return StateVisitor::NONE;
    }
    if (!m_datagramQueuePairs.empty() || !m_line)
    {
        return 0;
    }
    uint64_t packets = StateVisitor::NONE;
    for (const auto& [number, queuePair] : m_queuePairs.GetAll())
    {
        packets = std::min(packets, queuePair->GetSender().GetPacketsToEnd());
    }
    const double seconds = 8.0 * m_settings.mtu / static_cast<double>(m_line->GetRate());
    return packets == StateVisitor::NONE
               ? packets
               : static_cast<uint64_t>(static_cast<double>(packets) * seconds * 1e12);
}

bool
RdmaNic::IsObserved() const
{
    return HasSinks();
}

bool
RdmaNic::IsQuiet(int64_t duration) const
{
    // A check of timers that begins and ends within the duration would be taken for a quiet event.
    return m_reports == 0 && !m_keepsPackets && m_datagramQueuePairs.empty() &&
           m_timers.GetPeriod() > duration;
}

bool
RdmaNic::IsQuiet(const Frame& frame) const
{
    const RdmaQueuePair* queuePair = m_queuePairs.Find(frame.destinationQp);
    return frame.syndrome == SYNDROME_ACK && queuePair && queuePair->GetSender().IsQuiet(frame);
}

std::unique_ptr<RdmaLossRecovery>
RdmaNic::MakeRecovery() const
{
    return m_recovery->entry->make(m_recovery->values);
}

RdmaCongestionControl::Path
RdmaNic::MakePath(uint64_t rate) const
{
    RdmaCongestionControl::Path path;
    path.lineRate = static_cast<double>(rate);
    path.roundTrip = m_settings.baseRoundTrip.GetTimeStep();
    path.mtu = m_settings.mtu;
    path.hops = m_settings.pathHops;
    return path;
}

void
RdmaNic::Prefetch(const Frame& frame, bool isSoon) const
{
    if (!isSoon)
    {
        m_queuePairs.Prefetch(frame.destinationQp);
    }
    else if (const RdmaQueuePair* queuePair = m_queuePairs.Guess(frame.destinationQp))
    {
        queuePair->Prefetch(frame);
    }
}

void
RdmaNic::PrefetchTurn(bool isSoon) const
{
    if (isSoon)
    {
        m_scheduler.Prefetch();
        return;
    }
    PrefetchBytes(&m_line, sizeof(m_line));
    PrefetchBytes(&m_settings, sizeof(m_settings) + sizeof(m_scheduler));
    m_queuePairs.PrefetchIndex();
}

void
RdmaNic::Receive(Frame* frame)
{
    if (frame->kind == FrameKind::ROCE_DATA && IsDatagram(frame->opcode))
    {
        const auto found = m_datagramQueuePairs.find(frame->destinationQp);
        if (found == m_datagramQueuePairs.end())
        {
            m_line->Drop(frame, DropReason::NO_RECEIVER);
            return;
        }
        found->second->Receive(*frame);
        Frame::Free(frame);
        return;
    }
    RdmaQueuePair* queuePair = m_queuePairs.FindOrAccept(frame->destinationQp);
    if (!queuePair)
    {
        NS_LOG_WARN("endpoint " << m_endpoint << " has no queue pair " << frame->destinationQp);
        m_line->Drop(frame, DropReason::NO_RECEIVER);
        return;
    }
    queuePair->Receive(frame);
}

} // namespace ns3::training
