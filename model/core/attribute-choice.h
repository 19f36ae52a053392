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
 * Rejects an attribute value by exception. ns-3 ignores a setter that returns false when it
 * constructs an object from default values, including defaults set by a user.
 * @param attribute attribute name, such as SwitchDevice::Path
 * @param text the rejected value
 * @param allowed description of the allowed values
 * @throw ConfigurationError always
 */
[[noreturn]] inline void
ThrowInvalidAttribute(const std::string& attribute,
                      const std::string& text,
                      const std::string& allowed)
{
    throw ConfigurationError("ns3::training::" + attribute + "='" + text +
                             "' (allowed: " + allowed + ")");
}

/**
 * @ingroup distributed-training-fabric
 *
 * Finds an attribute value in a list of allowed values.
 * @param attribute attribute name, such as SwitchDevice::Path
 * @param text the value
 * @param names the allowed values
 * @return index of the value in `names`
 * @throw ConfigurationError if the value is not in the list
 */
inline std::size_t
FindAllowedValue(const std::string& attribute,
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
    ThrowInvalidAttribute(attribute, text, allowed);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATTRIBUTE_CHOICE_H
