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
 * An invalid request: an option, file or attribute that is malformed or out of range. Thrown before
 * the simulation starts, never inside an event. The text is one line that names the field or
 * file:line, the value, and the allowed values; programs print it to standard error and exit with
 * status 2.
 *
 * The library does not know the command line. An error about a field of an options struct names the
 * field; a program replaces the field name by its option name, see GetField().
 */
class ConfigurationError : public std::runtime_error
{
  public:
    /** @param text one-line message; control characters such as line breaks are replaced by '?' */
    explicit ConfigurationError(const std::string& text)
        : std::runtime_error(ToLine(text))
    {
    }

    /**
     * An invalid value of a field. The text is "field value" followed by `rest`.
     * @param field name of a field of an options struct, in lower-case words, such as "reroute
     *        delay"
     * @param value value of the field
     * @param rest the error and the allowed values, including the leading blank or punctuation mark
     */
    ConfigurationError(const std::string& field, const std::string& value, const std::string& rest)
        : std::runtime_error(ToLine(field + " " + value + rest)),
          m_field(field)
    {
    }

    /** @return the field name at the start of the text; empty if there is none */
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

    std::string m_field; // empty: the text names no field
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CONFIGURATION_ERROR_H
