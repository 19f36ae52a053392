/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROGRAM_OPTIONS_H
#define DISTRIBUTED_TRAINING_PROGRAM_OPTIONS_H

#include "ns3/data-rate.h"
#include "ns3/json-writer.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
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
 * What turns a configuration into a simulation.
 */

/**
 * @ingroup distributed-training-helper
 *
 * The command line of a program: typed options `--name=value`, each with help and with the value
 * its variable has when it is added as default. Stricter than ns3::CommandLine, which takes "1x"
 * for 1 and ends the program at a rate it cannot read: whatever is not entirely right is refused by
 * a ConfigurationError that names the option, the value and what is allowed.
 *
 * ns-3's own arguments work as everywhere in ns-3: `--RngRun=2` and all other global values,
 * `--ns3::TypeName::Attribute=value` for defaults of attributes, and `--PrintAttributes=`,
 * `--PrintGlobals`, `--PrintGroup=`, `--PrintGroups`, `--PrintTypeIds`, `--PrintVersion`.
 *
 * @code
 *   ProgramOptions options("training-job", "Trains a model on a simulated network.");
 *   options.Group("Job");
 *   options.AddUnsigned("ranks", "number of workers", ranks, 1, 65536);
 *   options.Parse(argc, argv);
 * @endcode
 */
class ProgramOptions
{
  public:
    /** Type of an option's value. */
    enum Kind
    {
        STRING,   ///< any text but the empty one
        CHOICE,   ///< one of some words
        UNSIGNED, ///< a whole number
        DOUBLE,   ///< a number
        BOOL,     ///< true or false
        RATE,     ///< a DataRate
        TIME,     ///< a Time
        BYTES,    ///< a size
        LIST,     ///< texts; each time the option is given adds one
        NS3       ///< one of ns-3's own arguments
    };

    /** The value of an option. */
    struct Value
    {
        std::string name; ///< the option's name, without dashes
        std::string text; ///< its value as text that Parse() reads as exactly that value
        Kind kind;        ///< its type
    };

    /**
     * Sets ns-3's time resolution to picoseconds (UsePicoseconds()), as times are read with it, and
     * makes BucketScheduler the default of --SchedulerType.
     * @param program name of the program
     * @param description what it does, one or more lines
     */
    ProgramOptions(const std::string& program, const std::string& description);

    /**
     * Begins a group of options in the help.
     * @param title its title
     */
    void Group(const std::string& title);

    /**
     * @param name the option's name, without dashes
     * @param help what it is, one line
     * @param value where to put it; its default
     */
    void AddString(const std::string& name, const std::string& help, std::string& value);

    /**
     * @param name the option's name, without dashes
     * @param help what it is, one line
     * @param value where to put it; its default
     * @param allowed the values there are
     */
    void AddChoice(const std::string& name,
                   const std::string& help,
                   std::string& value,
                   const std::vector<std::string>& allowed);

    /**
     * @param name the option's name, without dashes
     * @param help what it is, one line
     * @param value where to put it; its default
     * @param min least value allowed
     * @param max largest value allowed
     */
    void AddUnsigned(const std::string& name,
                     const std::string& help,
                     uint64_t& value,
                     uint64_t min = 0,
                     uint64_t max = std::numeric_limits<int64_t>::max());

    /**
     * @param name the option's name, without dashes
     * @param help what it is, one line
     * @param value where to put it; its default
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
     * @param help what it is, one line
     * @param value where to put it; its default
     */
    void AddBool(const std::string& name, const std::string& help, bool& value);

    /**
     * @param name the option's name, without dashes
     * @param help what it is, one line
     * @param value where to put it; its default
     */
    void AddRate(const std::string& name, const std::string& help, DataRate& value);

    /**
     * @param name the option's name, without dashes
     * @param help what it is, one line
     * @param value where to put it; its default
     */
    void AddTime(const std::string& name, const std::string& help, Time& value);

    /**
     * @param name the option's name, without dashes
     * @param help what it is, one line
     * @param value where to put it; its default
     * @param min least value allowed, bytes
     * @param max largest value allowed, bytes
     */
    void AddBytes(const std::string& name,
                  const std::string& help,
                  uint64_t& value,
                  uint64_t min = 0,
                  uint64_t max = std::numeric_limits<int64_t>::max());

    /**
     * An option that may be given several times. Its value as text separates them by ";".
     * @param name the option's name, without dashes
     * @param help what it is, one line
     * @param values where to put them; the default
     */
    void AddList(const std::string& name,
                 const std::string& help,
                 std::vector<std::string>& values);

    /**
     * Refuses an attribute that the program sets itself, which would be without effect.
     * @param attribute its full name, such as ns3::training::RdmaNic::Mtu
     * @param option the option that sets it, without dashes; it follows from others if the program
     *        has none of that name
     */
    void Reserve(const std::string& attribute, const std::string& option = "");

    /**
     * Reads the command line. `--help` and ns-3's `--Print...` print and end the program with exit
     * status 0. Of an option given twice the last value counts, but for lists. Global values and
     * attribute defaults of ns-3 are set at once.
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

    /** @param output where to print the help */
    void PrintHelp(std::ostream& output) const;

  private:
    /** An option. */
    struct Option
    {
        std::string group;                            ///< title of its group
        std::string name;                             ///< its name, without dashes
        std::string help;                             ///< what it is
        Kind kind;                                    ///< its type
        std::string allowed;                          ///< what is allowed, for messages
        std::string byDefault;                        ///< its default as text
        bool isGiven;                                 ///< whether it was on the command line
        std::function<bool(const std::string&)> read; ///< sets the value if the text is right
        std::function<std::string()> write;           ///< the value as text
        std::function<void()> clear;                  ///< of a list: takes all values away
    };

    /**
     * @param name the option's name
     * @param help what it is
     * @param kind its type
     * @param allowed what is allowed
     * @param read sets the value if the text is right
     * @param write the value as text
     */
    void Add(const std::string& name,
             const std::string& help,
             Kind kind,
             const std::string& allowed,
             std::function<bool(const std::string&)> read,
             std::function<std::string()> write);

    /** @param name a name @return the option of that name, or nullptr */
    const Option* Find(const std::string& name) const;

    /**
     * Handles one of ns-3's own arguments.
     * @param name its name
     * @param value its value
     * @param hasValue whether there was an equals sign
     * @return whether it is one
     */
    bool ParseNs3Argument(const std::string& name, const std::string& value, bool hasValue);

    /** @param name an unknown name @return the option it was perhaps meant to be, or nothing */
    std::string GetNearest(const std::string& name) const;

    std::string m_program;             ///< name of the program
    std::string m_description;         ///< what it does
    std::string m_group;               ///< title of the present group
    std::string m_sections;            ///< text behind the options in the help
    std::vector<Option> m_options;     ///< in the order they were added
    std::vector<Value> m_ns3Arguments; ///< ns-3's arguments as given
    /// Attributes that the program sets, and the options that set them.
    std::map<std::string, std::string> m_reserved;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRAM_OPTIONS_H
