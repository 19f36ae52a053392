/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "prefill-queue.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3::training
{

PrefillQueue::PrefillQueue(std::unique_ptr<ServingInstance> instance,
                           const ServingSteps& steps,
                           const Limits& limits,
                           Starter onStart,
                           Ender onEnd)
    : m_instance(std::move(instance)),
      m_steps(steps),
      m_limits(limits),
      m_onStart(std::move(onStart)),
      m_onEnd(std::move(onEnd))
{
}

void
PrefillQueue::Submit(ServedRequest& request)
{
    m_load += request.request.prompt;
    m_queue.push_back(&request);
    StartNext();
}

void
PrefillQueue::Release(const ServedRequest& request)
{
    m_held -= request.request.prompt;
    StartNext();
}

void
PrefillQueue::StartNext()
{
    if (m_instance->IsBusy() || !m_batch.empty())
    {
        return;
    }
    uint64_t tokens = 0;
    std::vector<uint64_t> prompts;
    while (!m_queue.empty() && m_batch.size() < m_limits.requests)
    {
        const uint64_t prompt = m_queue.front()->request.prompt;
        const bool fits = m_batch.empty() || tokens + prompt <= m_limits.tokens;
        if (!fits || m_held + prompt > m_limits.memoryTokens)
        {
            break;
        }
        tokens += prompt;
        m_held += prompt;
        prompts.push_back(prompt);
        m_batch.push_back(m_queue.front());
        m_queue.pop_front();
    }
    if (m_batch.empty())
    {
        return;
    }
    for (ServedRequest* request : m_batch)
    {
        request->prefillStart = Simulator::Now();
        m_onStart(*request);
    }
    m_instance->Run(
        m_steps.MakePrefill(prompts),
        [this](uint32_t gpu) {
            for (ServedRequest* request : m_batch)
            {
                request->transfer->OnLayer(gpu);
            }
        },
        [this](uint32_t gpu) {
            for (ServedRequest* request : m_batch)
            {
                request->transfer->OnPass(gpu);
            }
        },
        [this] { OnEnd(); });
}

void
PrefillQueue::OnEnd()
{
    const auto batch = std::exchange(m_batch, {});
    for (ServedRequest* request : batch)
    {
        request->prefillEnd = Simulator::Now();
        m_load -= request->request.prompt;
        m_onEnd(*request);
    }
    StartNext();
}

} // namespace ns3::training
