/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TOML_OPTIONS_H
#define DISTRIBUTED_TRAINING_TOML_OPTIONS_H

#include <string>
#include <toml++/toml.h>

namespace ns3::training
{

/**
 * @param path of a file
 * @param source a place in it
 * @return FILE:LINE
 */
std::string GetTomlPlace(const std::string& path, const toml::source_region& source);

/**
 * @param path of a file
 * @param text what it has
 * @return its content
 * @throw ConfigurationError with the place in the file if it is no TOML
 */
toml::table ParseToml(const std::string& path, const std::string& text);

/**
 * @param node a value in a file
 * @return the text that an option reads; empty: it is neither text nor a number
 */
std::string GetOptionText(const toml::node& node);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TOML_OPTIONS_H
