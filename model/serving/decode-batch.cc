/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "decode-batch.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return tokens whose keys and values a request needs; the last one of an answer has none */
uint64_t
GetNeed(const ServedRequest& request)
{
    return request.request.prompt + request.request.output - 1;
}

} // namespace

DecodeBatch::DecodeBatch(std::unique_ptr<ServingInstance> instance,
                         const ServingSteps& steps,
                         uint64_t requests,
                         uint64_t memoryTokens,
                         Ender onEnd)
    : m_instance(std::move(instance)),
      m_steps(steps),
      m_requests(requests),
      m_memoryTokens(memoryTokens),
      m_onEnd(std::move(onEnd))
{
}

void
DecodeBatch::Reserve(ServedRequest& request)
{
    m_load += GetNeed(request);
    m_waiting.push_back(&request);
    GrantNext();
}

void
DecodeBatch::GrantNext()
{
    while (!m_waiting.empty() && m_reserved + GetNeed(*m_waiting.front()) <= m_memoryTokens)
    {
        ServedRequest& request = *m_waiting.front();
        m_waiting.pop_front();
        m_reserved += GetNeed(request);
        request.granted = Simulator::Now();
        request.transfer->Grant();
    }
}

void
DecodeBatch::Join(ServedRequest& request)
{
    request.firstToken = Simulator::Now();
    request.lastToken = request.firstToken;
    if (request.request.output == 1)
    {
        Finish(request);
        return;
    }
    m_ready.push_back(&request);
    StartNext();
}

void
DecodeBatch::StartNext()
{
    if (m_instance->IsBusy())
    {
        return;
    }
    while (!m_ready.empty() && m_batch.size() < m_requests)
    {
        m_ready.front()->joined = Simulator::Now();
        m_batch.push_back(m_ready.front());
        m_ready.pop_front();
    }
    if (m_batch.empty())
    {
        return;
    }
    m_largest = std::max<uint64_t>(m_largest, m_batch.size());
    std::vector<uint64_t> contexts;
    for (const ServedRequest* request : m_batch)
    {
        contexts.push_back(request->request.prompt + request->GetTokens());
    }
    m_instance->Run(
        m_steps.MakeDecode(contexts),
        nullptr,
        [](uint32_t) {},
        [this] { OnEnd(); });
}

void
DecodeBatch::OnEnd()
{
    std::vector<ServedRequest*> done;
    for (ServedRequest* request : m_batch)
    {
        request->tokenGaps.push_back(Simulator::Now() - request->lastToken);
        request->lastToken = Simulator::Now();
        if (request->GetTokens() == request->request.output)
        {
            done.push_back(request);
        }
    }
    m_batch.erase(std::remove_if(m_batch.begin(),
                                 m_batch.end(),
                                 [](const ServedRequest* request) {
                                     return request->GetTokens() == request->request.output;
                                 }),
                  m_batch.end());
    for (ServedRequest* request : done)
    {
        Finish(*request);
    }
    StartNext();
}

void
DecodeBatch::Finish(ServedRequest& request)
{
    m_reserved -= GetNeed(request);
    m_load -= GetNeed(request);
    request.isDone = true;
    m_onEnd(request);
    GrantNext();
}

} // namespace ns3::training
