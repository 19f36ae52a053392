/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SERVING_SYSTEM_H
#define DISTRIBUTED_TRAINING_SERVING_SYSTEM_H

#include "decode-batch.h"
#include "prefill-queue.h"
#include "served-request.h"
#include "serving-step.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-serving
 * How requests are given to instances.
 */
enum class ServingRouting : uint8_t
{
    ROUND_ROBIN, ///< to each in turn
    LEAST_LOADED ///< to the one with the fewest tokens: not yet computed, or in memory
};

/**
 * @ingroup distributed-training-serving
 * Instances, and how they serve.
 */
struct ServingOptions
{
    uint32_t prefillInstances{1}; ///< instances that compute prompts
    uint32_t prefillTensor{1};    ///< GPUs of each
    uint32_t decodeInstances{1};  ///< instances that compute answers
    uint32_t decodeTensor{1};     ///< GPUs of each
    uint64_t prefillRequests{64}; ///< of a batch, at most
    uint64_t prefillTokens{8192}; ///< of a batch, at most
    uint64_t decodeRequests{256}; ///< of a batch, at most
    uint64_t memory{80000000000}; ///< of a GPU, for weights, keys and values, bytes
    uint32_t numberBytes{2};      ///< of a weight, an activation, a key or a value
    bool isLayerwise{true};       ///< keys and values are sent layer by layer
    ServingRouting routing{ServingRouting::LEAST_LOADED}; ///< of requests

    /** @return GPUs of all instances: those of prompts first, each instance's together */
    uint32_t GetGpus() const
    {
        return prefillInstances * prefillTensor + decodeInstances * decodeTensor;
    }
};

/**
 * @ingroup distributed-training-serving
 *
 * Disaggregated inference: some instances compute prompts, others answers, and keys and values move
 * between them as messages (Zhong et al., DistServe, OSDI 2024; Patel et al., Splitwise, ISCA
 * 2024). The first token goes with the keys and values, so that a user has it when they have
 * arrived.
 *
 * A router knows the state of all instances, and tells them what to do, without messages.
 */
class ServingSystem
{
  public:
    /** Makes the GPUs of an instance from their ranks. */
    using GpuMaker =
        std::function<std::vector<std::unique_ptr<ServingGpu>>(const std::vector<uint32_t>& ranks)>;

    /**
     * @param options the instances
     * @param model the transformer
     * @param rates of each GPU
     * @param requests by time
     * @param makeGpus called once for each instance
     * @throw ConfigurationError if the model cannot be divided, or a GPU lacks memory for its
     *        weights, or for the keys and values of a request
     */
    ServingSystem(const ServingOptions& options,
                  const TransformerModel& model,
                  const TransformerRates& rates,
                  const std::vector<ServingRequest>& requests,
                  const GpuMaker& makeGpus);
    ServingSystem(const ServingSystem&) = delete;
    ServingSystem& operator=(const ServingSystem&) = delete;

    /** @param onEnd called when all requests are done; at once by Start() if there are none */
    void SetEnd(std::function<void()> onEnd);

    /** Schedules the arrivals. */
    void Start();

    /** @return whether a GPU computes, or a request is yet to arrive */
    bool IsComputing() const;

    /** @return the requests, by arrival */
    const std::vector<ServedRequest>& GetRequests() const
    {
        return m_requests;
    }

    /** @return instances that compute prompts */
    const std::vector<std::unique_ptr<PrefillQueue>>& GetPrefills() const
    {
        return m_prefills;
    }

    /** @return instances that compute answers */
    const std::vector<std::unique_ptr<DecodeBatch>>& GetDecodes() const
    {
        return m_decodes;
    }

    /** @return tokens whose keys and values the memory of a prefill instance holds */
    uint64_t GetPrefillCapacity() const
    {
        return m_prefillCapacity;
    }

    /** @return tokens whose keys and values the memory of a decoding instance holds */
    uint64_t GetDecodeCapacity() const
    {
        return m_decodeCapacity;
    }

    /** @return keys and values that a token of a prompt moves between instances, bytes */
    uint64_t GetMovedBytes() const;

  private:
    uint64_t GetCapacity(const ServingSteps& steps, const std::string& kind) const;
    void CheckRequests() const;
    void OnArrival();
    void StartTransfer(ServedRequest& request);
    void OnTransferred(ServedRequest& request);
    void OnPrompt(ServedRequest& request);
    void OnDone();

    ServingOptions m_options;
    ServingSteps m_prefillSteps;
    ServingSteps m_decodeSteps;
    KeyValueTransfer::Plan m_transfers;
    uint64_t m_prefillCapacity;
    uint64_t m_decodeCapacity;
    std::vector<ServedRequest> m_requests;
    std::vector<std::unique_ptr<PrefillQueue>> m_prefills;
    std::vector<std::unique_ptr<DecodeBatch>> m_decodes;
    std::size_t m_arrived{0};
    std::size_t m_done{0};
    std::size_t m_transferred{0}; // requests that have a decoding instance, for turns
    std::function<void()> m_onEnd;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SERVING_SYSTEM_H
