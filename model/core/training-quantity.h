/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_QUANTITY_H
#define DISTRIBUTED_TRAINING_QUANTITY_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * @defgroup distributed-training-quantity Numbers with units as text
 *
 * Parsers and formatters of quantities in user input. A parser accepts a text only if the whole
 * text is one quantity in range: no sign except an optional '+' (a double may also be negative), no
 * blanks, no NaN or infinity, nothing after the unit. Otherwise it returns no value, so that the
 * caller can name the option or file line in its error message; the constructors of ns3::Time and
 * ns3::DataRate abort the program instead.
 */

/**
 * @ingroup distributed-training-quantity
 * @param text digits
 * @return the number, if it is below 2^64
 */
std::optional<uint64_t> ParseUnsigned(const std::string& text);

/**
 * @ingroup distributed-training-quantity
 * @param text whole numbers with x between them, such as 4x8
 * @param maxProduct the largest product
 * @return the numbers, if each is at least 1 and their product is at most maxProduct
 */
std::optional<std::vector<uint32_t>> ParseSides(const std::string& text, uint32_t maxProduct);

/**
 * @ingroup distributed-training-quantity
 * @param text a decimal number such as -0.5 or 1e-3
 * @return the number, if it is finite
 */
std::optional<double> ParseDouble(const std::string& text);

/**
 * @ingroup distributed-training-quantity
 * @param help what a number means, such as "clock of the adders, MHz (a source)"
 * @return the unit at its end: a prefix of SI, or none, and Hz, W, J, s or B/s; empty: it has none
 */
std::string FindUnit(const std::string& help);

/**
 * @ingroup distributed-training-quantity
 * @param text a number in the unit, or with its unit and any prefix of SI, such as 1GHz
 * @param unit see FindUnit(); empty: plain numbers only
 * @return the number in the unit; empty if the text is invalid
 */
std::optional<double> ParseScaled(const std::string& text, const std::string& unit);

/**
 * @ingroup distributed-training-quantity
 * @param text a size such as 8, 64KiB, 25MiB, 1GiB, 1.5G or 100MB; K, M, G, T are powers of 2^10 as
 *        in nccl-tests, equal to KiB, MiB, GiB, TiB; kB, KB, MB, GB, TB are powers of 10^3
 * @return the size in bytes, if it is a whole number below 2^63
 */
std::optional<uint64_t> ParseBytes(const std::string& text);

/**
 * @ingroup distributed-training-quantity
 * @param text a rate with its unit such as 100Gbps, 100Gbit/s, 100Gb/s or 12.5GB/s
 * @return the rate, if it is between 1 bit/s and 2^63 bit/s
 */
std::optional<DataRate> ParseRate(const std::string& text);

/**
 * @ingroup distributed-training-quantity
 * @param text a time with its unit (ps, ns, us, ms, s, min, h) such as 500ns; "0" needs no unit
 * @return the time, rounded to whole picoseconds, if it is below 2^63 ps (106 days)
 */
std::optional<Time> ParseTime(const std::string& text);

/** Units accepted by ParseBytes(), for messages and help. @ingroup distributed-training-quantity */
constexpr const char* BYTE_UNITS = "B, K=KiB, M=MiB, G=GiB, T=TiB, kB, MB, GB, TB";
/** Units accepted by ParseRate(), for messages and help. @ingroup distributed-training-quantity */
constexpr const char* RATE_UNITS = "bps, kbps, Mbps, Gbps, Tbps, also as Gbit/s, Gb/s, GBps, GB/s";
/** Units accepted by ParseTime(), for messages and help. @ingroup distributed-training-quantity */
constexpr const char* TIME_UNITS = "ps, ns, us, ms, s, min, h";

/**
 * @ingroup distributed-training-quantity
 * @param bytes a size
 * @return the shortest exact text that ParseBytes() reads as that size, such as 25MiB
 */
std::string FormatBytes(uint64_t bytes);

/**
 * @ingroup distributed-training-quantity
 * @param rate a rate
 * @return exact text that ParseRate() reads as that rate, such as 100Gbps
 */
std::string FormatRate(const DataRate& rate);

/**
 * @ingroup distributed-training-quantity
 * @param time a time
 * @return exact text, such as 500ns, that ParseTime() reads as that time unless it is negative
 */
std::string FormatTime(const Time& time);

/**
 * @ingroup distributed-training-quantity
 * @param value a finite number
 * @return the shortest decimal text that reads back as exactly that number, such as 0.1
 */
std::string FormatDouble(double value);

/**
 * @ingroup distributed-training-quantity
 * @return a number with a noun, which has an s unless it is one
 */
std::string FormatCount(uint64_t number, const std::string& noun);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_QUANTITY_H
