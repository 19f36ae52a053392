/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-json-writer.h"

#include "core/json-escape.h"
#include "training-quantity.h"

#include "ns3/assert.h"

#include <cmath>

namespace ns3::training
{

namespace
{

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
        const std::size_t length = GetUtf8Length(text, at);
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
