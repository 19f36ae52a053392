/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "in-network-communicator.h"

#include "ns3/abort.h"
#include "ns3/attribute-choice.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"

#include <algorithm>

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
        FindChoice("InNetworkCommunicator::OnFailure", action, {"ring", "error"}) == 1;
}

std::string
InNetworkCommunicator::GetOnFailure() const
{
    return m_endsOnFailure ? "error" : "ring";
}

void
InNetworkCommunicator::DoDispose()
{
    Simulator::Cancel(m_notices);
    if (m_device)
    {
        m_device->SetAggregationReceiver(m_group.job, nullptr);
    }
    m_device = nullptr;
    m_hosts = nullptr;
    m_onError = nullptr;
    m_queue.clear();
    m_latest.tensor = nullptr;
    m_gathered.clear();
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
    m_device->SetAggregationReceiver(group.job, [this](Frame* frame) { OnFrame(frame); });
}

bool
InNetworkCommunicator::IsSum() const
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

bool
InNetworkCommunicator::HasFallenBack() const
{
    return m_mode == Mode::HOSTS;
}

const std::string&
InNetworkCommunicator::GetFailure() const
{
    return m_reason;
}

std::vector<float>
InNetworkCommunicator::GetSumFor(const std::vector<std::vector<float>>& inputs,
                                 const std::vector<float>&) const
{
    return GetSum(inputs);
}

bool
InNetworkCommunicator::Makes(CollectiveOperation operation) const
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
    operation.record.issued = Simulator::Now();
    m_queue.push_back(std::move(operation));
    // By an event, so that completion never comes before this call returns.
    Simulator::ScheduleNow(&InNetworkCommunicator::StartNext, this);
}

void
InNetworkCommunicator::StartNext()
{
    if (m_busy || m_queue.empty() || m_mode == Mode::AGREEING)
    {
        return;
    }
    m_busy = true;
    Operation& operation = m_queue.front();
    operation.record.started = Simulator::Now();
    if (operation.begin)
    {
        operation.record.algorithm = GetName();
        m_inNetwork = true;
        operation.begin();
        return;
    }
    if (!Makes(operation.record.operation) || m_mode == Mode::HOSTS)
    {
        RunByHosts();
        return;
    }
    operation.record.algorithm = GetName();
    const bool isEmpty =
        operation.tensor->bytes == 0 && operation.record.operation != CollectiveOperation::BARRIER;
    if ((GetSize() == 1 && IsSum()) || isEmpty)
    {
        Finish();
        return;
    }
    m_inNetwork = true;
    Begin(*operation.tensor);
}

void
InNetworkCommunicator::RunByHosts()
{
    Operation& operation = m_queue.front();
    m_inNetwork = false;
    operation.record.algorithm = "ring";
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
    Ptr<Tensor> tensor = m_queue.front().tensor;
    m_completed++;
    // Kept until the next one is complete: another rank may need it if the network fails.
    m_latest.record = m_queue.front().record;
    m_latest.root = m_queue.front().root;
    m_latest.tensor = Create<Tensor>();
    m_latest.tensor->bytes = tensor->bytes;
    m_latest.tensor->values = sum;
    tensor->values = std::move(sum);
    Finish();
}

void
InNetworkCommunicator::Finish()
{
    Operation operation = std::move(m_queue.front());
    m_queue.pop_front();
    m_busy = false;
    m_inNetwork = false;
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
    if (m_mode == Mode::AGREEING)
    {
        return text + " for notices of other ranks";
    }
    return m_inNetwork ? text + " (" + GetName() + ") for " + GetMissing()
                       : m_hosts->GetWaitingFor();
}

void
InNetworkCommunicator::OnFrame(Frame* frame)
{
    if (frame->aggregation.type == AggregationHeader::Type::NOTICE)
    {
        OnNotice(*frame);
        Frame::Free(frame);
    }
    else if (m_mode != Mode::NETWORK)
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
    Frame::Free(frame);
}

void
InNetworkCommunicator::Abort(const std::string& reason)
{
    NS_LOG_FUNCTION(this << reason);
    m_aborted = true;
    Halt();
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
    Agree(reason);
}

void
InNetworkCommunicator::Agree(const std::string& reason)
{
    NS_LOG_INFO("rank " << m_rank << " goes over to the hosts: " << reason);
    Halt();
    m_mode = Mode::AGREEING;
    m_reason = reason;
    m_deadline = Simulator::Now() + m_failureTimeout;
    m_peers.assign(GetSize(), Peer());
    m_peers[m_rank] = {true, true, m_completed};
    SendNotices();
}

void
InNetworkCommunicator::SendNotice(uint32_t rank)
{
    Frame* frame = Frame::Allocate(FrameKind::SWITCHML);
    AggregationHeader header;
    header.type = AggregationHeader::Type::NOTICE;
    header.job = m_group.job;
    header.packet = m_completed;
    header.heard = m_peers[rank].told;
    frame->aggregation = header;
    frame->opcode = 0;
    frame->bytes = Frame::MINIMUM_BYTES;
    frame->source = m_device->GetEndpoint();
    frame->destination = m_group.endpoints[rank];
    frame->flowHash = HashFlow(frame->source, frame->destination, m_group.job);
    frame->priority = 0;
    m_device->GetPort().Send(frame);
}

void
InNetworkCommunicator::SendNotices()
{
    if (Simulator::Now() >= m_deadline)
    {
        if (m_mode == Mode::AGREEING)
        {
            Abort(m_reason + "; " + GetSilentRanks());
        }
        return;
    }
    bool all = true;
    for (uint32_t rank = 0; rank < GetSize(); rank++)
    {
        if (!m_peers[rank].told || !m_peers[rank].heard)
        {
            all = false;
            SendNotice(rank);
        }
    }
    if (!all)
    {
        m_notices =
            Simulator::Schedule(m_noticeInterval, &InNetworkCommunicator::SendNotices, this);
    }
}

std::string
InNetworkCommunicator::GetSilentRanks() const
{
    std::string ranks;
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < GetSize(); rank++)
    {
        if (!m_peers[rank].told && ++count <= 8)
        {
            ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
        }
    }
    return "no notice of rank " + ranks + (count > 8 ? ", ..." : "") + " has come to rank " +
           std::to_string(m_rank) + " either";
}

void
InNetworkCommunicator::OnNotice(const Frame& frame)
{
    const auto found = std::find(m_group.endpoints.begin(), m_group.endpoints.end(), frame.source);
    if (found == m_group.endpoints.end())
    {
        return;
    }
    const auto rank = static_cast<uint32_t>(found - m_group.endpoints.begin());
    if (m_mode == Mode::NETWORK)
    {
        Agree("rank " + std::to_string(rank) + " gets no answers from the network");
    }
    Peer& peer = m_peers[rank];
    const bool isNew = !peer.told;
    peer.told = true;
    peer.completed = frame.aggregation.packet;
    peer.heard |= frame.aggregation.heard;
    if (!frame.aggregation.heard || isNew)
    {
        SendNotice(rank);
    }
    if (m_mode == Mode::AGREEING &&
        std::all_of(m_peers.begin(), m_peers.end(), [](const Peer& p) { return p.told; }))
    {
        Decide();
    }
}

void
InNetworkCommunicator::Decide()
{
    m_mode = Mode::HOSTS;
    // A rank completes an operation only when all have the one before: they are one apart at most.
    const auto isAhead = [this](const Peer& peer) {
        return std::any_of(m_peers.begin(), m_peers.end(), [&](const Peer& other) {
            return peer.completed == other.completed + 1;
        });
    };
    const auto found = std::find_if(m_peers.begin(), m_peers.end(), isAhead);
    if (found == m_peers.end())
    {
        m_inNetwork ? RunByHosts() : StartNext();
        return;
    }
    const auto first = static_cast<uint32_t>(found - m_peers.begin());
    if (m_completed == found->completed)
    {
        HelpOthers(first);
        m_inNetwork ? RunByHosts() : StartNext();
        return;
    }
    CatchUp(first);
}

bool
InNetworkCommunicator::IsBehind(uint32_t rank, uint32_t first) const
{
    return m_peers[rank].completed != m_peers[first].completed;
}

void
InNetworkCommunicator::HelpOthers(uint32_t first)
{
    const Callback<void> ignore = MakeCallback(&InNetworkCommunicator::Ignore);
    const bool isReduce = m_latest.record.operation == CollectiveOperation::REDUCE;
    if (isReduce && IsBehind(m_latest.root, first))
    {
        m_hosts->SendApart(m_latest.tensor, m_latest.root, ignore); // what it has contributed
    }
    // That a rank is beyond a barrier shows that all have come to it.
    if (isReduce || m_latest.record.operation == CollectiveOperation::BARRIER || first != m_rank)
    {
        return;
    }
    for (uint32_t rank = 0; rank < GetSize(); rank++)
    {
        if (IsBehind(rank, first))
        {
            m_hosts->SendApart(m_latest.tensor, rank, ignore);
        }
    }
}

void
InNetworkCommunicator::CatchUp(uint32_t first)
{
    Operation& operation = m_queue.front();
    m_inNetwork = false;
    operation.record.algorithm = "ring";
    if (operation.record.operation == CollectiveOperation::BARRIER)
    {
        Finish();
        return;
    }
    if (operation.record.operation != CollectiveOperation::REDUCE)
    {
        m_hosts->ReceiveApart(operation.tensor,
                              first,
                              MakeBoundCallback(&InNetworkCommunicator::FinishByHosts, this));
        return;
    }
    if (operation.root != m_rank)
    {
        if (IsBehind(operation.root, first))
        {
            m_hosts->SendApart(operation.tensor,
                               operation.root,
                               MakeCallback(&InNetworkCommunicator::Ignore));
        }
        Finish();
        return;
    }
    m_gathered.assign(GetSize(), nullptr);
    m_missing = GetSize() - 1;
    for (uint32_t rank = 0; rank < GetSize(); rank++)
    {
        if (rank != m_rank)
        {
            m_gathered[rank] = Create<Tensor>();
            m_gathered[rank]->bytes = operation.tensor->bytes;
            m_gathered[rank]->values.resize(operation.tensor->values.size());
            m_hosts->ReceiveApart(m_gathered[rank],
                                  rank,
                                  MakeBoundCallback(&InNetworkCommunicator::AddGathered, this));
        }
    }
}

void
InNetworkCommunicator::AddGathered(InNetworkCommunicator* self)
{
    if (--self->m_missing > 0)
    {
        return;
    }
    auto& sum = self->m_queue.front().tensor->values;
    for (const auto& tensor : self->m_gathered)
    {
        for (std::size_t i = 0; tensor && i < sum.size(); i++)
        {
            sum[i] += tensor->values[i];
        }
    }
    self->m_gathered.clear();
    self->Finish();
}

void
InNetworkCommunicator::Ignore()
{
}

} // namespace ns3::training
