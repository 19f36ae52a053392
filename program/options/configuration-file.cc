/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/configuration-file.h"

#include "core/input-file.h"
#include "options/toml-options.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-quantity.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Options that no file has: they print, or name another file of options.
const std::vector<std::string> NOT_IN_FILES{"config", "describe", "help", "save-config", "version"};

} // namespace

std::vector<ConfiguredArgument>
ReadConfiguration(const std::string& path, const std::string& option)
{
    const auto content = ReadInputFile(path);
    if (!content)
    {
        throw ConfigurationError("--" + option + "=" + path +
                                 " cannot be read (allowed: a TOML file)");
    }
    const toml::table document = ParseToml(path, *content);
    std::vector<std::pair<uint32_t, ConfiguredArgument>> arguments;
    for (const auto& [key, node] : document)
    {
        const std::string name(key.str());
        const std::string place = GetTomlPlace(path, node.source());
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
