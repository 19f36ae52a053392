/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "scheduled-communicator.h"

#include "ns3/abort.h"
#include "ns3/attribute-choice.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstring>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingScheduledCommunicator");
NS_OBJECT_ENSURE_REGISTERED(ScheduledCommunicator);

namespace
{

constexpr uint64_t
Mask(uint32_t bits)
{
    return (uint64_t{1} << bits) - 1;
}

constexpr uint64_t COLLECTIVE_MASK = Mask(MessageTag::COLLECTIVE_BITS);

} // namespace

static_assert(MessageTag::COMMUNICATOR_BITS + MessageTag::COLLECTIVE_BITS + MessageTag::STEP_BITS +
                      MessageTag::MESSAGE_BITS ==
                  64,
              "a tag has 64 bits");
static_assert(CollectiveSchedule::MOST_STEPS <= MessageTag::TURN &&
                  CollectiveSchedule::MOST_MESSAGES == 1 << MessageTag::MESSAGE_BITS,
              "every message of a schedule has a tag of its own");

uint64_t
MessageTag::Pack() const
{
    uint64_t tag = communicator;
    tag = tag << COLLECTIVE_BITS | (collective & COLLECTIVE_MASK);
    tag = tag << STEP_BITS | step;
    return tag << MESSAGE_BITS | message;
}

MessageTag
MessageTag::Unpack(uint64_t tag)
{
    MessageTag result;
    result.message = static_cast<uint32_t>(tag & Mask(MESSAGE_BITS));
    tag >>= MESSAGE_BITS;
    result.step = static_cast<uint32_t>(tag & Mask(STEP_BITS));
    tag >>= STEP_BITS;
    result.collective = tag & COLLECTIVE_MASK;
    result.communicator = static_cast<uint32_t>(tag >> COLLECTIVE_BITS);
    return result;
}

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
                          "wait",
                          UintegerValue(1),
                          MakeUintegerAccessor(&ScheduledCommunicator::m_activeLimit),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Order",
                          "Which of those that wait is next: fifo (issued first), lifo (issued "
                          "last) or priority (highest Tensor::priority)",
                          StringValue("fifo"),
                          MakeStringAccessor(&ScheduledCommunicator::SetOrder,
                                             &ScheduledCommunicator::GetOrder),
                          MakeStringChecker())
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
    for (auto& communicator : m_split)
    {
        communicator->Dispose();
    }
    m_split.clear();
    if (m_transport)
    {
        m_transport->Detach(m_number);
    }
    m_transport = nullptr;
    m_planner = nullptr;
    m_hostModel = nullptr;
    m_isLocal = nullptr;
    m_onError = nullptr;
    m_active.clear();
    m_queue.clear();
    m_early.clear();
    m_expected.clear();
    Communicator::DoDispose();
}

void
ScheduledCommunicator::Setup(uint32_t rank,
                             uint32_t size,
                             Ptr<MessageTransport> transport,
                             Planner planner,
                             uint32_t number)
{
    m_planner = std::move(planner);
    m_transport =
        Create<SharedTransport>(transport, [this](uint32_t peer, const std::string& reason) {
            OnError(peer, reason);
        });
    Join(rank, size, number, {});
}

void
ScheduledCommunicator::Join(uint32_t rank,
                            uint32_t size,
                            uint32_t number,
                            const std::vector<uint32_t>& members)
{
    NS_ABORT_MSG_UNLESS(number <= Mask(MessageTag::COMMUNICATOR_BITS),
                        "number " << number << " of a communicator");
    m_rank = rank;
    m_size = size;
    m_number = number;
    m_transport->Attach(
        number,
        members,
        [this](uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload) {
            OnMessage(peer, tag, bytes, std::move(payload));
        });
}

Ptr<ScheduledCommunicator>
ScheduledCommunicator::Split(const std::vector<uint32_t>& ranks, Planner planner, uint32_t number)
{
    const auto me = std::find(ranks.begin(), ranks.end(), m_rank);
    NS_ABORT_MSG_IF(me == ranks.end(), "rank " << m_rank << " is not in communicator " << number);
    std::vector<uint32_t> members;
    for (uint32_t rank : ranks)
    {
        NS_ABORT_MSG_UNLESS(rank < m_size, "there is no rank " << rank << " of " << m_size);
        members.push_back(m_transport->GetRank(m_number, rank));
    }
    auto communicator = CreateObject<ScheduledCommunicator>();
    communicator->m_activeLimit = m_activeLimit;
    communicator->m_order = m_order;
    communicator->m_reduceRate = m_reduceRate;
    communicator->m_planner = std::move(planner);
    communicator->m_hostModel = m_hostModel;
    communicator->m_isLocal = m_isLocal;
    communicator->m_transport = m_transport;
    m_split.push_back(communicator);
    communicator->Join(static_cast<uint32_t>(me - ranks.begin()),
                       static_cast<uint32_t>(ranks.size()),
                       number,
                       members);
    return communicator;
}

void
ScheduledCommunicator::SetHostModel(HostModel model, std::function<bool(uint32_t)> isLocal)
{
    m_hostModel = std::move(model);
    m_isLocal = std::move(isLocal);
}

void
ScheduledCommunicator::SetOrder(std::string name)
{
    m_order = static_cast<Order>(
        FindChoice("ScheduledCommunicator::Order", name, {"fifo", "lifo", "priority"}));
}

std::string
ScheduledCommunicator::GetOrder() const
{
    return m_order == FIFO ? "fifo" : m_order == LIFO ? "lifo" : "priority";
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

uint64_t
ScheduledCommunicator::MakeTag(uint64_t collective, uint32_t step, uint32_t message) const
{
    return MessageTag{m_number, collective, step, message}.Pack();
}

MessageRecord
ScheduledCommunicator::MakeRecord(uint32_t from, uint32_t to, uint64_t tag, uint64_t bytes) const
{
    const MessageTag parts = MessageTag::Unpack(tag);
    MessageRecord record;
    record.source = m_transport->GetRank(m_number, from);
    record.destination = m_transport->GetRank(m_number, to);
    record.collective = parts.collective;
    record.step = parts.step;
    record.message = parts.message;
    record.tag = tag;
    record.bytes = bytes;
    record.time = Simulator::Now();
    return record;
}

void
ScheduledCommunicator::Call(Done done)
{
    if (!done.IsNull())
    {
        done();
    }
}

void
ScheduledCommunicator::Send(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    SendTagged(tensor, peer, MakeTag(m_sentTo[peer]++, MessageTag::PEER_TO_PEER, 0), done);
}

void
ScheduledCommunicator::SendApart(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    SendTagged(tensor, peer, MakeTag(0, MessageTag::PEER_TO_PEER, 1), done);
}

void
ScheduledCommunicator::SendTagged(Ptr<Tensor> tensor, uint32_t peer, uint64_t tag, Done done)
{
    NS_LOG_FUNCTION(this << peer << tensor->bytes);
    Ptr<ByteBuffer> payload;
    if (tensor->IsReal())
    {
        payload = Create<ByteBuffer>();
        payload->bytes.resize(tensor->bytes);
        std::memcpy(payload->bytes.data(), tensor->values.data(), tensor->bytes);
    }
    m_sendTrace(MakeRecord(m_rank, peer, tag, tensor->bytes));
    m_transport->Send(m_number, peer, tag, tensor->bytes, payload);
    // By an event, so that completion never comes before this call returns.
    Simulator::ScheduleNow(&ScheduledCommunicator::Call, done);
}

void
ScheduledCommunicator::Receive(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    ReceiveTagged(tensor, peer, MakeTag(m_askedOf[peer]++, MessageTag::PEER_TO_PEER, 0), done);
}

void
ScheduledCommunicator::ReceiveApart(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    ReceiveTagged(tensor, peer, MakeTag(0, MessageTag::PEER_TO_PEER, 1), done);
}

void
ScheduledCommunicator::ReceiveTagged(Ptr<Tensor> tensor, uint32_t peer, uint64_t tag, Done done)
{
    NS_LOG_FUNCTION(this << peer << tensor->bytes);
    const MessageKey key(peer, tag);
    const auto early = m_early.find(key);
    if (early == m_early.end())
    {
        m_expected[key] = {tensor, done};
        return;
    }
    Deliver({tensor, done}, early->second.bytes, early->second.payload);
    m_early.erase(early);
}

void
ScheduledCommunicator::Deliver(const Expected& expected,
                               uint64_t bytes,
                               const Ptr<ByteBuffer>& payload)
{
    Tensor& tensor = *expected.tensor;
    NS_ABORT_MSG_UNLESS(bytes == tensor.bytes,
                        "rank " << m_rank << " expects a tensor of " << tensor.bytes
                                << " bytes, not " << bytes);
    if (tensor.IsReal())
    {
        NS_ABORT_MSG_UNLESS(payload, "rank " << m_rank << " expects a real tensor");
        std::memcpy(tensor.values.data(), payload->bytes.data(), bytes);
    }
    Simulator::ScheduleNow(&ScheduledCommunicator::Call, expected.done);
}

void
ScheduledCommunicator::Start(CollectiveOperation operation,
                             Ptr<Tensor> tensor,
                             uint32_t root,
                             Done done,
                             ByteMatrix matrix)
{
    NS_LOG_FUNCTION(this << GetName(operation) << tensor->bytes << root);
    NS_ABORT_MSG_IF(tensor->IsReal() && tensor->values.size() * sizeof(float) != tensor->bytes,
                    "a real tensor's bytes are four times its numbers");
    Active next;
    next.schedule = m_planner(operation, tensor->bytes, root);
    next.record.rank = m_transport->GetRank(m_number, m_rank);
    next.record.communicator = m_number;
    next.record.collective = m_issued++;
    next.record.operation = operation;
    next.record.algorithm = next.schedule->algorithm;
    next.record.bytes = tensor->bytes;
    next.record.issued = Simulator::Now();
    next.tensor = tensor;
    next.matrix = std::move(matrix);
    next.done = done;
    m_queue.push_back(std::move(next));
    // By an event, so that completion never comes before this call returns.
    Simulator::ScheduleNow(&ScheduledCommunicator::StartNext, this);
}

std::deque<ScheduledCommunicator::Active>::iterator
ScheduledCommunicator::FindNext()
{
    if (m_order == FIFO || m_queue.empty())
    {
        return m_queue.begin();
    }
    if (m_rank > 0)
    {
        const auto next = std::find_if(m_queue.begin(), m_queue.end(), [&](const Active& waiting) {
            return !m_turns.empty() &&
                   (waiting.record.collective & COLLECTIVE_MASK) == m_turns.front();
        });
        if (next != m_queue.end())
        {
            m_turns.pop_front();
        }
        return next;
    }
    if (m_order == LIFO)
    {
        return std::prev(m_queue.end());
    }
    return std::max_element(m_queue.begin(), m_queue.end(), [](const Active& a, const Active& b) {
        return a.tensor->priority < b.tensor->priority;
    });
}

void
ScheduledCommunicator::Announce(uint64_t collective)
{
    for (uint32_t peer = 1; m_order != FIFO && m_rank == 0 && peer < m_size; peer++)
    {
        m_transport->Send(m_number, peer, MakeTag(collective, MessageTag::TURN, 0), 0, nullptr);
    }
}

void
ScheduledCommunicator::StartNext()
{
    while (m_active.size() < m_activeLimit)
    {
        const auto next = FindNext();
        if (next == m_queue.end())
        {
            return;
        }
        m_active.push_back(std::move(*next));
        m_queue.erase(next);
        Active& active = m_active.back();
        Announce(active.record.collective);
        const CollectiveSchedule& schedule = *active.schedule;
        active.record.started = Simulator::Now();
        active.layout =
            std::make_unique<ChunkLayout>(schedule, active.tensor->bytes, active.matrix);
        if (active.tensor->IsReal())
        {
            active.store =
                std::make_unique<ChunkStore>(*active.layout, m_rank, active.tensor->values);
        }
        active.left = schedule.GetActions(m_rank);
        active.complete.resize(active.left);
        const uint32_t count = schedule.GetStoredActions(m_rank);
        for (uint32_t segment = 0; segment < schedule.segments; segment++)
        {
            for (uint32_t root : schedule.GetRoots(m_rank))
            {
                active.ready.push_back(segment * count + root);
            }
        }
        if (m_hostModel && active.left > 0)
        {
            active.host = m_hostModel(schedule, active.tensor->bytes);
            active.waiting = true;
            Simulator::Schedule(active.host.start,
                                &ScheduledCommunicator::BeginActive,
                                this,
                                active.record.collective);
            continue;
        }
        RunReady(active);
    }
}

void
ScheduledCommunicator::BeginActive(uint64_t collective)
{
    Active& active = *Find(collective);
    active.waiting = false;
    RunReady(active);
}

void
ScheduledCommunicator::RunReady(Active& active)
{
    while (!active.ready.empty())
    {
        const uint32_t index = active.ready.front();
        active.ready.pop_front();
        Begin(active, index);
    }
    if (active.left == 0)
    {
        Finish(active);
    }
}

void
ScheduledCommunicator::Begin(Active& active, uint32_t index)
{
    const ScheduleAction action = active.schedule->Get(m_rank, index);
    const uint64_t bytes = active.layout->GetBytes(action);
    if (bytes == 0 && !active.layout->SendsEmpty())
    {
        Complete(active, index); // an empty chunk is not sent
        return;
    }
    const uint64_t tag = MakeTag(active.record.collective, action.step, action.message);
    if (action.IsReceive())
    {
        const auto early = m_early.find({action.peer, tag});
        if (early != m_early.end())
        {
            Ptr<ByteBuffer> payload = early->second.payload;
            m_early.erase(early);
            Take(active, index, payload);
        }
        return;
    }
    if (action.kind != ScheduleAction::Kind::SEND)
    {
        if (active.store)
        {
            active.store->Copy(action);
        }
        Reckon(active, index, action);
        return;
    }
    Ptr<ByteBuffer> payload;
    if (active.store)
    {
        // The chunks as they are now: retransmissions must not see later additions.
        payload = Create<ByteBuffer>();
        payload->bytes = active.store->Read(action);
    }
    m_sendTrace(MakeRecord(m_rank, action.peer, tag, bytes));
    m_transport->Send(m_number, action.peer, tag, bytes, payload);
    Complete(active, index);
}

void
ScheduledCommunicator::Take(Active& active, uint32_t index, Ptr<ByteBuffer> payload)
{
    const ScheduleAction action = active.schedule->Get(m_rank, index);
    if (active.store)
    {
        NS_ABORT_MSG_UNLESS(payload,
                            "rank " << m_rank << " expects real bytes from rank " << action.peer);
        active.store->Receive(action, payload->bytes);
    }
    if (!m_hostModel)
    {
        Reckon(active, index, action);
        return;
    }
    const bool local = m_isLocal(m_transport->GetRank(m_number, action.peer));
    const double seconds =
        active.host.secondsPerByte * static_cast<double>(active.layout->GetBytes(action));
    active.adding.insert(index);
    Simulator::Schedule((local ? active.host.localHop : active.host.remoteHop) + Seconds(seconds),
                        &ScheduledCommunicator::ReckonLater,
                        this,
                        active.record.collective,
                        index);
}

void
ScheduledCommunicator::ReckonLater(uint64_t collective, uint32_t index)
{
    Active& active = *Find(collective);
    active.adding.erase(index);
    Reckon(active, index, active.schedule->Get(m_rank, index));
    RunReady(active);
}

void
ScheduledCommunicator::Reckon(Active& active, uint32_t index, const ScheduleAction& action)
{
    const bool adds = action.kind == ScheduleAction::Kind::RECEIVE_REDUCE ||
                      action.kind == ScheduleAction::Kind::REDUCE;
    if (!adds || m_reduceRate.GetBitRate() == 0)
    {
        Complete(active, index);
        return;
    }
    const double seconds = 8.0 * static_cast<double>(active.layout->GetBytes(action)) /
                           static_cast<double>(m_reduceRate.GetBitRate());
    active.adding.insert(index);
    Simulator::Schedule(m_transport->Occupy(Seconds(seconds)),
                        &ScheduledCommunicator::CompleteLater,
                        this,
                        active.record.collective,
                        index);
}

void
ScheduledCommunicator::CompleteLater(uint64_t collective, uint32_t index)
{
    Active& active = *Find(collective);
    active.adding.erase(index);
    Complete(active, index);
    RunReady(active);
}

bool
ScheduledCommunicator::IsReady(const Active& active, uint32_t index) const
{
    const uint32_t count = active.schedule->GetStoredActions(m_rank);
    const uint32_t begin = index / count * count; // of the segment
    for (uint32_t before : active.schedule->GetAfter(m_rank, index - begin))
    {
        if (!active.complete[begin + before])
        {
            return false;
        }
    }
    return true;
}

void
ScheduledCommunicator::Complete(Active& active, uint32_t index)
{
    active.left--;
    active.complete[index] = true;
    const uint32_t count = active.schedule->GetStoredActions(m_rank);
    const uint32_t begin = index / count * count;
    for (uint32_t next : active.schedule->GetNext(m_rank, index - begin))
    {
        if (IsReady(active, begin + next))
        {
            active.ready.push_back(begin + next);
        }
    }
}

void
ScheduledCommunicator::Finish(Active& active)
{
    active.record.finished = Simulator::Now();
    if (active.store)
    {
        active.store->Finish();
    }
    if (active.record.operation == CollectiveOperation::ALL_TO_ALL_V)
    {
        active.tensor->bytes = 0;
        for (uint32_t from = 0; from < m_size; from++)
        {
            active.tensor->bytes += (*active.matrix)[uint64_t{from} * m_size + m_rank];
        }
    }
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
    m_receivedMessages++;
    const MessageTag parts = MessageTag::Unpack(tag);
    if (parts.step == MessageTag::TURN)
    {
        m_turns.push_back(parts.collective);
        StartNext();
        return;
    }
    m_receiveTrace(MakeRecord(peer, m_rank, tag, bytes));
    if (parts.step == MessageTag::PEER_TO_PEER)
    {
        const auto expected = m_expected.find({peer, tag});
        if (expected != m_expected.end())
        {
            Deliver(expected->second, bytes, payload);
            m_expected.erase(expected);
            return;
        }
    }
    else if (Active* active = Find(parts.collective))
    {
        const uint32_t index =
            active->schedule->FindReceive(m_rank, peer, parts.step, parts.message);
        NS_ABORT_MSG_IF(index == CollectiveSchedule::NONE || active->complete[index],
                        "rank " << m_rank << " does not expect a message from rank " << peer
                                << " at step " << parts.step);
        if (!active->waiting && IsReady(*active, index))
        {
            Take(*active, index, payload);
            RunReady(*active);
            return;
        }
    }
    m_early[{peer, tag}] = {bytes, payload};
}

void
ScheduledCommunicator::OnError(uint32_t peer, const std::string& reason) const
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
    if (m_active.empty() && !m_expected.empty())
    {
        const auto& [key, expected] = *m_expected.begin();
        return "rank " + std::to_string(m_rank) + " waits for tensor " +
               std::to_string(MessageTag::Unpack(key.second).collective) + " (" +
               std::to_string(expected.tensor->bytes) + " bytes) from rank " +
               std::to_string(key.first);
    }
    for (const auto& communicator : m_split)
    {
        const std::string text = m_active.empty() ? communicator->GetWaitingFor() : "";
        if (!text.empty())
        {
            return "communicator " + std::to_string(communicator->m_number) + ", " + text;
        }
    }
    if (m_active.empty())
    {
        return m_queue.empty() ? ""
                               : "rank " + std::to_string(m_rank) +
                                     " waits for rank 0 to say which collective is next";
    }
    const Active& active = m_active.front();
    const CollectiveSchedule& schedule = *active.schedule;
    const std::string text =
        "rank " + std::to_string(m_rank) + " waits in " + GetName(active.record.operation) + " " +
        std::to_string(active.record.collective) + " (" + active.record.algorithm + ")";
    for (uint32_t i = 0; i < schedule.GetActions(m_rank); i++)
    {
        const ScheduleAction action = schedule.Get(m_rank, i);
        if (action.IsReceive() && !active.complete[i] && active.adding.count(i) == 0 &&
            IsReady(active, i))
        {
            return text + " at step " + std::to_string(action.step) + " for " +
                   action.DescribeChunks() + " (" +
                   std::to_string(active.layout->GetBytes(action)) + " bytes) from rank " +
                   std::to_string(action.peer);
        }
    }
    return text + " for its own additions";
}

} // namespace ns3::training
