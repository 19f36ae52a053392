/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-execution.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCollectiveExecution");

CollectiveExecution::CollectiveExecution(CommunicatorEndpoint& endpoint,
                                         Request request,
                                         EndHandler onEnd)
    : m_endpoint(endpoint),
      m_request(std::move(request)),
      m_onEnd(std::move(onEnd))
{
}

void
CollectiveExecution::Start(const std::shared_ptr<CollectiveShortcut>& shortcut)
{
    const uint32_t rank = m_endpoint.GetRank();
    CollectiveRecord& record = m_request.record;
    NS_LOG_INFO("rank " << rank << " starts collective " << record.collective);
    record.started = Simulator::Now();
    m_progress.emplace(m_request.schedule, rank, m_request.tensor, m_request.matrix);
    if (m_progress->IsFinished())
    {
        Finish();
    }
    else if (shortcut && !m_request.tensor->IsReal() && !m_request.matrix)
    {
        m_shortcut = shortcut;
        const Ptr<CollectiveExecution> self(this);
        m_shortcut->Arrive(
            rank,
            record.collective,
            {record.operation, m_request.tensor->bytes, m_request.root},
            {[self] { self->Begin(); }, [self](Time time) { self->CompleteIn(time); }});
    }
    else
    {
        Begin();
    }
}

/** Lets the actions begin, after the time that the host takes to start a collective. */
void
CollectiveExecution::Begin()
{
    if (!m_request.hosts.model && m_request.schedule->protocol == 0)
    {
        Run();
        return;
    }
    HostCost cost;
    if (m_request.hosts.model)
    {
        cost = m_request.hosts.model->GetCost(*m_request.schedule, m_request.tensor->bytes);
    }
    cost.wireFactor = std::max(cost.wireFactor, m_request.schedule->GetWireFactor());
    m_host = HostChannels(cost, m_request.hosts.load);
    Simulator::Schedule(m_host.GetCost().start,
                        &CollectiveExecution::Run,
                        Ptr<CollectiveExecution>(this));
}

void
CollectiveExecution::Run()
{
    if (!m_isOver)
    {
        m_isRunning = true;
        RunReady();
    }
}

/** Takes a time that is known, without packets. */
void
CollectiveExecution::CompleteIn(Time time)
{
    m_request.record.derived = true;
    Simulator::Schedule(time, &CollectiveExecution::Finish, Ptr<CollectiveExecution>(this));
}

void
CollectiveExecution::RunReady()
{
    while (const auto index = m_progress->TakeReady())
    {
        if (m_request.schedule->stepwise)
        {
            GrantStep(*index);
        }
        BeginAction(*index);
    }
    if (m_progress->IsFinished())
    {
        Finish();
    }
}

void
CollectiveExecution::BeginAction(uint32_t index)
{
    const ScheduleAction action = m_progress->GetAction(index);
    const uint64_t bytes = m_progress->GetBytes(action);
    if (m_progress->IsEmpty(bytes))
    {
        m_progress->Complete(index);
        return;
    }
    const uint64_t tag = m_endpoint.GetTag(m_request.record.collective, action);
    if (action.IsReceive())
    {
        if (NeedsGrant(action, bytes))
        {
            m_endpoint.GetGrants().Forget(action.peer, tag);
        }
        if (const auto chunk = m_endpoint.Take(action.peer, tag))
        {
            Decode(index, *chunk);
        }
        return;
    }
    if (action.kind != ScheduleAction::Kind::SEND)
    {
        m_progress->Copy(action);
        Reduce(index, {});
        return;
    }
    if (!NeedsGrant(action, bytes) || m_endpoint.GetGrants().Take(action.peer, tag, index))
    {
        SendChunk(index);
    }
}

bool
CollectiveExecution::NeedsGrant(const ScheduleAction& action, uint64_t bytes) const
{
    return action.isGranted && bytes >= m_request.rendezvousBytes;
}

void
CollectiveExecution::GrantStep(uint32_t index)
{
    // Before the sends of the step, as a grant must not wait behind their data.
    const ScheduleAction first = m_progress->GetAction(index);
    for (uint32_t i = index; i < m_request.schedule->GetActions(m_endpoint.GetRank()); i++)
    {
        const ScheduleAction action = m_progress->GetAction(i);
        if (action.step != first.step || action.segment != first.segment)
        {
            return;
        }
        if (!action.IsReceive() || !NeedsGrant(action, m_progress->GetBytes(action)))
        {
            continue;
        }
        const uint64_t tag = m_endpoint.GetTag(m_request.record.collective, action);
        if (m_endpoint.GetGrants().Grant(action.peer, tag))
        {
            m_endpoint.Signal(action.peer, MessageGrants::GetGrantOf(tag));
        }
    }
}

/** Takes a step of an action after a delay. Others do not wait for it. */
void
CollectiveExecution::ContinueIn(Time delay, uint32_t index, Step step, const Chunk& chunk)
{
    m_progress->SetBusy(index, true);
    Simulator::Schedule(delay,
                        &CollectiveExecution::Continue,
                        Ptr<CollectiveExecution>(this),
                        index,
                        step,
                        chunk);
}

void
CollectiveExecution::Continue(uint32_t index, Step step, const Chunk& chunk)
{
    if (!m_isOver)
    {
        m_progress->SetBusy(index, false);
        (this->*step)(index, chunk);
        RunReady();
    }
}

void
CollectiveExecution::SendChunk(uint32_t index)
{
    const ScheduleAction action = m_progress->GetAction(index);
    const MessageCoding& coding = *m_request.hosts.coding;
    Chunk chunk{m_progress->GetBytes(action), m_progress->Read(action)};
    const MessagePlace place{m_endpoint.GetRank(), action.peer, action.step, action.message};
    if (chunk.payload && coding.codesOwner && coding.Codes(m_request.record.operation))
    {
        coding.roundTrip(chunk.payload->bytes, place);
        m_progress->Overwrite(action, chunk.payload);
    }
    if (const auto& coder = m_request.hosts.coder)
    {
        const Time delay = coder->ReserveEncoding(chunk.bytes);
        const auto code = coder->Encode(*m_request.tensor, place, chunk.bytes, chunk.payload);
        chunk = {code.bytes, code.payload};
        if (delay.IsStrictlyPositive())
        {
            ContinueIn(delay, index, &CollectiveExecution::Post, chunk);
            return;
        }
    }
    Post(index, chunk);
}

void
CollectiveExecution::Post(uint32_t index, const Chunk& chunk)
{
    const ScheduleAction action = m_progress->GetAction(index);
    Message message{m_endpoint.GetTag(m_request.record.collective, action),
                    m_host.GetWireBytes(chunk.bytes),
                    chunk.payload,
                    nullptr,
                    m_request.typeOfService};
    if (message.payload)
    {
        message.payload->bytes.resize(message.bytes); // with room for flags
    }
    if (m_request.hosts.model)
    {
        m_host.Send(ToHostMessage(action, chunk.bytes), Simulator::Now());
    }
    if (!m_request.schedule->stepwise)
    {
        m_endpoint.Send(action.peer, std::move(message));
        m_progress->Complete(index);
        return;
    }
    m_progress->SetBusy(index, true);
    message.sent = [self = Ptr<CollectiveExecution>(this), index]() {
        self->Continue(index, &CollectiveExecution::Complete, {});
    };
    m_endpoint.Send(action.peer, std::move(message));
}

bool
CollectiveExecution::Receive(uint32_t peer, const MessageTag& tag, const Chunk& chunk)
{
    const uint32_t rank = m_endpoint.GetRank();
    const uint32_t index = m_request.schedule->FindReceive(rank, peer, tag.step, tag.message);
    NS_ABORT_MSG_IF(index == CollectiveSchedule::NONE || m_progress->IsComplete(index),
                    "rank " << rank << " does not expect a message from rank " << peer
                            << " at step " << tag.step);
    if (!m_isRunning || !m_progress->IsReady(index))
    {
        return false;
    }
    Decode(index, chunk);
    RunReady();
    return true;
}

/** Decodes a message that has arrived, if it is coded. */
void
CollectiveExecution::Decode(uint32_t index, const Chunk& chunk)
{
    const auto& coder = m_request.hosts.coder;
    if (!coder)
    {
        TakeIn(index, chunk);
        return;
    }
    const ScheduleAction action = m_progress->GetAction(index);
    const uint64_t bytes = m_progress->GetBytes(action);
    Chunk decoded = chunk;
    decoded.payload =
        coder->Decode(*m_request.tensor,
                      {action.peer, m_endpoint.GetRank(), action.step, action.message},
                      bytes,
                      chunk.payload);
    const Time delay = coder->ReserveDecoding(bytes);
    if (delay.IsZero())
    {
        TakeIn(index, decoded);
        return;
    }
    ContinueIn(delay, index, &CollectiveExecution::TakeIn, decoded);
}

void
CollectiveExecution::TakeIn(uint32_t index, const Chunk& chunk)
{
    const ScheduleAction action = m_progress->GetAction(index);
    m_progress->Receive(action, chunk.payload);
    if (!m_request.hosts.model)
    {
        Reduce(index, chunk);
        return;
    }
    const HostChannels::Message message = ToHostMessage(
        action,
        m_request.hosts.coder ? m_host.GetDataBytes(chunk.bytes) : m_progress->GetBytes(action));
    const Time done = m_host.Receive(message, Simulator::Now());
    // The latency passes while the chunk waits for others, as for the second child in a tree.
    const HostCost& cost = m_host.GetCost();
    const Time hop = message.isLocal ? cost.localHop : cost.remoteHop;
    const Time waited = Simulator::Now() - chunk.arrived;
    ContinueIn(done + std::max(Time(0), hop - waited), index, &CollectiveExecution::Reduce, {});
}

HostChannels::Message
CollectiveExecution::ToHostMessage(const ScheduleAction& action, uint64_t bytes) const
{
    return {action.peer,
            action.message / m_request.schedule->segments,
            bytes,
            m_request.hosts.model->IsLocal(m_endpoint.GetTransportRank(m_endpoint.GetRank()),
                                           m_endpoint.GetTransportRank(action.peer))};
}

/** Completes an action after the time that its addition takes, if it adds. */
void
CollectiveExecution::Reduce(uint32_t index, const Chunk& chunk)
{
    const ScheduleAction action = m_progress->GetAction(index);
    const bool adds = action.kind == ScheduleAction::Kind::RECEIVE_REDUCE ||
                      action.kind == ScheduleAction::Kind::REDUCE;
    const uint64_t rate = m_request.reduceRate.GetBitRate();
    if (!adds || rate == 0)
    {
        Complete(index, chunk);
        return;
    }
    const double seconds =
        8.0 * static_cast<double>(m_progress->GetBytes(action)) / static_cast<double>(rate);
    ContinueIn(m_endpoint.GetTransport()->ReserveAdder(Seconds(seconds)),
               index,
               &CollectiveExecution::Complete,
               {});
}

void
CollectiveExecution::Complete(uint32_t index, const Chunk&)
{
    m_progress->Complete(index);
}

void
CollectiveExecution::Finish()
{
    if (m_isOver)
    {
        return;
    }
    const Ptr<CollectiveExecution> self(this); // the communicator lets it go
    m_isOver = true;
    CollectiveRecord& record = m_request.record;
    record.finished = Simulator::Now();
    NS_LOG_INFO("rank " << m_endpoint.GetRank() << " finishes collective " << record.collective);
    if (m_shortcut && !record.derived)
    {
        m_shortcut->End(m_endpoint.GetRank(), record.collective);
    }
    m_progress->Finish();
    Tensor& tensor = *m_request.tensor;
    const MessageCoding& coding = *m_request.hosts.coding;
    if (coding.codesOwner && coding.roundTrip && tensor.bytes > 0 && tensor.IsReal() &&
        record.operation == CollectiveOperation::ALL_REDUCE)
    {
        // A rank that added last, or that sent its sum to no one.
        const auto* const values = reinterpret_cast<const uint8_t*>(tensor.values.data());
        std::vector<uint8_t> bytes(values, values + tensor.bytes);
        coding.roundTrip(bytes, {});
        std::memcpy(tensor.values.data(), bytes.data(), bytes.size());
    }
    m_onEnd(*this);
}

std::string
CollectiveExecution::DescribeMissing() const
{
    const CollectiveRecord& record = m_request.record;
    return std::string(GetName(record.operation)) + " " + std::to_string(record.collective) + " (" +
           record.algorithm + ") " +
           m_progress->DescribeMissing().value_or("for its own additions");
}

} // namespace ns3::training
