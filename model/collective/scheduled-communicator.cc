/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "scheduled-communicator.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstring>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingScheduledCommunicator");
NS_OBJECT_ENSURE_REGISTERED(ScheduledCommunicator);

namespace
{

// A tag: collective modulo 2^24, step, chunk.
constexpr uint32_t STEP_BITS = 20;
constexpr uint32_t CHUNK_BITS = 20;
constexpr uint64_t COLLECTIVE_MASK = (1 << 24) - 1;

uint64_t
MakeTag(uint64_t collective, uint32_t step, uint32_t chunk)
{
    return (collective & COLLECTIVE_MASK) << (STEP_BITS + CHUNK_BITS) |
           uint64_t{step} << CHUNK_BITS | chunk;
}

/** @return a message as trace sources show it, at this moment */
MessageRecord
MakeRecord(uint32_t source, uint32_t destination, uint64_t tag, uint64_t bytes)
{
    MessageRecord record;
    record.source = source;
    record.destination = destination;
    record.collective = tag >> (STEP_BITS + CHUNK_BITS);
    record.step = static_cast<uint32_t>(tag >> CHUNK_BITS & ((1 << STEP_BITS) - 1));
    record.chunk = static_cast<uint32_t>(tag & ((1 << CHUNK_BITS) - 1));
    record.tag = tag;
    record.bytes = bytes;
    record.time = Simulator::Now();
    return record;
}

} // namespace

TypeId
ScheduledCommunicator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::ScheduledCommunicator")
            .SetParent<Communicator>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<ScheduledCommunicator>()
            .AddAttribute("ActiveCollectives",
                          "Collectives of this communicator that may run at a time; the others "
                          "wait in order of issue",
                          UintegerValue(1),
                          MakeUintegerAccessor(&ScheduledCommunicator::m_activeLimit),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("ReduceRate",
                          "Rate at which received chunks are added; 0 means in no time",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&ScheduledCommunicator::m_reduceRate),
                          MakeDataRateChecker())
            .AddTraceSource("Send",
                            "A message of a collective has been handed to the transport",
                            MakeTraceSourceAccessor(&ScheduledCommunicator::m_sendTrace),
                            "ns3::training::ScheduledCommunicator::MessageTracedCallback")
            .AddTraceSource("Receive",
                            "A message of a collective has been received",
                            MakeTraceSourceAccessor(&ScheduledCommunicator::m_receiveTrace),
                            "ns3::training::ScheduledCommunicator::MessageTracedCallback")
            .AddTraceSource("Collective",
                            "A collective is complete at this rank",
                            MakeTraceSourceAccessor(&ScheduledCommunicator::m_collectiveTrace),
                            "ns3::training::ScheduledCommunicator::CollectiveTracedCallback");
    return tid;
}

void
ScheduledCommunicator::DoDispose()
{
    m_transport = nullptr;
    m_planner = nullptr;
    m_onError = nullptr;
    m_active.clear();
    m_queue.clear();
    m_early.clear();
    Communicator::DoDispose();
}

void
ScheduledCommunicator::Setup(uint32_t rank,
                             uint32_t size,
                             Ptr<MessageTransport> transport,
                             Planner planner)
{
    m_rank = rank;
    m_size = size;
    m_transport = transport;
    m_planner = std::move(planner);
    m_transport->SetMessageHandler(
        [this](uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload) {
            OnMessage(peer, tag, bytes, std::move(payload));
        });
    m_transport->SetErrorHandler(
        [this](uint32_t peer, const std::string& reason) { OnError(peer, reason); });
}

void
ScheduledCommunicator::SetErrorHandler(ErrorHandler handler)
{
    m_onError = std::move(handler);
}

uint32_t
ScheduledCommunicator::GetRank() const
{
    return m_rank;
}

uint32_t
ScheduledCommunicator::GetSize() const
{
    return m_size;
}

uint64_t
ScheduledCommunicator::GetReceivedMessages() const
{
    return m_receivedMessages;
}

void
ScheduledCommunicator::AllReduce(Ptr<Tensor> tensor, Done done)
{
    Start(CollectiveOperation::ALL_REDUCE, tensor, 0, done);
}

void
ScheduledCommunicator::ReduceScatter(Ptr<Tensor> tensor, Done done)
{
    Start(CollectiveOperation::REDUCE_SCATTER, tensor, 0, done);
}

void
ScheduledCommunicator::AllGather(Ptr<Tensor> tensor, Done done)
{
    Start(CollectiveOperation::ALL_GATHER, tensor, 0, done);
}

void
ScheduledCommunicator::Broadcast(Ptr<Tensor> tensor, uint32_t root, Done done)
{
    Start(CollectiveOperation::BROADCAST, tensor, root, done);
}

void
ScheduledCommunicator::Start(CollectiveOperation operation,
                             Ptr<Tensor> tensor,
                             uint32_t root,
                             Done done)
{
    NS_LOG_FUNCTION(this << GetName(operation) << tensor->bytes << root);
    NS_ABORT_MSG_IF(tensor->IsReal() && tensor->values.size() * sizeof(float) != tensor->bytes,
                    "a real tensor's bytes are four times its numbers");
    Active next;
    next.schedule = m_planner(operation, tensor->bytes, root);
    next.record.rank = m_rank;
    next.record.collective = m_issued++;
    next.record.operation = operation;
    next.record.algorithm = next.schedule->algorithm;
    next.record.bytes = tensor->bytes;
    next.record.issued = Simulator::Now();
    next.tensor = tensor;
    next.done = done;
    m_queue.push_back(std::move(next));
    // By an event, so that completion never comes before this call returns.
    Simulator::ScheduleNow(&ScheduledCommunicator::StartNext, this);
}

void
ScheduledCommunicator::StartNext()
{
    while (!m_queue.empty() && m_active.size() < m_activeLimit)
    {
        m_active.push_back(std::move(m_queue.front()));
        m_queue.pop_front();
        Active& active = m_active.back();
        active.record.started = Simulator::Now();
        const auto& actions = active.schedule->ranks[m_rank];
        active.left = actions.size();
        active.missing.resize(actions.size());
        for (uint32_t i = 0; i < actions.size(); i++)
        {
            active.missing[i] = static_cast<uint32_t>(actions[i].after.size());
            if (actions[i].after.empty())
            {
                active.ready.push_back(i);
            }
        }
        RunReady(active);
    }
}

void
ScheduledCommunicator::RunReady(Active& active)
{
    while (!active.ready.empty())
    {
        const uint32_t action = active.ready.front();
        active.ready.pop_front();
        Begin(active, action);
    }
    if (active.left == 0)
    {
        Finish(active);
    }
}

void
ScheduledCommunicator::Begin(Active& active, uint32_t index)
{
    const ScheduleAction& action = active.schedule->ranks[m_rank][index];
    const auto [begin, end] = active.schedule->GetRange(action.chunk, active.tensor->bytes);
    if (begin == end)
    {
        Complete(active, index); // an empty chunk is not sent
        return;
    }
    const uint64_t tag = MakeTag(active.record.collective, action.step, action.chunk);
    if (action.IsReceive())
    {
        const auto early = m_early.find({action.peer, tag});
        if (early == m_early.end())
        {
            active.waiting.emplace(MessageKey(action.peer, tag), index);
            return;
        }
        Ptr<ByteBuffer> payload = early->second.payload;
        m_early.erase(early);
        Take(active, index, payload);
        return;
    }
    Ptr<ByteBuffer> payload;
    if (active.tensor->IsReal())
    {
        // The chunk as it is now: retransmissions must not see later additions.
        payload = Create<ByteBuffer>();
        payload->bytes.resize(end - begin);
        std::memcpy(payload->bytes.data(),
                    reinterpret_cast<const uint8_t*>(active.tensor->values.data()) + begin,
                    end - begin);
    }
    m_sendTrace(MakeRecord(m_rank, action.peer, tag, end - begin));
    m_transport->Send(action.peer, tag, end - begin, payload);
    Complete(active, index);
}

void
ScheduledCommunicator::Take(Active& active, uint32_t index, Ptr<ByteBuffer> payload)
{
    const ScheduleAction& action = active.schedule->ranks[m_rank][index];
    const auto [begin, end] = active.schedule->GetRange(action.chunk, active.tensor->bytes);
    const bool reduce = action.kind == ScheduleAction::Kind::RECEIVE_REDUCE;
    if (active.tensor->IsReal())
    {
        NS_ABORT_MSG_UNLESS(payload && payload->bytes.size() == end - begin,
                            "rank " << m_rank << " expects " << end - begin
                                    << " real bytes from rank " << action.peer);
        float* mine = active.tensor->values.data() + begin / sizeof(float);
        if (reduce)
        {
            for (uint64_t i = 0; i < (end - begin) / sizeof(float); i++)
            {
                float theirs;
                std::memcpy(&theirs, payload->bytes.data() + i * sizeof(float), sizeof(float));
                mine[i] += theirs;
            }
        }
        else
        {
            std::memcpy(mine, payload->bytes.data(), end - begin);
        }
    }
    if (reduce && m_reduceRate.GetBitRate() > 0)
    {
        const double seconds =
            8.0 * static_cast<double>(end - begin) / static_cast<double>(m_reduceRate.GetBitRate());
        m_reduceFree = std::max(m_reduceFree, Simulator::Now()) + Seconds(seconds);
        Simulator::Schedule(m_reduceFree - Simulator::Now(),
                            &ScheduledCommunicator::CompleteLater,
                            this,
                            active.record.collective,
                            index);
        return;
    }
    Complete(active, index);
}

void
ScheduledCommunicator::CompleteLater(uint64_t collective, uint32_t index)
{
    Active& active = *Find(collective);
    Complete(active, index);
    RunReady(active);
}

void
ScheduledCommunicator::Complete(Active& active, uint32_t index)
{
    active.left--;
    for (uint32_t i : active.schedule->ranks[m_rank][index].next)
    {
        if (--active.missing[i] == 0)
        {
            active.ready.push_back(i);
        }
    }
}

void
ScheduledCommunicator::Finish(Active& active)
{
    active.record.finished = Simulator::Now();
    m_collectiveTrace(active.record);
    const Done done = active.done;
    m_active.remove_if([&](const Active& other) { return &other == &active; });
    StartNext();
    if (!done.IsNull())
    {
        done();
    }
}

ScheduledCommunicator::Active*
ScheduledCommunicator::Find(uint64_t collective)
{
    for (Active& active : m_active)
    {
        if (((active.record.collective ^ collective) & COLLECTIVE_MASK) == 0)
        {
            return &active;
        }
    }
    return nullptr;
}

void
ScheduledCommunicator::OnMessage(uint32_t peer,
                                 uint64_t tag,
                                 uint64_t bytes,
                                 Ptr<ByteBuffer> payload)
{
    const uint64_t collective = tag >> (STEP_BITS + CHUNK_BITS);
    m_receivedMessages++;
    m_receiveTrace(MakeRecord(peer, m_rank, tag, bytes));

    Active* active = Find(collective);
    if (active)
    {
        const auto receive = active->waiting.find({peer, tag});
        if (receive != active->waiting.end())
        {
            const uint32_t index = receive->second;
            active->waiting.erase(receive);
            Take(*active, index, payload);
            RunReady(*active);
            return;
        }
    }
    m_early[{peer, tag}] = {bytes, payload};
}

void
ScheduledCommunicator::OnError(uint32_t peer, const std::string& reason)
{
    if (m_onError)
    {
        m_onError(peer,
                  "the path from rank " + std::to_string(m_rank) + " to rank " +
                      std::to_string(peer) + " failed: " + reason);
    }
}

std::string
ScheduledCommunicator::GetWaitingFor() const
{
    if (m_active.empty())
    {
        return "";
    }
    const Active& active = m_active.front();
    std::string text =
        "rank " + std::to_string(m_rank) + " waits in " + GetName(active.record.operation) + " " +
        std::to_string(active.record.collective) + " (" + active.record.algorithm + ")";
    if (active.waiting.empty())
    {
        return text + " for its own additions";
    }
    const auto first =
        std::min_element(active.waiting.begin(),
                         active.waiting.end(),
                         [&](const auto& a, const auto& b) { return a.second < b.second; });
    const ScheduleAction& action = active.schedule->ranks[m_rank][first->second];
    const auto [begin, end] = active.schedule->GetRange(action.chunk, active.tensor->bytes);
    return text + " at step " + std::to_string(action.step) + " for chunk " +
           std::to_string(action.chunk) + " (" + std::to_string(end - begin) +
           " bytes) from rank " + std::to_string(action.peer);
}

} // namespace ns3::training
