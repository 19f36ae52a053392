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
#include "ns3/training-attribute-list.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingScheduledCommunicator");
NS_OBJECT_ENSURE_REGISTERED(ScheduledCommunicator);

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
    m_endpoint.Detach();
    m_planner = nullptr;
    m_collectives.SetShortcut(nullptr);
    m_hosts = {};
    m_onError = nullptr;
    Clear();
    Communicator::DoDispose();
}

/** Forgets collectives and messages that are not complete. */
void
ScheduledCommunicator::Clear()
{
    m_collectives.Clear();
    m_endpoint.Clear();
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
    NS_LOG_FUNCTION(this << next);
    for (const auto& communicator : m_split)
    {
        communicator->Abort(next);
    }
    m_issued = next;
    Clear();
    GetTransport()->Abort();
}

void
ScheduledCommunicator::Setup(uint32_t rank,
                             uint32_t size,
                             Ptr<MessageTransport> transport,
                             Planner planner,
                             uint32_t number)
{
    m_planner = std::move(planner);
    auto shared =
        Create<SharedTransport>(transport, [this](uint32_t peer, const std::string& reason) {
            OnError(peer, reason);
        });
    Join(shared, rank, size, number, {});
}

void
ScheduledCommunicator::Join(Ptr<SharedTransport> transport,
                            uint32_t rank,
                            uint32_t size,
                            uint32_t number,
                            const std::vector<uint32_t>& members)
{
    NS_ABORT_MSG_UNLESS(number <= MessageTag::MAX_COMMUNICATOR,
                        "number " << number << " of a communicator");
    m_collectives.GetOrder().SetRank(rank);
    m_peerMessages = PeerMessages(rank, number);
    m_endpoint.Attach(transport,
                      number,
                      rank,
                      size,
                      members,
                      [this](uint32_t peer, const Message& message) {
                          OnMessage(peer, message.tag, message.bytes, message.payload);
                      });
}

Ptr<ScheduledCommunicator>
ScheduledCommunicator::Split(const std::vector<uint32_t>& ranks, Planner planner, uint32_t number)
{
    const auto me = std::find(ranks.begin(), ranks.end(), GetRank());
    NS_ABORT_MSG_IF(me == ranks.end(),
                    "rank " << GetRank() << " is not in communicator " << number);
    std::vector<uint32_t> members;
    for (uint32_t rank : ranks)
    {
        NS_ABORT_MSG_UNLESS(rank < GetSize(), "there is no rank " << rank << " of " << GetSize());
        members.push_back(m_endpoint.GetTransportRank(rank));
    }
    auto communicator = CreateObject<ScheduledCommunicator>();
    CopyAttributes(GetTypeId(), *this, *communicator);
    communicator->m_hosts = m_hosts;
    communicator->m_planner = std::move(planner);
    m_split.push_back(communicator);
    communicator->Join(GetTransport(),
                       static_cast<uint32_t>(me - ranks.begin()),
                       static_cast<uint32_t>(ranks.size()),
                       number,
                       members);
    return communicator;
}

void
ScheduledCommunicator::Send(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    PeerMessages::Send(m_endpoint,
                       *tensor,
                       peer,
                       m_peerMessages.GetNextSendTag(peer, tensor->channel),
                       done);
}

void
ScheduledCommunicator::SendUnordered(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    PeerMessages::Send(m_endpoint, *tensor, peer, m_peerMessages.GetUnorderedTag(), done);
}

void
ScheduledCommunicator::Receive(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    m_peerMessages.Expect(tensor,
                          peer,
                          m_peerMessages.GetNextReceiveTag(peer, tensor->channel),
                          done);
}

void
ScheduledCommunicator::ReceiveUnordered(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
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
    CollectiveExecution::Request next;
    next.schedule = GetSchedule(operation, tensor->bytes, root);
    next.record.rank = m_endpoint.GetTransportRank(GetRank());
    next.record.communicator = m_endpoint.GetNumber();
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
    next.hosts = m_hosts;
    if (tensor->lineCode)
    {
        next.hosts.coder = Create<const MessageCoder>(tensor->lineCode, nullptr);
    }
    else if (!MessageCoder::Codes(operation))
    {
        next.hosts.coder = nullptr;
    }
    next.reduceRate = m_reduceRate;
    next.rendezvousBytes = m_rendezvousBytes;
    next.typeOfService = GetTypeOfService(operation);
    NS_LOG_INFO("rank " << GetRank() << " issues collective " << next.record.collective << ": "
                        << GetName(operation) << " of " << tensor->bytes << " bytes by "
                        << next.record.algorithm);
    m_collectives.Add(std::move(next));
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
        m_collectives.OnTurn(parts.collective);
        return;
    }
    if (MessageGrants::IsGrant(parts))
    {
        m_collectives.OnGrant(peer, tag);
        return;
    }
    m_receiveTrace(m_endpoint.MakeRecord(peer, GetRank(), tag, bytes));
    if (parts.step == MessageTag::PEER_TO_PEER)
    {
        m_peerMessages.OnMessage(peer, tag, bytes, payload);
        return;
    }
    m_collectives.OnChunk(peer, tag, {bytes, payload, Simulator::Now()});
}

void
ScheduledCommunicator::OnError(uint32_t peer, const std::string& reason) const
{
    NS_LOG_WARN("rank " << GetRank() << " lost the path to rank " << peer << ": " << reason);
    if (m_onError)
    {
        m_onError(peer,
                  "the path from rank " + std::to_string(GetRank()) + " to rank " +
                      std::to_string(peer) + " failed: " + reason);
    }
}

std::string
ScheduledCommunicator::GetWaitingFor() const
{
    const std::string me = "rank " + std::to_string(GetRank());
    const std::string missing = m_collectives.DescribeMissing();
    if (!missing.empty())
    {
        return me + " waits in " + missing;
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
            return "communicator " + std::to_string(communicator->m_endpoint.GetNumber()) + ", " +
                   text;
        }
    }
    return m_collectives.GetOrder().IsEmpty()
               ? ""
               : me + " waits for rank 0 to announce the next collective";
}

} // namespace ns3::training
