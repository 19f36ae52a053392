/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TYPED_OPTIONS_H
#define DISTRIBUTED_TRAINING_TYPED_OPTIONS_H

#include "program-description.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/training-key-values.h"
#include "ns3/training-output-file.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Options of a program, bound to variables of their types. An option's default is the value of its
 * variable when the option is added.
 */
class TypedOptions
{
  public:
    /**
     * Starts a group of options in the help.
     * @param title its title
     */
    void Group(const std::string& title);

    /**
     * Adds an option whose value remains text.
     * @param key the option's name, without dashes, its type, its help and the allowed values
     * @param value receives the value; its default
     */
    void Add(const Key& key, std::string& value);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value receives the value, which is not empty; its default may be
     */
    void AddString(const std::string& name, const std::string& help, std::string& value);

    /**
     * Adds an option for a file that the program writes. Parse() refuses a file that cannot be
     * written, a file of another kind, and a file that another option names, too.
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value receives the path; empty: none; RESULTS: - for standard output
     * @param kind what the program writes
     */
    void AddOutput(const std::string& name,
                   const std::string& help,
                   std::string& value,
                   OutputKind kind);

    /**
     * Adds the option --json for the results.
     * @param value receives the file, or - for standard output; empty: none
     */
    void AddJson(std::string& value);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value receives the value; its default
     * @param allowed the allowed values
     */
    void AddChoice(const std::string& name,
                   const std::string& help,
                   std::string& value,
                   const std::vector<std::string>& allowed);

    /**
     * Adds an option that selects a named alternative of a kind, with the alternative's keys:
     * `--name=ALTERNATIVE:key=value,...`. An unknown alternative or an invalid key is refused.
     * @param name the option's name, without dashes
     * @param kind name of the kind, lower case, words joined by dashes
     * @param help its meaning, one line
     * @param value receives the value as written; its default
     * @param list lists the alternatives; may join several registries
     * @param otherwise description of further allowed values, such as "a CSV file"; the program
     *        checks them. Empty: none
     */
    void AddKind(const std::string& name,
                 const std::string& kind,
                 const std::string& help,
                 std::string& value,
                 const AlternativeLister& list,
                 const std::string& otherwise = "");

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value receives the value; its default
     * @param min minimum value
     * @param max maximum value, up to 2^53
     */
    void AddUnsigned(const std::string& name,
                     const std::string& help,
                     uint64_t& value,
                     uint64_t min,
                     uint64_t max);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value receives the value; its default
     * @param min minimum value
     * @param max maximum value
     */
    void AddDouble(const std::string& name,
                   const std::string& help,
                   double& value,
                   double min,
                   double max);

    /**
     * The option without a value means true.
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value receives the value; its default
     */
    void AddBool(const std::string& name, const std::string& help, bool& value);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value receives the value; its default
     */
    void AddRate(const std::string& name, const std::string& help, DataRate& value);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value receives the value; its default
     */
    void AddTime(const std::string& name, const std::string& help, Time& value);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value receives the value; its default
     * @param min minimum value, bytes
     * @param max maximum value, bytes
     */
    void AddBytes(const std::string& name,
                  const std::string& help,
                  uint64_t& value,
                  uint64_t min = 0,
                  uint64_t max = std::numeric_limits<int64_t>::max());

    /**
     * Adds an option for a number or size that is automatic by default: the text "auto" means the
     * value 0.
     * @param key the option's name, without dashes, type COUNT or BYTES, help, minimum and maximum
     * @param value receives the value; its default
     */
    void AddAutomatic(Key key, uint64_t& value);

    /**
     * Adds an option for a number that is automatic by default.
     * @param key the option's name, without dashes, type COUNT, help, minimum and maximum
     * @param value receives the value, none with the text "auto"; its default
     */
    void AddAutomatic(Key key, std::optional<uint64_t>& value);

    /**
     * Adds an option that may be given several times. Its value as text is joined by ";".
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param values receives the values; the default
     * @param form of a value NAME:key=value,...; none: another text
     */
    void AddList(const std::string& name,
                 const std::string& help,
                 std::vector<std::string>& values,
                 const std::optional<AlternativeDescription>& form = std::nullopt);

    /**
     * @param name an option
     * @return whether it was on the command line
     */
    bool IsGiven(const std::string& name) const;

  protected:
    /** An option. */
    struct Option
    {
        OptionDescription description;               ///< its name, its type, the allowed values
        bool isGiven;                                ///< whether it was on the command line
        std::function<void(const std::string&)> set; ///< sets the value from valid text
        std::function<std::string()> get;            ///< the value as text
        std::function<void()> clear;                 ///< of a list: removes all values
        std::optional<OutputKind> output;            ///< content of a file that is written
    };

    /** @param option an option @param text its new value, or of a list one more */
    static void Set(Option& option, const std::string& text);

    /** @param name a name @return the option of that name, or nullptr */
    const Option* Find(const std::string& name) const;
    /** @copydoc Find(const std::string&) const */
    Option* Find(const std::string& name);

    /** @return all options in the order of addition */
    const std::vector<Option>& GetOptions() const
    {
        return m_options;
    }

  private:
    /**
     * @param key its name, type, help and limits; the default is added
     * @param set sets the value from valid text
     * @param get returns the value as text
     * @return the new option
     */
    Option& AddOption(const Key& key,
                      std::function<void(const std::string&)> set,
                      std::function<std::string()> get);

    /**
     * @param option an option NAME:key=value,...
     * @param text a value
     * @throw ConfigurationError if the alternative is unknown or a key is invalid
     */
    static void CheckAlternative(const OptionDescription& option, const std::string& text);

    std::string m_group{"Options"}; // title of the current group
    std::vector<Option> m_options;  // in the order of addition
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TYPED_OPTIONS_H
