/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/workload-file.h"

#include "training-workload.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-packed-file.h"
#include "ns3/training-quantity.h"

#include <cmath>
#include <optional>
#include <sstream>

namespace ns3::training
{

namespace
{

/** The required header line; the order of columns is fixed. */
constexpr const char* HEADER = "layer,parameters,forward_us,backward_us";
/** Maximum parameters of a file: gradient bytes stay below 2^62. */
constexpr uint64_t MAX_PARAMETERS = 1ULL << 60;
/** Maximum time of a layer and of all layers together, us. */
constexpr double MAX_US = 1e12;
/** Maximum length of a quotation in a message. */
constexpr std::size_t MAX_QUOTE = 40;

/** @return the workload that reads a file */
WorkloadEntry
MakeFileWorkload()
{
    WorkloadEntry entry;
    entry.help = std::string("a CSV file with the columns ") + HEADER;
    entry.first = FirstValue{"PATH", "the file; times are those of an iteration", true, true, {}};
    entry.model = [](const WorkloadRequest& request) {
        return ReadWorkloadFile(request.values.GetFirst());
    };
    return entry;
}

const Registry<WorkloadEntry>::Entry g_fileWorkload("file", MakeFileWorkload());

/**
 * @param text a field or line
 * @return the text without blanks, tabs and carriage returns at both ends
 */
std::string
Trim(const std::string& text)
{
    constexpr const char* BLANKS = " \t\r";
    const auto first = text.find_first_not_of(BLANKS);
    if (first == std::string::npos)
    {
        return {};
    }
    return text.substr(first, text.find_last_not_of(BLANKS) - first + 1);
}

/**
 * @param line a line
 * @return its comma-separated fields, trimmed
 */
std::vector<std::string>
Split(const std::string& line)
{
    std::vector<std::string> fields;
    for (std::size_t begin = 0;;)
    {
        const auto comma = line.find(',', begin);
        fields.push_back(Trim(line.substr(begin, comma - begin)));
        if (comma == std::string::npos)
        {
            return fields;
        }
        begin = comma + 1;
    }
}

/**
 * @param text text of a user's file
 * @return the text in quotation marks, truncated, with unprintable characters replaced, so that a
 *         message is one line whatever the file contains
 */
std::string
Quote(const std::string& text)
{
    std::string quoted = "'";
    for (const char character : text.substr(0, MAX_QUOTE))
    {
        quoted += character >= ' ' && character <= '~' ? character : '?';
    }
    return quoted + (text.size() > MAX_QUOTE ? "...'" : "'");
}

} // namespace

LayeredModel
ReadWorkload(std::istream& input, const std::string& name)
{
    LayeredModel model;
    model.name = name;
    std::size_t number = 0;
    const auto fail = [&name, &number](const std::string& what) {
        throw ConfigurationError(name + ":" + std::to_string(number) + ": " + what);
    };

    bool headerSeen = false;
    uint64_t parameters = 0;
    double microseconds = 0;
    const auto readTime = [&](const std::string& column, const std::string& field) {
        const auto value = ParseDouble(field);
        if (!value || *value < 0 || *value > MAX_US)
        {
            fail(column + " is " + Quote(field) +
                 " (allowed: a time in microseconds from 0 to 1e12, without unit)");
        }
        microseconds += *value;
        if (microseconds > MAX_US)
        {
            fail("the times up to here exceed 1e12 us (allowed: 1e12 us for all layers together)");
        }
        return PicoSeconds(std::llround(*value * 1e6));
    };

    std::string line;
    while (std::getline(input, line))
    {
        ++number;
        if (number == 1 && line.compare(0, 3, "\xEF\xBB\xBF") == 0)
        {
            line.erase(0, 3);
        }
        line = Trim(line);
        if (line.empty() || line[0] == '#')
        {
            continue;
        }
        const auto fields = Split(line);
        const bool isHeader = fields == Split(HEADER);
        if (!headerSeen)
        {
            if (!isHeader)
            {
                fail("first line is " + Quote(line) + " (allowed: the header line '" + HEADER +
                     "')");
            }
            headerSeen = true;
            continue;
        }
        if (isHeader)
        {
            fail("second header line (allowed: one, before the first layer)");
        }
        if (fields.size() != 4)
        {
            fail(std::to_string(fields.size()) + " column(s) (allowed: the 4 columns " + HEADER +
                 ")");
        }
        if (fields[0].empty())
        {
            fail("layer is empty (allowed: a name)");
        }
        const auto count = ParseUnsigned(fields[1]);
        if (!count || *count > MAX_PARAMETERS || parameters + *count > MAX_PARAMETERS)
        {
            fail("parameters is " + Quote(fields[1]) +
                 " (allowed: a whole number from 0, at most 2^60 for all layers together)");
        }
        parameters += *count;
        const Time forward = readTime("forward_us", fields[2]);
        const Time backward = readTime("backward_us", fields[3]);
        model.layers.push_back({fields[0], *count, forward, backward});
    }
    if (input.bad())
    {
        throw ConfigurationError(name + ": cannot be read to its end");
    }
    if (model.layers.empty())
    {
        number = number == 0 ? 1 : number;
        fail(std::string(headerSeen ? "no layers" : "empty file") + " (allowed: the header line '" +
             HEADER + "' and at least one layer)");
    }
    return model;
}

LayeredModel
ReadWorkloadFile(const std::string& path)
{
    const auto text = ReadPackedFile(path);
    if (!text)
    {
        throw ConfigurationError(path + ": cannot be read (allowed: a CSV file with the columns " +
                                 HEADER + ")");
    }
    std::istringstream file(*text);
    LayeredModel model = ReadWorkload(file, path);
    model.times = path;
    return model;
}

} // namespace ns3::training
