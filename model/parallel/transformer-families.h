/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRANSFORMER_FAMILIES_H
#define DISTRIBUTED_TRAINING_TRANSFORMER_FAMILIES_H

#include "parallel/transformer-config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 * What the models of a `model_type` have in common.
 */
struct TransformerFamily
{
    /// A key that is true or false.
    struct Switch
    {
        const char* key;   ///< its name
        uint32_t set;      ///< traits of models that have it; others lack them
        uint32_t clear{0}; ///< traits that models with it lack
    };

    /** @param config of a model @return parameters of what stands in for attention in a layer */
    using Mixer = uint64_t (*)(const TransformerConfig& config);

    const char* names;            ///< values of model_type
    uint32_t traits;              ///< of TransformerModel, where no key says otherwise
    std::vector<Switch> switches; ///< keys that decide traits, in order
    const char* defaults;         ///< values of the keys that a file may leave out
    Mixer mixer;                  ///< layers without attention have it; null: windows instead
};

/**
 * @ingroup distributed-training-parallel
 * @param path of a file, for the message
 * @param type its model_type
 * @return the family
 * @throw ConfigurationError if there is none
 */
const TransformerFamily& FindTransformerFamily(const std::string& path, const std::string& type);

/**
 * @ingroup distributed-training-parallel
 * @return all families
 */
const std::vector<TransformerFamily>& GetTransformerFamilies();

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRANSFORMER_FAMILIES_H
