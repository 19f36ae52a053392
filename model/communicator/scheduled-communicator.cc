/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "scheduled-communicator.h"

#include "message-tag.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-attribute-choice.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingScheduledCommunicator");
NS_OBJECT_ENSURE_REGISTERED(ScheduledCommunicator);

namespace
{

/** Sets all attributes to those of another communicator, so that none can be forgotten. */
void
CopyAttributes(const ScheduledCommunicator& from, ScheduledCommunicator& to)
{
    const TypeId type = ScheduledCommunicator::GetTypeId();
    constexpr uint32_t BOTH = TypeId::ATTR_GET | TypeId::ATTR_SET;
    for (std::size_t i = 0; i < type.GetAttributeN(); i++)
    {
        const auto attribute = type.GetAttribute(i);
        if ((attribute.flags & BOTH) == BOTH)
        {
            const Ptr<AttributeValue> value = attribute.checker->Create();
            from.GetAttribute(attribute.name, *value);
            to.SetAttribute(attribute.name, *value);
        }
    }
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
                          "wait",
                          UintegerValue(1),
                          MakeUintegerAccessor(&ScheduledCommunicator::m_activeLimit),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("GradientTos",
                          "Type of service that marks messages of sums for an engine in the NIC, "
                          "if there is one; a multiple of 4",
                          UintegerValue(GRADIENT_TYPE_OF_SERVICE),
                          MakeUintegerAccessor(&ScheduledCommunicator::m_gradientTos),
                          MakeUintegerChecker<uint8_t>(4, 252))
            .AddAttribute("Order",
                          "Order of waiting collectives: fifo (issued first), lifo (issued last) "
                          "or priority (highest Tensor::priority)",
                          StringValue("fifo"),
                          MakeStringAccessor(&ScheduledCommunicator::SetOrder,
                                             &ScheduledCommunicator::GetOrder),
                          MakeStringChecker())
            .AddAttribute("ReduceRate",
                          "Rate at which received chunks are added; 0 means in no time",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&ScheduledCommunicator::m_reduceRate),
                          MakeDataRateChecker())
            .AddAttribute("RendezvousBytes",
                          "Size from which on a message of a stepwise schedule, whose sender is "
                          "ahead of its receiver, waits for a grant of the receiver",
                          UintegerValue(65536),
                          MakeUintegerAccessor(&ScheduledCommunicator::m_rendezvousBytes),
                          MakeUintegerChecker<uint64_t>())
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
    m_settings = Settings();
    m_onError = nullptr;
    Clear();
    Communicator::DoDispose();
}

/** Forgets collectives and messages that are not complete. */
void
ScheduledCommunicator::Clear()
{
    m_active.clear();
    m_queue.clear();
    m_order.Clear();
    m_early.clear();
    m_grants.Clear();
    m_peerMessages.Clear();
}

uint64_t
ScheduledCommunicator::GetNextCollective() const
{
    uint64_t next = m_issued;
    for (const auto& communicator : m_split)
    {
        next = std::max(next, communicator->GetNextCollective());
    }
    return next;
}

void
ScheduledCommunicator::Abort(uint64_t next)
{
    NS_LOG_FUNCTION(this << m_active.size() << next);
    for (const auto& communicator : m_split)
    {
        communicator->Abort(next);
    }
    m_issued = next;
    Clear();
    m_transport->Abort();
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
    NS_ABORT_MSG_UNLESS(number <= MessageTag::MAX_COMMUNICATOR,
                        "number " << number << " of a communicator");
    m_rank = rank;
    m_size = size;
    m_number = number;
    m_order.SetRank(rank);
    m_peerMessages = PeerMessages(rank, number);
    m_transport->Attach(number, members, [this](uint32_t peer, const Message& message) {
        OnMessage(peer, message.tag, message.bytes, message.payload);
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
    CopyAttributes(*this, *communicator);
    communicator->m_settings = m_settings;
    communicator->m_planner = std::move(planner);
    communicator->m_transport = m_transport;
    m_split.push_back(communicator);
    communicator->Join(static_cast<uint32_t>(me - ranks.begin()),
                       static_cast<uint32_t>(ranks.size()),
                       number,
                       members);
    return communicator;
}

std::shared_ptr<const CollectiveSchedule>
ScheduledCommunicator::GetSchedule(CollectiveOperation operation,
                                   uint64_t bytes,
                                   uint32_t root) const
{
    return m_planner(operation, bytes, root);
}

Ptr<SharedTransport>
ScheduledCommunicator::GetTransport() const
{
    return m_transport;
}

void
ScheduledCommunicator::SetHostModel(std::shared_ptr<const HostModel> model)
{
    m_settings.hostModel = std::move(model);
}

void
ScheduledCommunicator::SetCoding(MessageCoding coding)
{
    m_settings.coding = std::move(coding);
}

const MessageCoding&
ScheduledCommunicator::GetCoding() const
{
    return m_settings.coding;
}

uint8_t
ScheduledCommunicator::GetTypeOfService(CollectiveOperation operation) const
{
    return m_settings.coding.Marks(operation) ? m_gradientTos : 0;
}

void
ScheduledCommunicator::SetCoder(Ptr<const MessageCoder> coder)
{
    m_settings.coder = coder;
}

void
ScheduledCommunicator::SetOrder(std::string name)
{
    if (Registry<CollectiveOrder>::All().count(name) == 0)
    {
        ThrowInvalidAttribute("ScheduledCommunicator::Order",
                              name,
                              Registry<CollectiveOrder>::Names());
    }
    m_order.SetOrder(name);
}

std::string
ScheduledCommunicator::GetOrder() const
{
    return m_order.GetOrder();
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
ScheduledCommunicator::Send(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    SendTensor(*tensor, peer, m_peerMessages.GetNextSendTag(peer, tensor->channel), done);
}

void
ScheduledCommunicator::SendUnordered(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    SendTensor(*tensor, peer, m_peerMessages.GetUnorderedTag(), done);
}

void
ScheduledCommunicator::SendTensor(const Tensor& tensor, uint32_t peer, uint64_t tag, Done done)
{
    NS_LOG_FUNCTION(this << peer << tensor.bytes);
    m_sendTrace(MakeRecord(m_rank, peer, tag, tensor.bytes));
    const auto accepted = [done]() { PeerMessages::CompleteLater(done); };
    m_transport->Send(m_number,
                      peer,
                      {tag,
                       tensor.bytes,
                       PeerMessages::Copy(tensor),
                       tensor.untilSent ? MessageTransport::SentHandler(accepted) : nullptr});
    if (!tensor.untilSent)
    {
        accepted();
    }
}

void
ScheduledCommunicator::Receive(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    NS_LOG_FUNCTION(this << peer << tensor->bytes);
    m_peerMessages.Expect(tensor,
                          peer,
                          m_peerMessages.GetNextReceiveTag(peer, tensor->channel),
                          done);
}

void
ScheduledCommunicator::ReceiveUnordered(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    NS_LOG_FUNCTION(this << peer << tensor->bytes);
    m_peerMessages.Expect(tensor, peer, m_peerMessages.GetUnorderedTag(), done);
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
    next.schedule = GetSchedule(operation, tensor->bytes, root);
    next.record.rank = m_transport->GetRank(m_number, m_rank);
    next.record.communicator = m_number;
    next.record.collective = m_issued++;
    next.record.operation = operation;
    next.record.algorithm = next.schedule->algorithm;
    next.record.bytes = tensor->bytes;
    next.record.iteration = tensor->iteration;
    next.record.bucket = tensor->bucket;
    next.record.issued = Simulator::Now();
    next.tensor = tensor;
    next.root = root;
    next.matrix = std::move(matrix);
    next.done = done;
    if (tensor->lineCode)
    {
        next.coder = Create<const MessageCoder>(tensor->lineCode, nullptr);
    }
    else if (m_settings.coder && MessageCoder::Codes(operation))
    {
        next.coder = m_settings.coder;
    }
    NS_LOG_INFO("rank " << m_rank << " issues collective " << next.record.collective << ": "
                        << GetName(operation) << " of " << tensor->bytes << " bytes by "
                        << next.record.algorithm);
    m_order.Add({next.record.collective, operation, tensor->bytes, tensor->priority});
    m_queue.push_back(std::move(next));
    // From an event, because completion must not precede the return of this call.
    Simulator::ScheduleNow(&ScheduledCommunicator::StartNext, this);
}

void
ScheduledCommunicator::StartNext()
{
    while (m_active.size() < m_activeLimit)
    {
        const auto turn = m_order.Next();
        if (!turn)
        {
            return;
        }
        const auto next = std::find_if(m_queue.begin(), m_queue.end(), [&](const Active& waiting) {
            return waiting.record.collective == *turn;
        });
        m_active.push_back(std::move(*next));
        m_queue.erase(next);
        Active& active = m_active.back();
        NS_LOG_INFO("rank " << m_rank << " starts collective " << *turn);
        Announce(*turn);
        active.record.started = Simulator::Now();
        active.progress = std::make_unique<CollectiveProgress>(active.schedule,
                                                               m_rank,
                                                               active.tensor,
                                                               active.matrix);
        if (m_replay && !active.tensor->IsReal() && !active.matrix &&
            !active.progress->IsFinished())
        {
            JoinReplay(active);
            continue;
        }
        if (m_settings.hostModel && !active.progress->IsFinished())
        {
            active.isStarting = true;
            BeginOnHost(active);
            continue;
        }
        RunReady(active);
    }
}

void
ScheduledCommunicator::SetReplay(std::shared_ptr<CollectiveReplay> replay)
{
    m_replay = m_activeLimit == 1 ? std::move(replay) : nullptr;
}

void
ScheduledCommunicator::JoinReplay(Active& active)
{
    const uint64_t collective = active.record.collective;
    active.isStarting = true;
    active.isReplayed = true;
    m_replay->Arrive(m_rank,
                     collective,
                     {active.record.operation, active.tensor->bytes, active.root},
                     {[this, collective] { StartReplayed(collective); },
                      [this, collective](Time time) { CompleteIn(collective, time); }});
}

/** Starts the simulation of a collective. */
void
ScheduledCommunicator::StartReplayed(uint64_t collective)
{
    Active& active = *Find(collective);
    if (m_settings.hostModel)
    {
        BeginOnHost(active);
        return;
    }
    BeginActive(collective);
}

/** Begins a collective after the time that the host takes to start it. */
void
ScheduledCommunicator::BeginOnHost(Active& active)
{
    active.host =
        HostChannels(m_settings.hostModel->GetCost(*active.schedule, active.tensor->bytes));
    Simulator::Schedule(active.host.GetCost().start,
                        &ScheduledCommunicator::BeginActive,
                        this,
                        active.record.collective);
}

void
ScheduledCommunicator::CompleteIn(uint64_t collective, Time time)
{
    Find(collective)->isDerived = true;
    Simulator::Schedule(time, &ScheduledCommunicator::CompleteReplayed, this, collective);
}

void
ScheduledCommunicator::CompleteReplayed(uint64_t collective)
{
    Finish(*Find(collective));
}

void
ScheduledCommunicator::Announce(uint64_t collective)
{
    if (!m_order.IsAnnouncing())
    {
        return;
    }
    const uint64_t tag = MessageTag{m_number, collective, MessageTag::TURN, 0}.Pack();
    for (uint32_t peer = 1; peer < m_size; peer++)
    {
        m_transport->Send(m_number, peer, {tag});
    }
}

void
ScheduledCommunicator::BeginActive(uint64_t collective)
{
    if (Active* active = Find(collective)) // null: aborted
    {
        active->isStarting = false;
        RunReady(*active);
    }
}

void
ScheduledCommunicator::RunReady(Active& active)
{
    while (const auto index = active.progress->TakeReady())
    {
        if (active.schedule->stepwise)
        {
            GrantStep(active, *index);
        }
        Begin(active, *index);
    }
    if (active.progress->IsFinished())
    {
        Finish(active);
    }
}

void
ScheduledCommunicator::Begin(Active& active, uint32_t index)
{
    CollectiveProgress& progress = *active.progress;
    const ScheduleAction action = progress.GetAction(index);
    const uint64_t bytes = progress.GetBytes(action);
    if (progress.IsEmpty(bytes))
    {
        progress.Complete(index);
        return;
    }
    const uint64_t tag =
        MessageTag{m_number, active.record.collective, action.step, action.message}.Pack();
    if (action.IsReceive())
    {
        if (NeedsGrant(action, bytes))
        {
            m_grants.Forget(action.peer, tag);
        }
        const auto early = m_early.find({action.peer, tag});
        if (early != m_early.end())
        {
            const Early chunk = early->second;
            m_early.erase(early);
            OnChunk(active, index, chunk);
        }
        return;
    }
    if (action.kind != ScheduleAction::Kind::SEND)
    {
        progress.Copy(action);
        ChargeReduceTime(active, index, action);
        return;
    }
    if (!NeedsGrant(action, bytes) || m_grants.Take(action.peer, tag, index))
    {
        SendChunk(active, index, action);
    }
}

bool
ScheduledCommunicator::NeedsGrant(const ScheduleAction& action, uint64_t bytes) const
{
    return action.isGranted && bytes >= m_rendezvousBytes;
}

void
ScheduledCommunicator::GrantStep(Active& active, uint32_t index)
{
    // Before the sends of the step, as a grant must not wait behind their data.
    const CollectiveProgress& progress = *active.progress;
    const ScheduleAction first = progress.GetAction(index);
    for (uint32_t i = index; i < active.schedule->GetActions(m_rank); i++)
    {
        const ScheduleAction action = progress.GetAction(i);
        if (action.step != first.step || action.segment != first.segment)
        {
            return;
        }
        if (!action.IsReceive() || !NeedsGrant(action, progress.GetBytes(action)))
        {
            continue;
        }
        const uint64_t tag =
            MessageTag{m_number, active.record.collective, action.step, action.message}.Pack();
        if (m_grants.Grant(action.peer, tag))
        {
            m_transport->Send(m_number, action.peer, {MessageGrants::GetGrantOf(tag)});
        }
    }
}

void
ScheduledCommunicator::SendChunk(Active& active, uint32_t index, const ScheduleAction& action)
{
    CollectiveProgress& progress = *active.progress;
    MessageCoder::Code code{progress.GetBytes(action), progress.Read(action)};
    const MessagePlace place{m_rank, action.peer, action.step, action.message};
    if (code.payload && m_settings.coding.codesOwner &&
        m_settings.coding.Codes(active.record.operation))
    {
        m_settings.coding.roundTrip(code.payload->bytes, place);
        progress.Overwrite(action, code.payload);
    }
    if (active.coder)
    {
        const Time delay = active.coder->ReserveEncoding(code.bytes);
        code = active.coder->Encode(*active.tensor, place, code.bytes, code.payload);
        if (delay.IsStrictlyPositive())
        {
            progress.SetBusy(index, true);
            Simulator::Schedule(delay,
                                &ScheduledCommunicator::OnEncoded,
                                this,
                                active.record.collective,
                                index,
                                code);
            return;
        }
    }
    Post(active, index, code);
}

void
ScheduledCommunicator::OnEncoded(uint64_t collective,
                                 uint32_t index,
                                 const MessageCoder::Code& code)
{
    Active* active = Find(collective);
    if (!m_transport || !active)
    {
        return; // disposed of, or aborted
    }
    active->progress->SetBusy(index, false);
    Post(*active, index, code);
    RunReady(*active);
}

void
ScheduledCommunicator::Post(Active& active, uint32_t index, const MessageCoder::Code& code)
{
    CollectiveProgress& progress = *active.progress;
    const ScheduleAction action = progress.GetAction(index);
    const uint64_t tag =
        MessageTag{m_number, active.record.collective, action.step, action.message}.Pack();
    const uint64_t bytes = active.host.GetWireBytes(code.bytes);
    const Ptr<ByteBuffer>& payload = code.payload;
    if (payload)
    {
        payload->bytes.resize(bytes); // with room for flags
    }
    if (m_settings.hostModel)
    {
        active.host.Send(ToHostMessage(active, action, code.bytes), Simulator::Now());
    }
    m_sendTrace(MakeRecord(m_rank, action.peer, tag, bytes));
    const uint8_t mark = GetTypeOfService(active.record.operation);
    if (!active.schedule->stepwise)
    {
        m_transport->Send(m_number, action.peer, {tag, bytes, payload, nullptr, mark});
        progress.Complete(index);
        return;
    }
    progress.SetBusy(index, true);
    m_transport->Send(
        m_number,
        action.peer,
        {tag,
         bytes,
         payload,
         [this, collective = active.record.collective, index]() { OnSent(collective, index); },
         mark});
}

void
ScheduledCommunicator::OnSent(uint64_t collective, uint32_t index)
{
    Active* active = Find(collective);
    if (!m_transport || !active)
    {
        return; // disposed of, or aborted
    }
    active->progress->SetBusy(index, false);
    active->progress->Complete(index);
    RunReady(*active);
}

void
ScheduledCommunicator::OnGrant(uint32_t peer, uint64_t tag)
{
    if (const auto index = m_grants.OnGrant(peer, tag))
    {
        Active& active = *Find(MessageTag::Unpack(tag).collective);
        SendChunk(active, *index, active.progress->GetAction(*index));
    }
}

void
ScheduledCommunicator::OnChunk(Active& active, uint32_t index, const Early& chunk)
{
    if (!active.coder)
    {
        TakeIn(active, index, chunk);
        return;
    }
    const ScheduleAction action = active.progress->GetAction(index);
    const uint64_t bytes = active.progress->GetBytes(action);
    Early decoded = chunk;
    decoded.payload = active.coder->Decode(*active.tensor,
                                           {action.peer, m_rank, action.step, action.message},
                                           bytes,
                                           chunk.payload);
    const Time delay = active.coder->ReserveDecoding(bytes);
    if (delay.IsZero())
    {
        TakeIn(active, index, decoded);
        return;
    }
    active.progress->SetBusy(index, true);
    Simulator::Schedule(delay,
                        &ScheduledCommunicator::OnDecoded,
                        this,
                        active.record.collective,
                        index,
                        decoded);
}

void
ScheduledCommunicator::OnDecoded(uint64_t collective, uint32_t index, const Early& chunk)
{
    if (Active* active = Find(collective)) // null: aborted
    {
        active->progress->SetBusy(index, false);
        TakeIn(*active, index, chunk);
        RunReady(*active);
    }
}

void
ScheduledCommunicator::TakeIn(Active& active, uint32_t index, const Early& chunk)
{
    CollectiveProgress& progress = *active.progress;
    const ScheduleAction action = progress.GetAction(index);
    progress.Receive(action, chunk.payload);
    if (!m_settings.hostModel)
    {
        ChargeReduceTime(active, index, action);
        return;
    }
    const HostChannels::Message message = ToHostMessage(
        active,
        action,
        active.coder ? active.host.GetDataBytes(chunk.bytes) : progress.GetBytes(action));
    const Time done = active.host.Receive(message, Simulator::Now());
    // The latency passes while the chunk waits for others, as for the second child in a tree.
    const HostCost& cost = active.host.GetCost();
    const Time hop = message.isLocal ? cost.localHop : cost.remoteHop;
    const Time waited = Simulator::Now() - chunk.arrived;
    progress.SetBusy(index, true);
    Simulator::Schedule(done + std::max(Time(0), hop - waited),
                        &ScheduledCommunicator::OnHop,
                        this,
                        active.record.collective,
                        index);
}

HostChannels::Message
ScheduledCommunicator::ToHostMessage(const Active& active,
                                     const ScheduleAction& action,
                                     uint64_t bytes) const
{
    return {action.peer,
            action.message / active.schedule->segments,
            bytes,
            m_settings.hostModel->IsLocal(m_transport->GetRank(m_number, m_rank),
                                          m_transport->GetRank(m_number, action.peer))};
}

void
ScheduledCommunicator::OnHop(uint64_t collective, uint32_t index)
{
    if (Active* active = Find(collective)) // null: aborted
    {
        active->progress->SetBusy(index, false);
        ChargeReduceTime(*active, index, active->progress->GetAction(index));
        RunReady(*active);
    }
}

void
ScheduledCommunicator::ChargeReduceTime(Active& active,
                                        uint32_t index,
                                        const ScheduleAction& action)
{
    CollectiveProgress& progress = *active.progress;
    const bool adds = action.kind == ScheduleAction::Kind::RECEIVE_REDUCE ||
                      action.kind == ScheduleAction::Kind::REDUCE;
    if (!adds || m_reduceRate.GetBitRate() == 0)
    {
        progress.Complete(index);
        return;
    }
    const double seconds = 8.0 * static_cast<double>(progress.GetBytes(action)) /
                           static_cast<double>(m_reduceRate.GetBitRate());
    progress.SetBusy(index, true);
    Simulator::Schedule(m_transport->ReserveAdder(Seconds(seconds)),
                        &ScheduledCommunicator::OnReduced,
                        this,
                        active.record.collective,
                        index);
}

void
ScheduledCommunicator::OnReduced(uint64_t collective, uint32_t index)
{
    if (Active* active = Find(collective)) // null: aborted
    {
        active->progress->SetBusy(index, false);
        active->progress->Complete(index);
        RunReady(*active);
    }
}

void
ScheduledCommunicator::Finish(Active& active)
{
    active.record.finished = Simulator::Now();
    NS_LOG_INFO("rank " << m_rank << " finishes collective " << active.record.collective);
    if (active.isDerived)
    {
        active.record.derived = true;
    }
    else if (active.isReplayed)
    {
        m_replay->End(m_rank, active.record.collective);
    }
    active.progress->Finish();
    Tensor& tensor = *active.tensor;
    if (m_settings.coding.codesOwner && m_settings.coding.roundTrip && tensor.bytes > 0 &&
        tensor.IsReal() && active.record.operation == CollectiveOperation::ALL_REDUCE)
    {
        // A rank that added last, or that sent its sum to no one.
        const auto* const values = reinterpret_cast<const uint8_t*>(tensor.values.data());
        std::vector<uint8_t> bytes(values, values + tensor.bytes);
        m_settings.coding.roundTrip(bytes, {});
        std::memcpy(tensor.values.data(), bytes.data(), bytes.size());
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
        if (MessageTag::IsSameCollective(active.record.collective, collective))
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
    const MessageTag parts = MessageTag::Unpack(tag);
    if (parts.step == MessageTag::TURN)
    {
        m_order.OnTurn(parts.collective);
        StartNext();
        return;
    }
    if (MessageGrants::IsGrant(parts))
    {
        OnGrant(peer, MessageGrants::GetGranted(tag));
        return;
    }
    m_receiveTrace(MakeRecord(peer, m_rank, tag, bytes));
    if (parts.step == MessageTag::PEER_TO_PEER)
    {
        m_peerMessages.OnMessage(peer, tag, bytes, payload);
        return;
    }
    if (Active* active = Find(parts.collective))
    {
        const uint32_t index =
            active->schedule->FindReceive(m_rank, peer, parts.step, parts.message);
        NS_ABORT_MSG_IF(index == CollectiveSchedule::NONE || active->progress->IsComplete(index),
                        "rank " << m_rank << " does not expect a message from rank " << peer
                                << " at step " << parts.step);
        if (!active->isStarting && active->progress->IsReady(index))
        {
            OnChunk(*active, index, {payload, Simulator::Now(), bytes});
            RunReady(*active);
            return;
        }
    }
    m_early[{peer, tag}] = {payload, Simulator::Now(), bytes};
}

void
ScheduledCommunicator::OnError(uint32_t peer, const std::string& reason) const
{
    NS_LOG_WARN("rank " << m_rank << " lost the path to rank " << peer << ": " << reason);
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
    const std::string me = "rank " + std::to_string(m_rank);
    if (!m_active.empty())
    {
        const Active& active = m_active.front();
        return me + " waits in " + GetName(active.record.operation) + " " +
               std::to_string(active.record.collective) + " (" + active.record.algorithm + ") " +
               active.progress->DescribeMissing().value_or("for its own additions");
    }
    const std::string expected = m_peerMessages.DescribeExpected();
    if (!expected.empty())
    {
        return expected;
    }
    for (const auto& communicator : m_split)
    {
        const std::string text = communicator->GetWaitingFor();
        if (!text.empty())
        {
            return "communicator " + std::to_string(communicator->m_number) + ", " + text;
        }
    }
    return m_order.IsEmpty() ? "" : me + " waits for rank 0 to announce the next collective";
}

} // namespace ns3::training
