/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/json-scanner.h"

#include "core/input-file.h"
#include "core/input-manifest.h"
#include "core/json-escape.h"
#include "training-configuration-error.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3::training
{

JsonScanner::JsonScanner(const std::string& path, const std::string& text)
    : m_path(path),
      m_text(text)
{
}

JsonScanner::~JsonScanner()
{
    // A manifest of what was read, also if the text is refused; nothing may be thrown here.
    const bool isStrict = std::exchange(InputManifest::strict, false);
    InputManifest::File& file = InputManifest::Begin(m_path);
    file.Use(m_used);
    std::map<std::size_t, std::pair<const std::string*, uint64_t>> keys; // by first place
    for (const auto& [key, part] : m_ignored)
    {
        keys[part.second] = {&key, part.first};
    }
    auto counted = m_text.begin(); // lines up to here; the text may be long and have many keys
    std::ptrdiff_t line = 1;
    for (const auto& [place, key] : keys)
    {
        const auto end = m_text.begin() + static_cast<std::ptrdiff_t>(place);
        line += std::count(counted, end, '\n');
        counted = end;
        file.Ignore(
            "key '" + *key.first + "'",
            [&] { return m_path + ":" + std::to_string(line); },
            key.second);
    }
    InputManifest::strict = isStrict;
}

/** Counts the value of a member that is taken, once. */
void
JsonScanner::Use()
{
    m_used += m_isOpen ? 1 : 0;
    m_isOpen = false;
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
    Use();
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
    m_key = key;
    m_isOpen = true;
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
        if (const char* allowed = TakeJsonEscape(m_text, m_next, text))
        {
            Fail(allowed);
        }
    }
}

std::string
JsonScanner::TakeScalar()
{
    Use();
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
    if (m_isOpen)
    {
        const auto [part, isNew] = m_ignored.try_emplace(m_key, 0, m_next);
        part->second.first++;
        if (isNew && InputManifest::strict)
        {
            Fail("keys that have an effect, as with --strict; not '" + MakePrintableName(m_key) +
                 "'");
        }
        m_isOpen = false;
    }
    const uint64_t used = m_used; // nothing in a value that is skipped counts
    const char first = Peek();
    std::string key;
    if (first == '{')
    {
        for (Enter('{'); NextMember(key);)
        {
            m_isOpen = false;
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
    m_used = used;
}

} // namespace ns3::training
