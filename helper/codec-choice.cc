/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec-choice.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-registry.h"

namespace ns3::training
{

CodecChoice
ChooseCodec(const std::string& field, const std::string& text, const std::vector<Key>& own)
{
    CodecChoice choice;
    choice.values = KeyValues::Split(text);
    if (text == CodecChoice::NONE)
    {
        return choice;
    }
    const std::string& name = choice.values.GetName();
    const auto& all = Registry<CodecEntry>::All();
    const auto found = all.find(name);
    if (found == all.end())
    {
        throw ConfigurationError(field,
                                 text,
                                 std::string(" (allowed: ") + CodecChoice::NONE +
                                     ", or a codec: " + Registry<CodecEntry>::Names() + ")");
    }
    choice.entry = &found->second;
    std::vector<Key> keys = choice.entry->keys;
    keys.insert(keys.end(), own.begin(), own.end());
    choice.values.Check(field, keys);
    choice.spec = name;
    for (const Key& key : choice.entry->keys)
    {
        if (choice.values.IsGiven(key.name))
        {
            choice.spec += (choice.spec == name ? ":" : ",") + key.name + "=" +
                           choice.values.GetText(key.name);
        }
    }
    return choice;
}

} // namespace ns3::training
