/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_DECODE_BATCH_H
#define DISTRIBUTED_TRAINING_DECODE_BATCH_H

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
 * An instance that computes answers, a token of every request in each step. Requests join and leave
 * between steps (continuous batching; Yu et al., Orca, OSDI 2022). Memory for the keys and values
 * of a whole request is reserved, first come first served, before they are sent.
 */
class DecodeBatch
{
  public:
    /** Called when a request has all tokens. */
    using Ender = std::function<void(ServedRequest&)>;

    /**
     * @param instance its GPUs
     * @param steps times of its passes; must outlive this object
     * @param requests of a batch, at most
     * @param memoryTokens whose keys and values the memory holds
     * @param onEnd called when a request is done
     */
    DecodeBatch(std::unique_ptr<ServingInstance> instance,
                const ServingSteps& steps,
                uint64_t requests,
                uint64_t memoryTokens,
                Ender onEnd);

    /** @return its GPUs */
    const ServingInstance& GetInstance() const
    {
        return *m_instance;
    }

    /** @return tokens of the requests that have memory or wait for it */
    uint64_t GetLoad() const
    {
        return m_load;
    }

    /** @return most requests that a step had */
    uint64_t GetLargestBatch() const
    {
        return m_largest;
    }

    /** @param request receives memory, now or later; then its keys and values may be sent */
    void Reserve(ServedRequest& request);

    /** @param request one whose keys and values have arrived */
    void Join(ServedRequest& request);

  private:
    void GrantNext();
    void StartNext();
    void OnEnd();
    void Finish(ServedRequest& request);

    std::unique_ptr<ServingInstance> m_instance;
    const ServingSteps& m_steps;
    uint64_t m_requests;
    uint64_t m_memoryTokens;
    Ender m_onEnd;
    std::deque<ServedRequest*> m_waiting; // for memory
    std::deque<ServedRequest*> m_ready;   // for a place in the batch
    std::vector<ServedRequest*> m_batch;  // those of the step that is under way or comes next
    uint64_t m_reserved{0};               // tokens
    uint64_t m_load{0};                   // tokens
    uint64_t m_largest{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DECODE_BATCH_H
