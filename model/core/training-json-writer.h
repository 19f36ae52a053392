/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JSON_WRITER_H
#define DISTRIBUTED_TRAINING_JSON_WRITER_H

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * A JSON value (RFC 8259) for output. Object members keep their order. Not taken from Boost:
 * Boost.PropertyTree writes every number as a string, and Boost.JSON is missing from the Boost of
 * many systems.
 *
 * @code
 *   auto row = JsonValue::Object();
 *   row.Set("bytes", 8).Set("time_us", 3.5);
 *   auto document = JsonValue::Object();
 *   document.Set("rows", JsonValue::Array().Append(row));
 *   std::cout << document.Write(2) << "\n";
 * @endcode
 */
class JsonValue
{
  public:
    /** null */
    JsonValue();
    /** @param text UTF-8 text; invalid bytes are replaced by U+FFFD */
    JsonValue(const std::string& text);
    /** @copydoc JsonValue(const std::string&) */
    JsonValue(const char* text);

    /**
     * @tparam T bool, an integer, or a floating point type
     * @param number a number, written so that it reads back exactly; NaN and infinity become null
     */
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, bool> = true>
    JsonValue(T number)
        : m_text(ToText(number))
    {
    }

    /** @return an object without members */
    static JsonValue Object();
    /** @return an array without elements */
    static JsonValue Array();

    /**
     * @param key member name, not yet in the object
     * @param value its value
     * @return this object
     */
    JsonValue& Set(const std::string& key, JsonValue value);

    /**
     * @param value the next array element
     * @return this array
     */
    JsonValue& Append(JsonValue value);

    /** @return whether this is null, an empty object or an empty array */
    bool IsEmpty() const;

    /**
     * @param indent blanks per level; negative: everything on one line
     * @return the text, without a trailing line feed
     */
    std::string Write(int indent = -1) const;

  private:
    /** Kind of JSON value. */
    enum Kind
    {
        SCALAR,
        ARRAY,
        OBJECT
    };

    /** @param value a boolean @return its JSON text */
    static std::string ToText(bool value);
    /** @param value a number @return its JSON text */
    static std::string ToText(double value);

    /** @tparam T another arithmetic type @param value a number @return its JSON text */
    template <class T>
    static std::string ToText(T value)
    {
        if constexpr (std::is_integral_v<T>)
        {
            return std::to_string(value);
        }
        else
        {
            return ToText(static_cast<double>(value));
        }
    }

    /**
     * @param output string to append to
     * @param indent as in Write()
     * @param level nesting depth of this value
     */
    void WriteTo(std::string& output, int indent, int level) const;

    Kind m_kind{SCALAR};                                       ///< kind of value
    std::string m_text;                                        ///< JSON text of a scalar
    std::vector<std::pair<std::string, JsonValue>> m_children; ///< elements, or members with keys
};

/**
 * @ingroup distributed-training-results
 * @param text UTF-8 text; invalid bytes are replaced by U+FFFD
 * @return the text as a JSON string, with its quotation marks
 */
std::string QuoteJson(const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JSON_WRITER_H
