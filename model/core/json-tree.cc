/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/json-tree.h"

#include "core/input-file.h"
#include "training-configuration-error.h"

#include <boost/property_tree/json_parser.hpp>
#include <sstream>

namespace ns3::training
{

boost::property_tree::ptree
ReadJsonTree(const std::string& text, const std::string& name, const std::string& allowed)
{
    boost::property_tree::ptree tree;
    CheckNesting(text, name);
    try
    {
        std::istringstream stream(text);
        boost::property_tree::read_json(stream, tree);
    }
    catch (const boost::property_tree::json_parser_error& error)
    {
        throw ConfigurationError(name + ":" + std::to_string(error.line()) + ": " +
                                 error.message() + " (allowed: " + allowed + ")");
    }
    return tree;
}

} // namespace ns3::training
