/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SERVING_REQUEST_H
#define DISTRIBUTED_TRAINING_SERVING_REQUEST_H

#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-serving Serving
 *
 * Inference with transformers: requests, instances that compute prompts and tokens, and the keys
 * and values that move between them.
 */

namespace ns3::training
{

/**
 * @ingroup distributed-training-serving
 * What a user asks for.
 */
struct ServingRequest
{
    Time arrival;       ///< when it reaches the cluster
    uint64_t prompt{1}; ///< tokens of the prompt, at least 1
    uint64_t output{1}; ///< tokens of the answer, at least 1
};

/**
 * @ingroup distributed-training-serving
 * Requests of random arrival.
 */
struct ServingLoad
{
    uint64_t count{100};        ///< requests
    double rate{1};             ///< requests/s, a Poisson process
    uint64_t prompt{1024};      ///< tokens of a prompt, mean
    uint64_t output{64};        ///< tokens of an answer, mean
    std::string jitter{"none"}; ///< distribution of a factor of both lengths, a JitterEntry
};

/// Maximum tokens of a prompt or of an answer. @ingroup distributed-training-serving
constexpr uint64_t MAX_REQUEST_TOKENS = 10000000;

/**
 * @ingroup distributed-training-serving
 * @param load the requests; its rate is above 0
 * @return the requests by time; the same ones for the same run number
 * @throw ConfigurationError if the jitter is invalid, or the last one arrives too late
 */
std::vector<ServingRequest> MakeRequests(const ServingLoad& load);

/**
 * @ingroup distributed-training-serving
 * Reads requests from a CSV file with the columns `time_s,prompt,output` or those of the traces
 * that Azure has published, `TIMESTAMP,ContextTokens,GeneratedTokens`, with dates; the first of
 * them is time 0. Empty lines, and lines that begin with '#', are left out.
 * @param path the file
 * @return the requests, in the order of the file, which is that of time
 * @throw ConfigurationError with file and line if the file is wrong
 */
std::vector<ServingRequest> ReadRequests(const std::string& path);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SERVING_REQUEST_H
