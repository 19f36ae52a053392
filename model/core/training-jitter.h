/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JITTER_H
#define DISTRIBUTED_TRAINING_JITTER_H

#include "training-key-values.h"
#include "training-registry.h"

#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"

#include <functional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 *
 * A distribution of factors with mean 1, by which times vary: of computation from iteration to
 * iteration, or of posting from message to message. It registers itself by Registry<JitterEntry>.
 */
struct JitterEntry
{
    static constexpr const char* KIND = "jitter"; ///< for messages
    std::string help;                             ///< one line
    std::vector<Key> keys;                        ///< its keys
    /// Creates the distribution, without a stream; empty: the factor is always 1.
    std::function<Ptr<RandomVariableStream>(const KeyValues& keys)> make;
};

/**
 * @ingroup distributed-training
 * @param text NAME or NAME:key=value,... of a JitterEntry, such as `lognormal:cv=0.1`
 * @return the distribution, without a stream; null if the factor is always 1
 * @throw ConfigurationError if the name is unknown or a key is invalid
 */
Ptr<RandomVariableStream> MakeJitter(const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JITTER_H
