/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/named-files.h"

#include <algorithm>
#include <unistd.h>

namespace ns3::training
{

std::vector<std::string>
GetNamedFiles(const OptionDescription& option, const std::vector<std::string>& items)
{
    std::vector<std::string> files;
    if (option.key.type != Key::Type::TEXT)
    {
        return files;
    }
    const auto add = [&files](const std::string& path) {
        if (access(path.c_str(), F_OK) == 0)
        {
            files.push_back(path);
        }
    };
    std::vector<AlternativeDescription> alternatives;
    if (option.list)
    {
        alternatives = option.list();
    }
    for (const std::string& item : items)
    {
        const auto prefix = item.find_first_of(":@");
        if (prefix != std::string::npos)
        {
            add(item.substr(prefix + 1));
        }
        if (std::none_of(alternatives.begin(), alternatives.end(), [&](const auto& alternative) {
                return alternative.name == item.substr(0, prefix);
            }))
        {
            add(item);
        }
    }
    return files;
}

} // namespace ns3::training
