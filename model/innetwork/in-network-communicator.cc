/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "in-network-communicator.h"

#include "core/attribute-choice.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingInNetworkCommunicator");
NS_OBJECT_ENSURE_REGISTERED(InNetworkCommunicator);

TypeId
InNetworkCommunicator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::InNetworkCommunicator")
            .SetParent<Communicator>()
            .SetGroupName("DistributedTraining")
            .AddAttribute("FailureTimeout",
                          "Time without an answer after which the network is given up; also the "
                          "time for all ranks to agree on that",
                          TimeValue(Seconds(1)),
                          MakeTimeAccessor(&InNetworkCommunicator::m_failureTimeout),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("OnFailure",
                          "What then: ring (the hosts go on among themselves) or error",
                          StringValue("ring"),
                          MakeStringAccessor(&InNetworkCommunicator::SetOnFailure,
                                             &InNetworkCommunicator::GetOnFailure),
                          MakeStringChecker())
            .AddAttribute("NoticeInterval",
                          "Time between two notices to a rank that has not confirmed any",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&InNetworkCommunicator::m_noticeInterval),
                          MakeTimeChecker(TimeStep(1)))
            .AddTraceSource("Collective",
                            "A collective is complete at this rank",
                            MakeTraceSourceAccessor(&InNetworkCommunicator::m_collectiveTrace),
                            "ns3::training::ScheduledCommunicator::CollectiveTracedCallback");
    return tid;
}

void
InNetworkCommunicator::SetOnFailure(std::string action)
{
    m_endsOnFailure =
        FindAllowedValue("InNetworkCommunicator::OnFailure", action, {"ring", "error"}) == 1;
}

void
InNetworkCommunicator::DoDispose()
{
    m_fallback.Stop();
    if (m_device)
    {
        m_device->SetProgramReceiver(GetProtocol(), m_group.job, nullptr);
    }
    m_device = nullptr;
    m_onError = nullptr;
    OffloadingCommunicator::DoDispose();
}

void
InNetworkCommunicator::SetGroup(uint32_t rank,
                                const Group& group,
                                Ptr<HostDevice> device,
                                Ptr<ScheduledCommunicator> hosts)
{
    SetHosts(rank, hosts);
    m_group = group;
    m_device = device;
    m_device->SetProgramReceiver(GetProtocol(), group.job, [this](Frame* frame) {
        OnFrame(frame);
    });
    m_fallback.Configure({rank, GetProtocol(), group.job, group.endpoints},
                         group.device ? group.device : device,
                         hosts);
    m_group.device = nullptr; // the fallback's
}

void
InNetworkCommunicator::NoteRate(uint64_t packets, Time hostTime)
{
    m_lineUse.Note(packets, Simulator::Now() - GetCurrent()->record.started - hostTime);
}

void
InNetworkCommunicator::SetErrorHandler(ErrorHandler handler)
{
    OffloadingCommunicator::SetErrorHandler(handler);
    m_onError = std::move(handler);
}

void
InNetworkCommunicator::Complete(std::vector<float> sum)
{
    GetCurrent()->tensor->values = std::move(sum);
    m_fallback.NoteCompleted(GetOperationInNetwork());
    Finish();
}

std::string
InNetworkCommunicator::GetWaitingFor() const
{
    const Operation* const current = GetCurrent();
    if (!current)
    {
        return "";
    }
    const std::string text = "rank " + std::to_string(GetRank()) + " waits in " +
                             ns3::training::GetName(current->record.operation) + " " +
                             std::to_string(current->record.collective);
    if (m_aborted)
    {
        return text + " (" + GetName() + "), which has failed";
    }
    if (m_fallback.IsUnderWay())
    {
        return text + " for notices of other ranks";
    }
    return IsOffloadUnderWay() ? text + " (" + GetName() + ") for " + GetMissing()
                               : OffloadingCommunicator::GetWaitingFor();
}

void
InNetworkCommunicator::OnFrame(Frame* frame)
{
    if (!m_fallback.IsNetworkInUse())
    {
        Frame::Free(frame);
    }
    else if (IsOffloadUnderWay())
    {
        OnData(frame);
    }
    else
    {
        OnLateData(frame);
    }
}

void
InNetworkCommunicator::OnLateData(Frame* frame)
{
    NS_LOG_LOGIC("rank " << GetRank() << ": a frame is late");
    Frame::Free(frame);
}

void
InNetworkCommunicator::Abort(const std::string& reason)
{
    NS_LOG_FUNCTION(this << reason);
    m_aborted = true;
    Cancel();
    if (m_onError)
    {
        m_onError(GetPlace(), reason);
    }
}

void
InNetworkCommunicator::GiveUp(const std::string& reason)
{
    NS_LOG_FUNCTION(this << reason);
    if (m_endsOnFailure)
    {
        Abort(reason);
        return;
    }
    m_fallback.Start(reason);
}

void
InNetworkCommunicator::OnFallback()
{
    Cancel();
    m_fallback.SetTimes(m_noticeInterval, m_failureTimeout);
}

} // namespace ns3::training
