/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JSON_TREE_H
#define DISTRIBUTED_TRAINING_JSON_TREE_H

#include <boost/property_tree/ptree.hpp>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 * Parses a small file of JSON; JsonScanner reads large ones.
 * @param text of the file
 * @param name of the file, for messages
 * @param allowed what the file should be, for messages
 * @return its values
 * @throw ConfigurationError with name:line if it is malformed or nested too deeply
 */
boost::property_tree::ptree ReadJsonTree(const std::string& text,
                                         const std::string& name,
                                         const std::string& allowed);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JSON_TREE_H
