/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PREFILL_QUEUE_H
#define DISTRIBUTED_TRAINING_PREFILL_QUEUE_H

#include "served-request.h"
#include "serving-instance.h"
#include "serving-step.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-serving
 *
 * An instance that computes prompts, first come first served: when a batch has ended, the next one
 * takes requests in order while they fit. Keys and values stay in its memory until they have
 * arrived at the instance that uses them.
 */
class PrefillQueue
{
  public:
    /** Limits of a batch. */
    struct Limits
    {
        uint64_t requests{0};     ///< of a batch, at least 1
        uint64_t tokens{0};       ///< of a batch; a longer prompt is a batch of its own
        uint64_t memoryTokens{0}; ///< whose keys and values the memory holds
    };

    /** Called when a batch with a request begins. */
    using Starter = std::function<void(ServedRequest&)>;
    /** Called when it has ended. */
    using Ender = std::function<void(ServedRequest&)>;

    /**
     * @param instance its GPUs
     * @param steps times of its passes; must outlive this object
     * @param limits of batches
     * @param onStart makes the transfer of a request
     * @param onEnd called when the prompt of a request is computed
     */
    PrefillQueue(std::unique_ptr<ServingInstance> instance,
                 const ServingSteps& steps,
                 const Limits& limits,
                 Starter onStart,
                 Ender onEnd);

    /** @return its GPUs */
    const ServingInstance& GetInstance() const
    {
        return *m_instance;
    }

    /** @return tokens of prompts that are not computed yet */
    uint64_t GetLoad() const
    {
        return m_load;
    }

    /** @param request the next one */
    void Submit(ServedRequest& request);

    /** @param request one whose keys and values have left */
    void Release(const ServedRequest& request);

  private:
    void StartNext();
    void OnEnd();

    std::unique_ptr<ServingInstance> m_instance;
    const ServingSteps& m_steps;
    Limits m_limits;
    Starter m_onStart;
    Ender m_onEnd;
    std::deque<ServedRequest*> m_queue;
    std::vector<ServedRequest*> m_batch; // under way
    uint64_t m_held{0};                  // tokens in memory
    uint64_t m_load{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PREFILL_QUEUE_H
