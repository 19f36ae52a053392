/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nic-collective.h"

#include "ns3/abort.h"
#include "ns3/simulator.h"

#include <cstring>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;

/** @return step and message as one number */
uint64_t
Join(uint32_t step, uint32_t message)
{
    return uint64_t{step} << 32 | message;
}

} // namespace

NicCollective::NicCollective(Owner& owner,
                             NicEngine& engine,
                             std::shared_ptr<const CollectiveSchedule> schedule,
                             uint32_t rank,
                             Ptr<Tensor> tensor,
                             uint64_t number)
    : m_owner(owner),
      m_engine(engine),
      m_schedule(std::move(schedule)),
      m_rank(rank),
      m_actions(m_schedule->GetStoredActions(rank)),
      m_tensor(tensor),
      m_progress(m_schedule, rank, tensor, nullptr),
      m_layout(*m_schedule, tensor->bytes),
      m_plan(*m_schedule, rank),
      m_reader(m_plan,
               m_layout,
               rank,
               engine.reading,
               engine.readUnit,
               [this](uint32_t index) { OnData(index); }),
      m_windows(m_schedule->segments, engine.receptionBytes)
{
    if (engine.format)
    {
        Round(); // the own vector, as the NIC reads it
    }
    if (engine.hasTable)
    {
        ScheduleTable::Settings settings = engine.table;
        const uint64_t chunk = engine.GetFormattedBytes(tensor->bytes / m_schedule->chunks);
        settings.estimate = engine.EstimateStep(chunk);
        settings.line = engine.GetLineTime(chunk);
        m_table = std::make_unique<ScheduleTable>(
            *m_schedule,
            rank,
            settings,
            [this](uint32_t index) { Admit(index); },
            engine.oracles ? engine.oracles->Enter(number, *m_schedule) : nullptr);
    }
}

void
NicCollective::Start()
{
    m_running = true;
    if (m_table)
    {
        m_table->Start();
    }
    m_reader.Run();
    Run();
}

void
NicCollective::Run()
{
    while (const auto index = m_progress.TakeReady())
    {
        Begin(*index);
    }
    if (m_running && m_progress.IsFinished() && m_writes == 0)
    {
        m_running = false;
        m_progress.Finish();
        if (m_schedule->operation == CollectiveOperation::ALL_REDUCE && CodesOwner())
        {
            Round(); // a rank that added last, or that sent its sum to no one
        }
        m_owner.OnFinished(*this);
    }
}

uint64_t
NicCollective::GetPacketBytes(uint32_t message) const
{
    return m_engine.GetFormattedBytes(m_progress.GetBytes(m_progress.GetAction(message)));
}

bool
NicCollective::CodesOwner() const
{
    return m_engine.coding.codesOwner && m_engine.coding.Codes(m_schedule->operation);
}

void
NicCollective::Round()
{
    if (m_tensor->bytes > 0 && m_tensor->IsReal())
    {
        std::vector<uint8_t> bytes(m_tensor->bytes);
        std::memcpy(bytes.data(), m_tensor->values.data(), bytes.size());
        m_engine.coding.roundTrip(bytes, {});
        std::memcpy(m_tensor->values.data(), bytes.data(), bytes.size());
    }
}

uint32_t
NicCollective::GetFlow(const ScheduleAction& action) const
{
    return action.GetFirstChunk() % m_schedule->chunks; // whatever copy of a chunk it is
}

void
NicCollective::Begin(uint32_t index)
{
    const ScheduleAction action = m_progress.GetAction(index);
    if (action.kind == Kind::SEND)
    {
        Send(index);
        return;
    }
    if (m_progress.IsEmpty(m_progress.GetBytes(action)))
    {
        m_progress.Complete(index);
        return;
    }
    if (!action.IsReceive())
    {
        OnData(index);
        return;
    }
    const auto arrived = m_arrived.find(index);
    if (arrived != m_arrived.end())
    {
        OnData(index);
    }
}

void
NicCollective::Send(uint32_t index)
{
    if (!m_table || m_table->Request(index))
    {
        Admit(index);
    }
}

void
NicCollective::Admit(uint32_t index)
{
    const uint32_t message = index % m_actions;
    if (m_progress.IsEmpty(m_progress.GetBytes(m_progress.GetAction(index))))
    {
        // From an event, because Run() may be under way.
        Simulator::ScheduleNow(&NicCollective::OnSent, this, index);
    }
    else if (m_windows.Send(message, GetPacketBytes(message), index))
    {
        OnData(index);
    }
}

void
NicCollective::OnData(uint32_t index)
{
    if (!m_reader.HasData(index))
    {
        m_reader.WaitFor(index);
        return;
    }
    const ScheduleAction action = m_progress.GetAction(index);
    m_progress.SetBusy(index, true);
    if (action.kind == Kind::SEND)
    {
        const SubMessages& line = m_engine.subMessages;
        Ptr<ByteBuffer> payload = m_progress.Read(action);
        if (payload && CodesOwner())
        {
            m_engine.coding.roundTrip(payload->bytes, {});
            m_progress.Overwrite(action, payload);
        }
        m_owner.SendPacket(*this,
                           index,
                           action,
                           line.GetLineBytes(m_progress.GetBytes(action)),
                           payload ? line.Frame(GetFlow(action), payload) : payload);
        return;
    }
    if (action.IsReceive())
    {
        const auto arrived = m_arrived.find(index);
        m_progress.Receive(action, arrived->second);
        m_arrived.erase(arrived);
    }
    else
    {
        m_progress.Copy(action);
    }
    const bool adds = action.kind == Kind::RECEIVE_REDUCE || action.kind == Kind::REDUCE;
    Simulator::Schedule(adds ? m_engine.Add(m_progress.GetBytes(action)) : Time(0),
                        &NicCollective::OnAdded,
                        this,
                        index);
}

void
NicCollective::OnSent(uint32_t index)
{
    if (m_table)
    {
        m_table->OnSent(index);
    }
    Complete(index);
}

void
NicCollective::OnAdded(uint32_t index)
{
    const uint32_t message = index % m_actions;
    const ScheduleAction action = m_progress.GetAction(index);
    if (action.IsReceive() && m_windows.OnConsumed(message, GetPacketBytes(message)))
    {
        m_owner.SendCredit(*this, m_progress.GetAction(message));
    }
    const uint64_t written = m_plan.GetWrittenBytes(m_layout, message, index / m_actions);
    if (written > 0)
    {
        const Time wait = m_engine.Write(written);
        if (wait.IsStrictlyPositive())
        {
            m_writes++;
            Simulator::Schedule(wait, &NicCollective::OnWritten, this);
        }
    }
    Complete(index);
}

void
NicCollective::OnWritten()
{
    m_writes--;
    Run();
}

void
NicCollective::Complete(uint32_t index)
{
    m_progress.SetBusy(index, false);
    m_progress.Complete(index);
    m_reader.Release(index);
    Run();
}

void
NicCollective::OnPacket(uint32_t peer, uint32_t step, uint32_t message, Ptr<ByteBuffer> payload)
{
    const uint32_t index = m_schedule->FindReceive(m_rank, peer, step, message);
    NS_ABORT_MSG_IF(index == CollectiveSchedule::NONE || m_progress.IsComplete(index),
                    "rank " << m_rank << " does not expect a packet from rank " << peer
                            << " at step " << step);
    if (payload)
    {
        const ScheduleAction action = m_progress.GetAction(index);
        payload = m_engine.subMessages.Unframe(GetFlow(action), payload);
        NS_ABORT_MSG_UNLESS(payload,
                            "rank " << m_rank << ": wrong sub-messages from rank " << peer
                                    << " at step " << step);
    }
    m_arrived.emplace(index, std::move(payload));
    if (m_running && m_progress.IsReady(index))
    {
        OnData(index);
    }
}

void
NicCollective::OnCredit(uint32_t peer, uint32_t step, uint32_t message)
{
    if (m_sends.empty())
    {
        for (uint32_t i = 0; i < m_actions; i++)
        {
            const ScheduleAction action = m_progress.GetAction(i);
            if (action.kind == Kind::SEND)
            {
                m_sends[{action.peer, Join(action.step, action.message)}] = i;
            }
        }
    }
    const uint32_t send = m_sends.at({peer, Join(step, message)});
    for (uint32_t index : m_windows.OnCredit(send, GetPacketBytes(send)))
    {
        OnData(index);
    }
}

std::string
NicCollective::DescribeMissing() const
{
    return m_progress.DescribeMissing().value_or("for its own NIC");
}

} // namespace ns3::training
