/*
 * Copyright (c) 2026 The distributed-training authors
 *
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
 * one line that names the field or file:line, the value, and the values allowed; a program prints
 * it on standard error and ends with exit status 2.
 *
 * The library knows no command line. An error about a field of an options struct names that field;
 * the program that has an option for it puts the option's name in its place, see GetField().
 */
class ConfigurationError : public std::runtime_error
{
  public:
    /** @param text one line; a control character in it, such as a line break, becomes '?' */
    explicit ConfigurationError(const std::string& text)
        : std::runtime_error(ToLine(text))
    {
    }

    /**
     * A wrong value of a field: the text is "field value" and the rest.
     * @param field of an options struct, in lower-case words, such as "reroute delay"
     * @param value of the field
     * @param rest what is wrong and allowed, with the blank or punctuation mark it begins with
     */
    ConfigurationError(const std::string& field, const std::string& value, const std::string& rest)
        : std::runtime_error(ToLine(field + " " + value + rest)),
          m_field(field)
    {
    }

    /** @return the field that the text begins with; empty if it names none */
    const std::string& GetField() const
    {
        return m_field;
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

    std::string m_field; // empty: the text names none
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CONFIGURATION_ERROR_H
