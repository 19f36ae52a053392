/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared-transport.h"

#include "message-tag.h"

#include "ns3/abort.h"

namespace ns3::training
{

SharedTransport::SharedTransport(Ptr<MessageTransport> transport,
                                 MessageTransport::ErrorHandler onError)
    : m_transport(transport)
{
    m_transport->SetMessageHandler(
        [this](uint32_t peer, const Message& message) { OnMessage(peer, message); });
    m_transport->SetErrorHandler(std::move(onError));
}

SharedTransport::~SharedTransport()
{
    m_transport->SetMessageHandler(nullptr);
    m_transport->SetErrorHandler(nullptr);
}

void
SharedTransport::Attach(uint32_t number,
                        const std::vector<uint32_t>& ranks,
                        MessageTransport::MessageHandler onMessage)
{
    Member& member = m_members[number];
    NS_ABORT_MSG_IF(member.onMessage, "this rank already has a communicator " << number);
    member = Member();
    member.ranks = ranks;
    for (uint32_t i = 0; i < ranks.size(); i++)
    {
        NS_ABORT_MSG_UNLESS(member.position.emplace(ranks[i], i).second,
                            "rank " << ranks[i] << " is twice in communicator " << number);
    }
    member.onMessage = std::move(onMessage);
    const auto early = m_early.find(number);
    if (early != m_early.end())
    {
        const auto messages = std::move(early->second);
        m_early.erase(early);
        for (const auto& [peer, message] : messages)
        {
            OnMessage(peer, message);
        }
    }
}

void
SharedTransport::Detach(uint32_t number)
{
    m_members.at(number).onMessage = nullptr;
}

void
SharedTransport::Send(uint32_t number, uint32_t peer, Message message) const
{
    m_transport->Send(GetRank(number, peer), std::move(message));
}

uint32_t
SharedTransport::GetRank(uint32_t number, uint32_t rank) const
{
    const Member& member = m_members.at(number);
    return member.ranks.empty() ? rank : member.ranks.at(rank);
}

Time
SharedTransport::ReserveAdder(Time duration)
{
    return m_adder.Reserve(duration);
}

void
SharedTransport::Abort()
{
    m_early.clear();
    m_adder = BusyUnit();
}

void
SharedTransport::OnMessage(uint32_t peer, const Message& message)
{
    const uint32_t number = MessageTag::Unpack(message.tag).communicator;
    const auto found = m_members.find(number);
    if (found == m_members.end())
    {
        m_early[number].emplace_back(peer, message);
        return;
    }
    const Member& member = found->second;
    if (!member.ranks.empty())
    {
        const auto position = member.position.find(peer);
        NS_ABORT_MSG_IF(position == member.position.end(),
                        "a message from rank " << peer << ", which is not in communicator "
                                               << number);
        peer = position->second;
    }
    if (member.onMessage)
    {
        member.onMessage(peer, message);
    }
}

} // namespace ns3::training
