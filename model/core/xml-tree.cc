/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/xml-tree.h"

#include "core/input-file.h"
#include "training-configuration-error.h"

#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

namespace ns3::training
{

boost::property_tree::ptree
ReadXmlTree(const std::string& text,
            const std::string& name,
            const std::string& root,
            const std::string& allowed)
{
    boost::property_tree::ptree tree;
    CheckNesting(text, name);
    try
    {
        using namespace boost::property_tree::xml_parser;
        std::istringstream stream(text);
        read_xml(stream, tree, no_comments | trim_whitespace);
    }
    catch (const boost::property_tree::xml_parser_error& error)
    {
        throw ConfigurationError(name + ":" + std::to_string(error.line()) + ": " +
                                 error.message() + " (allowed: " + allowed + ")");
    }
    const auto element = tree.find(root);
    if (element == tree.not_found())
    {
        throw ConfigurationError(name + ":1: no element " + root + " (allowed: " + allowed + ")");
    }
    return element->second;
}

} // namespace ns3::training
