/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/toml-options.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

namespace ns3::training
{

std::string
GetTomlPlace(const std::string& path, const toml::source_region& source)
{
    return path + ":" + std::to_string(source.begin.line);
}

toml::table
ParseToml(const std::string& path, const std::string& text)
{
    try
    {
        return toml::parse(text, path);
    }
    catch (const toml::parse_error& error)
    {
        throw ConfigurationError(GetTomlPlace(path, error.source()) + ": " +
                                 std::string(error.description()));
    }
}

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

} // namespace ns3::training
