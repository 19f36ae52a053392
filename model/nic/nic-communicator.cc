/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nic-communicator.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/message-grants.h"
#include "ns3/message-tag.h"
#include "ns3/simulator.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingNicCommunicator");
NS_OBJECT_ENSURE_REGISTERED(NicCommunicator);

namespace
{

/// Number of the communicator of engines: the highest, as groups of hosts count from 0.
constexpr uint32_t COMMUNICATOR = MessageTag::MAX_COMMUNICATOR;
} // namespace

TypeId
NicCommunicator::GetTypeId()
{
    static TypeId tid =
        AddEngineAttributes(TypeId("ns3::training::NicCommunicator")
                                .SetParent<Communicator>()
                                .SetGroupName("DistributedTraining")
                                .AddConstructor<NicCommunicator>())
            .AddTraceSource("Collective",
                            "A collective is complete at this rank",
                            MakeTraceSourceAccessor(&NicCommunicator::m_collectiveTrace),
                            "ns3::training::ScheduledCommunicator::CollectiveTracedCallback");
    return tid;
}

void
NicCommunicator::DoDispose()
{
    if (m_transport)
    {
        m_transport->Detach(COMMUNICATOR);
    }
    m_transport = nullptr;
    m_hosts = nullptr;
    m_planner = nullptr;
    m_collectives.clear();
    m_early.clear();
    m_outgoing.clear();
    Communicator::DoDispose();
}

void
NicCommunicator::Setup(Ptr<ScheduledCommunicator> hosts,
                       ScheduledCommunicator::Planner planner,
                       const Lines& lines,
                       std::shared_ptr<LockstepOracles> oracles)
{
    ConfigureEngine(lines, hosts->GetCoding(), std::move(oracles));
    m_hosts = hosts;
    m_planner = std::move(planner);
    m_transport = hosts->GetTransport();
    m_transport->Attach(COMMUNICATOR, {}, [this](uint32_t peer, const Message& message) {
        OnMessage(peer, message.tag, message.payload);
    });
    hosts->TraceConnectWithoutContext("Collective",
                                      MakeCallback(&NicCommunicator::OnHostCollective, this));
}

void
NicCommunicator::CheckTable(const CollectiveSchedule& schedule) const
{
    if (m_engine.hasTable)
    {
        if (m_interfaces > 0 && (m_ownBuffer > 0 || m_receptionBuffer > 0))
        {
            throw ConfigurationError("interfaces=" + std::to_string(m_interfaces) +
                                     " with own-buffer=" + std::to_string(m_ownBuffer) +
                                     " and reception-buffer=" + std::to_string(m_receptionBuffer) +
                                     " (allowed: with both 0, unlimited; a message that waits for "
                                     "a buffer would keep its interface from others)");
        }
        const ScheduleTable table(schedule, GetRank(), m_engine.table, nullptr);
    }
}

bool
NicCommunicator::IsOffloaded(CollectiveOperation operation)
{
    return !IsExchange(operation) && operation != CollectiveOperation::BARRIER;
}

void
NicCommunicator::SetErrorHandler(ErrorHandler handler)
{
    if (m_hosts)
    {
        m_hosts->SetErrorHandler(std::move(handler));
    }
}

void
NicCommunicator::Send(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    m_hosts->Send(tensor, peer, done);
}

void
NicCommunicator::Receive(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    m_hosts->Receive(tensor, peer, done);
}

void
NicCommunicator::Start(CollectiveOperation operation,
                       Ptr<Tensor> tensor,
                       uint32_t root,
                       Done done,
                       ByteMatrix matrix)
{
    NS_LOG_FUNCTION(this << GetName(operation) << tensor->bytes << root);
    NS_ABORT_MSG_IF(tensor->IsReal() && tensor->values.size() * sizeof(float) != tensor->bytes,
                    "a real tensor's bytes are four times its numbers");
    const uint64_t number = m_issued++;
    if (!IsOffloaded(operation))
    {
        m_byHosts.push_back(number);
        m_hosts->Start(operation, tensor, root, done, std::move(matrix));
        return;
    }
    Entry entry;
    NicCollective::Owner& owner = *this;
    entry.collective = std::make_unique<NicCollective>(owner,
                                                       m_engine,
                                                       m_planner(operation, tensor->bytes, root),
                                                       GetRank(),
                                                       tensor,
                                                       number);
    NicCollective& collective = *entry.collective;
    collective.done = done;
    collective.record.rank = GetRank();
    collective.record.collective = number;
    collective.record.operation = operation;
    collective.record.algorithm = "nic-" + collective.GetSchedule().algorithm;
    collective.record.bytes = tensor->bytes;
    collective.record.iteration = tensor->iteration;
    collective.record.bucket = tensor->bucket;
    collective.record.issued = Simulator::Now();
    m_collectives.push_back(std::move(entry));
    for (auto early = m_early.begin(); early != m_early.end(); ++early)
    {
        if (MessageTag::IsSameCollective(early->first, number))
        {
            for (Early& packet : early->second)
            {
                collective.OnPacket(packet.peer, packet.step, packet.message, packet.payload);
            }
            m_early.erase(early);
            break;
        }
    }
    // From an event, because completion must not precede the return of this call.
    Simulator::Schedule(m_doorbell, &NicCommunicator::Ring, this, number);
}

void
NicCommunicator::Ring(uint64_t number)
{
    if (Entry* entry = Find(number))
    {
        entry->isRung = true;
        StartNext();
    }
}

void
NicCommunicator::StartNext()
{
    uint32_t running = 0;
    for (Entry& entry : m_collectives)
    {
        if (entry.isFinished)
        {
            continue;
        }
        if (running++ == m_activeLimit || !entry.isRung)
        {
            return;
        }
        if (!entry.isStarted)
        {
            NS_LOG_LOGIC("rank " << GetRank() << ": the NIC starts collective "
                                 << entry.collective->record.collective);
            entry.isStarted = true;
            entry.collective->record.started = Simulator::Now();
            entry.collective->Start();
        }
    }
}

void
NicCommunicator::SendPacket(NicCollective& collective,
                            uint32_t index,
                            const ScheduleAction& action,
                            uint64_t bytes,
                            Ptr<ByteBuffer> payload)
{
    const uint64_t number = collective.record.collective;
    if (m_engine.format)
    {
        bytes = m_engine.GetFormattedBytes(bytes);
        payload = m_engine.Format(payload);
    }
    m_outgoing[action.peer].waiting.push_back(
        {number,
         index,
         MessageTag{COMMUNICATOR, number, action.step, action.message}.Pack(),
         bytes,
         std::move(payload),
         m_hosts->GetTypeOfService(collective.record.operation)});
    Transmit(action.peer);
}

void
NicCommunicator::Transmit(uint32_t peer)
{
    // One packet on the line of each port, and one behind it.
    const uint32_t most = 2 * m_lines.count;
    Outgoing& outgoing = m_outgoing[peer];
    while (outgoing.leaving < most && !outgoing.waiting.empty())
    {
        Packet packet = std::move(outgoing.waiting.front());
        outgoing.waiting.pop_front();
        outgoing.leaving++;
        m_transport->Send(COMMUNICATOR,
                          peer,
                          {packet.tag,
                           packet.bytes,
                           std::move(packet.payload),
                           [this, peer, number = packet.number, index = packet.index]() {
                               OnSent(peer, number, index);
                           },
                           packet.typeOfService});
    }
}

void
NicCommunicator::SendCredit(NicCollective& collective, const ScheduleAction& action)
{
    const MessageTag tag{COMMUNICATOR, collective.record.collective, action.step, action.message};
    m_transport->Send(COMMUNICATOR, action.peer, {MessageGrants::GetGrantOf(tag.Pack())});
}

void
NicCommunicator::OnSent(uint32_t peer, uint64_t number, uint32_t index)
{
    if (!m_transport)
    {
        return; // disposed of
    }
    m_outgoing[peer].leaving--;
    Transmit(peer);
    if (Entry* entry = Find(number))
    {
        entry->collective->OnSent(index);
    }
}

void
NicCommunicator::OnMessage(uint32_t peer, uint64_t tag, Ptr<ByteBuffer> payload)
{
    const MessageTag parts = MessageTag::Unpack(tag);
    if (m_engine.format)
    {
        payload = m_engine.Unformat(payload);
    }
    Entry* entry = Find(parts.collective);
    if (MessageGrants::IsGrant(parts))
    {
        const MessageTag message = MessageTag::Unpack(MessageGrants::GetGranted(tag));
        NS_ABORT_MSG_UNLESS(entry, "a credit of rank " << peer << " for a collective that is over");
        entry->collective->OnCredit(peer, message.step, message.message);
    }
    else if (entry)
    {
        entry->collective->OnPacket(peer, parts.step, parts.message, std::move(payload));
    }
    else
    {
        m_early[parts.collective].push_back({peer, parts.step, parts.message, std::move(payload)});
    }
}

void
NicCommunicator::OnFinished(NicCollective& collective)
{
    Find(collective.record.collective)->isFinished = true;
    // From an event, because the collective is still running its last action.
    Simulator::Schedule(m_completion, &NicCommunicator::Finish, this, collective.record.collective);
    Simulator::ScheduleNow(&NicCommunicator::StartNext, this);
}

void
NicCommunicator::Finish(uint64_t number)
{
    const auto found =
        std::find_if(m_collectives.begin(), m_collectives.end(), [&](const Entry& entry) {
            return entry.collective->record.collective == number;
        });
    if (found == m_collectives.end())
    {
        return; // disposed of
    }
    const auto collective = std::move(found->collective);
    m_collectives.erase(found);
    collective->record.finished = Simulator::Now();
    m_collectiveTrace(collective->record);
    if (!collective->done.IsNull())
    {
        collective->done();
    }
}

void
NicCommunicator::OnHostCollective(const CollectiveRecord& record)
{
    CollectiveRecord mine = record;
    mine.collective = m_byHosts.at(record.collective);
    m_collectiveTrace(mine);
}

NicCommunicator::Entry*
NicCommunicator::Find(uint64_t number)
{
    for (Entry& entry : m_collectives)
    {
        if (MessageTag::IsSameCollective(entry.collective->record.collective, number))
        {
            return &entry;
        }
    }
    return nullptr;
}

std::string
NicCommunicator::GetWaitingFor() const
{
    for (const Entry& entry : m_collectives)
    {
        if (!entry.isFinished)
        {
            const CollectiveRecord& record = entry.collective->record;
            return "rank " + std::to_string(record.rank) + " waits in " +
                   GetName(record.operation) + " " + std::to_string(record.collective) + " (" +
                   record.algorithm + ") " + entry.collective->DescribeMissing();
        }
    }
    return m_hosts->GetWaitingFor();
}

} // namespace ns3::training
