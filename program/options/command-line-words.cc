/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/command-line-words.h"

#include <algorithm>
#include <sstream>

namespace ns3::training
{

bool
IsFlag(const Key& key)
{
    return key.type == Key::Type::BOOLEAN ||
           (key.type == Key::Type::WORD && std::count(key.words.begin(), key.words.end(), "true"));
}

std::vector<std::string>
JoinValues(const std::vector<std::string>& words,
           const std::function<const Key*(const std::string& name)>& find)
{
    std::vector<std::string> arguments;
    for (const std::string& word : words)
    {
        const std::string last = arguments.empty() ? "" : arguments.back();
        const bool isOpen = last.compare(0, 2, "--") == 0 && last.find('=') == std::string::npos;
        const Key* key = isOpen ? find(last.substr(2)) : nullptr;
        const bool isFlag = key && IsFlag(*key);
        if (word == "-h")
        {
            arguments.emplace_back("--help");
        }
        else if (isOpen && word.compare(0, 2, "--") != 0 && (!isFlag || key->Allows(word)))
        {
            arguments.back() += "=" + word;
        }
        else
        {
            arguments.push_back(word);
        }
    }
    return arguments;
}

std::vector<std::string>
GetValues(const std::string& prefix, const std::vector<std::string>& arguments)
{
    std::vector<std::string> values;
    for (const std::string& argument : arguments)
    {
        if (argument.compare(0, prefix.size(), prefix) == 0)
        {
            for (const std::string& value : SplitList(argument.substr(prefix.size())))
            {
                values.push_back(value);
            }
        }
    }
    return values;
}

std::vector<std::string>
SplitList(const std::string& text)
{
    std::vector<std::string> items;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ';');)
    {
        items.push_back(item);
    }
    return items;
}

} // namespace ns3::training
