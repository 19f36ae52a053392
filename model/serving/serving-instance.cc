/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "serving-instance.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

ServingInstance::ServingInstance(std::vector<std::unique_ptr<ServingGpu>> gpus)
    : m_gpus(std::move(gpus))
{
}

bool
ServingInstance::IsComputing() const
{
    return std::any_of(m_gpus.begin(), m_gpus.end(), [](const auto& gpu) {
        return gpu->IsComputing();
    });
}

void
ServingInstance::Run(ServingStep step,
                     const std::function<void(uint32_t)>& onLayer,
                     const std::function<void(uint32_t)>& onGpu,
                     std::function<void()> onEnd)
{
    m_left = m_gpus.size();
    m_start = Simulator::Now();
    m_onEnd = std::move(onEnd);
    const auto shared = std::make_shared<const ServingStep>(std::move(step));
    for (uint32_t i = 0; i < m_gpus.size(); i++)
    {
        m_gpus[i]->Run(
            shared,
            [onLayer, i] { onLayer(i); },
            [this, onGpu, i] {
                onGpu(i);
                OnGpu();
            });
    }
}

void
ServingInstance::OnGpu()
{
    if (--m_left > 0)
    {
        return;
    }
    m_busyTime += Simulator::Now() - m_start;
    const auto onEnd = std::exchange(m_onEnd, nullptr); // may start the next step
    onEnd();
}

} // namespace ns3::training
