/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-json-scanner.h"

#include "training-configuration-error.h"
#include "training-input-file.h"

#include <algorithm>

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

} // namespace

JsonScanner::JsonScanner(const std::string& path, const std::string& text)
    : m_path(path),
      m_text(text)
{
}

void
JsonScanner::Fail(const std::string& allowed) const
{
    const auto end = m_text.begin() + static_cast<std::ptrdiff_t>(m_next);
    constexpr std::size_t MOST = 20;
    throw ConfigurationError(
        m_path + ":" + std::to_string(std::count(m_text.begin(), end, '\n') + 1) + ": '" +
        MakePrintableName(m_text.substr(m_next, MOST)) + "' (allowed: " + allowed + ")");
}

char
JsonScanner::Peek()
{
    m_next = std::min(m_text.find_first_not_of(" \t\r\n", m_next), m_text.size());
    return m_next < m_text.size() ? m_text[m_next] : 0;
}

void
JsonScanner::Enter(char bracket)
{
    if (Peek() != bracket)
    {
        Fail(bracket == '{' ? "a JSON object" : "a JSON array");
    }
    if (++m_depth > MAX_NESTING)
    {
        Fail("up to " + std::to_string(MAX_NESTING) + " nested elements");
    }
    m_next++;
    m_isFirst = true;
}

/** @return whether another element follows; otherwise its object or array is left */
bool
JsonScanner::Next(char end)
{
    const char next = Peek();
    if (next == end)
    {
        m_next++;
        m_depth--;
        m_isFirst = false;
        return false;
    }
    if (!m_isFirst)
    {
        if (next != ',')
        {
            Fail(std::string("',' or '") + end + "'");
        }
        m_next++;
    }
    m_isFirst = false;
    return true;
}

bool
JsonScanner::NextMember(std::string& key)
{
    if (!Next('}'))
    {
        return false;
    }
    if (Peek() != '"')
    {
        Fail("a key in quotation marks");
    }
    key = TakeString();
    if (Peek() != ':')
    {
        Fail("':'");
    }
    m_next++;
    return true;
}

bool
JsonScanner::NextElement()
{
    return Next(']');
}

std::string
JsonScanner::TakeString()
{
    std::string text;
    for (m_next++;;)
    {
        const std::size_t end = m_text.find_first_of("\"\\", m_next);
        const bool isOpen =
            end == std::string::npos || (m_text[end] == '\\' && end + 1 == m_text.size());
        if (isOpen)
        {
            m_next = m_text.size();
            Fail("the end of the string");
        }
        text.append(m_text, m_next, end - m_next);
        if (m_text[end] == '"')
        {
            m_next = end + 1;
            return text;
        }
        m_next = end;
        TakeEscape(text);
    }
}

/** Takes an escape, which begins with the backslash. */
void
JsonScanner::TakeEscape(std::string& text)
{
    constexpr const char* LETTERS = "\"\\/bfnrt";
    constexpr const char* MEANINGS = "\"\\/\b\f\n\r\t";
    const char letter = m_text[m_next + 1];
    const std::size_t known = std::string(LETTERS).find(letter);
    if (letter == 'u')
    {
        AppendCodePoint(text, TakeCodePoint());
    }
    else if (known != std::string::npos)
    {
        text += MEANINGS[known];
        m_next += 2;
    }
    else
    {
        Fail(R"(an escape \", \\, \/, \b, \f, \n, \r, \t or \u0000 to \uffff)");
    }
}

/** @return the code point of an escape, or of two: those above U+FFFF are pairs of surrogates */
uint32_t
JsonScanner::TakeCodePoint()
{
    const std::size_t start = m_next;
    const uint32_t high = TakeCodeUnit();
    if (!IsHighSurrogate(high) && !IsLowSurrogate(high))
    {
        return high;
    }
    if (IsHighSurrogate(high) && m_text.compare(m_next, 2, "\\u") == 0)
    {
        const uint32_t low = TakeCodeUnit();
        if (IsLowSurrogate(low))
        {
            return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    m_next = start;
    Fail(R"(a pair of surrogates, \ud800 to \udbff and \udc00 to \udfff)");
}

/** @return what four hexadecimal digits behind a backslash and a letter mean */
uint32_t
JsonScanner::TakeCodeUnit()
{
    constexpr std::size_t DIGITS = 4;
    const std::string digits = m_text.substr(m_next + 2, DIGITS);
    if (digits.size() < DIGITS ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    {
        Fail(R"(four hexadecimal digits behind \u)");
    }
    m_next += 2 + DIGITS;
    return static_cast<uint32_t>(std::stoul(digits, nullptr, 16));
}

std::string
JsonScanner::TakeScalar()
{
    const char first = Peek();
    if (first == '"')
    {
        return TakeString();
    }
    const std::size_t end = std::min(m_text.find_first_of(",]} \t\r\n", m_next), m_text.size());
    if (first == '{' || first == '[' || end == m_next)
    {
        Fail("a string, a number, true, false, null");
    }
    const std::string text = m_text.substr(m_next, end - m_next);
    m_next = end;
    return text;
}

void
JsonScanner::Skip()
{
    const char first = Peek();
    std::string key;
    if (first == '{')
    {
        for (Enter('{'); NextMember(key);)
        {
            Skip();
        }
    }
    else if (first == '[')
    {
        for (Enter('['); NextElement();)
        {
            Skip();
        }
    }
    else
    {
        TakeScalar();
    }
}

} // namespace ns3::training
