/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-nic.h"

#include "rdma-dcqcn.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

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
                          MakeTypeIdChecker());
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
    m_ready.clear();
    m_paced = {};
    m_queuePairs.clear();
    Object::DoDispose();
}

void
RdmaNic::Attach(Ptr<HostDevice> device)
{
    m_device = device;
    m_device->GetPort().SetSource(this);
    m_device->SetRdmaReceiver([this](Frame* frame) { Receive(frame); });
    m_congestionControl.SetTypeId(m_congestionControlType);
}

Ptr<RdmaQueuePair>
RdmaNic::CreateQueuePair(uint32_t number, uint32_t remoteEndpoint, uint32_t remoteNumber)
{
    NS_LOG_FUNCTION(this << number << remoteEndpoint << remoteNumber);
    NS_ASSERT_MSG(number < PSN_MODULUS && remoteNumber < PSN_MODULUS, "24 bits on the wire");
    Ptr<RdmaQueuePair> queuePair =
        Create<RdmaQueuePair>(*this,
                              number,
                              remoteEndpoint,
                              remoteNumber,
                              m_congestionControl.Create<RdmaCongestionControl>());
    const bool added = m_queuePairs.emplace(number, queuePair).second;
    NS_ABORT_MSG_UNLESS(added, "queue pair " << number << " exists");
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

void
RdmaNic::Schedule(RdmaQueuePair& queuePair)
{
    if (queuePair.scheduled || !queuePair.CanSend())
    {
        return;
    }
    queuePair.scheduled = true;
    const int64_t now = Simulator::Now().GetTimeStep();
    if (queuePair.GetNextSendTime() > now)
    {
        m_paced.emplace(queuePair.GetNextSendTime(), &queuePair);
        if (m_ready.empty())
        {
            OnPaceTimer();
        }
        return;
    }
    m_ready.push_back(&queuePair);
    m_device->GetPort().Wake();
}

void
RdmaNic::SendControl(Frame* frame)
{
    m_device->GetPort().Send(frame);
}

void
RdmaNic::MoveDue(int64_t now)
{
    while (!m_paced.empty() && m_paced.top().first <= now)
    {
        m_ready.push_back(m_paced.top().second);
        m_paced.pop();
    }
}

uint8_t
RdmaNic::GetReady(int64_t now)
{
    MoveDue(now);
    // What could be sent when it was queued may have been acknowledged or cut off since.
    while (!m_ready.empty() && !m_ready.front()->CanSend())
    {
        m_ready.front()->scheduled = false;
        m_ready.pop_front();
    }
    if (!m_ready.empty())
    {
        return 1 << m_dataPriority;
    }
    if (!m_paced.empty())
    {
        OnPaceTimer(); // one may have come that is due before the timer
    }
    return 0;
}

Frame*
RdmaNic::Pull(uint8_t, int64_t now)
{
    RdmaQueuePair* queuePair = m_ready.front();
    m_ready.pop_front();
    Frame* frame = queuePair->MakeFrame(now);
    if (!queuePair->CanSend())
    {
        queuePair->scheduled = false;
    }
    else if (queuePair->GetNextSendTime() <= now + m_device->GetPort().GetLineTime(frame->bytes))
    {
        m_ready.push_back(queuePair);
    }
    else
    {
        m_paced.emplace(queuePair->GetNextSendTime(), queuePair);
    }
    return frame;
}

void
RdmaNic::OnPaceTimer()
{
    // Wakes the port when the first paced queue pair is due; an earlier timer simply looks again.
    const int64_t now = Simulator::Now().GetTimeStep();
    MoveDue(now);
    if (!m_ready.empty())
    {
        m_device->GetPort().Wake();
    }
    else if (!m_paced.empty())
    {
        const Time wait = TimeStep(m_paced.top().first - now);
        if (m_paceTimer.IsExpired() || Simulator::GetDelayLeft(m_paceTimer) > wait)
        {
            Simulator::Cancel(m_paceTimer);
            m_paceTimer = Simulator::Schedule(wait, &RdmaNic::OnPaceTimer, this);
        }
    }
}

void
RdmaNic::Receive(Frame* frame)
{
    const auto found = m_queuePairs.find(frame->destinationQp);
    RdmaQueuePair* queuePair = found != m_queuePairs.end() ? PeekPointer(found->second)
                               : m_listener                ? m_listener(frame->destinationQp)
                                                           : nullptr;
    if (!queuePair)
    {
        NS_LOG_WARN("no queue pair " << frame->destinationQp);
        Frame::Free(frame);
        return;
    }
    queuePair->Receive(frame);
}

} // namespace ns3::training
