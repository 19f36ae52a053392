/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CONFIGURATION_ERROR_H
#define DISTRIBUTED_TRAINING_CONFIGURATION_ERROR_H

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 *
 * A request that cannot be carried out as written: an option, file or attribute that is malformed
 * or out of range. Thrown before the simulation starts, and never from inside an event. The text is
 * one line that names the option or file:line, the value, and what is allowed; a program prints it
 * on standard error and ends with exit status 2.
 */
class ConfigurationError : public std::runtime_error
{
  public:
    /** @param text one line; what would end it, such as a quoted name's line break, becomes '?' */
    explicit ConfigurationError(const std::string& text)
        : std::runtime_error(ToLine(text))
    {
    }

  private:
    static std::string ToLine(std::string text)
    {
        std::replace_if(
            text.begin(),
            text.end(),
            [](char character) { return character >= 0 && character < ' '; },
            '?');
        return text;
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CONFIGURATION_ERROR_H
