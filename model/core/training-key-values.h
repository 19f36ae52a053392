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
 * The one grammar of everything that is chosen by name: topology, collective algorithm, in-network
 * system, congestion control, path choice, host model, workload.
 *
 *     NAME
 *     NAME:key=value,key=value
 *     NAME:FIRST,key=value       with a value that needs no key, such as the sides of torus:4x4
 *
 * A kind is a struct T in a Registry<T>. It describes its keys by a member `keys`, or by an
 * overload of GetKeys(const T&); without either there are none. Choose<T>() finds the alternative,
 * checks the keys and adds the defaults. The same descriptions make the help and the JSON of
 * `--describe`.
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
 * Description of a value that comes first and needs no key.
 */
struct FirstValue
{
    std::string name;     ///< for help, such as 4x4 or PATH
    std::string help;     ///< one line
    bool isWhole{false};  ///< whether it is everything behind the colon, commas included
    bool required{false}; ///< whether it must be given
    std::function<bool(const std::string&)> accepts; ///< condition, or empty: any text
};

/**
 * @ingroup distributed-training-key-values
 * A choice as the user has written it, split into its parts.
 */
class KeyValues
{
  public:
    /** No name and no values. */
    KeyValues() = default;

    /**
     * @param text NAME, NAME:key=value,... or NAME:FIRST,key=value,...; a name may contain "::"
     * @return its parts, unchecked
     */
    static KeyValues Split(const std::string& text);

    /**
     * Checks the values against descriptions and adds the defaults.
     * @param kind word for messages
     * @param keys descriptions of the keys allowed
     * @param first description of the value that comes first; none: there is none
     * @throw ConfigurationError that names the text, the part that is wrong, and what is allowed
     */
    void Check(const std::string& kind,
               const std::vector<Key>& keys,
               const std::optional<FirstValue>& first = std::nullopt);

    /** @return the text as written */
    const std::string& GetSpelling() const;

    /** @return name of the alternative */
    const std::string& GetName() const;

    /** @return the value without a key; empty if none was given */
    const std::string& GetFirst() const;

    /**
     * @param key name of a key
     * @return whether the user has given it
     */
    bool IsGiven(const std::string& key) const;

    /** @return names of the keys that the user has given, sorted */
    std::vector<std::string> GetGiven() const;

    /**
     * @param key name of a key
     * @return whether it has a value, given or by default
     */
    bool Has(const std::string& key) const;

    /**
     * @param key name of a key that has a value
     * @return its value as text
     */
    const std::string& GetText(const std::string& key) const;

    /**
     * @param key name of a key of type COUNT
     * @return its value
     */
    uint64_t GetCount(const std::string& key) const;

    /**
     * @param key name of a key of type NUMBER
     * @return its value
     */
    double GetNumber(const std::string& key) const;

    /**
     * @param key name of a key of type BYTES
     * @return its value, bytes
     */
    uint64_t GetBytes(const std::string& key) const;

    /**
     * @param key name of a key of type RATE
     * @return its value
     */
    DataRate GetRate(const std::string& key) const;

    /**
     * @param key name of a key of type TIME
     * @return its value
     */
    Time GetTime(const std::string& key) const;

    /**
     * @param key name of a key of type BOOLEAN
     * @return its value
     */
    bool GetBoolean(const std::string& key) const;

    /**
     * @param keys descriptions, as for Check(); those without attribute are left out
     * @return the attributes that the user has chosen by keys; defaults are left to the objects
     */
    AttributeList GetAttributes(const std::vector<Key>& keys) const;

  private:
    std::string m_text;                          // as written
    std::string m_name;                          // before the colon
    std::vector<std::string> m_parts;            // behind it, separated by commas
    std::string m_first;                         // the value without a key
    std::map<std::string, std::string> m_given;  // by key
    std::map<std::string, std::string> m_values; // by key, with defaults
};

/** @cond whether the alternatives of a kind have a member `keys` */
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
 * @return descriptions of its keys: its member `keys`, or none; overload it for others
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
 * @return description of the value that comes first; overload it for kinds that have one
 */
template <class T>
std::optional<FirstValue>
GetFirstValue(const T&)
{
    return std::nullopt;
}

/**
 * @ingroup distributed-training-key-values
 * @return further lines of help, such as operations and constraints; overload it for kinds that
 *         have some
 */
template <class T>
std::vector<std::string>
GetNotes(const T&)
{
    return {};
}

/** @ingroup distributed-training-key-values An alternative that was found, and its values. */
template <class T>
struct Choice
{
    const T* entry;   ///< the alternative
    KeyValues values; ///< checked, with defaults
};

/**
 * @ingroup distributed-training-key-values
 * @tparam T a kind, see Registry
 * @param text NAME:key=value,...
 * @return the alternative and its values
 * @throw ConfigurationError if there is no such alternative or a value is wrong
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

/** @ingroup distributed-training-key-values An alternative as help and JSON show it. */
struct AlternativeDescription
{
    std::string name;                ///< what a user types
    std::string help;                ///< one line
    std::vector<std::string> notes;  ///< further lines
    std::vector<Key> keys;           ///< its keys
    std::optional<FirstValue> first; ///< the value that comes first
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
