/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-key-values.h"

#include "training-quantity.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/** @return the comma-separated parts of a text; none for an empty text */
std::vector<std::string>
SplitAtCommas(const std::string& text)
{
    std::vector<std::string> parts;
    for (std::size_t begin = 0; !text.empty() && begin <= text.size();)
    {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/**
 * @return position of the colon after the name ("::" is part of the name); npos if there is none
 */
std::size_t
FindColon(const std::string& text)
{
    std::size_t colon = text.find(':');
    while (colon != std::string::npos && text.compare(colon, 2, "::") == 0)
    {
        colon = text.find(':', colon + 2);
    }
    return colon;
}

} // namespace

KeyValues
KeyValues::Split(const std::string& text)
{
    KeyValues values;
    const std::size_t colon = FindColon(text);
    values.m_text = text;
    values.m_name = text.substr(0, colon);
    if (colon != std::string::npos)
    {
        values.m_parts = SplitAtCommas(text.substr(colon + 1));
        if (values.m_parts.empty())
        {
            values.m_parts.emplace_back(); // "NAME:" with nothing after the colon is also invalid
        }
    }
    return values;
}

void
KeyValues::Check(const std::string& kind,
                 const std::vector<Key>& keys,
                 const std::optional<FirstValue>& first)
{
    const std::string refusal = Read(keys, first);
    if (!refusal.empty())
    {
        throw ConfigurationError(kind + " '" + m_text + "'" + refusal);
    }
}

std::string
KeyValues::Read(const std::vector<Key>& keys, const std::optional<FirstValue>& first)
{
    const auto refuse = [&](const std::string& part) {
        std::string allowed = first ? first->name + " first: " + first->help : "";
        for (const Key& key : keys)
        {
            allowed += (allowed.empty() ? "" : ", ") + key.name + "=" + key.GetAllowed();
        }
        return ": '" + part + "' (allowed: " +
               (keys.empty() && !first ? "no keys"
                : keys.empty()         ? allowed
                                       : allowed + ", each once") +
               ")";
    };
    std::vector<std::string> parts = m_parts;
    if (first && first->isWhole)
    {
        m_first = m_text.size() > m_name.size() ? m_text.substr(m_name.size() + 1) : "";
        parts.clear();
    }
    else if (first && !parts.empty() && parts[0].find('=') == std::string::npos)
    {
        m_first = parts[0];
        parts.erase(parts.begin());
    }
    if (first && ((first->required && m_first.empty()) ||
                  (first->accepts && !m_first.empty() && !first->accepts(m_first))))
    {
        return refuse(m_first);
    }
    m_given.clear();
    m_values.clear();
    for (const std::string& part : parts)
    {
        const std::size_t equals = part.find('=');
        const std::string name = part.substr(0, equals);
        const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& candidate) {
            return candidate.name == name;
        });
        const bool isSwitch =
            equals == std::string::npos && key != keys.end() && key->type == Key::Type::BOOLEAN;
        const std::string value = isSwitch                      ? "true"
                                  : equals == std::string::npos ? ""
                                                                : part.substr(equals + 1);
        if ((equals == std::string::npos && !isSwitch) || key == keys.end() ||
            !key->Allows(value) || !m_given.emplace(name, key->ToPlain(value)).second)
        {
            return refuse(part);
        }
    }
    m_values = m_given;
    for (const Key& key : keys)
    {
        if (!key.initial.empty())
        {
            m_values.emplace(key.name, key.initial);
        }
    }
    return "";
}

const std::string&
KeyValues::GetSpelling() const
{
    return m_text;
}

const std::string&
KeyValues::GetName() const
{
    return m_name;
}

const std::string&
KeyValues::GetFirst() const
{
    return m_first;
}

bool
KeyValues::IsGiven(const std::string& key) const
{
    return m_given.count(key) > 0;
}

bool
KeyValues::Has(const std::string& key) const
{
    return m_values.count(key) > 0;
}

const std::string&
KeyValues::GetText(const std::string& key) const
{
    const auto found = m_values.find(key);
    NS_ABORT_MSG_IF(found == m_values.end(), "'" << m_text << "' has no value of key " << key);
    return found->second;
}

uint64_t
KeyValues::GetCount(const std::string& key) const
{
    return ParseUnsigned(GetText(key)).value();
}

double
KeyValues::GetNumber(const std::string& key) const
{
    return ParseDouble(GetText(key)).value();
}

uint64_t
KeyValues::GetBytes(const std::string& key) const
{
    return ParseBytes(GetText(key)).value();
}

DataRate
KeyValues::GetRate(const std::string& key) const
{
    return ParseRate(GetText(key)).value();
}

Time
KeyValues::GetTime(const std::string& key) const
{
    return ParseTime(GetText(key)).value();
}

bool
KeyValues::GetBoolean(const std::string& key) const
{
    return GetText(key) == "true";
}

AttributeList
KeyValues::GetAttributes(const std::vector<Key>& keys) const
{
    AttributeList attributes;
    for (const Key& key : keys)
    {
        if (!key.attribute.empty() && IsGiven(key.name))
        {
            attributes.Set(key.attribute, GetText(key.name));
        }
    }
    return attributes;
}

} // namespace ns3::training
