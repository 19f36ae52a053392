/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "in-network-communicator.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/training-attribute-choice.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingInNetworkCommunicator");
NS_OBJECT_ENSURE_REGISTERED(InNetworkCommunicator);

namespace
{

/// Operations of fewer windows measure latencies.
constexpr uint64_t MIN_WINDOWS = 8;
/// Share of the line above which nothing limits a worker.
constexpr double GOOD_LINE_USE = 0.8;
/// Share of a closed form that a measurement reaches.
constexpr double CLOSE = 0.9;

} // namespace

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

std::string
InNetworkCommunicator::GetOnFailure() const
{
    return m_endsOnFailure ? "error" : "ring";
}

InNetworkCommunicator::InNetworkCommunicator()
    : m_fallback(*this)
{
}

InNetworkCommunicator::~InNetworkCommunicator() = default;

void
InNetworkCommunicator::DoDispose()
{
    m_fallback.Stop();
    if (m_device)
    {
        m_device->SetProgramReceiver(GetProtocol(), m_group.job, nullptr);
    }
    m_device = nullptr;
    m_hosts = nullptr;
    m_onError = nullptr;
    m_queue.clear();
    m_current.tensor = nullptr;
    Communicator::DoDispose();
}

void
InNetworkCommunicator::SetGroup(uint32_t rank,
                                const Group& group,
                                Ptr<HostDevice> device,
                                Ptr<ScheduledCommunicator> hosts)
{
    m_rank = rank;
    m_group = group;
    m_device = device;
    m_hosts = hosts;
    m_device->SetProgramReceiver(GetProtocol(), group.job, [this](Frame* frame) {
        OnFrame(frame);
    });
    m_fallback.Configure({rank, GetProtocol(), group.job, group.endpoints},
                         group.device ? group.device : device,
                         hosts);
    m_group.device = nullptr; // the fallback's
}

bool
InNetworkCommunicator::IsChosen(uint64_t) const
{
    return true;
}

bool
InNetworkCommunicator::ReturnsSum() const
{
    return true;
}

void
InNetworkCommunicator::SetTensorsOfStep(uint32_t)
{
}

const InNetworkCounters&
InNetworkCommunicator::GetCounters() const
{
    return m_counters;
}

double
InNetworkCommunicator::GetLineUse() const
{
    return m_leastSeconds > 0 ? m_limits.lineSeconds / m_leastSeconds : 0;
}

std::string
InNetworkCommunicator::DescribeLimit() const
{
    const double use = GetLineUse();
    if (use == 0 || use >= GOOD_LINE_USE || m_counters.resent > 0)
    {
        return "";
    }
    const std::string share = " to " + std::to_string(std::lround(100 * use)) + " % of the line (";
    // Rate of the recirculation port that would do for a full line.
    const double wanted = m_limits.recirculationBits / m_limits.lineSeconds;
    if (use * wanted >= CLOSE * static_cast<double>(m_limits.recirculationRate) &&
        m_limits.recirculationRate > 0)
    {
        const auto gigabits = static_cast<uint64_t>(std::ceil(wanted * 1e-9));
        return "the recirculation ports of the switches, with " +
               FormatRate(DataRate(m_limits.recirculationRate)) + ", limit " + GetName() + share +
               "a full line takes ns3::training::SwitchDevice::RecirculationRate=" +
               std::to_string(gigabits) + "Gbps or more)";
    }
    // A larger window may have longer queues, and then takes even more.
    const auto least = static_cast<uint64_t>(std::ceil(static_cast<double>(m_limits.value) / use));
    return m_limits.key + "=" + std::to_string(m_limits.value) + " limits " + GetName() + share +
           "packets in flight wait for answers; a full line takes " + m_limits.key + "=" +
           std::to_string(least) + " or more)";
}

void
InNetworkCommunicator::SetLimits(const InNetworkLimits& limits)
{
    m_limits = limits;
}

void
InNetworkCommunicator::NoteRate(uint64_t packets, Time hostTime)
{
    if (m_limits.window == 0 || packets < MIN_WINDOWS * m_limits.window)
    {
        return;
    }
    const Time time = Simulator::Now() - m_queue.front().record.started - hostTime;
    const double seconds = time.GetSeconds() / static_cast<double>(packets);
    m_leastSeconds = m_leastSeconds > 0 ? std::min(m_leastSeconds, seconds) : seconds;
}

bool
InNetworkCommunicator::HasFallenBack() const
{
    return m_fallback.IsComplete();
}

const std::string&
InNetworkCommunicator::GetFailure() const
{
    return m_fallback.GetReason();
}

std::vector<float>
InNetworkCommunicator::GetExpectedSum(const std::vector<std::vector<float>>& inputs,
                                      const std::vector<float>&) const
{
    return GetSum(inputs);
}

bool
InNetworkCommunicator::IsOffloaded(CollectiveOperation operation) const
{
    return operation == CollectiveOperation::ALL_REDUCE;
}

CollectiveOperation
InNetworkCommunicator::GetOperation() const
{
    return m_queue.front().record.operation;
}

uint32_t
InNetworkCommunicator::GetRoot() const
{
    return m_queue.front().root;
}

uint8_t
InNetworkCommunicator::GetJob() const
{
    return m_group.job;
}

HostDevice&
InNetworkCommunicator::GetDevice() const
{
    return *m_device;
}

Time
InNetworkCommunicator::GetFailureTimeout() const
{
    return m_failureTimeout;
}

void
InNetworkCommunicator::CountSent(uint64_t packets)
{
    m_counters.sent += packets;
}

void
InNetworkCommunicator::CountResent(uint64_t packets)
{
    m_counters.resent += packets;
}

void
InNetworkCommunicator::CountReceived()
{
    m_counters.received++;
}

void
InNetworkCommunicator::CountDuplicate()
{
    m_counters.duplicates++;
}

uint32_t
InNetworkCommunicator::GetRank() const
{
    return m_rank;
}

uint32_t
InNetworkCommunicator::GetSize() const
{
    return static_cast<uint32_t>(m_group.endpoints.size());
}

void
InNetworkCommunicator::Send(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    m_hosts->Send(tensor, peer, done);
}

void
InNetworkCommunicator::Receive(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    m_hosts->Receive(tensor, peer, done);
}

void
InNetworkCommunicator::SetErrorHandler(ErrorHandler handler)
{
    if (m_hosts)
    {
        m_hosts->SetErrorHandler(handler);
    }
    m_onError = std::move(handler);
}

void
InNetworkCommunicator::Start(CollectiveOperation operation,
                             Ptr<Tensor> tensor,
                             uint32_t root,
                             Done done,
                             ByteMatrix matrix)
{
    NS_LOG_FUNCTION(this << ns3::training::GetName(operation) << tensor->bytes << root);
    NS_ABORT_MSG_IF(tensor->IsReal() && tensor->values.size() * sizeof(float) != tensor->bytes,
                    "a real tensor's bytes are four times its numbers");
    Operation next;
    next.record.operation = operation;
    next.tensor = tensor;
    next.root = root;
    next.matrix = std::move(matrix);
    next.done = done;
    Add(std::move(next));
}

void
InNetworkCommunicator::Queue(Ptr<Tensor> tensor, Done done, std::function<void()> begin)
{
    Operation next;
    next.record.operation = CollectiveOperation::BROADCAST;
    next.tensor = tensor;
    next.done = done;
    next.begin = std::move(begin);
    Add(std::move(next));
}

void
InNetworkCommunicator::Add(Operation operation)
{
    operation.record.rank = m_rank;
    operation.record.collective = m_issued++;
    operation.record.bytes = operation.tensor->bytes;
    operation.record.iteration = operation.tensor->iteration;
    operation.record.bucket = operation.tensor->bucket;
    operation.record.issued = Simulator::Now();
    m_queue.push_back(std::move(operation));
    // From an event, so that completion never precedes the return of this call.
    Simulator::ScheduleNow(&InNetworkCommunicator::StartNext, this);
}

void
InNetworkCommunicator::StartNext()
{
    if (m_busy || m_queue.empty() || m_fallback.IsUnderWay())
    {
        return;
    }
    m_busy = true;
    Operation& operation = m_queue.front();
    operation.record.started = Simulator::Now();
    if (operation.begin)
    {
        operation.record.algorithm = GetName();
        EnterNetwork(operation);
        operation.begin();
        return;
    }
    if (!IsOffloaded(operation.record.operation) || !IsChosen(operation.tensor->bytes) ||
        m_fallback.IsComplete())
    {
        RunByHosts();
        return;
    }
    operation.record.algorithm = GetName();
    const bool isEmpty =
        operation.tensor->bytes == 0 && operation.record.operation != CollectiveOperation::BARRIER;
    if ((GetSize() == 1 && ReturnsSum()) || isEmpty)
    {
        Finish();
        return;
    }
    EnterNetwork(operation);
    Begin(*operation.tensor);
}

void
InNetworkCommunicator::EnterNetwork(const Operation& operation)
{
    NS_LOG_LOGIC("rank " << m_rank << ": operation " << operation.record.collective
                         << " begins in the network");
    m_inNetwork = true;
    m_current = {operation.record.operation, operation.root, operation.tensor};
}

void
InNetworkCommunicator::RunByHosts()
{
    OnResynchronization();
    Operation& operation = m_queue.front();
    NS_LOG_LOGIC("rank " << m_rank << ": the hosts make operation " << operation.record.collective);
    m_hosts->Start(operation.record.operation,
                   operation.tensor,
                   operation.root,
                   MakeBoundCallback(&InNetworkCommunicator::FinishByHosts, this),
                   operation.matrix);
}

void
InNetworkCommunicator::FinishByHosts(InNetworkCommunicator* self)
{
    self->Finish();
}

void
InNetworkCommunicator::Complete(std::vector<float> sum)
{
    m_current.tensor->values = std::move(sum);
    m_fallback.NoteCompleted(m_current);
    Finish();
}

void
InNetworkCommunicator::Finish()
{
    Operation operation = std::move(m_queue.front());
    m_queue.pop_front();
    m_busy = false;
    m_inNetwork = false;
    m_current.tensor = nullptr;
    operation.record.finished = Simulator::Now();
    m_collectiveTrace(operation.record);
    StartNext();
    if (!operation.done.IsNull())
    {
        operation.done();
    }
}

std::string
InNetworkCommunicator::GetWaitingFor() const
{
    if (!m_busy)
    {
        return "";
    }
    const std::string text = "rank " + std::to_string(m_rank) + " waits in " +
                             ns3::training::GetName(m_queue.front().record.operation) + " " +
                             std::to_string(m_queue.front().record.collective);
    if (m_aborted)
    {
        return text + " (" + GetName() + "), which has failed";
    }
    if (m_fallback.IsUnderWay())
    {
        return text + " for notices of other ranks";
    }
    return m_inNetwork ? text + " (" + GetName() + ") for " + GetMissing()
                       : m_hosts->GetWaitingFor();
}

void
InNetworkCommunicator::OnFrame(Frame* frame)
{
    if (!m_fallback.IsNetworkInUse())
    {
        Frame::Free(frame);
    }
    else if (m_inNetwork)
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
    NS_LOG_LOGIC("rank " << m_rank << ": a frame is late");
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
        m_onError(m_rank, reason);
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

const NetworkFallback::Operation*
InNetworkCommunicator::GetOperationInNetwork()
{
    return m_inNetwork ? &m_current : nullptr;
}

void
InNetworkCommunicator::ContinueByHosts()
{
    m_inNetwork ? RunByHosts() : StartNext();
}

void
InNetworkCommunicator::OnResynchronization()
{
    m_inNetwork = false;
    m_queue.front().record.algorithm = "ring";
}

void
InNetworkCommunicator::OnCompleted()
{
    Finish();
}

void
InNetworkCommunicator::OnFallbackFailure(const std::string& reason)
{
    Abort(reason);
}

} // namespace ns3::training
