/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "serving-gpu.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3::training
{

ServingGpu::ServingGpu(Ptr<Communicator> messages, Ptr<Communicator> group, uint32_t node)
    : m_messages(messages),
      m_group(group),
      m_node(node)
{
}

void
ServingGpu::Run(std::shared_ptr<const ServingStep> step,
                std::function<void()> onLayer,
                std::function<void()> onEnd)
{
    m_step = std::move(step);
    m_phase = 0;
    m_onLayer = std::move(onLayer);
    m_onEnd = std::move(onEnd);
    StartPhase();
}

void
ServingGpu::StartPhase()
{
    m_computing = true;
    // In the context of the GPU's host, as another one may have started the step.
    Simulator::ScheduleWithContext(m_node,
                                   (*m_step)[m_phase].compute,
                                   &ServingGpu::OnComputed,
                                   this);
}

void
ServingGpu::OnComputed()
{
    m_computing = false;
    const uint64_t bytes = (*m_step)[m_phase].reduced;
    if (bytes == 0)
    {
        EndPhase();
        return;
    }
    auto activations = Create<Tensor>();
    activations->bytes = bytes;
    m_group->AllReduce(activations, MakeCallback(&ServingGpu::EndPhase, this));
}

void
ServingGpu::EndPhase()
{
    if ((*m_step)[m_phase].endsLayer && m_onLayer)
    {
        m_onLayer();
    }
    m_phase++;
    if (m_phase < m_step->size())
    {
        StartPhase();
        return;
    }
    const auto onEnd = std::exchange(m_onEnd, nullptr); // may start the next step
    onEnd();
}

} // namespace ns3::training
