/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATTRIBUTE_CHOICE_H
#define DISTRIBUTED_TRAINING_ATTRIBUTE_CHOICE_H

#include "training-configuration-error.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Refuses the text that an attribute is given. A setter that returned false instead would be
 * ignored where ns-3 makes an object of default values, a user's among them.
 * @param attribute such as SwitchDevice::Path
 * @param text that it is given
 * @param allowed what it can be
 * @throw ConfigurationError always
 */
[[noreturn]] inline void
RefuseAttribute(const std::string& attribute, const std::string& text, const std::string& allowed)
{
    throw ConfigurationError("ns3::training::" + attribute + "='" + text +
                             "' (allowed: " + allowed + ")");
}

/**
 * @ingroup distributed-training-fabric
 *
 * Finds the text that an attribute is given among those that it can be.
 * @param attribute such as SwitchDevice::Path
 * @param text that it is given
 * @param names that it can be
 * @return place of the text among the names
 * @throw ConfigurationError if it is none of them
 */
inline std::size_t
FindChoice(const std::string& attribute,
           const std::string& text,
           const std::vector<std::string>& names)
{
    std::size_t place = 0;
    std::string allowed;
    for (const std::string& name : names)
    {
        if (name == text)
        {
            return place;
        }
        allowed += (place++ == 0 ? "" : ", ") + name;
    }
    RefuseAttribute(attribute, text, allowed);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATTRIBUTE_CHOICE_H
