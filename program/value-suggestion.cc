/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "value-suggestion.h"

#include "program-description.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace ns3::training
{

namespace
{

/// Start of the allowed values, which follow a colon.
constexpr const char* ALLOWED = " (allowed";
/// Shorter words are near to too many others.
constexpr std::size_t LEAST_LETTERS = 3;

/** @return the refused word at the end of a text: in quotes, or after the last space or = */
std::string
GetLastWord(const std::string& head)
{
    if (!head.empty() && head.back() == '\'')
    {
        const auto quote = head.rfind('\'', head.size() - 2);
        return quote == std::string::npos ? "" : head.substr(quote + 1, head.size() - quote - 2);
    }
    const auto start = head.find_last_of(" =");
    return start == std::string::npos ? head : head.substr(start + 1);
}

/** @return the name in NAME:key=value or key=value */
std::string
GetName(const std::string& word)
{
    return word.substr(0, word.find_first_of("=:"));
}

/** @return whether a text is a name, not a number or a sentence */
bool
IsName(const std::string& text)
{
    return text.size() >= LEAST_LETTERS && std::isalpha(static_cast<unsigned char>(text[0])) &&
           std::all_of(text.begin(), text.end(), [](unsigned char letter) {
               return std::isalnum(letter) || letter == '-' || letter == '_' || letter == '.';
           });
}

/** @return the names in a list of allowed values */
std::vector<std::string>
GetNames(const std::string& list)
{
    std::vector<std::string> names;
    for (std::size_t start = 0; start < list.size();)
    {
        const std::size_t end = std::min(list.find_first_of(",;)|", start), list.size());
        const std::string name = GetName(list.substr(start, end - start));
        if (IsName(name))
        {
            names.push_back(name);
        }
        start = std::min(list.find_first_not_of(" ,;)|", end), list.size());
    }
    return names;
}

} // namespace

std::string
SuggestValue(const std::string& text)
{
    const auto start = text.rfind(ALLOWED);
    const auto colon = text.find(": ", start);
    if (colon == std::string::npos || text.find("did you mean") != std::string::npos)
    {
        return text;
    }
    const std::string full = GetLastWord(text.substr(0, start));
    const std::string list = text.substr(colon + 2);
    std::string word = GetName(full);
    std::string key; // of a value that is refused
    auto names = GetNames(list);
    const auto values = list.find(word + "=");
    if (word.size() < full.size() && full[word.size()] == '=' && values != std::string::npos)
    {
        key = word + "=";
        const auto end = list.find_first_of(",;)", values);
        names = GetNames("," + list.substr(values + key.size(), end - values - key.size()));
        word = full.substr(key.size());
    }
    if (!IsName(word) || std::find(names.begin(), names.end(), word) != names.end())
    {
        return text;
    }
    const std::string nearest = GetNearest(word, names);
    return nearest.empty() ? text
                           : text.substr(0, start) + "; did you mean " + key + nearest + "?" +
                                 text.substr(start);
}

} // namespace ns3::training
