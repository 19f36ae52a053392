/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SERVING_GPU_H
#define DISTRIBUTED_TRAINING_SERVING_GPU_H

#include "serving-step.h"

#include "ns3/ptr.h"
#include "ns3/training-communicator.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace ns3::training
{

/**
 * @ingroup distributed-training-serving
 *
 * A GPU of an instance: computes the phases of a step, and adds up activations with the other GPUs
 * of the instance between them.
 */
class ServingGpu
{
  public:
    /**
     * @param messages communicator of all ranks, for keys and values
     * @param group communicator of the instance; null if this is its only GPU
     * @param node number of its host's node
     */
    ServingGpu(Ptr<Communicator> messages, Ptr<Communicator> group, uint32_t node);
    ServingGpu(const ServingGpu&) = delete;
    ServingGpu& operator=(const ServingGpu&) = delete;

    /** @return communicator of all ranks */
    const Ptr<Communicator>& GetMessages() const
    {
        return m_messages;
    }

    /** @return number of its host's node */
    uint32_t GetNode() const
    {
        return m_node;
    }

    /** @return whether it computes */
    bool IsComputing() const
    {
        return m_computing;
    }

    /**
     * Runs a step.
     * @param step its phases
     * @param onLayer called at the end of a phase that ends a layer
     * @param onEnd called at the end of the last phase
     */
    void Run(std::shared_ptr<const ServingStep> step,
             std::function<void()> onLayer,
             std::function<void()> onEnd);

  private:
    void StartPhase();
    void OnComputed();
    void EndPhase();

    Ptr<Communicator> m_messages;
    Ptr<Communicator> m_group;
    uint32_t m_node;
    std::shared_ptr<const ServingStep> m_step;
    std::size_t m_phase{0};
    bool m_computing{false};
    std::function<void()> m_onLayer;
    std::function<void()> m_onEnd;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SERVING_GPU_H
