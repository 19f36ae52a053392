/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-json-writer.h"

#include "training-quantity.h"

#include "ns3/assert.h"

#include <cmath>

namespace ns3::training
{

namespace
{

/**
 * @param text bytes to examine
 * @param at position in the text
 * @return length of the well-formed UTF-8 sequence (RFC 3629) at that position; 0 if it is
 *         malformed
 */
std::size_t
Utf8Length(const std::string& text, std::size_t at)
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

/** @return whether a character is ASCII and stands for itself in a JSON string */
bool
IsPlain(char character)
{
    return character >= ' ' && character <= '~' && character != '"' && character != '\\';
}

} // namespace

std::string
QuoteJson(const std::string& text)
{
    constexpr const char* HEXADECIMAL = "0123456789abcdef";
    std::string quoted = "\"";
    quoted.reserve(text.size() + 2);
    for (std::size_t at = 0; at < text.size();)
    {
        std::size_t end = at;
        while (end < text.size() && IsPlain(text[end]))
        {
            end++;
        }
        if (end > at)
        {
            quoted.append(text, at, end - at);
            at = end;
            continue;
        }
        const char character = text[at];
        const std::size_t length = Utf8Length(text, at);
        if (character == '"' || character == '\\')
        {
            quoted += '\\';
            quoted += character;
        }
        else if (character == '\n')
        {
            quoted += "\\n";
        }
        else if (character >= 0 && character < ' ')
        {
            quoted += "\\u00";
            quoted += HEXADECIMAL[character / 16];
            quoted += HEXADECIMAL[character % 16];
        }
        else if (length == 0)
        {
            quoted += "\\ufffd";
        }
        else
        {
            quoted.append(text, at, length);
        }
        at += length == 0 ? 1 : length;
    }
    quoted += '"';
    return quoted;
}

JsonValue::JsonValue()
    : m_text("null")
{
}

JsonValue::JsonValue(const std::string& text)
    : m_text(QuoteJson(text))
{
}

JsonValue::JsonValue(const char* text)
    : JsonValue(std::string(text))
{
}

JsonValue
JsonValue::Object()
{
    JsonValue value;
    value.m_kind = OBJECT;
    return value;
}

JsonValue
JsonValue::Array()
{
    JsonValue value;
    value.m_kind = ARRAY;
    return value;
}

JsonValue&
JsonValue::Set(const std::string& key, JsonValue value)
{
    NS_ASSERT_MSG(m_kind == OBJECT, "only an object has members");
    m_children.emplace_back(key, std::move(value));
    return *this;
}

JsonValue&
JsonValue::Append(JsonValue value)
{
    NS_ASSERT_MSG(m_kind == ARRAY, "only an array has elements");
    m_children.emplace_back(std::string(), std::move(value));
    return *this;
}

bool
JsonValue::IsEmpty() const
{
    return m_kind == SCALAR ? m_text == "null" : m_children.empty();
}

std::string
JsonValue::ToText(bool value)
{
    return value ? "true" : "false";
}

std::string
JsonValue::ToText(double value)
{
    return std::isfinite(value) ? FormatDouble(value) : "null";
}

std::string
JsonValue::Write(int indent) const
{
    std::string output;
    WriteTo(output, indent, 0);
    return output;
}

void
JsonValue::WriteTo(std::string& output, int indent, int level) const
{
    if (m_kind == SCALAR)
    {
        output += m_text;
        return;
    }
    const auto newLine = [&output, indent](int depth) {
        if (indent >= 0)
        {
            output += '\n' + std::string(static_cast<std::size_t>(indent) * depth, ' ');
        }
    };
    output += m_kind == OBJECT ? '{' : '[';
    bool isFirst = true;
    for (const auto& [key, value] : m_children)
    {
        if (!isFirst)
        {
            output += ',';
        }
        isFirst = false;
        newLine(level + 1);
        if (m_kind == OBJECT)
        {
            output += QuoteJson(key) + (indent >= 0 ? ": " : ":");
        }
        value.WriteTo(output, indent, level + 1);
    }
    if (!m_children.empty())
    {
        newLine(level);
    }
    output += m_kind == OBJECT ? '}' : ']';
}

} // namespace ns3::training
