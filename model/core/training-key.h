/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_KEY_H
#define DISTRIBUTED_TRAINING_KEY_H

#include "ns3/type-id.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-key-values
 * Description of one key: the information to parse, validate and document its value.
 */
struct Key
{
    /** Type of a value. */
    enum class Type
    {
        COUNT,   ///< integer from min to max
        NUMBER,  ///< decimal number from min to max
        BYTES,   ///< size with an optional unit, see ParseBytes()
        RATE,    ///< bit rate with a unit, see ParseRate()
        TIME,    ///< time with a unit, see ParseTime()
        BOOLEAN, ///< true or false
        WORD,    ///< one of `words`
        TEXT     ///< any text without a comma
    };

    std::string name{};    ///< lower case, words joined by dashes
    Type type{Type::TEXT}; ///< type of its value
    std::string help{};    ///< one line: meaning and unit
    std::string initial{}; ///< default as text; empty: no default, see the help text
    double min{0};         ///< COUNT, NUMBER, BYTES: minimum
    double max{std::numeric_limits<double>::max()}; ///< COUNT, NUMBER, BYTES: maximum
    /// WORD: the allowed values. Other types: additional allowed values, such as auto.
    std::vector<std::string> words{};
    std::string range{};     ///< allowed values, instead of those derived from type and limits
    std::string attribute{}; ///< full name of the attribute that the key sets, or empty
    std::function<bool(const std::string&)> accepts{}; ///< additional validity check, or empty

    /**
     * @param name key name
     * @param initial default
     * @param min minimum
     * @param max maximum
     * @param help one line
     * @return integer key
     */
    static Key Count(const std::string& name,
                     uint64_t initial,
                     uint64_t min,
                     uint64_t max,
                     const std::string& help);

    /**
     * @param name key name
     * @param min minimum
     * @param max maximum
     * @param help one line, which says what follows if the key is not given
     * @return integer key without a default
     */
    static Key OptionalCount(const std::string& name,
                             uint64_t min,
                             uint64_t max,
                             const std::string& help);

    /**
     * @param name key name
     * @param initial default
     * @param min minimum
     * @param max maximum
     * @param help one line
     * @return decimal-number key
     */
    static Key Number(const std::string& name,
                      double initial,
                      double min,
                      double max,
                      const std::string& help);

    /**
     * @param name key name
     * @param initial default, one of the words
     * @param words allowed values
     * @param help one line
     * @return word key
     */
    static Key Word(const std::string& name,
                    const std::string& initial,
                    const std::vector<std::string>& words,
                    const std::string& help);

    /**
     * @param name key name
     * @param type RATE, TIME, BYTES, BOOLEAN or TEXT
     * @param initial default as text, may be empty
     * @param help one line
     * @return quantity or text key
     */
    static Key Of(const std::string& name,
                  Type type,
                  const std::string& initial,
                  const std::string& help);

    /**
     * @param type object type
     * @param attribute name of an own or inherited attribute
     * @param name key name; empty: derived from the attribute name (RateAi: rate-ai)
     * @return key that sets the attribute, with the attribute's help, default and range
     */
    static Key Attribute(TypeId type, const std::string& attribute, const std::string& name = "");

    /**
     * @param value a value; a NUMBER may have its unit, which the help names at its end, with any
     *        prefix of SI
     * @return the same as a plain number in that unit; others are unchanged
     */
    std::string ToPlain(const std::string& value) const;

    /** @param value for the key @return whether a value is allowed */
    bool Allows(const std::string& value) const;

    /**
     * @param value an allowed value
     * @return the value as ns-3 parses it; `value` may have units that ns-3 does not know
     */
    std::string ToNs3(const std::string& value) const;

    /** @return the allowed values, such as "1 to 64", "ring|error" or "a time with a unit" */
    std::string GetAllowed() const;

    /** @return type name in JSON: count, number, bytes, rate, time, boolean, word, text */
    std::string GetTypeName() const;
};

/**
 * @ingroup distributed-training-key-values
 * @param type of object
 * @param except attributes that the program sets itself
 * @return a key for every settable attribute of the type and of its parents below ns3::Object
 */
std::vector<Key> GetAttributeKeys(TypeId type, const std::set<std::string>& except = {});

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_KEY_H
