/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SERVING_SUMMARY_H
#define DISTRIBUTED_TRAINING_SERVING_SUMMARY_H

#include "served-request.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-serving
 * Values of many requests or tokens; 0 if there are none. The p-th percentile is the smallest value
 * that at least p % of the values do not exceed.
 */
struct ServingQuantity
{
    double mean{0}; ///< mean
    double p50{0};  ///< median
    double p90{0};  ///< 90th percentile
    double p99{0};  ///< 99th percentile

    /** @param values in any order @return their mean and percentiles */
    static ServingQuantity Of(std::vector<double> values);
};

/**
 * @ingroup distributed-training-serving
 * What users expect of a request (service-level objective).
 */
struct ServingObjective
{
    double firstTokenS{0}; ///< largest time to the first token; 0: any
    double tokenS{0};      ///< largest mean time between tokens of a request; 0: any
};

/**
 * @ingroup distributed-training-serving
 * What users of a ServingSystem have seen. Rates are by the time from the first arrival to the last
 * token.
 */
struct ServingSummary
{
    uint64_t requests{0};        ///< done
    uint64_t tokens{0};          ///< of answers
    double seconds{0};           ///< from the first arrival to the last token
    ServingQuantity firstTokenS; ///< time to the first token
    ServingQuantity tokenS;      ///< time between tokens, of all tokens but the first ones
    ServingQuantity endToEndS;   ///< from arrival to last token
    double prefillWaitS{0};      ///< mean wait for a prefill instance
    double prefillS{0};          ///< mean time of the batch that computes the prompt
    double memoryWaitS{0};       ///< mean wait for memory, after that
    double transferS{0};         ///< mean time in which only keys and values move
    double decodeWaitS{0};       ///< mean wait for a place in a decoding batch
    double transferShare{0};     ///< of the transfer in the time to the first token
    double requestsPerSecond{0}; ///< throughput
    double tokensPerSecond{0};   ///< throughput
    double goodputPerSecond{0};  ///< requests that meet the objective, by time
    double attainment{0};        ///< share of requests that meet the objective
    /**
     * Growth of the waits, seconds by second: slope of a request's waits and transfer over its
     * arrival, by least squares. It is the load less 1 of an instance or of a link that has more
     * work than it can do, and about 0 otherwise.
     */
    double waitGrowth{0};

    /** Growth from which the system counts as overloaded. */
    static constexpr double OVERLOAD = 0.05;
    /** Requests from which it can be told. */
    static constexpr uint64_t OVERLOAD_REQUESTS = 20;

    /** @return whether requests arrive faster than they are served */
    bool IsOverloaded() const
    {
        return requests >= OVERLOAD_REQUESTS && waitGrowth > OVERLOAD;
    }

    /**
     * @param served requests; those that are not done are left out
     * @param objective of each
     * @return the summary
     */
    static ServingSummary Of(const std::vector<ServedRequest>& served,
                             const ServingObjective& objective);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SERVING_SUMMARY_H
