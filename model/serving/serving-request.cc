/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "serving-request.h"

#include "core/input-file.h"
#include "core/random-streams.h"

#include "ns3/double.h"
#include "ns3/random-variable-stream.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-jitter.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>
#include <sstream>

namespace ns3::training
{

namespace
{

/// Maximum time of an arrival, s.
constexpr double MAX_ARRIVAL_S = 1e6;
/// Columns of a file.
constexpr const char* COLUMNS = "time_s,prompt,output";
/// Columns of Azure's traces.
constexpr const char* DATED_COLUMNS = "TIMESTAMP,ContextTokens,GeneratedTokens";

/** @return picoseconds of a number of seconds */
Time
ToTime(double seconds)
{
    return PicoSeconds(std::llround(seconds * 1e12));
}

/** @return a number of tokens near a mean */
uint64_t
DrawTokens(uint64_t mean, RandomVariableStream* factor)
{
    if (!factor)
    {
        return mean;
    }
    const double drawn = std::round(static_cast<double>(mean) * factor->GetValue());
    return static_cast<uint64_t>(std::clamp(drawn, 1.0, static_cast<double>(MAX_REQUEST_TOKENS)));
}

/**
 * @param text such as 2023-11-16 18:15:46.6805900 or 2024-05-10 00:00:00.009930+00:00
 * @return seconds since 1970 and their fraction; none if it is no date
 */
std::optional<std::pair<int64_t, double>>
ParseDate(const std::string& text)
{
    std::tm date{};
    int end = 0;
    const int found = std::sscanf(text.c_str(),
                                  "%4d-%2d-%2d %2d:%2d:%2d%n",
                                  &date.tm_year,
                                  &date.tm_mon,
                                  &date.tm_mday,
                                  &date.tm_hour,
                                  &date.tm_min,
                                  &date.tm_sec,
                                  &end);
    if (found != 6)
    {
        return {};
    }
    date.tm_year -= 1900;
    date.tm_mon -= 1;
    const std::tm given = date;
    const int64_t seconds = timegm(&date); // which turns a 32nd of May into a 1st of June
    if (date.tm_mon != given.tm_mon || date.tm_mday != given.tm_mday ||
        date.tm_hour != given.tm_hour || date.tm_min != given.tm_min)
    {
        return {};
    }
    std::string rest = text.substr(static_cast<std::size_t>(end));
    const std::string zone = "+00:00";
    if (rest.size() >= zone.size() && rest.substr(rest.size() - zone.size()) == zone)
    {
        rest.resize(rest.size() - zone.size());
    }
    const auto fraction = rest.empty() ? 0.0 : ParseDouble("0" + rest);
    if (!fraction || *fraction < 0 || *fraction >= 1)
    {
        return {};
    }
    return std::make_pair(seconds, *fraction);
}

/** @return the three fields of a line; none if there are not three */
std::optional<std::array<std::string, 3>>
SplitLine(const std::string& line)
{
    std::istringstream input(line);
    std::array<std::string, 3> fields;
    for (std::string& field : fields)
    {
        if (!std::getline(input, field, ','))
        {
            return {};
        }
    }
    return input.eof() ? std::make_optional(fields) : std::nullopt;
}

} // namespace

std::vector<ServingRequest>
MakeRequests(const ServingLoad& load)
{
    const auto gap = CreateObject<ExponentialRandomVariable>();
    gap->SetAttribute("Mean", DoubleValue(1 / load.rate));
    gap->SetStream(GetRandomStream(RandomUse::REQUESTS));
    const auto factor = MakeJitter(load.jitter);
    if (factor)
    {
        factor->SetStream(GetRandomStream(RandomUse::REQUESTS, 1));
    }
    std::vector<ServingRequest> requests;
    double now = 0;
    for (uint64_t i = 0; i < load.count; i++)
    {
        now += gap->GetValue();
        if (now > MAX_ARRIVAL_S)
        {
            throw ConfigurationError("arrival rate " + FormatDouble(load.rate) + "/s: request " +
                                     std::to_string(i) + " arrives after " +
                                     FormatDouble(MAX_ARRIVAL_S) + " s (allowed: before)");
        }
        ServingRequest request;
        request.arrival = ToTime(now);
        request.prompt = DrawTokens(load.prompt, PeekPointer(factor));
        request.output = DrawTokens(load.output, PeekPointer(factor));
        requests.push_back(request);
    }
    return requests;
}

std::vector<ServingRequest>
ReadRequests(const std::string& path)
{
    const auto content = ReadInputFile(path);
    if (!content)
    {
        throw ConfigurationError("cannot read the requests in " + path);
    }
    std::istringstream input(*content);
    std::vector<ServingRequest> requests;
    std::optional<bool> isDated;
    std::optional<std::pair<int64_t, double>> first;
    std::string line;
    uint64_t number = 0;
    const auto refuse = [&](const std::string& what, const std::string& value) {
        throw ConfigurationError(path + ":" + std::to_string(number) + ": '" +
                                 MakePrintableName(value) + "' " + what);
    };
    while (std::getline(input, line))
    {
        number++;
        if (!line.empty() && line.back() == '\r')
        {
            line.pop_back();
        }
        if (line.empty() || line[0] == '#')
        {
            continue;
        }
        if (!isDated)
        {
            isDated = line == DATED_COLUMNS;
            if (!*isDated && line != COLUMNS)
            {
                refuse(std::string("(allowed: ") + COLUMNS + " or " + DATED_COLUMNS + ")", line);
            }
            continue;
        }
        const auto fields = SplitLine(line);
        if (!fields)
        {
            refuse("has not three columns", line);
        }
        const auto& [when, prompt, output] = *fields;
        double seconds = -1;
        if (*isDated)
        {
            const auto date = ParseDate(when);
            if (!date)
            {
                refuse("is no date such as 2023-11-16 18:15:46.68", when);
            }
            first = first ? first : date;
            seconds =
                static_cast<double>(date->first - first->first) + date->second - first->second;
        }
        else
        {
            seconds = ParseDouble(when).value_or(-1);
        }
        if (!(seconds >= 0 && seconds <= MAX_ARRIVAL_S))
        {
            refuse("is not a time (allowed: 0 to " + FormatDouble(MAX_ARRIVAL_S) + " s)", when);
        }
        ServingRequest request;
        request.arrival = ToTime(seconds);
        if (!requests.empty() && request.arrival < requests.back().arrival)
        {
            refuse("is before the request of the previous row", when);
        }
        for (const auto& [text, tokens] :
             {std::make_pair(prompt, &request.prompt), std::make_pair(output, &request.output)})
        {
            const auto value = ParseUnsigned(text);
            if (!value || *value == 0 || *value > MAX_REQUEST_TOKENS)
            {
                refuse("tokens (allowed: 1 to " + std::to_string(MAX_REQUEST_TOKENS) + ")", text);
            }
            *tokens = *value;
        }
        requests.push_back(request);
    }
    if (!isDated)
    {
        throw ConfigurationError(path + ": no line " + COLUMNS + " or " + DATED_COLUMNS);
    }
    return requests;
}

} // namespace ns3::training
