/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RECOMPUTATION_H
#define DISTRIBUTED_TRAINING_RECOMPUTATION_H

#include "parallel-options.h"
#include "transformer-model.h"

#include "ns3/training-key-values.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * What is computed again in the backward pass, in Registry<RecomputeEntry>.
 */
struct RecomputeEntry
{
    static constexpr const char* KIND = "recompute"; ///< for messages
    std::string help;                                ///< one line
    std::vector<Key> keys{};                         ///< its keys
};

/**
 * A part of a layer that is computed again by itself: `--recompute-modules` of Megatron-LM, whose
 * words are in parentheses.
 */
enum class RecomputedModule : uint8_t
{
    CORE_ATTENTION,    ///< scores of attention (core_attn)
    LAYERNORM,         ///< norms before attention and before the network (layernorm)
    MLA_UP_PROJECTION, ///< queries, keys and values from compressed ones (mla_up_proj)
    MLP,               ///< dense feed-forward network, with its collectives (mlp)
    MOE,               ///< all experts and their router, with exchanges of tokens (moe)
    MOE_ACTIVATION,    ///< activation function of routed experts (moe_act)
    SHARED_EXPERTS     ///< those of every token (shared_experts)
};

/**
 * The meaning of ParallelOptions::recompute.
 */
class Recomputation
{
  public:
    /**
     * @param text none, full, or selective, which may have :modules=NAME+NAME
     * @throw ConfigurationError if it is none of them
     */
    explicit Recomputation(const std::string& text);

    /**
     * @param model that is trained
     * @param options how
     * @throw ConfigurationError if the model lacks a module, or one is part of another
     */
    void Check(const TransformerModel& model, const ParallelOptions& options) const;

    /** @return whether whole layers are computed again */
    bool IsFull() const
    {
        return m_isFull;
    }

    /** @param module a part of a layer @return whether it is computed again by itself */
    bool Has(RecomputedModule module) const
    {
        return m_modules.count(module) > 0;
    }

    /**
     * @param hasExperts whether a layer has experts
     * @return whether its whole network is computed again, with its collectives
     */
    bool HasNetwork(bool hasExperts) const
    {
        return Has(hasExperts ? RecomputedModule::MOE : RecomputedModule::MLP);
    }

  private:
    std::string m_text;
    bool m_isFull;
    std::set<RecomputedModule> m_modules;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RECOMPUTATION_H
