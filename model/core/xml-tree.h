/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_XML_TREE_H
#define DISTRIBUTED_TRAINING_XML_TREE_H

#include <boost/property_tree/ptree.hpp>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 * Parses XML.
 * @param text of the file
 * @param name of the file, for messages
 * @param root name of its element
 * @param allowed what the file should be, for messages
 * @return the element; comments are left out
 * @throw ConfigurationError with name:line if it is malformed, nested too deeply, or has another
 *        element
 */
boost::property_tree::ptree ReadXmlTree(const std::string& text,
                                        const std::string& name,
                                        const std::string& root,
                                        const std::string& allowed);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_XML_TREE_H
