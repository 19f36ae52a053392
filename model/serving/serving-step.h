/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SERVING_STEP_H
#define DISTRIBUTED_TRAINING_SERVING_STEP_H

#include "ns3/nstime.h"
#include "ns3/rank-tasks.h"
#include "ns3/transformer-model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-serving
 * What each GPU of an instance computes before it has to wait for the others.
 */
struct ServingPhase
{
    Time compute;          ///< its computation
    uint64_t reduced{0};   ///< bytes that the GPUs add up then; 0: none
    bool endsLayer{false}; ///< whether the keys and values of a layer are complete then
};

/** A forward pass, phase by phase. @ingroup distributed-training-serving */
using ServingStep = std::vector<ServingPhase>;

/**
 * @ingroup distributed-training-serving
 *
 * Time and memory of the forward passes of a transformer that tensor-parallel GPUs share.
 *
 * A block of a layer takes the time of its operations or that of reading its operands from memory,
 * whichever is longer (the roofline): weights once for all tokens of a step, keys and values once
 * for each request. Attention is causal: a token attends to those before it and to itself. Of the
 * experts, those that N tokens choose at random are read, E (1 - (1 - k/E)^N) on average. With
 * multi-head latent attention a decoding step multiplies by the compressed keys and values
 * (DeepSeek-V2, 2.1.2). The GPUs add up the activations of the embedding, and of both blocks of a
 * layer (Shoeybi et al., 2019).
 *
 * Norms, the look-up of embeddings, sampling and the hosts take no time.
 */
class ServingSteps
{
  public:
    /**
     * @param model the transformer
     * @param rates of a GPU
     * @param tensor GPUs that share each layer
     * @param numberBytes of a weight, an activation, a key or a value
     * @param kind of the instance, for messages: prefill or decode
     * @throw ConfigurationError if heads, networks or the vocabulary do not divide by the GPUs
     */
    ServingSteps(const TransformerModel& model,
                 const TransformerRates& rates,
                 uint32_t tensor,
                 uint32_t numberBytes,
                 const std::string& kind);

    /**
     * @param prompts tokens of each prompt of a batch
     * @return the pass that computes their keys and values, and their first tokens; each layer
     *         ends with a phase of its own
     */
    ServingStep MakePrefill(const std::vector<uint64_t>& prompts) const;

    /**
     * @param contexts tokens that each request attends to, with the new one
     * @return the pass that computes the next token of each request
     */
    ServingStep MakeDecode(const std::vector<uint64_t>& contexts) const;

    /** @return weights of a GPU, bytes */
    uint64_t GetWeightBytes() const;

    /** @return keys and values of a token in all layers on a GPU, bytes */
    uint64_t GetTokenBytes() const;

  private:
    struct Tokens;

    ServingStep Make(const Tokens& tokens, bool endsLayers) const;
    double GetSeconds(double operations, double bytes) const;
    double GetProjectionSeconds(double tokens) const;
    double GetNetworkSeconds(uint32_t layer, double tokens) const;

    TransformerModel m_model;
    TransformerRates m_rates;
    double m_tensor;
    double m_bytes;         // of a number
    double m_keyValueBytes; // of a token in a layer on a GPU
};

/**
 * @ingroup distributed-training-serving
 * @param model a transformer
 * @return parts of a token's keys and values that tensor-parallel GPUs can divide among
 *         themselves: heads, or one if they are compressed
 */
uint32_t GetKeyValueParts(const TransformerModel& model);

/**
 * @ingroup distributed-training-serving
 * @param model a transformer
 * @param numberBytes of a key or value
 * @return a part of a token's keys and values in a layer, bytes
 */
uint64_t GetKeyValuePartBytes(const TransformerModel& model, uint32_t numberBytes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SERVING_STEP_H
