/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-nic.h"

#include "core/field-accessor.h"
#include "rdma/congestion/uec-nscc.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <map>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingUecNic");
NS_OBJECT_ENSURE_REGISTERED(UecNic);

namespace
{

/// Credit of a sender, in bandwidth-delay products (reference simulator).
constexpr double CREDIT_PRODUCTS = 1.5;
/// Received bytes per acknowledgement (reference simulator).
constexpr double ACK_BYTES = 16384;
/// Limit of these bytes, in bandwidth-delay products. A window of 1.5 products must cover the round
/// trip, the wait for the acknowledgement, and that of the acknowledgement for packets on its way.
constexpr double ACK_PRODUCTS = 0.25;
/// Bits of a connection number.
constexpr uint32_t NUMBER_BITS = 24;

// Timeout of the reference simulator: the time in which six full queues are sent, and a margin. A
// queue holds one bandwidth-delay product, or five without trimming.
constexpr int64_t TIMEOUT_MARGIN = 15000000; // ps
constexpr int64_t TIMEOUT_QUEUES = 6;
constexpr int64_t DROPPING_QUEUE = 5;
/// Interval of probes, in longest round trips.
constexpr int64_t PROBE_ROUND_TRIPS = 10;

} // namespace

TypeId
UecNic::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::UecNic")
            .SetParent<Object>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<UecNic>()
            .AddAttribute("Mtu",
                          "Payload of a full packet, bytes",
                          UintegerValue(4096),
                          MakeFieldAccessor<UintegerValue>(&UecNic::m_settings, &RdmaSettings::mtu),
                          MakeUintegerChecker<uint32_t>(1, 9000))
            .AddAttribute(
                "BaseRoundTrip",
                "Longest round trip of a full packet and its acknowledgement on the idle network",
                TimeValue(MicroSeconds(12)),
                MakeFieldAccessor<TimeValue>(&UecNic::m_settings, &RdmaSettings::baseRoundTrip),
                MakeTimeChecker(TimeStep(1)))
            .AddAttribute("Trimming",
                          "Whether switches trim packets: sets the defaults of the timeout and of "
                          "the target delay",
                          BooleanValue(true),
                          MakeFieldAccessor<BooleanValue>(&UecNic::m_uec, &UecSettings::isTrimming),
                          MakeBooleanChecker())
            .AddAttribute(
                "RetransmissionTimeout",
                "Time without acknowledgement until a packet is sent again, doubled with each "
                "expiry without progress; 0: 15 us and 6 round trips, without trimming 30",
                TimeValue(Time(0)),
                MakeFieldAccessor<TimeValue>(&UecNic::m_settings, &RdmaSettings::timeout),
                MakeTimeChecker(Time(0)))
            .AddAttribute(
                "RetryLimit",
                "Expiries without progress before a connection reports an error",
                UintegerValue(7),
                MakeFieldAccessor<UintegerValue>(&UecNic::m_settings, &RdmaSettings::retryLimit),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("Paths",
                          "Entropy values over which a connection sprays its packets, a power of "
                          "two",
                          UintegerValue(64),
                          MakeUintegerAccessor(&UecNic::m_paths),
                          MakeUintegerChecker<uint32_t>(1, UEC_MAX_PATHS))
            .AddAttribute(
                "AckBytes",
                "Received bytes, with headers, per acknowledgement, besides those of marked "
                "packets and on request; 0: 16384, but at most a quarter of the product of the "
                "line rate and BaseRoundTrip",
                UintegerValue(0),
                MakeFieldAccessor<UintegerValue>(&UecNic::m_uec, &UecSettings::ackBytes),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "CreditPackets",
                "Full packets per grant of credit, but at most the product of the line rate and "
                "BaseRoundTrip: the queue to a receiver that is slower than its senders holds no "
                "more",
                UintegerValue(4),
                MakeFieldAccessor<UintegerValue>(&UecNic::m_uec, &UecSettings::creditPackets),
                MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("CreditRate",
                          "Rate of credits, as a fraction of the line rate",
                          DoubleValue(0.99),
                          MakeDoubleAccessor(&UecNic::m_creditRate),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute(
                "Mrc",
                "Whether the protocol is Multipath Reliable Connection: paths that lose a packet "
                "are taken out until probes return",
                BooleanValue(false),
                MakeFieldAccessor<BooleanValue>(&UecNic::m_uec, &UecSettings::isMrc),
                MakeBooleanChecker())
            .AddAttribute("SourceRoutes",
                          "MRC: whether packets carry their route, in an outer header (SRv6)",
                          BooleanValue(false),
                          MakeFieldAccessor<BooleanValue>(&UecNic::m_uec, &UecSettings::hasRoutes),
                          MakeBooleanChecker())
            .AddAttribute(
                "BackupPaths",
                "MRC: entropy values of a connection in each plane that replace lost ones",
                UintegerValue(8),
                MakeFieldAccessor<UintegerValue>(&UecNic::m_uec, &UecSettings::backupPaths),
                MakeUintegerChecker<uint32_t>(0, UEC_MAX_PATHS))
            .AddAttribute("ProbeInterval",
                          "MRC: time between two probes of a path that was taken out, while there "
                          "are packets to send; 0: 10 BaseRoundTrip",
                          TimeValue(Time(0)),
                          MakeFieldAccessor<TimeValue>(&UecNic::m_uec, &UecSettings::probeInterval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute(
                "ProbeAnswers",
                "MRC: probes in a row that are answered before a path is used again",
                UintegerValue(3),
                MakeFieldAccessor<UintegerValue>(&UecNic::m_uec, &UecSettings::probeAnswers),
                MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "DoorbellLatency",
                "From the posting of a message until the NIC has its work request",
                TimeValue(Time(0)),
                MakeFieldAccessor<TimeValue>(&UecNic::m_settings, &RdmaSettings::doorbellLatency),
                MakeTimeChecker(Time(0)))
            .AddAttribute(
                "DmaReadLatency",
                "From then until the NIC has the first bytes of the message",
                TimeValue(Time(0)),
                MakeFieldAccessor<TimeValue>(&UecNic::m_settings, &RdmaSettings::dmaReadLatency),
                MakeTimeChecker(Time(0)))
            .AddAttribute(
                "CompletionLatency",
                "From the last packet of a message until the receiving host knows",
                TimeValue(Time(0)),
                MakeFieldAccessor<TimeValue>(&UecNic::m_settings, &RdmaSettings::completionLatency),
                MakeTimeChecker(Time(0)))
            .AddAttribute(
                "DataPriority",
                "Traffic class of data, a lossy one",
                UintegerValue(1),
                MakeFieldAccessor<UintegerValue>(&UecNic::m_settings, &RdmaSettings::dataPriority),
                MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute(
                "ControlPriority",
                "Traffic class of acknowledgements, NACKs and credits, a strict one",
                UintegerValue(6),
                MakeFieldAccessor<UintegerValue>(&UecNic::m_settings, &RdmaSettings::ackPriority),
                MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
            .AddAttribute("CongestionControl",
                          "Class that limits what each connection has in flight",
                          TypeIdValue(UecNscc::GetTypeId()),
                          MakeTypeIdAccessor(&UecNic::m_congestionControlType),
                          MakeTypeIdChecker())
            .AddTraceSource("Retransmission",
                            "A packet is retransmitted",
                            MakeTraceSourceAccessor(&UecNic::m_retransmissionTrace),
                            "ns3::training::RdmaPort::RetransmissionTracedCallback")
            .AddTraceSource("Completion",
                            "All packets of a message are acknowledged",
                            MakeTraceSourceAccessor(&UecNic::m_completionTrace),
                            "ns3::training::RdmaPort::CompletionTracedCallback");
    return tid;
}

UecNic::UecNic()
{
    m_random = CreateObject<UniformRandomVariable>();
}

UecNic::~UecNic() = default;

void
UecNic::DoDispose()
{
    m_main = nullptr;
    if (m_device)
    {
        m_device->SetProgramReceiver(UecHeader::PROTOCOL, 0, nullptr);
    }
    m_device = nullptr;
    m_scheduler.Attach(nullptr, 0);
    m_credits.Stop();
    m_timers.Stop();
    m_connections.Clear();
    m_random = nullptr;
    Object::DoDispose();
}

void
UecNic::SetCongestionControl(const ObjectFactory& factory)
{
    m_congestionControlType = factory.GetTypeId();
    m_congestionControl = factory;
}

void
UecNic::Attach(Ptr<HostDevice> device)
{
    if ((m_paths & (m_paths - 1)) != 0)
    {
        throw ConfigurationError("ns3::training::UecNic::Paths=" + std::to_string(m_paths) +
                                 " (allowed: a power of two)");
    }
    m_uec.pathBits = static_cast<uint32_t>(__builtin_ctz(m_paths));
    m_device = device;
    m_line = &device->GetPort();
    m_endpoint = device->GetEndpoint();
    m_scheduler.Attach(m_line, 0);
    m_line->SetSource(&m_scheduler);
    m_device->SetProgramReceiver(UecHeader::PROTOCOL, 0, [this](Frame* frame) { Receive(frame); });
    m_congestionControl.SetTypeId(m_congestionControlType);
    const int64_t roundTrip = m_settings.baseRoundTrip.GetTimeStep();
    if (m_settings.timeout.IsZero())
    {
        const int64_t queue = m_uec.isTrimming ? roundTrip : DROPPING_QUEUE * roundTrip;
        m_settings.timeout = TimeStep(TIMEOUT_MARGIN + TIMEOUT_QUEUES * queue);
    }
    if (m_uec.probeInterval.IsZero())
    {
        m_uec.probeInterval = TimeStep(PROBE_ROUND_TRIPS * roundTrip);
    }
    m_device->AddLinkChangeCallback(MakeCallback(&UecNic::OnLinkChange, this));
    m_timers.Attach(m_settings.timeout);
    const auto rate = static_cast<double>(m_line->GetRate());
    m_credits.Attach(rate * m_creditRate);
    m_path.lineRate = rate;
    m_path.roundTrip = roundTrip;
    m_path.payload = m_settings.mtu;
    m_path.packet = GetUecBytes(GetProtocol(), UecType::REQUEST) + m_settings.mtu;
    m_path.isTrimming = m_uec.isTrimming;
    const double product = rate / 8e12 * static_cast<double>(roundTrip);
    if (m_uec.ackBytes == 0)
    {
        m_uec.ackBytes = static_cast<uint32_t>(std::clamp(ACK_PRODUCTS * product, 1., ACK_BYTES));
    }
    m_uec.creditPackets = std::clamp<uint32_t>(static_cast<uint32_t>(product / m_path.packet),
                                               1,
                                               m_uec.creditPackets);
    m_uec.creditLimit = std::max(static_cast<uint64_t>(CREDIT_PRODUCTS * product),
                                 uint64_t{m_path.packet + UEC_REQUEST_STATE_BYTES});
}

Ptr<UecConnection>
UecNic::CreateConnection(uint32_t number,
                         uint32_t remoteEndpoint,
                         uint32_t remoteNumber,
                         const std::vector<UecPortPair>& ports)
{
    NS_LOG_FUNCTION(this << number << remoteEndpoint << remoteNumber);
    NS_ASSERT_MSG(number >> NUMBER_BITS == 0 && remoteNumber >> NUMBER_BITS == 0,
                  "24 bits on the wire");
    NS_ASSERT_MSG(ports.size() <= MAX_PORTS, "a port status has a bit for each port");
    UecCongestionControl::Path path = m_path;
    for (std::size_t i = 0; i < ports.size(); i++)
    {
        const auto rate = static_cast<double>(ports[i].port->GetRate());
        path.lineRate = i == 0 ? rate : path.lineRate + rate;
    }
    const auto congestionControl = m_congestionControl.Create<UecCongestionControl>();
    if (!ports.empty() && congestionControl->NeedsCredit())
    {
        throw ConfigurationError("congestion control with credit of the receiver, sprayed over " +
                                 std::to_string(ports.size()) +
                                 " ports (allowed: nscc, as credit is that of one port)");
    }
    Ptr<UecConnection> connection = Create<UecConnection>(*this,
                                                          number,
                                                          RdmaRemote{remoteEndpoint, remoteNumber},
                                                          path,
                                                          congestionControl,
                                                          ports);
    NS_ABORT_MSG_UNLESS(m_connections.Add(connection), "connection " << number << " exists");
    return connection;
}

void
UecNic::Close(const std::vector<uint32_t>& numbers)
{
    NS_LOG_FUNCTION(this << numbers.size());
    m_connections.Close(numbers);
}

const std::unordered_map<uint32_t, Ptr<UecConnection>>&
UecNic::GetConnections() const
{
    return m_connections.GetAll();
}

int64_t
UecNic::AssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

void
UecNic::OnLinkChange()
{
    const auto& connections = (m_main ? m_main : this)->m_connections.GetAll();
    const std::map<uint32_t, Ptr<UecConnection>> inOrder(connections.begin(), connections.end());
    for (const auto& [number, connection] : inOrder)
    {
        connection->OnPortChange();
    }
}

void
UecNic::Receive(Frame* frame)
{
    UecConnection* connection = m_connections.FindOrAccept(frame->destinationQp);
    if (!connection && m_main)
    {
        m_main->Receive(frame);
        return;
    }
    if (!connection)
    {
        NS_LOG_WARN("endpoint " << m_endpoint << " has no connection " << frame->destinationQp);
        m_line->Drop(frame, DropReason::NO_RECEIVER);
        return;
    }
    connection->Receive(frame);
}

} // namespace ns3::training
