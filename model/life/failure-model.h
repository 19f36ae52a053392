/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FAILURE_MODEL_H
#define DISTRIBUTED_TRAINING_FAILURE_MODEL_H

#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-life Life of a job
 *
 * What happens to a job in weeks: failures, checkpoints, restarts, energy and cost. No network.
 */

namespace ns3::training
{

/// Span of a job's life: exact, and long enough for centuries. @ingroup distributed-training-life
using LifeTime = std::chrono::nanoseconds;

/// A day, s. @ingroup distributed-training-life
constexpr double DAY_SECONDS = 86400;

/**
 * @ingroup distributed-training-life
 * @param seconds a span, s
 * @return the span, rounded to whole nanoseconds; LifeTime::max() if it is longer than that
 */
LifeTime MakeLifeTime(double seconds);

/**
 * @ingroup distributed-training-life
 * @param time a span
 * @return the span, s
 */
double ToSeconds(LifeTime time);

/**
 * @ingroup distributed-training-life
 * Why nodes fail.
 */
struct FailureCause
{
    std::string name;     ///< such as GPU
    double perNodeDay{0}; ///< failures of a node in a day
};

/**
 * @ingroup distributed-training-life
 *
 * How often nodes fail: each by itself, with times between its failures of Weibull's distribution,
 * whose mean follows from the rate. Shape 1 is the exponential distribution; below 1, failures come
 * in bursts.
 */
struct FailureModel
{
    std::vector<FailureCause> causes; ///< at least one of a positive rate
    double shape{1};                  ///< of the distribution

    /** @return failures of a node in a day, all causes */
    double GetPerNodeDay() const;

    /**
     * @param nodes of a job
     * @return mean time between failures of a job, s; infinite if nodes do not fail
     */
    double GetMeanSeconds(uint32_t nodes) const;
};

/**
 * @ingroup distributed-training-life
 *
 * A published record of failures, or a file of rates. Registers itself by
 * Registry<FailureLogEntry>.
 */
struct FailureLogEntry
{
    static constexpr const char* KIND = "failure log"; ///< for messages
    std::string help;                                  ///< one line, with the source
    /// Rates of all causes. (keys of the entry)
    std::function<std::vector<FailureCause>(const KeyValues& keys)> read;
    std::optional<FirstValue> first{}; ///< leading value
};

/**
 * @param entry of the registry
 * @return the keys that all logs have: shape, factor
 * @ingroup distributed-training-life
 */
std::vector<Key> GetKeys(const FailureLogEntry& entry);

/**
 * @param entry of the registry
 * @return leading value of an entry
 * @ingroup distributed-training-life
 */
std::optional<FirstValue> GetFirstValue(const FailureLogEntry& entry);

/**
 * @ingroup distributed-training-life
 * @param text NAME:key=value,... of a FailureLogEntry, such as llama3:shape=0.8
 * @return the model
 * @throw ConfigurationError if the name is unknown, a key is invalid or a file is malformed
 */
FailureModel MakeFailureModel(const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FAILURE_MODEL_H
