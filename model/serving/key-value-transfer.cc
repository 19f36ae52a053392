/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "key-value-transfer.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3::training
{

std::vector<KeyValueRoute>
MakeKeyValueRoutes(uint32_t parts, uint32_t senders, uint32_t receivers)
{
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> count; // by sender and receiver
    for (uint32_t to = 0; to < receivers; to++)
    {
        const uint32_t first = static_cast<uint32_t>(uint64_t{to} * parts / receivers);
        const uint32_t held = std::max(1U, parts / receivers);
        for (uint32_t part = first; part < first + held; part++)
        {
            const uint32_t copies = std::max(1U, senders / parts);
            const auto from = static_cast<uint32_t>(uint64_t{part} * senders / parts);
            count[{from + to % copies, to}]++;
        }
    }
    std::vector<KeyValueRoute> routes;
    for (const auto& [ends, number] : count)
    {
        routes.push_back({ends.first, ends.second, number});
    }
    return routes;
}

KeyValueTransfer::KeyValueTransfer(const Plan& plan,
                                   uint64_t tokens,
                                   const ServingInstance& from,
                                   const ServingInstance& to,
                                   std::function<void()> onEnd)
    : m_plan(plan),
      m_tokens(tokens),
      m_from(from),
      m_to(to),
      m_onEnd(std::move(onEnd)),
      m_senders(from.GetGpus().size())
{
    for (const KeyValueRoute& route : plan.routes)
    {
        m_unsent += !std::exchange(m_senders[route.from].hasRoute, true);
    }
}

void
KeyValueTransfer::OnLayer(uint32_t gpu)
{
    m_senders[gpu].computed++;
    SendReady(gpu);
}

void
KeyValueTransfer::OnPass(uint32_t gpu)
{
    m_senders[gpu].isDone = true;
    SendReady(gpu);
}

void
KeyValueTransfer::Grant()
{
    m_isGranted = true;
    for (uint32_t gpu = 0; gpu < m_senders.size(); gpu++)
    {
        // In the context of the sender's host, which hears of the memory.
        Simulator::ScheduleWithContext(m_from.GetGpus()[gpu]->GetNode(),
                                       TimeStep(0),
                                       &KeyValueTransfer::SendReady,
                                       this,
                                       gpu);
    }
}

void
KeyValueTransfer::SendReady(uint32_t gpu)
{
    Sender& sender = m_senders[gpu];
    const uint32_t early = m_plan.isLayerwise ? std::min(sender.computed, m_plan.layers - 1) : 0;
    const uint32_t ready = sender.isDone ? sender.computed : early;
    if (!m_isGranted || !sender.hasRoute || ready == sender.sent)
    {
        return;
    }
    const uint64_t bytes = (ready - sender.sent) * m_plan.partBytes * m_tokens;
    sender.sent = ready;
    m_unsent -= sender.sent == m_plan.layers;
    for (const KeyValueRoute& route : m_plan.routes)
    {
        if (route.from != gpu)
        {
            continue;
        }
        const Ptr<Communicator>& from = m_from.GetGpus()[gpu]->GetMessages();
        const Ptr<Communicator>& to = m_to.GetGpus()[route.to]->GetMessages();
        auto tensor = Create<Tensor>();
        tensor->bytes = bytes * route.parts;
        m_underWay++;
        to->Receive(tensor, from->GetRank(), MakeCallback(&KeyValueTransfer::OnReceived, this));
        from->Send(tensor, to->GetRank(), Communicator::Done());
    }
}

void
KeyValueTransfer::OnReceived()
{
    m_underWay--;
    if (m_underWay == 0 && m_unsent == 0)
    {
        m_onEnd();
    }
}

} // namespace ns3::training
