/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_KEY_VALUES_H
#define DISTRIBUTED_TRAINING_KEY_VALUES_H

#include "training-attribute-list.h"
#include "training-key.h"
#include "training-registry.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-key-values Alternatives with keys
 *
 * The common grammar of all alternatives selected by name: topology, collective algorithm,
 * in-network system, congestion control, path choice, host model, workload.
 *
 *     NAME
 *     NAME:key=value,key=value
 *     NAME:FIRST,key=value       with a leading value without key, such as the sides of torus:4x4
 *     NAME:key                   a BOOLEAN key alone means true, unless it would be the FIRST value
 *
 * A kind is a struct T in a Registry<T>. A member `keys` or an overload of GetKeys(const T&)
 * describes its keys; without either, the kind has no keys. Choose<T>() finds the alternative,
 * checks the keys and fills in the defaults. The help text and the JSON of `--describe` are
 * generated from the same descriptions.
 *
 * @code
 *   struct TopologyBuilder
 *   {
 *       static constexpr const char* KIND = "topology";
 *       std::string help;
 *       std::vector<Key> keys;
 *       void (*build)(const KeyValues& keys, TopologyGraph& graph);
 *   };
 *
 *   const Registry<TopologyBuilder>::Entry g_ring(
 *       "ring", {"hosts in a ring", {Key::Count("hosts", 8, 1, 1024, "hosts on the ring")},
 * &Make});
 *
 *   const auto choice = Choose<TopologyBuilder>("ring:hosts=16");
 *   choice.entry->build(choice.values, graph);   // choice.values.GetCount("hosts") == 16
 * @endcode
 */

/**
 * @ingroup distributed-training-key-values
 * Description of a leading value without a key.
 */
struct FirstValue
{
    std::string name;     ///< placeholder in the help text, such as 4x4 or PATH
    std::string help;     ///< one line
    bool isWhole{false};  ///< whether it extends to the end of the text, commas included
    bool required{false}; ///< whether it is mandatory
    std::function<bool(const std::string&)> accepts; ///< validity check; empty: any text is valid
};

/**
 * @ingroup distributed-training-key-values
 * A choice as written by the user, split into name, leading value and key=value pairs.
 */
class KeyValues
{
  public:
    /** An empty choice. */
    KeyValues() = default;

    /**
     * @param text NAME, NAME:key=value,... or NAME:FIRST,key=value,...; a name may contain "::"
     * @return the parts, unchecked
     */
    static KeyValues Split(const std::string& text);

    /**
     * Checks the values against the key descriptions and fills in the defaults.
     * @param kind name of the kind, for messages
     * @param keys descriptions of the allowed keys
     * @param first description of the leading value; none: no leading value is allowed
     * @throw ConfigurationError that names the text, the invalid part and the allowed values
     */
    void Check(const std::string& kind,
               const std::vector<Key>& keys,
               const std::optional<FirstValue>& first = std::nullopt);

    /**
     * As Check().
     * @param keys descriptions of the allowed keys
     * @param first description of the leading value; none: no leading value is allowed
     * @return end of a message that names the invalid part and the allowed values; empty: all are
     *         right
     */
    std::string Read(const std::vector<Key>& keys,
                     const std::optional<FirstValue>& first = std::nullopt);

    /** @return the text as written */
    const std::string& GetSpelling() const;

    /** @return name of the alternative */
    const std::string& GetName() const;

    /** @return the leading value; empty if not given */
    const std::string& GetFirst() const;

    /**
     * @param key key name
     * @return whether the user gave the key
     */
    bool IsGiven(const std::string& key) const;

    /**
     * @param key key name
     * @return whether the key has a value, given or default
     */
    bool Has(const std::string& key) const;

    /**
     * @param key name of a key that has a value
     * @return its value as text
     */
    const std::string& GetText(const std::string& key) const;

    /**
     * @param key name of a COUNT key
     * @return its value
     */
    uint64_t GetCount(const std::string& key) const;

    /**
     * @param key name of a NUMBER key
     * @return its value
     */
    double GetNumber(const std::string& key) const;

    /**
     * @param key name of a BYTES key
     * @return its value, bytes
     */
    uint64_t GetBytes(const std::string& key) const;

    /**
     * @param key name of a RATE key
     * @return its value
     */
    DataRate GetRate(const std::string& key) const;

    /**
     * @param key name of a TIME key
     * @return its value
     */
    Time GetTime(const std::string& key) const;

    /**
     * @param key name of a BOOLEAN key
     * @return its value
     */
    bool GetBoolean(const std::string& key) const;

    /**
     * @param keys descriptions, as for Check(); keys without an attribute are skipped
     * @return attribute values for the keys given by the user; the objects keep their own defaults
     *         for other keys
     */
    AttributeList GetAttributes(const std::vector<Key>& keys) const;

  private:
    std::string m_text;                          // as written
    std::string m_name;                          // before the colon
    std::vector<std::string> m_parts;            // comma-separated parts after the colon
    std::string m_first;                         // leading value
    std::map<std::string, std::string> m_given;  // by key
    std::map<std::string, std::string> m_values; // by key, including defaults
};

/** @cond Detects a member `keys` in a kind. */
template <class T, class = void>
struct HasKeys : std::false_type
{
};

template <class T>
struct HasKeys<T, std::void_t<decltype(std::declval<T>().keys)>> : std::true_type
{
};

/** @endcond */

/**
 * @ingroup distributed-training-key-values
 * @param entry an alternative
 * @return descriptions of its keys: member `keys` if present, otherwise none. Overload this
 *         function for other kinds.
 */
template <class T>
std::vector<Key>
GetKeys([[maybe_unused]] const T& entry)
{
    if constexpr (HasKeys<T>::value)
    {
        return entry.keys;
    }
    else
    {
        return {};
    }
}

/**
 * @ingroup distributed-training-key-values
 * @return description of the leading value. Overload this function for kinds that have one.
 */
template <class T>
std::optional<FirstValue>
GetFirstValue(const T&)
{
    return std::nullopt;
}

/**
 * @ingroup distributed-training-key-values
 * @return additional help lines, such as operations and constraints. Overload this function for
 *         kinds that have them.
 */
template <class T>
std::vector<std::string>
GetNotes(const T&)
{
    return {};
}

/** A selected alternative and its values. @ingroup distributed-training-key-values */
template <class T>
struct Choice
{
    const T* entry;   ///< the alternative
    KeyValues values; ///< checked, including defaults
};

/**
 * @ingroup distributed-training-key-values
 * @tparam T a kind, see Registry
 * @param text NAME:key=value,...
 * @return the alternative and its values
 * @throw ConfigurationError if the alternative does not exist or a value is invalid
 */
template <class T>
Choice<T>
Choose(const std::string& text)
{
    KeyValues values = KeyValues::Split(text);
    const T& entry = Registry<T>::Find(values.GetName());
    values.Check(T::KIND, GetKeys(entry), GetFirstValue(entry));
    return {&entry, values};
}

/**
 * @ingroup distributed-training-key-values
 * Description of an alternative for the help text and JSON.
 */
struct AlternativeDescription
{
    std::string name;                ///< name that the user types
    std::string help;                ///< one line
    std::vector<std::string> notes;  ///< additional help lines
    std::vector<Key> keys;           ///< its keys
    std::optional<FirstValue> first; ///< leading value
};

/**
 * @ingroup distributed-training-key-values
 * @tparam T a kind, see Registry
 * @return all its alternatives in alphabetical order
 */
template <class T>
std::vector<AlternativeDescription>
DescribeAlternatives()
{
    std::vector<AlternativeDescription> all;
    for (const auto& [name, entry] : Registry<T>::All())
    {
        all.push_back({name, entry.help, GetNotes(entry), GetKeys(entry), GetFirstValue(entry)});
    }
    return all;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_KEY_VALUES_H
