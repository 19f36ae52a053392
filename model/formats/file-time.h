/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FILE_TIME_H
#define DISTRIBUTED_TRAINING_FILE_TIME_H

#include "ns3/nstime.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ns3::training
{

/// Longest time of the tasks of a rank, s: 30 days. @ingroup distributed-training-formats
constexpr int64_t MAX_FILE_TIME = 30 * 86400;

/**
 * @ingroup distributed-training-formats
 * @param nanoseconds a duration in a file
 * @param where file and place, for the message
 * @return the duration
 * @throw ConfigurationError if it is negative, or longer than MAX_FILE_TIME
 */
Time MakeFileTime(int64_t nanoseconds, const std::string& where);

/**
 * @ingroup distributed-training-formats
 * Adds durations of a file: neither the sum nor a summand can wrap.
 * @param sum of durations so far, at most MAX_FILE_TIME
 * @param length the next one
 * @param where whose durations they are, for the message
 * @throw ConfigurationError if one of them is negative, or longer than MAX_FILE_TIME
 */
void AddFileTime(Time& sum, Time length, const std::string& where);

/**
 * @ingroup distributed-training-formats
 * @param text a number in any form of JSON: sign, decimals, exponent
 * @param shift powers of ten by which it is multiplied
 * @return the product, without its fraction; none if it is no number, or beyond 64 bits
 */
std::optional<int64_t> ParseDecimal(const std::string& text, int shift);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FILE_TIME_H
