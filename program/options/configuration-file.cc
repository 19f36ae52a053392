/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/configuration-file.h"

#include "core/input-file.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <toml++/toml.h>

namespace ns3::training
{

namespace
{

/// Options that no file has: they print, or name another file of options.
const std::vector<std::string> NOT_IN_FILES{"config", "describe", "help", "save-config", "version"};

/** @return FILE:LINE */
std::string
GetPlace(const std::string& path, const toml::source_region& source)
{
    return path + ":" + std::to_string(source.begin.line);
}

/** @return the text that an option reads; empty: it is neither text nor a number */
std::string
GetOptionText(const toml::node& node)
{
    if (const auto* number = node.as_integer())
    {
        return std::to_string(number->get());
    }
    if (const auto* number = node.as_floating_point())
    {
        return FormatDouble(number->get());
    }
    if (const auto* truth = node.as_boolean())
    {
        return truth->get() ? "true" : "false";
    }
    const auto* text = node.as_string();
    return text ? text->get() : "";
}

} // namespace

std::vector<ConfiguredArgument>
ReadConfiguration(const std::string& path)
{
    const auto content = ReadInputFile(path);
    if (!content)
    {
        throw ConfigurationError("--config=" + path + " cannot be read (allowed: a TOML file)");
    }
    toml::table document;
    try
    {
        document = toml::parse(*content);
    }
    catch (const toml::parse_error& error)
    {
        throw ConfigurationError(GetPlace(path, error.source()) + ": " +
                                 std::string(error.description()));
    }
    std::vector<std::pair<uint32_t, ConfiguredArgument>> arguments;
    for (const auto& [key, node] : document)
    {
        const std::string name(key.str());
        const std::string place = GetPlace(path, node.source());
        if (std::count(NOT_IN_FILES.begin(), NOT_IN_FILES.end(), name) > 0 ||
            name.rfind("Print", 0) == 0)
        {
            throw ConfigurationError(place + ": " + name + " (allowed: on the command line)");
        }
        std::vector<const toml::node*> values{&node};
        if (const toml::array* list = node.as_array())
        {
            values.clear();
            for (const toml::node& element : *list)
            {
                values.push_back(&element);
            }
        }
        for (const toml::node* value : values)
        {
            const std::string text = GetOptionText(*value);
            if (text.empty() || name.find('=') != std::string::npos)
            {
                throw ConfigurationError(place + ": " + MakePrintableName(name) +
                                         " (allowed: a text in quotes, a number, true or false, "
                                         "or an array of these)");
            }
            arguments.push_back({node.source().begin.line, {"--" + name + "=" + text, place}});
        }
    }
    std::stable_sort(arguments.begin(), arguments.end(), [](const auto& one, const auto& other) {
        return one.first < other.first;
    });
    std::vector<ConfiguredArgument> sorted;
    for (const auto& [line, argument] : arguments)
    {
        sorted.push_back(argument);
    }
    return sorted;
}

std::string
FormatConfiguration(const std::string& key, const std::vector<std::string>& values, bool isWord)
{
    const bool isBare = key.find(':') == std::string::npos;
    std::string text;
    for (const std::string& value : values)
    {
        text += (text.empty() ? "" : ", ") + (isWord ? value : JsonValue(value).Write());
    }
    return (isBare ? key : "\"" + key + "\"") + " = " +
           (values.size() == 1 ? text : "[" + text + "]") + "\n";
}

} // namespace ns3::training
