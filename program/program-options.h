/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROGRAM_OPTIONS_H
#define DISTRIBUTED_TRAINING_PROGRAM_OPTIONS_H

#include "ns3-arguments.h"
#include "program-description.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-key-values.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-helper Helpers
 *
 * Classes that set up simulations, and the programs that run them.
 */

/**
 * @ingroup distributed-training-helper
 *
 * The command line of a program: typed options `--name=value`. An option's default is the value
 * that its variable has when the option is added. Stricter than ns3::CommandLine, which takes "1x"
 * for 1 and ends the program at a rate that it cannot read: a wrong argument is refused by a
 * ConfigurationError that names the option, the value and the values allowed.
 *
 * Options, limits and alternatives are data (ProgramDescription): `--help` prints an overview,
 * `--help=WORD` the details of an option, a kind or an alternative, and `--describe=json`
 * everything as JSON.
 *
 * `--extension=FILE` loads a shared library that adds alternatives (LoadExtension()).
 *
 * ns-3's own arguments work as everywhere in ns-3: `--RngRun=2` and all other global values,
 * `--ns3::TypeName::Attribute=value` for defaults of attributes, and `--PrintAttributes=`,
 * `--PrintGlobals`, `--PrintGroup=`, `--PrintGroups`, `--PrintTypeIds`, `--PrintVersion`.
 *
 * @code
 *   ProgramOptions options("training-job", "Trains a model on a simulated network.");
 *   options.Group("Job");
 *   options.AddUnsigned("ranks", "number of workers", ranks, 1, 65536);
 *   options.AddKind("topology",
 *                   "topology",
 *                   "links of hosts and switches",
 *                   topology,
 *                   &DescribeAlternatives<TopologyBuilder>);
 *   options.AddRenamed("slots", "--collective=SYSTEM:slots=VALUE", "collective");
 *   options.Parse(argc, argv);
 * @endcode
 */
class ProgramOptions
{
  public:
    /** The value of an option. */
    struct Value
    {
        std::string name; ///< the option's name, without dashes
        std::string text; ///< its value as text that Parse() reads as exactly that value
    };

    /**
     * Sets ns-3's time resolution to picoseconds (UsePicoseconds()), as times are read with it, and
     * makes BucketScheduler the default of --SchedulerType.
     * @param program name of the program
     * @param description its purpose, one or more lines
     */
    ProgramOptions(const std::string& program, const std::string& description);

    /**
     * Begins a group of options in the help.
     * @param title its title
     */
    void Group(const std::string& title);

    /**
     * Adds an option whose value stays text.
     * @param key the option's name, without dashes, its type, its help and the values allowed
     * @param value gets the value; its default
     */
    void Add(const Key& key, std::string& value);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value gets the value, which is not empty; its default, which may be
     */
    void AddString(const std::string& name, const std::string& help, std::string& value);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value gets the value; its default
     * @param allowed the values there are
     */
    void AddChoice(const std::string& name,
                   const std::string& help,
                   std::string& value,
                   const std::vector<std::string>& allowed);

    /**
     * Adds an option whose value is one of the named alternatives of a kind, with the alternative's
     * keys: `--name=ALTERNATIVE:key=value,...`. A value is refused if there is no such alternative
     * or its keys do not take it.
     * @param name the option's name, without dashes
     * @param kind word for the alternatives, lower case, words joined by dashes
     * @param help its meaning, one line
     * @param value gets the value as written; its default
     * @param list lists the alternatives; those of several registries may be joined
     * @param otherwise further values that are allowed, in words, such as "a CSV file"; the program
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
     * @param value gets the value; its default
     * @param min least value allowed
     * @param max largest value allowed, up to 2^53
     */
    void AddUnsigned(const std::string& name,
                     const std::string& help,
                     uint64_t& value,
                     uint64_t min,
                     uint64_t max);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value gets the value; its default
     * @param min least value allowed
     * @param max largest value allowed
     */
    void AddDouble(const std::string& name,
                   const std::string& help,
                   double& value,
                   double min,
                   double max);

    /**
     * The option alone means true.
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value gets the value; its default
     */
    void AddBool(const std::string& name, const std::string& help, bool& value);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value gets the value; its default
     */
    void AddRate(const std::string& name, const std::string& help, DataRate& value);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value gets the value; its default
     */
    void AddTime(const std::string& name, const std::string& help, Time& value);

    /**
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param value gets the value; its default
     * @param min least value allowed, bytes
     * @param max largest value allowed, bytes
     */
    void AddBytes(const std::string& name,
                  const std::string& help,
                  uint64_t& value,
                  uint64_t min = 0,
                  uint64_t max = std::numeric_limits<int64_t>::max());

    /**
     * Adds an option for a number or size that is chosen automatically by default: the text "auto"
     * stands for the value 0.
     * @param key the option's name, without dashes, type COUNT or BYTES, help, least and largest
     *        value
     * @param value gets the value; its default
     */
    void AddAutomatic(Key key, uint64_t& value);

    /**
     * Adds an option that may be given several times. Its value as text separates them by ";".
     * @param name the option's name, without dashes
     * @param help its meaning, one line
     * @param values get the values; the default
     */
    void AddList(const std::string& name,
                 const std::string& help,
                 std::vector<std::string>& values);

    /**
     * Refuses an option, or a value of an option, that was renamed, and names the new spelling.
     * @param name the former option's name without dashes, such as slots, or an option and the
     *        alternative that it no longer takes, such as collective=tree
     * @param spelling the new spelling; VALUE stands for the value that was given
     * @param help word of `--help=` that explains it
     */
    void AddRenamed(const std::string& name, const std::string& spelling, const std::string& help);

    /**
     * Adds a member to the JSON of `--describe`.
     * @param name of the member
     * @param value its value
     */
    void AddToDescription(const std::string& name, const JsonValue& value);

    /**
     * Refuses an attribute that the program sets itself, as a user's value would have no effect.
     * @param attribute its full name, such as ns3::training::RdmaNic::Mtu
     * @param option the option that sets it, without dashes; it follows from others if the program
     *        has none of that name
     */
    void Reserve(const std::string& attribute, const std::string& option = "");

    /**
     * Reads the command line. `--help`, `--describe=json` and ns-3's `--Print...` print and end the
     * program with exit status 0. If an option is given twice the last value counts, but for lists.
     * Global values and attribute defaults of ns-3 are set at once.
     * @param argc number of arguments, with the program's name
     * @param argv the arguments
     * @throw ConfigurationError at the first argument that is not right
     */
    void Parse(int argc, char* argv[]);

    /**
     * @param arguments the arguments, without the program's name
     * @throw ConfigurationError as Parse(int, char**)
     */
    void Parse(const std::vector<std::string>& arguments);

    /** @return all options in the order they were added, then ns-3's arguments as given */
    std::vector<Value> Values() const;

    /**
     * The configuration, for the record of a run: a member an option. Whole numbers and sizes (in
     * bytes), numbers and truth values are JSON numbers and truth values, the rest is text.
     * @return an object
     */
    JsonValue ToJson() const;

    /**
     * @param name an option
     * @return whether it was on the command line
     */
    bool IsGiven(const std::string& name) const;

    /**
     * Adds a section behind the options to the help.
     * @param title its title
     * @param rows what it explains, and the explanation
     */
    void AddSection(const std::string& title,
                    const std::vector<std::pair<std::string, std::string>>& rows);

    /** @return description of all options, with their defaults */
    ProgramDescription Describe() const;

  private:
    // An option.
    struct Option
    {
        OptionDescription description;               // its name, its type, the values allowed
        bool isGiven;                                // whether it was on the command line
        std::function<void(const std::string&)> set; // sets the value from text that is allowed
        std::function<std::string()> get;            // the value as text
        std::function<void()> clear;                 // of a list: takes all values away
    };

    /**
     * @param key its name, type, help and limits; the default is added
     * @param set sets the value from text that is allowed
     * @param get the value as text
     * @return the new option
     */
    Option& AddOption(const Key& key,
                      std::function<void(const std::string&)> set,
                      std::function<std::string()> get);

    /** @param name a name @return the option of that name, or nullptr */
    const Option* Find(const std::string& name) const;

    /**
     * Loads the extensions of the environment and of the command line, before other arguments name
     * what they add. Adds the option --extension.
     * @param arguments the command line
     * @throw ConfigurationError as LoadExtension()
     */
    void LoadExtensions(const std::vector<std::string>& arguments);

    /**
     * @param option an option NAME:key=value,...
     * @param text a value
     * @throw ConfigurationError if there is no such alternative or its keys do not take it
     */
    static void CheckAlternative(const OptionDescription& option, const std::string& text);

    /**
     * @param name an argument's name
     * @param value its value
     * @throw ConfigurationError if the argument was renamed
     */
    void CheckRenamed(const std::string& name, const std::string& value) const;

    /** @param name an unknown name @return text for the refusal: the option it may have meant */
    std::string SuggestName(const std::string& name) const;

    std::string m_program;                                    // name of the program
    std::string m_description;                                // its purpose
    std::string m_group;                                      // title of the present group
    std::string m_sections;                                   // text behind the options in the help
    std::vector<std::string> m_extensions;                    // shared libraries, all loaded
    std::vector<Option> m_options;                            // in the order they were added
    std::vector<RenamedOption> m_renamed;                     // former spellings, which are refused
    std::vector<std::pair<std::string, JsonValue>> m_members; // further ones of --describe
    Ns3Arguments m_ns3Arguments;                              // those of ns-3
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRAM_OPTIONS_H
