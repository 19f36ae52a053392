/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "program-options.h"

#include "options/command-line-words.h"
#include "options/configuration-file.h"
#include "options/log-levels.h"
#include "options/named-files.h"
#include "options/value-suggestion.h"
#include "session.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/result-store.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingProgramOptions");

namespace
{

/// File of --save-config, and its content.
struct
{
    std::string path;
    std::string text;
} g_saved;

/** Exits the program after printing help. */
[[noreturn]] void
EndProgram()
{
    std::cout.flush();
    std::exit(0);
}

} // namespace

ProgramOptions::ProgramOptions(const std::string& program, const std::string& description)
    : m_program(program),
      m_description(description),
      m_ns3Arguments(program)
{
    NS_LOG_FUNCTION(this << program);
    Session::Begin(program);
}

void
ProgramOptions::AddRenamed(const std::string& name,
                           const std::string& spelling,
                           const std::string& help)
{
    m_renamed.push_back({name, spelling, help});
}

void
ProgramOptions::AddToDescription(const std::string& name, const JsonValue& value)
{
    m_members.emplace_back(name, value);
}

void
ProgramOptions::Reserve(const std::string& attribute, const std::string& option)
{
    m_ns3Arguments.Reserve(attribute, option);
}

void
ProgramOptions::Parse(int argc, char* argv[])
{
    Parse(argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>());
}

void
ProgramOptions::Parse(const std::vector<std::string>& words)
{
    NS_LOG_FUNCTION(this << words.size());
    TakeEnvironment();
    const std::vector<std::string> arguments = JoinValues(words, [this](const std::string& name) {
        const Option* option = Find(name);
        return option ? &option->description.key : nullptr;
    });
    std::vector<ConfiguredArgument> configured;
    for (const std::string& file : GetValues("--config=", arguments))
    {
        const auto more = ReadConfiguration(file);
        configured.insert(configured.end(), more.begin(), more.end());
    }
    std::set<std::string> begun; // lists already started
    for (const auto& [argument, place] : configured)
    {
        try
        {
            LoadExtensions({argument});
            Take(argument, begun);
        }
        catch (const ConfigurationError& error)
        {
            throw ConfigurationError(place + ": " + error.what());
        }
    }
    begun.clear(); // the command line prevails
    LoadExtensions(arguments);
    for (const auto& argument : arguments)
    {
        Take(argument, begun);
    }
    for (const auto& preset : m_presets)
    {
        preset();
    }
    m_given = ListGiven();
    CheckEndings();
    CheckOutputs();
    for (const std::string& log : m_logs)
    {
        EnableLog(log);
    }
    if (!m_savedConfiguration.empty())
    {
        g_saved = {m_savedConfiguration, FormatGiven()};
    }
}

void
ProgramOptions::Take(const std::string& argument, std::set<std::string>& begun)
{
    if (argument.compare(0, 2, "--") != 0)
    {
        const auto first = argument.find_first_not_of('-');
        const std::string bare = first == std::string::npos ? "" : argument.substr(first);
        throw ConfigurationError(
            "unexpected argument '" + argument + "'" +
            FormatSuggestion(Find(bare.substr(0, bare.find('='))) ? bare : "", "--") +
            " (allowed: options written as --name=value; --help lists "
            "them)");
    }
    const auto equals = argument.find('=');
    const bool hasValue = equals != std::string::npos;
    const std::string name = argument.substr(2, hasValue ? equals - 2 : equals);
    const std::string value = hasValue ? argument.substr(equals + 1) : "";
    if (name == "help" && hasValue)
    {
        Describe().PrintDetails(value, std::cout);
        EndProgram();
    }
    if ((name == "version" || name == "PrintVersion") && !hasValue)
    {
        std::cout << DescribeVersion() << "\n";
        EndProgram();
    }
    if (name == "help" || name == "PrintHelp")
    {
        Describe().PrintOverview(std::cout);
        EndProgram();
    }
    if (name == "describe")
    {
        if (value != "json")
        {
            throw ConfigurationError(argument + " (allowed: --describe=json)");
        }
        std::cout << Describe().ToJson().Write(2) << "\n";
        EndProgram();
    }
    for (const RenamedOption& former : m_renamed)
    {
        former.Check(name, value);
    }
    Option* option = Find(name);
    if (!option)
    {
        const auto hasOption = [this](const std::string& other) { return Find(other) != nullptr; };
        if (!m_ns3Arguments.Parse(name, value, hasValue, hasOption))
        {
            throw ConfigurationError("unknown option --" + name + SuggestName(name));
        }
        return;
    }
    const OptionDescription& description = option->description;
    const bool isFlag = IsFlag(description.key) && !hasValue;
    const std::string text = isFlag ? "true" : value;
    if (!hasValue && !description.key.Allows(text))
    {
        throw ConfigurationError("--" + name +
                                 " without value (allowed: " + description.GetAllowed() + ")");
    }
    if (description.isList && begun.insert(name).second)
    {
        option->clear();
    }
    TypedOptions::Set(*option, text);
}

void
ProgramOptions::SaveConfiguration()
{
    if (!g_saved.path.empty())
    {
        WriteOutputFile(g_saved.path, g_saved.text);
    }
}

std::string
ProgramOptions::FormatGiven() const
{
    std::string text = "# Options of " + m_program + ", of " + DescribeVersion() + "\n";
    for (const Option& option : GetOptions())
    {
        const Key& key = option.description.key;
        if (!option.isGiven || key.name == "config" || key.name == "save-config")
        {
            continue;
        }
        const std::string value = option.get();
        const bool isNumber = key.type == Key::Type::COUNT && ParseUnsigned(value);
        text += FormatConfiguration(key.name,
                                    option.description.isList ? SplitList(value)
                                                              : std::vector<std::string>{value},
                                    isNumber || key.type == Key::Type::BOOLEAN);
    }
    for (const auto& [name, value] : m_ns3Arguments.GetLast())
    {
        text += FormatConfiguration(name, {value}, false);
    }
    return text;
}

void
ProgramOptions::AddPreset(const std::string& name,
                          const std::function<std::vector<Value>(const std::string& text)>& values,
                          std::string* note)
{
    m_presets.emplace_back([this, name, values, note] {
        if (!IsGiven(name))
        {
            return;
        }
        for (const Value& value : values(Find(name)->get()))
        {
            Option* option = Find(value.name);
            if (option && !option->isGiven)
            {
                try
                {
                    TypedOptions::Set(*option, value.text);
                }
                catch (const ConfigurationError& error)
                {
                    throw ConfigurationError("--" + name + "=" + Find(name)->get() + ": " +
                                             error.what());
                }
                option->isGiven = false;
                if (note)
                {
                    *note += (note->empty() || note->back() == ' ' ? "" : ", ") + value.name + "=" +
                             value.text;
                }
            }
        }
    });
}

void
ProgramOptions::Set(const std::string& name, const std::string& text)
{
    Option* option = Find(name);
    if (!option)
    {
        throw ConfigurationError("unknown option --" + name + SuggestName(name));
    }
    TypedOptions::Set(*option, text);
}

void
ProgramOptions::AddEnding(const std::string& name, const std::set<std::string>& written)
{
    m_endings[name] = written;
    m_endings[name].insert({name, "save-config"});
}

void
ProgramOptions::CheckEndings() const
{
    for (const auto& [name, written] : m_endings)
    {
        const std::string value = Find(name)->get();
        for (const Option& option : GetOptions())
        {
            const std::string& other = option.description.key.name;
            const bool isOutput = option.output || other == "pcap";
            if (!value.empty() && value != "false" && isOutput && !option.get().empty() &&
                written.count(other) == 0)
            {
                throw ConfigurationError("--" + name + " with --" + other +
                                         " (allowed: without, as nothing is simulated)");
            }
        }
    }
}

void
ProgramOptions::CheckOutputs() const
{
    for (const Option& option : GetOptions())
    {
        const std::string& name = option.description.key.name;
        const std::string path = option.output ? option.get() : "";
        if (path.empty() || (path == "-" && option.output == OutputKind::RESULTS))
        {
            continue;
        }
        for (const Option& other : GetOptions())
        {
            const auto names = other.output
                                   ? std::vector<std::string>{other.get()}
                                   : GetNamedFiles(other.description, SplitList(other.get()));
            if (&other != &option && std::any_of(names.begin(), names.end(), [&](const auto& file) {
                    return IsSameFile(path, file);
                }))
            {
                throw ConfigurationError("--" + name + "=" + path + ": --" +
                                         other.description.key.name +
                                         " names the same file (allowed: a file for each)");
            }
        }
        try
        {
            if (option.output == OutputKind::DATABASE)
            {
                ResultStore::Check(path);
            }
            else
            {
                CheckOutputFile(path, *option.output);
            }
        }
        catch (const ConfigurationError& error)
        {
            throw ConfigurationError("--" + name + ": " + error.what());
        }
    }
}

void
ProgramOptions::TakeEnvironment()
{
    const auto files = Session::LoadExtensionsOfEnvironment();
    if (!Find("extension"))
    {
        m_extensions = files;
        Group("Configuration");
        AddList("config",
                "TOML file with options, which those of the command line replace; may be given "
                "several times",
                m_configurations);
        AddOutput("save-config",
                  "file for the options that are given, which --config reads",
                  m_savedConfiguration,
                  OutputKind::CONFIGURATION);
        AddList("log",
                "COMPONENT=LEVEL: print what a log component of ns-3 reports, such as "
                "RdmaPacketMaker=logic; may be given several times",
                m_logs);
        Group("Extensions");
        AddList("extension",
                "shared library that adds alternatives; may be given several times",
                m_extensions);
        Find("extension")->clear = [] {}; // extensions of the environment stay loaded
    }
    m_ns3Arguments.ParseEnvironment(
        [this](const std::string& name) { return Find(name) != nullptr; });
}

void
ProgramOptions::LoadExtensions(const std::vector<std::string>& arguments)
{
    for (const std::string& file : GetValues("--extension=", arguments))
    {
        Session::LoadExtension(file);
    }
}

std::string
ProgramOptions::SuggestName(const std::string& name) const
{
    std::vector<std::string> names{"help", "describe", "RngRun", "RngSeed", "SchedulerType"};
    for (const Option& option : GetOptions())
    {
        names.push_back(option.description.key.name);
    }
    return SuggestNearest(name, names, "--") + " (allowed: see --help)";
}

std::vector<ProgramOptions::Value>
ProgramOptions::Values() const
{
    std::vector<Value> values;
    for (const Option& option : GetOptions())
    {
        values.push_back({option.description.key.name, option.get()});
    }
    for (const auto& [name, text] : m_ns3Arguments.GetGiven())
    {
        values.push_back({name, text});
    }
    return values;
}

JsonValue
ProgramOptions::ToJson() const
{
    auto object = JsonValue::Object();
    auto given = JsonValue::Array();
    for (const Option& option : GetOptions())
    {
        const Key& key = option.description.key;
        object.Set(key.name, ToJsonValue(key, option.get()));
    }
    for (const std::string& word : m_given.empty() ? ListGiven() : m_given)
    {
        given.Append(word);
    }
    for (const auto& [name, text] : m_ns3Arguments.GetLast())
    {
        object.Set(name, text);
        given.Append("--" + name + "=" + text);
    }
    return object.Set("given", given);
}

std::vector<std::string>
ProgramOptions::ListGiven() const
{
    std::vector<std::string> words;
    for (const Option& option : GetOptions())
    {
        const Key& key = option.description.key;
        if (!option.isGiven || option.output || key.name == "config")
        {
            continue;
        }
        const std::string value = option.get();
        for (const std::string& each :
             option.description.isList ? SplitList(value) : std::vector<std::string>{value})
        {
            words.push_back("--" + key.name + "=" + each);
        }
    }
    return words;
}

ProgramDescription
ProgramOptions::Describe() const
{
    ProgramDescription description{m_program, m_description, {}, m_renamed, m_members};
    for (const Option& option : GetOptions())
    {
        description.options.push_back(option.description);
    }
    return description;
}

} // namespace ns3::training
