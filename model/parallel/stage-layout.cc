/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/stage-layout.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <regex>

namespace ns3::training
{

namespace
{

/// Most characters of a layout, written out.
constexpr uint64_t MAX_CHARACTERS = 1 << 16;

[[noreturn]] void
Refuse(const std::string& layout, const std::string& allowed)
{
    throw ConfigurationError("pipeline layout", layout, " (allowed: " + allowed + ")");
}

/** Writes out all repetitions of a kind: of what the first part of a pattern finds. */
std::string
Repeat(const std::string& layout, const std::string& text, const char* pattern)
{
    const std::regex repetition(pattern);
    std::string all;
    std::string rest = text;
    for (std::smatch found; std::regex_search(rest, found, repetition); rest = found.suffix())
    {
        all += found.prefix();
        const uint64_t times = ParseUnsigned(found.str(2)).value_or(MAX_CHARACTERS);
        if (times > MAX_CHARACTERS || times * found.length(1) + all.size() > MAX_CHARACTERS)
        {
            Refuse(layout, "at most " + std::to_string(MAX_CHARACTERS) + " characters");
        }
        for (uint64_t i = 0; i < times; i++)
        {
            all += found.str(1);
        }
    }
    return all + rest;
}

} // namespace

std::vector<uint32_t>
ReadStageLayout(const std::string& layout, uint64_t predictions)
{
    std::string text = boost::erase_all_copy(layout, ",");
    text = Repeat(layout, text, R"(\(([^()]+)\)\*([0-9]+))");
    text = Repeat(layout, text, R"(([EtmL|])\*([0-9]+))");
    if (text.find_first_not_of("EtmL|") != std::string::npos)
    {
        Refuse(layout, "E, t, m, L and |, repeated as t*3 and (t|)*3");
    }
    if (text.empty() || text.front() != 'E' || text.back() != 'L' ||
        std::count(text.begin(), text.end(), 'E') != 1 ||
        std::count(text.begin(), text.end(), 'L') != 1)
    {
        Refuse(layout, "E once, in front, and L once, at the end");
    }
    const std::string together(predictions, 'm');
    const auto first = text.find('m');
    if (std::count(text.begin(), text.end(), 'm') != static_cast<int64_t>(predictions) ||
        text.find(together) == std::string::npos ||
        (predictions > 0 && text.find('t', first) != std::string::npos))
    {
        Refuse(layout,
               predictions == 0
                   ? "m with --mtp-layers"
                   : "m " + std::to_string(predictions) + " times together, behind all t");
    }
    std::vector<uint32_t> layers{0};
    for (char each : text)
    {
        if (each == '|')
        {
            layers.push_back(0);
        }
        else if (each == 't' || each == 'm')
        {
            layers.back()++;
        }
    }
    return layers;
}

} // namespace ns3::training
