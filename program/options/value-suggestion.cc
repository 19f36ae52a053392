/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/value-suggestion.h"

#include <algorithm>
#include <cctype>
#include <numeric>
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

/**
 * @param first a word
 * @param second another word
 * @return edit distance: letters to insert, remove or change to get from one to the other
 */
std::size_t
GetEditDistance(const std::string& first, const std::string& second)
{
    std::vector<std::size_t> row(second.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= first.size(); ++i)
    {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= second.size(); ++j)
        {
            const std::size_t change = diagonal + (first[i - 1] == second[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
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
GetNearest(const std::string& word, const std::vector<std::string>& candidates)
{
    std::string nearest;
    std::size_t leastDistance = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const std::string& candidate : candidates)
    {
        const std::size_t distance = GetEditDistance(word, candidate);
        if (distance < leastDistance)
        {
            leastDistance = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

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
    return text.substr(0, start) + SuggestNearest(word, names, key) + text.substr(start);
}

std::string
FormatSuggestion(const std::string& word, const std::string& prefix)
{
    return word.empty() ? "" : "; did you mean " + prefix + word + "?";
}

std::string
SuggestNearest(const std::string& word,
               const std::vector<std::string>& candidates,
               const std::string& prefix)
{
    return FormatSuggestion(GetNearest(word, candidates), prefix);
}

} // namespace ns3::training
