/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "program-options.h"

#include "session.h"
#include "value-suggestion.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>
#include <unistd.h>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingProgramOptions");

namespace
{

/** @return the texts between semicolons */
std::vector<std::string>
SplitList(const std::string& text)
{
    std::vector<std::string> items;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ';');)
    {
        items.push_back(item);
    }
    return items;
}

/** @return existing files that the value of an option may name: items, and those after file: or @
 */
std::vector<std::string>
GetFiles(const OptionDescription& option, const std::string& text)
{
    std::vector<std::string> files;
    if (option.key.type != Key::Type::TEXT)
    {
        return files;
    }
    const auto add = [&files](const std::string& path) {
        if (access(path.c_str(), F_OK) == 0)
        {
            files.push_back(path);
        }
    };
    std::vector<AlternativeDescription> alternatives;
    if (option.list)
    {
        alternatives = option.list();
    }
    for (const std::string& item : SplitList(text))
    {
        const auto prefix = item.find_first_of(":@");
        if (prefix != std::string::npos)
        {
            add(item.substr(prefix + 1));
        }
        if (std::none_of(alternatives.begin(), alternatives.end(), [&](const auto& alternative) {
                return alternative.name == item.substr(0, prefix);
            }))
        {
            add(item);
        }
    }
    return files;
}

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
      m_group("Options"),
      m_ns3Arguments(program)
{
    NS_LOG_FUNCTION(this << program);
    Session::Begin(program);
}

void
ProgramOptions::Group(const std::string& title)
{
    m_group = title;
}

ProgramOptions::Option&
ProgramOptions::AddOption(const Key& key,
                          std::function<void(const std::string&)> set,
                          std::function<std::string()> get)
{
    NS_ABORT_MSG_IF(Find(key.name), "option --" << key.name << " added twice");
    Option option{{}, false, std::move(set), std::move(get), {}, {}};
    option.description.group = m_group;
    option.description.key = key;
    option.description.key.initial = option.get();
    m_options.push_back(std::move(option));
    return m_options.back();
}

void
ProgramOptions::Add(const Key& key, std::string& value)
{
    AddOption(
        key,
        [&value](const std::string& text) { value = text; },
        [&value] { return value; });
}

void
ProgramOptions::AddString(const std::string& name, const std::string& help, std::string& value)
{
    Key key = Key::Of(name, Key::Type::TEXT, "", help);
    key.range = "text that is not empty";
    Add(key, value);
}

void
ProgramOptions::AddOutput(const std::string& name,
                          const std::string& help,
                          std::string& value,
                          OutputKind kind)
{
    AddString(name, help, value);
    m_options.back().output = kind;
}

void
ProgramOptions::AddJson(std::string& value)
{
    AddOutput("json",
              "file for the results as JSON, or - for standard output",
              value,
              OutputKind::RESULTS);
}

void
ProgramOptions::AddChoice(const std::string& name,
                          const std::string& help,
                          std::string& value,
                          const std::vector<std::string>& allowed)
{
    Add(Key::Word(name, "", allowed, help), value);
}

void
ProgramOptions::AddKind(const std::string& name,
                        const std::string& kind,
                        const std::string& help,
                        std::string& value,
                        const AlternativeLister& list,
                        const std::string& otherwise)
{
    Add(Key::Of(name, Key::Type::TEXT, "", help), value);
    OptionDescription& description = m_options.back().description;
    description.kind = kind;
    description.list = list;
    description.otherwise = otherwise;
}

void
ProgramOptions::AddUnsigned(const std::string& name,
                            const std::string& help,
                            uint64_t& value,
                            uint64_t min,
                            uint64_t max)
{
    AddOption(
        Key::Count(name, value, min, max, help),
        [&value](const std::string& text) { value = ParseUnsigned(text).value(); },
        [&value] { return std::to_string(value); });
}

void
ProgramOptions::AddDouble(const std::string& name,
                          const std::string& help,
                          double& value,
                          double min,
                          double max)
{
    AddOption(
        Key::Number(name, value, min, max, help),
        [&value](const std::string& text) { value = ParseDouble(text).value(); },
        [&value] { return FormatDouble(value); });
}

void
ProgramOptions::AddBool(const std::string& name, const std::string& help, bool& value)
{
    AddOption(
        Key::Of(name, Key::Type::BOOLEAN, "", help),
        [&value](const std::string& text) { value = text == "true"; },
        [&value] { return std::string(value ? "true" : "false"); });
}

void
ProgramOptions::AddRate(const std::string& name, const std::string& help, DataRate& value)
{
    AddOption(
        Key::Of(name, Key::Type::RATE, "", help),
        [&value](const std::string& text) { value = ParseRate(text).value(); },
        [&value] { return FormatRate(value); });
}

void
ProgramOptions::AddTime(const std::string& name, const std::string& help, Time& value)
{
    AddOption(
        Key::Of(name, Key::Type::TIME, "", help),
        [&value](const std::string& text) { value = ParseTime(text).value(); },
        [&value] { return FormatTime(value); });
}

void
ProgramOptions::AddBytes(const std::string& name,
                         const std::string& help,
                         uint64_t& value,
                         uint64_t min,
                         uint64_t max)
{
    Key key = Key::Of(name, Key::Type::BYTES, "", help);
    key.min = static_cast<double>(min);
    if (max < static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    {
        key.max = static_cast<double>(max);
    }
    AddOption(
        key,
        [&value](const std::string& text) { value = ParseBytes(text).value(); },
        [&value] { return FormatBytes(value); });
}

void
ProgramOptions::AddAutomatic(Key key, uint64_t& value)
{
    key.words = {"auto"};
    AddOption(
        key,
        [&value](const std::string& text) { value = ParseBytes(text).value_or(0); },
        [&value, type = key.type] {
            return value == 0                 ? "auto"
                   : type == Key::Type::BYTES ? FormatBytes(value)
                                              : std::to_string(value);
        });
}

void
ProgramOptions::AddList(const std::string& name,
                        const std::string& help,
                        std::vector<std::string>& values,
                        const std::optional<AlternativeDescription>& form)
{
    Key key = Key::Of(name, Key::Type::TEXT, "", help);
    key.range = "texts that are not empty, separated by ;";
    key.accepts = [](const std::string& text) {
        const auto items = SplitList(text);
        return std::find(items.begin(), items.end(), "") == items.end();
    };
    Option& option = AddOption(
        key,
        [&values](const std::string& text) {
            const auto items = SplitList(text);
            values.insert(values.end(), items.begin(), items.end());
        },
        [&values] {
            std::string text;
            for (const auto& value : values)
            {
                text += (text.empty() ? "" : ";") + value;
            }
            return text;
        });
    option.description.isList = true;
    option.description.form = form;
    option.clear = [&values] { values.clear(); };
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

const ProgramOptions::Option*
ProgramOptions::Find(const std::string& name) const
{
    const auto found =
        std::find_if(m_options.begin(), m_options.end(), [&name](const Option& option) {
            return option.description.key.name == name;
        });
    return found == m_options.end() ? nullptr : &*found;
}

ProgramOptions::Option*
ProgramOptions::Find(const std::string& name)
{
    return const_cast<Option*>(std::as_const(*this).Find(name));
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
ProgramOptions::Parse(const std::vector<std::string>& arguments)
{
    NS_LOG_FUNCTION(this << arguments.size());
    TakeEnvironment();
    LoadExtensions(arguments);
    const auto hasOption = [this](const std::string& name) { return Find(name) != nullptr; };
    std::set<std::string> begun; // lists already started on this command line
    for (const auto& argument : arguments)
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
        CheckRenamed(name, value);
        Option* option = Find(name);
        if (!option)
        {
            if (!m_ns3Arguments.Parse(name, value, hasValue, hasOption))
            {
                throw ConfigurationError("unknown option --" + name + SuggestName(name));
            }
            continue;
        }
        const OptionDescription& description = option->description;
        const bool isFlag = description.key.type == Key::Type::BOOLEAN && !hasValue;
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
        Set(*option, text);
    }
    CheckOutputs();
}

void
ProgramOptions::Set(Option& option, const std::string& text)
{
    const OptionDescription& description = option.description;
    const std::string& name = description.key.name;
    if (!description.key.Allows(text))
    {
        throw ConfigurationError("--" + name + "=" + text +
                                 " (allowed: " + description.GetAllowed() + ")");
    }
    if (description.list)
    {
        CheckAlternative(description, text);
    }
    NS_LOG_INFO("sets --" << name << "=" << text);
    option.set(description.key.ToPlain(text));
    option.isGiven = true;
}

void
ProgramOptions::Set(const std::string& name, const std::string& text)
{
    Option* option = Find(name);
    if (!option)
    {
        throw ConfigurationError("unknown option --" + name + SuggestName(name));
    }
    Set(*option, text);
}

void
ProgramOptions::CheckOutputs() const
{
    for (const Option& option : m_options)
    {
        const std::string& name = option.description.key.name;
        const std::string path = option.output ? option.get() : "";
        if (path.empty() || (path == "-" && option.output == OutputKind::RESULTS))
        {
            continue;
        }
        for (const Option& other : m_options)
        {
            const auto names = other.output ? std::vector<std::string>{other.get()}
                                            : GetFiles(other.description, other.get());
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
            CheckOutputFile(path, *option.output);
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
        Group("Extensions");
        AddList("extension",
                "shared library that adds alternatives; may be given several times",
                m_extensions);
        m_options.back().clear = [] {}; // extensions of the environment stay loaded
    }
    m_ns3Arguments.ParseEnvironment(
        [this](const std::string& name) { return Find(name) != nullptr; });
}

void
ProgramOptions::LoadExtensions(const std::vector<std::string>& arguments)
{
    static const std::string PREFIX = "--extension=";
    for (const std::string& argument : arguments)
    {
        if (argument.compare(0, PREFIX.size(), PREFIX) == 0)
        {
            for (const std::string& file : SplitList(argument.substr(PREFIX.size())))
            {
                Session::LoadExtension(file);
            }
        }
    }
}

void
ProgramOptions::CheckAlternative(const OptionDescription& option, const std::string& text)
{
    KeyValues values = KeyValues::Split(text);
    std::vector<std::string> names;
    for (const AlternativeDescription& alternative : option.list())
    {
        if (alternative.name != values.GetName())
        {
            names.push_back(alternative.name);
            continue;
        }
        const std::string refusal = values.Read(alternative.keys, alternative.first);
        if (!refusal.empty())
        {
            throw ConfigurationError("--" + option.key.name + "=" + text + refusal);
        }
        return;
    }
    if (option.otherwise.empty())
    {
        throw ConfigurationError("--" + option.key.name + "=" + text +
                                 SuggestNearest(values.GetName(), names) +
                                 " (allowed: " + option.GetAllowed() + ")");
    }
}

void
ProgramOptions::CheckRenamed(const std::string& name, const std::string& value) const
{
    const std::string alternative = name + "=" + KeyValues::Split(value).GetName();
    const auto renamed =
        std::find_if(m_renamed.begin(), m_renamed.end(), [&](const RenamedOption& former) {
            return former.name == name || former.name == alternative;
        });
    if (renamed == m_renamed.end())
    {
        return;
    }
    std::string spelling = renamed->spelling;
    const std::string placeholder = "VALUE";
    const auto position = spelling.find(placeholder);
    if (position != std::string::npos)
    {
        spelling.replace(position, placeholder.size(), value.empty() ? "..." : value);
    }
    throw ConfigurationError("--" + name + (value.empty() ? "" : "=" + value) + ": written as " +
                             spelling + " (allowed: see --help=" + renamed->help + ")");
}

std::string
ProgramOptions::SuggestName(const std::string& name) const
{
    std::vector<std::string> names{"help", "describe", "RngRun", "RngSeed", "SchedulerType"};
    for (const Option& option : m_options)
    {
        names.push_back(option.description.key.name);
    }
    return SuggestNearest(name, names, "--") + " (allowed: see --help)";
}

std::vector<ProgramOptions::Value>
ProgramOptions::Values() const
{
    std::vector<Value> values;
    for (const Option& option : m_options)
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
    for (const Option& option : m_options)
    {
        object.Set(option.description.key.name, ToJsonValue(option.description.key, option.get()));
    }
    // The last value of a repeated ns-3 argument counts, because a JSON object has each name once.
    std::vector<std::pair<std::string, std::string>> last;
    for (const auto& argument : m_ns3Arguments.GetGiven())
    {
        last.erase(std::remove_if(last.begin(),
                                  last.end(),
                                  [&](const auto& other) { return other.first == argument.first; }),
                   last.end());
        last.push_back(argument);
    }
    for (const auto& [name, text] : last)
    {
        object.Set(name, text);
    }
    return object;
}

bool
ProgramOptions::IsGiven(const std::string& name) const
{
    const Option* option = Find(name);
    return option && option->isGiven;
}

ProgramDescription
ProgramOptions::Describe() const
{
    ProgramDescription description{m_program, m_description, {}, m_renamed, m_members};
    for (const Option& option : m_options)
    {
        description.options.push_back(option.description);
    }
    return description;
}

} // namespace ns3::training
