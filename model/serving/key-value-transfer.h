/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_KEY_VALUE_TRANSFER_H
#define DISTRIBUTED_TRAINING_KEY_VALUE_TRANSFER_H

#include "serving-instance.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-serving
 * Which GPU of one instance sends keys and values to which GPU of another one.
 */
struct KeyValueRoute
{
    uint32_t from{0};  ///< sending GPU
    uint32_t to{0};    ///< receiving GPU
    uint32_t parts{0}; ///< parts of each token's keys and values, see GetKeyValueParts()
};

/**
 * @ingroup distributed-training-serving
 *
 * GPUs of an instance divide the parts evenly, in order. If there are more GPUs than parts, the
 * same number of consecutive GPUs has each part; they take turns in sending it. Every receiving GPU
 * gets each of its parts once.
 *
 * @param parts of each token's keys and values
 * @param senders GPUs of the sending instance, a divisor or multiple of `parts`
 * @param receivers GPUs of the receiving instance, likewise
 * @return the routes, by sender and then by receiver
 */
std::vector<KeyValueRoute> MakeKeyValueRoutes(uint32_t parts, uint32_t senders, uint32_t receivers);

/**
 * @ingroup distributed-training-serving
 *
 * Keys and values of a request on their way from the instance that computes them to the one that
 * uses them. A GPU sends what it has computed when the receiving instance has memory for it: layer
 * by layer, the last one with the first token when the pass ends, or all layers then.
 */
class KeyValueTransfer
{
  public:
    /** What all transfers of a system have in common. */
    struct Plan
    {
        std::vector<KeyValueRoute> routes; ///< of each
        uint64_t partBytes{0};             ///< a part of a token in a layer, bytes
        uint32_t layers{0};                ///< of the model
        bool isLayerwise{false};           ///< layer by layer
    };

    /**
     * @param plan of all transfers; must outlive this object
     * @param tokens of the prompt
     * @param from instance that computes
     * @param to instance that uses
     * @param onEnd called when all have arrived
     */
    KeyValueTransfer(const Plan& plan,
                     uint64_t tokens,
                     const ServingInstance& from,
                     const ServingInstance& to,
                     std::function<void()> onEnd);
    KeyValueTransfer(const KeyValueTransfer&) = delete;
    KeyValueTransfer& operator=(const KeyValueTransfer&) = delete;

    /** @param gpu sending GPU that has computed the next layer */
    void OnLayer(uint32_t gpu);

    /** @param gpu sending GPU that has ended the pass */
    void OnPass(uint32_t gpu);

    /** Called once, when the receiving instance has memory. */
    void Grant();

  private:
    /** Progress of a sending GPU. */
    struct Sender
    {
        uint32_t computed{0}; // layers
        uint32_t sent{0};     // layers
        bool isDone{false};   // has ended the pass
        bool hasRoute{false}; // otherwise others send its parts
    };

    void SendReady(uint32_t gpu);
    void OnReceived();

    const Plan& m_plan;
    uint64_t m_tokens;
    const ServingInstance& m_from;
    const ServingInstance& m_to;
    std::function<void()> m_onEnd;
    std::vector<Sender> m_senders;
    bool m_isGranted{false};
    std::size_t m_unsent{0};   // GPUs that have not sent all
    std::size_t m_underWay{0}; // messages
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_KEY_VALUE_TRANSFER_H
