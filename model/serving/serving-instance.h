/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SERVING_INSTANCE_H
#define DISTRIBUTED_TRAINING_SERVING_INSTANCE_H

#include "serving-gpu.h"
#include "serving-step.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-serving
 *
 * A replica of the model: GPUs that run the same steps together. The next one begins when all have
 * ended the previous one.
 */
class ServingInstance
{
  public:
    /** @param gpus its GPUs, at least one */
    explicit ServingInstance(std::vector<std::unique_ptr<ServingGpu>> gpus);

    /** @return its GPUs */
    const std::vector<std::unique_ptr<ServingGpu>>& GetGpus() const
    {
        return m_gpus;
    }

    /** @return whether a step is under way */
    bool IsBusy() const
    {
        return m_left > 0;
    }

    /** @return whether a GPU computes */
    bool IsComputing() const;

    /** @return time of its steps so far, without the one under way */
    Time GetBusyTime() const
    {
        return m_busyTime;
    }

    /**
     * Runs a step; none is under way.
     * @param step its phases
     * @param onLayer called when a GPU has computed the next layer; receives the GPU's number
     * @param onGpu called when a GPU has ended the step; receives the GPU's number
     * @param onEnd called when all have
     */
    void Run(ServingStep step,
             const std::function<void(uint32_t)>& onLayer,
             const std::function<void(uint32_t)>& onGpu,
             std::function<void()> onEnd);

  private:
    void OnGpu();

    std::vector<std::unique_ptr<ServingGpu>> m_gpus;
    std::size_t m_left{0}; // GPUs that have not ended the step
    Time m_start;
    Time m_busyTime;
    std::function<void()> m_onEnd;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SERVING_INSTANCE_H
