/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SERVED_REQUEST_H
#define DISTRIBUTED_TRAINING_SERVED_REQUEST_H

#include "key-value-transfer.h"
#include "serving-request.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-serving
 * A request and what became of it. Times are those of the simulation; they are 0 until then.
 */
struct ServedRequest
{
    ServingRequest request;      ///< what was asked for
    uint32_t prefillInstance{0}; ///< number of the instance that computes the prompt
    uint32_t decodeInstance{0};  ///< number of the instance that computes the answer
    Time prefillStart;           ///< its batch begins
    Time prefillEnd;             ///< its batch ends
    Time granted;                ///< the decoding instance has memory for it
    Time firstToken;             ///< its keys and values, and the first token, have arrived
    Time joined;                 ///< its first decoding step begins; that of one token: never
    std::vector<Time> tokenGaps; ///< from each token to the next one
    Time lastToken;              ///< its last token
    bool isDone{false};          ///< whether it has all tokens

    /** Its keys and values under way; null before its batch begins. */
    std::unique_ptr<KeyValueTransfer> transfer{};

    /** @return tokens that it has so far */
    uint64_t GetTokens() const
    {
        return firstToken.IsZero() ? 0 : 1 + tokenGaps.size();
    }

    /** @return wait for the instance that computes the prompt */
    Time GetPrefillWait() const
    {
        return prefillStart - request.arrival;
    }

    /** @return wait for memory after the prompt was computed */
    Time GetMemoryWait() const
    {
        return granted > prefillEnd ? granted - prefillEnd : Time(0);
    }

    /** @return time in which its keys and values move and nothing else happens to it */
    Time GetTransferTime() const
    {
        return firstToken - prefillEnd - GetMemoryWait();
    }

    /** @return wait for a place among the requests that are decoded together */
    Time GetDecodeWait() const
    {
        return request.output > 1 ? joined - firstToken : Time(0);
    }

    /** @return time to the first token */
    Time GetTimeToFirstToken() const
    {
        return firstToken - request.arrival;
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SERVED_REQUEST_H
