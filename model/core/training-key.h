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
 * Description of one key: enough to parse its value, refuse it, and explain it.
 */
struct Key
{
    /** Type of a value. */
    enum class Type
    {
        COUNT,   ///< whole number from min to max
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
    std::string initial{}; ///< default as text; empty: none, the help says what follows
    double min{0};         ///< COUNT, NUMBER, BYTES: least value
    double max{std::numeric_limits<double>::max()}; ///< COUNT, NUMBER, BYTES: largest value
    /// WORD: the values allowed; other types: values allowed beside them, such as auto.
    std::vector<std::string> words{};
    std::string range{};     ///< in place of what follows from type and limits: values allowed
    std::string attribute{}; ///< full name of the attribute that the key sets, or empty
    std::function<bool(const std::string&)> accepts{}; ///< further condition, or empty

    /**
     * @param name of the key
     * @param initial default
     * @param min least value
     * @param max largest value
     * @param help one line
     * @return key of a whole number
     */
    static Key Count(const std::string& name,
                     uint64_t initial,
                     uint64_t min,
                     uint64_t max,
                     const std::string& help);

    /**
     * @param name of the key
     * @param initial default
     * @param min least value
     * @param max largest value
     * @param help one line
     * @return key of a decimal number
     */
    static Key Number(const std::string& name,
                      double initial,
                      double min,
                      double max,
                      const std::string& help);

    /**
     * @param name of the key
     * @param initial default, one of the words
     * @param words values allowed
     * @param help one line
     * @return key of a word
     */
    static Key Word(const std::string& name,
                    const std::string& initial,
                    const std::vector<std::string>& words,
                    const std::string& help);

    /**
     * @param name of the key
     * @param type RATE, TIME, BYTES, BOOLEAN or TEXT
     * @param initial default as text, may be empty
     * @param help one line
     * @return key of a quantity or text
     */
    static Key Of(const std::string& name,
                  Type type,
                  const std::string& initial,
                  const std::string& help);

    /**
     * @param type of object
     * @param attribute name of one of its own or inherited attributes
     * @param name of the key; empty: made of the attribute's (RateAi: rate-ai)
     * @return key that sets the attribute, with its help, its default and its range
     */
    static Key Attribute(TypeId type, const std::string& attribute, const std::string& name = "");

    /** @return whether a value is allowed */
    bool Allows(const std::string& value) const;

    /**
     * @param value a value that is allowed
     * @return text that ns-3 reads as that value, which may have units that ns-3 does not know
     */
    std::string ToNs3(const std::string& value) const;

    /** @return the values allowed, such as "1 to 64", "ring|error" or "a time with a unit" */
    std::string GetAllowed() const;

    /** @return name of the type for JSON: count, number, bytes, rate, time, boolean, word, text */
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
