/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/file-time.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/** Refuses a duration that is no part of a job. */
[[noreturn]] void
RefuseTime(const std::string& where, const std::string& what)
{
    throw ConfigurationError(where + " " + what +
                             " (allowed: up to 30 days; is the unit of times right?)");
}

} // namespace

Time
MakeFileTime(int64_t nanoseconds, const std::string& where)
{
    if (nanoseconds < 0 || nanoseconds > MAX_FILE_TIME * 1000000000)
    {
        RefuseTime(where + ":", std::to_string(nanoseconds) + " ns last longer than 30 days");
    }
    return NanoSeconds(nanoseconds);
}

void
AddFileTime(Time& sum, Time length, const std::string& where)
{
    const Time most = Seconds(static_cast<double>(MAX_FILE_TIME));
    if (length.IsStrictlyNegative() || length > most || sum > most - length)
    {
        RefuseTime(where, "and the tasks before it last longer than 30 days");
    }
    sum += length;
}

std::optional<int64_t>
ParseDecimal(const std::string& text, int shift)
{
    std::size_t at = 0;
    const auto takeDigits = [&] {
        const std::size_t begin = at;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9')
        {
            at++;
        }
        return text.substr(begin, at - begin);
    };
    const bool isNegative = !text.empty() && text[0] == '-';
    at = isNegative ? 1 : 0;
    std::string digits = takeDigits();
    // Digits before the decimal point of the product
    auto whole = static_cast<int64_t>(digits.size()) + shift;
    if (digits.empty())
    {
        return std::nullopt;
    }
    if (at < text.size() && text[at] == '.')
    {
        at++;
        digits += takeDigits();
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E'))
    {
        at++;
        const bool isSmall = at < text.size() && text[at] == '-';
        at += isSmall || (at < text.size() && text[at] == '+') ? 1 : 0;
        const std::string power = takeDigits();
        constexpr std::size_t MOST_POWER = 4; // digits
        if (power.empty() || power.size() > MOST_POWER)
        {
            return std::nullopt;
        }
        whole += isSmall ? -std::stoi(power) : std::stoi(power);
    }
    if (at < text.size())
    {
        return std::nullopt;
    }
    const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
    if (zeros == digits.size() || whole <= static_cast<int64_t>(zeros))
    {
        return 0;
    }
    constexpr int64_t MOST_DIGITS = 19; // of a number below 2^63; 19 digits fit into 64 bits
    if (whole - static_cast<int64_t>(zeros) > MOST_DIGITS)
    {
        return std::nullopt;
    }
    digits.resize(static_cast<std::size_t>(whole), '0');
    uint64_t number = 0;
    for (char digit : digits.substr(zeros))
    {
        number = number * 10 + static_cast<uint64_t>(digit - '0');
    }
    if (number > static_cast<uint64_t>(INT64_MAX))
    {
        return std::nullopt;
    }
    return isNegative ? -static_cast<int64_t>(number) : static_cast<int64_t>(number);
}

} // namespace ns3::training
