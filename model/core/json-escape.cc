/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/json-escape.h"

#include <cstdint>
#include <optional>

namespace ns3::training
{

namespace
{

/** Appends a code point as UTF-8 (RFC 3629). */
void
AppendCodePoint(std::string& text, uint32_t point)
{
    constexpr uint32_t LAST_OF_2 = 0x7FF; // last code points of two and of three bytes
    constexpr uint32_t LAST_OF_3 = 0xFFFF;
    const auto append = [&text](uint32_t byte) { text += static_cast<char>(byte); };
    const auto rest = [&](uint32_t shift) { append(0x80 | (point >> shift & 0x3F)); };
    if (point < 0x80)
    {
        append(point);
    }
    else if (point <= LAST_OF_2)
    {
        append(0xC0 | point >> 6);
        rest(0);
    }
    else if (point <= LAST_OF_3)
    {
        append(0xE0 | point >> 12);
        rest(6);
        rest(0);
    }
    else
    {
        append(0xF0 | point >> 18);
        rest(12);
        rest(6);
        rest(0);
    }
}

/** @return whether a UTF-16 code unit is the first half of a pair of surrogates */
bool
IsHighSurrogate(uint32_t unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

/** @return whether a UTF-16 code unit is the second half of a pair of surrogates */
bool
IsLowSurrogate(uint32_t unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/** @return the UTF-16 code unit of an escape by number, which is taken; none without four digits */
std::optional<uint32_t>
TakeCodeUnit(const std::string& text, std::size_t& at)
{
    constexpr std::size_t DIGITS = 4;
    const std::string digits = text.substr(at + 2, DIGITS);
    if (digits.size() < DIGITS ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    {
        return std::nullopt;
    }
    at += 2 + DIGITS;
    return static_cast<uint32_t>(std::stoul(digits, nullptr, 16));
}

/** Takes an escape by number, or the two of a pair of surrogates: code points above U+FFFF. */
const char*
TakeCodePoint(const std::string& text, std::size_t& at, std::string& decoded)
{
    constexpr const char* DIGITS_ALLOWED = R"(four hexadecimal digits behind \u)";
    const std::size_t start = at;
    const auto high = TakeCodeUnit(text, at);
    if (!high)
    {
        return DIGITS_ALLOWED;
    }
    if (!IsHighSurrogate(*high) && !IsLowSurrogate(*high))
    {
        AppendCodePoint(decoded, *high);
        return nullptr;
    }
    if (IsHighSurrogate(*high) && text.compare(at, 2, "\\u") == 0)
    {
        const auto low = TakeCodeUnit(text, at);
        if (!low)
        {
            return DIGITS_ALLOWED;
        }
        if (IsLowSurrogate(*low))
        {
            AppendCodePoint(decoded, 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00));
            return nullptr;
        }
    }
    at = start;
    return R"(a pair of surrogates, \ud800 to \udbff and \udc00 to \udfff)";
}

} // namespace

const char*
TakeJsonEscape(const std::string& text, std::size_t& at, std::string& decoded)
{
    constexpr const char* LETTERS = "\"\\/bfnrt";
    constexpr const char* MEANINGS = "\"\\/\b\f\n\r\t";
    const char letter = at + 1 < text.size() ? text[at + 1] : 0;
    if (letter == 'u')
    {
        return TakeCodePoint(text, at, decoded);
    }
    const std::size_t known = std::string(LETTERS).find(letter);
    if (known == std::string::npos)
    {
        return R"(an escape \", \\, \/, \b, \f, \n, \r, \t or \u0000 to \uffff)";
    }
    decoded += MEANINGS[known];
    at += 2;
    return nullptr;
}

std::size_t
GetUtf8Length(const std::string& text, std::size_t at)
{
    const auto byte = [&text](std::size_t index) -> unsigned {
        return index < text.size() ? static_cast<unsigned char>(text[index]) : 0;
    };
    const unsigned first = byte(at);
    if (first < 0x80)
    {
        return 1;
    }
    const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                               : first >= 0xE0 && first <= 0xEF ? 3
                               : first >= 0xF0 && first <= 0xF4 ? 4
                                                                : 0;
    for (std::size_t index = 1; index < length; ++index)
    {
        if ((byte(at + index) & 0xC0) != 0x80)
        {
            return 0;
        }
    }
    // Reject overlong forms, surrogates, and code points above U+10FFFF.
    const unsigned second = byte(at + 1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F))
    {
        return 0;
    }
    return length;
}

} // namespace ns3::training
