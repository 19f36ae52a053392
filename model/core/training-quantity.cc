/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-quantity.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <locale>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/** Unit names and their sizes in the base unit. Largest first if used for printing. */
using Units = std::vector<std::pair<std::string, uint64_t>>;

/** Maximum value of a quantity in its base unit. */
constexpr uint64_t MAX_VALUE = std::numeric_limits<int64_t>::max();

constexpr uint64_t KIBI = 1024;
constexpr uint64_t KILO = 1000;

/** Units of sizes, in bytes. */
const Units&
ByteUnits()
{
    static const Units units{
        {"TiB", KIBI * KIBI * KIBI * KIBI},
        {"GiB", KIBI * KIBI * KIBI},
        {"MiB", KIBI * KIBI},
        {"KiB", KIBI},
        {"", 1},
        {"B", 1},
        {"K", KIBI},
        {"M", KIBI * KIBI},
        {"G", KIBI * KIBI * KIBI},
        {"T", KIBI * KIBI * KIBI * KIBI},
        {"kB", KILO},
        {"KB", KILO},
        {"MB", KILO * KILO},
        {"GB", KILO * KILO * KILO},
        {"TB", KILO * KILO * KILO * KILO},
    };
    return units;
}

/** Units of rates, in bit/s: every prefix with every spelling of bit and byte per second. */
const Units&
RateUnits()
{
    static const Units units = [] {
        const Units prefixes{{"T", KILO * KILO * KILO * KILO},
                             {"G", KILO * KILO * KILO},
                             {"M", KILO * KILO},
                             {"k", KILO},
                             {"", 1},
                             {"K", KILO}};
        const Units spellings{{"bps", 1}, {"bit/s", 1}, {"b/s", 1}, {"Bps", 8}, {"B/s", 8}};
        Units all;
        for (const auto& [spelling, bits] : spellings)
        {
            for (const auto& [prefix, factor] : prefixes)
            {
                all.emplace_back(prefix + spelling, factor * bits);
            }
        }
        return all;
    }();
    return units;
}

/** Units of times, in picoseconds. */
const Units&
TimeUnits()
{
    static const Units units{
        {"s", KILO * KILO * KILO * KILO},
        {"ms", KILO * KILO * KILO},
        {"us", KILO * KILO},
        {"ns", KILO},
        {"ps", 1},
        {"min", 60 * KILO * KILO * KILO * KILO},
        {"h", 3600 * KILO * KILO * KILO * KILO},
    };
    return units;
}

/**
 * @param text a number and a unit
 * @param units the known units
 * @param whole whether the result must be an exact integer; otherwise it is rounded
 * @return the value in the base unit, if the text is valid
 */
std::optional<uint64_t>
ParseQuantity(const std::string& text, const Units& units, bool whole)
{
    const auto end = std::min(text.find_first_not_of("+.0123456789"), text.size());
    const std::string number = text.substr(0, end);
    const std::string suffix = text.substr(end);
    const auto unit = std::find_if(units.begin(), units.end(), [&suffix](const auto& candidate) {
        return candidate.first == suffix;
    });
    if (unit == units.end())
    {
        return {};
    }
    if (const auto integer = ParseUnsigned(number)) // exact beyond the 53 bits of a double
    {
        if (*integer > MAX_VALUE / unit->second)
        {
            return {};
        }
        return *integer * unit->second;
    }
    const auto decimal = ParseDouble(number);
    if (!decimal)
    {
        return {};
    }
    const double product = *decimal * static_cast<double>(unit->second);
    if (product >= std::ldexp(1.0, 63) || (whole && product != std::floor(product)))
    {
        return {};
    }
    return static_cast<uint64_t>(std::llround(product));
}

/**
 * @param value a value in the base unit
 * @param units candidate units larger than the base unit, largest first
 * @param base name of the base unit
 * @return the value in the largest unit that leaves a whole number
 */
std::string
FormatQuantity(uint64_t value, const Units& units, const std::string& base)
{
    for (const auto& [name, factor] : units)
    {
        if (name == base)
        {
            break;
        }
        if (value != 0 && value % factor == 0)
        {
            return std::to_string(value / factor) + name;
        }
    }
    return std::to_string(value) + base;
}

/** @return factor of the prefix of a unit, and the unit without it; no unit: it is not known */
std::pair<double, std::string>
SplitUnit(const std::string& text)
{
    static const std::map<std::string, double> prefixes{{"", 1},
                                                        {"k", 1e3},
                                                        {"M", 1e6},
                                                        {"G", 1e9},
                                                        {"T", 1e12},
                                                        {"m", 1e-3},
                                                        {"u", 1e-6},
                                                        {"n", 1e-9},
                                                        {"p", 1e-12}};
    for (const std::string base : {"Hz", "W", "J", "B/s", "s"})
    {
        const std::size_t size = text.size() - std::min(text.size(), base.size());
        const auto prefix = prefixes.find(text.substr(0, size));
        if (text.substr(size) == base && prefix != prefixes.end())
        {
            return {prefix->second, base};
        }
    }
    return {1, ""};
}

} // namespace

std::optional<uint64_t>
ParseUnsigned(const std::string& text)
{
    const std::string digits = text.substr(!text.empty() && text[0] == '+' ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos)
    {
        return {};
    }
    uint64_t value = 0;
    for (const char digit : digits)
    {
        const uint64_t next = digit - '0';
        if (value > (std::numeric_limits<uint64_t>::max() - next) / 10)
        {
            return {};
        }
        value = 10 * value + next;
    }
    return value;
}

std::optional<std::vector<uint32_t>>
ParseSides(const std::string& text, uint32_t maxProduct)
{
    std::vector<uint32_t> sides;
    uint64_t product = 1;
    std::istringstream parts(text + "x");
    std::string part;
    while (std::getline(parts, part, 'x'))
    {
        const auto side = ParseUnsigned(part);
        if (!side || *side < 1 || *side > maxProduct || product * *side > maxProduct)
        {
            return std::nullopt;
        }
        product *= *side;
        sides.push_back(static_cast<uint32_t>(*side));
    }
    return sides;
}

std::optional<double>
ParseDouble(const std::string& text)
{
    // The standard parsers also accept hexadecimal numbers, "inf" and "nan".
    if (text.empty() || text.find_first_not_of("+-.0123456789eE") != std::string::npos)
    {
        return {};
    }
    std::istringstream stream(text);
    stream.imbue(std::locale::classic());
    double value;
    if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof() ||
        !std::isfinite(value))
    {
        return {};
    }
    return value;
}

std::optional<uint64_t>
ParseBytes(const std::string& text)
{
    return ParseQuantity(text, ByteUnits(), true);
}

std::optional<DataRate>
ParseRate(const std::string& text)
{
    const auto bitsPerSecond = ParseQuantity(text, RateUnits(), false);
    if (!bitsPerSecond || *bitsPerSecond == 0)
    {
        return {};
    }
    return DataRate(*bitsPerSecond);
}

std::optional<Time>
ParseTime(const std::string& text)
{
    if (text == "0")
    {
        return Time(0);
    }
    const auto picoseconds = ParseQuantity(text, TimeUnits(), false);
    if (!picoseconds)
    {
        return {};
    }
    return PicoSeconds(*picoseconds);
}

std::string
FormatBytes(uint64_t bytes)
{
    return FormatQuantity(bytes, ByteUnits(), "");
}

std::string
FormatRate(const DataRate& rate)
{
    return FormatQuantity(rate.GetBitRate(), RateUnits(), "bps");
}

std::string
FormatTime(const Time& time)
{
    const auto picoseconds = time.GetPicoSeconds();
    const bool isNegative = picoseconds < 0;
    // The magnitude of the least number exceeds the largest one.
    const auto magnitude =
        isNegative ? 0 - static_cast<uint64_t>(picoseconds) : static_cast<uint64_t>(picoseconds);
    return (isNegative ? "-" : "") + FormatQuantity(magnitude, TimeUnits(), "ps");
}

std::string
FormatDouble(double value)
{
    for (int digits = 6;; ++digits)
    {
        std::ostringstream stream;
        stream.imbue(std::locale::classic());
        stream << std::setprecision(digits) << value;
        if (digits >= std::numeric_limits<double>::max_digits10 ||
            ParseDouble(stream.str()) == value)
        {
            return stream.str();
        }
    }
}

std::string
FindUnit(const std::string& help)
{
    const std::size_t comma = help.substr(0, help.find_first_of("(;")).rfind(", ");
    if (comma == std::string::npos)
    {
        return "";
    }
    const std::string word =
        help.substr(comma + 2, help.find_first_of(" ;", comma + 2) - comma - 2);
    return SplitUnit(word).second.empty() ? "" : word;
}

std::optional<double>
ParseScaled(const std::string& text, const std::string& unit)
{
    const auto plain = ParseDouble(text);
    if (plain || unit.empty())
    {
        return plain;
    }
    const std::size_t end = text.find_last_of("0123456789.") + 1; // npos + 1 is 0
    const auto number = ParseDouble(text.substr(0, end));
    const auto [factor, base] = SplitUnit(text.substr(end));
    const auto [own, ownBase] = SplitUnit(unit);
    if (!number || base != ownBase)
    {
        return {};
    }
    return factor < own ? *number / (own / factor) : *number * (factor / own);
}

std::string
FormatCount(uint64_t number, const std::string& noun)
{
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

} // namespace ns3::training
