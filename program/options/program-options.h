/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROGRAM_OPTIONS_H
#define DISTRIBUTED_TRAINING_PROGRAM_OPTIONS_H

#include "ns3-arguments.h"
#include "program-description.h"
#include "typed-options.h"

#include "ns3/training-json-writer.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-helper Helpers
 *
 * Classes that set up simulations, and common parts of the programs.
 */

/**
 * @ingroup distributed-training-helper
 *
 * The command line of a program: typed options `--name=value`, or `--name value`. It is stricter
 * than ns3::CommandLine, which parses "1x" as 1 and ends the program at a rate that it cannot
 * parse: a wrong argument throws a ConfigurationError that names the option, the value and the
 * allowed values.
 *
 * Options, limits and alternatives are data (ProgramDescription): `--help` or `-h` prints an
 * overview, `--help=WORD` the details of an option, a kind or an alternative, and
 * `--describe=json` everything as JSON.
 *
 * `--extension=FILE` loads a shared library with additional alternatives
 * (Session::LoadExtension()).
 *
 * ns-3's own arguments work as everywhere in ns-3: `--RngRun=2` and all other global values,
 * `--ns3::TypeName::Attribute=value` for defaults of attributes, and `--PrintAttributes=`,
 * `--PrintGlobals`, `--PrintGroup=`, `--PrintGroups`, `--PrintTypeIds`. `--version` prints
 * DescribeVersion().
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
class ProgramOptions : public TypedOptions
{
  public:
    /** The value of an option. */
    struct Value
    {
        std::string name; ///< the option's name, without dashes
        std::string text; ///< its value as text; Parse() reads exactly this value from it
    };

    /**
     * Begins the Session, because times are parsed with its resolution.
     * @param program name of the program
     * @param description its purpose, one or more lines
     */
    ProgramOptions(const std::string& program, const std::string& description);

    /** @return name of the program */
    const std::string& GetName() const
    {
        return m_program;
    }

    /**
     * Refuses a renamed option, or a renamed value of an option, with the new spelling.
     * @param name the former option's name without dashes, such as slots, or an option and its
     *        former alternative, such as collective=tree
     * @param spelling the new spelling; VALUE stands for the given value
     * @param help word of `--help=` that explains it
     */
    void AddRenamed(const std::string& name, const std::string& spelling, const std::string& help);

    /**
     * Lets an option end the program before anything is simulated. Beside it Parse() refuses the
     * outputs that it does not write.
     * @param name of the option: an output, or a flag
     * @param written outputs that it writes
     */
    void AddEnding(const std::string& name, const std::set<std::string>& written);

    /**
     * Lets an option set defaults of others: those that are not on the command line, when it is.
     * @param name of the option
     * @param values returns names and values of other options for its value; those that the program
     *        does not have are left out
     * @param note receives what was set, such as "rate=10Gbps, transport=tcp"; null: nobody
     */
    void AddPreset(const std::string& name,
                   const std::function<std::vector<Value>(const std::string& text)>& values,
                   std::string* note = nullptr);

    /**
     * Adds a member to the JSON of `--describe`.
     * @param name of the member
     * @param value its value
     */
    void AddToDescription(const std::string& name, const JsonValue& value);

    /**
     * Refuses an attribute that the program sets itself, because a user's value would have no
     * effect.
     * @param attribute its full name, such as ns3::training::RdmaNic::Mtu
     * @param option name of the option that sets it, without dashes; if there is no such option,
     *        other options determine the attribute
     */
    void Reserve(const std::string& attribute, const std::string& option = "");

    /**
     * Takes what the environment says, as Parse() does first: extensions, and ns-3's global values
     * and attributes.
     * @throw ConfigurationError if it is wrong
     */
    void TakeEnvironment();

    /** @throw ConfigurationError if a file cannot be written or would destroy another one */
    void CheckOutputs() const;

    /**
     * Parses the command line. `--help`, `--describe=json` and ns-3's `--Print...` print and end
     * the program with exit status 0. The last value of a repeated option counts, except for lists.
     * Global values and attribute defaults of ns-3 are set immediately.
     * @param argc number of arguments, including the program's name
     * @param argv the arguments
     * @throw ConfigurationError at the first invalid argument
     */
    void Parse(int argc, char* argv[]);

    /**
     * @param words the arguments, without the program's name
     * @throw ConfigurationError as Parse(int, char**)
     */
    void Parse(const std::vector<std::string>& words);

    /**
     * Sets an option that comes from elsewhere, such as a file; a list gets one more value.
     * @param name an option of the program
     * @param text its value
     * @throw ConfigurationError as Parse(), with the option's spelling on the command line
     */
    void Set(const std::string& name, const std::string& text);

    /**
     * Writes the file of `--save-config`, if there is one: the options that Parse() was given.
     * @throw std::runtime_error if it cannot be written
     */
    static void SaveConfiguration();

    /** @return all options in the order of addition, then ns-3's arguments as given */
    std::vector<Value> Values() const;

    /**
     * The configuration, for the record of a run: one member per option. Whole numbers, sizes (in
     * bytes), numbers and booleans have these JSON types, the rest are strings. The list `given`
     * has the words of the command line that repeat the run, without files that it writes.
     * @return an object
     */
    JsonValue ToJson() const;

    /** @return description of all options, with their defaults */
    ProgramDescription Describe() const;

  private:
    /**
     * Takes an argument of the command line, or of a file.
     * @param argument the argument
     * @param begun names of the lists that have begun, which the first value clears
     * @throw ConfigurationError if it is invalid
     */
    void Take(const std::string& argument, std::set<std::string>& begun);

    /** @throw ConfigurationError for outputs that an option of AddEnding() does not write */
    void CheckEndings() const;

    /** @return the options that were given, as a file that `--config` reads */
    std::string FormatGiven() const;

    /** @return words that repeat the run, without its files and those of ns-3 */
    std::vector<std::string> ListGiven() const;

    /**
     * Loads the extensions of the command line, before other arguments use their alternatives.
     * @param arguments the command line
     * @throw ConfigurationError as LoadExtension()
     */
    void LoadExtensions(const std::vector<std::string>& arguments);

    /** @param name an unknown name @return suggestion for the error message: a similar option */
    std::string SuggestName(const std::string& name) const;

    std::string m_program;                     // name of the program
    std::string m_description;                 // its purpose
    std::vector<std::string> m_extensions;     // shared libraries, all loaded
    std::vector<std::string> m_configurations; // files of options
    std::string m_savedConfiguration;          // file for the options that are given
    std::vector<std::string> m_logs;           // COMPONENT=LEVEL
    std::vector<std::string> m_given;          // as Parse() found them; programs change values
    std::vector<RenamedOption> m_renamed;      // former spellings, which are refused
    std::vector<std::pair<std::string, JsonValue>> m_members; // additional ones of --describe
    std::map<std::string, std::set<std::string>> m_endings; // options that end it, what they write
    std::vector<std::function<void()>> m_presets;           // set defaults of other options
    Ns3Arguments m_ns3Arguments;                            // those of ns-3
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRAM_OPTIONS_H
