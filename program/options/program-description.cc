/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "program-description.h"

#include "options/value-suggestion.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace ns3::training
{

namespace
{

/// Maximum columns of the help.
constexpr std::size_t HELP_WIDTH = 100;

/** @return the words separated by ", " */
template <class Words>
std::string
Join(const Words& words)
{
    std::string joined;
    for (const std::string& word : words)
    {
        joined += (joined.empty() ? "" : ", ") + word;
    }
    return joined;
}

/**
 * @param text words separated by blanks
 * @param indent number of blanks before every line
 * @return lines of at most HELP_WIDTH columns
 */
std::string
Wrap(const std::string& text, std::size_t indent)
{
    std::string lines;
    std::string line(indent, ' ');
    std::istringstream stream(text);
    for (std::string word; stream >> word;)
    {
        if (line.size() > indent && line.size() + 1 + word.size() > HELP_WIDTH)
        {
            lines += line + "\n";
            line.assign(indent, ' ');
        }
        line += (line.size() > indent ? " " : "") + word;
    }
    return lines + line + "\n";
}

/**
 * @param head text of the left column
 * @param width of the left column
 * @param text text of the right column, wrapped
 * @return lines
 */
std::string
FormatRow(const std::string& head, std::size_t width, const std::string& text)
{
    std::string row = Wrap(text, width);
    row.replace(0, std::min(head.size(), width), head, 0, width);
    return row;
}

/** @return names of alternatives */
std::vector<std::string>
GetNames(const std::vector<AlternativeDescription>& alternatives)
{
    std::vector<std::string> names;
    for (const AlternativeDescription& alternative : alternatives)
    {
        names.push_back(alternative.name);
    }
    return names;
}

/** @return description of a key's type and limits, with the attribute that it sets */
std::string
FormatKeyNote(const Key& key)
{
    const std::string type = key.GetTypeName();
    return "(" + (key.type == Key::Type::COUNT || key.type == Key::Type::NUMBER ? type + " " : "") +
           key.GetAllowed() + (key.attribute.empty() ? "" : "; attribute " + key.attribute) + ")";
}

/** @return a key with its default */
std::string
FormatKey(const Key& key)
{
    return key.name + "=" + (key.initial.empty() ? "..." : key.initial);
}

/** @return some of all names, or all but the others, whichever is shorter */
std::string
NameSome(const std::vector<std::string>& some, const std::vector<std::string>& all)
{
    std::vector<std::string> others;
    for (const std::string& name : all)
    {
        if (std::find(some.begin(), some.end(), name) == some.end())
        {
            others.push_back(name);
        }
    }
    return others.empty()                ? "all"
           : others.size() < some.size() ? "all but " + Join(others)
                                         : Join(some);
}

/** Prints a line for each alternative, and once each key that several have in common. */
void
PrintAlternatives(const std::vector<AlternativeDescription>& alternatives, std::ostream& output)
{
    std::size_t width = 0;
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> keys; // names by text
    for (const AlternativeDescription& alternative : alternatives)
    {
        width = std::max(width, alternative.name.size() + 6);
        for (const Key& key : alternative.keys)
        {
            keys[{FormatKey(key), key.help + " " + FormatKeyNote(key)}].push_back(alternative.name);
        }
    }
    width = std::min<std::size_t>(width, 30);
    for (const AlternativeDescription& alternative : alternatives)
    {
        output << FormatRow("    " + alternative.name + "  ", width, alternative.help);
    }
    bool isFirst = true;
    for (const auto& [key, names] : keys)
    {
        if (names.size() > 1)
        {
            output << (std::exchange(isFirst, false) ? "\n    keys that several have:\n" : "")
                   << FormatRow("    " + key.first + "  ",
                                width,
                                key.second + ": " + NameSome(names, GetNames(alternatives)));
        }
    }
}

/** @param alternative an alternative @param output receives its help, notes and keys */
void
PrintAlternative(const AlternativeDescription& alternative, std::ostream& output)
{
    output << FormatRow(alternative.name + ": ", alternative.name.size() + 2, alternative.help);
    for (const std::string& note : alternative.notes)
    {
        output << Wrap(note, 4);
    }
    std::size_t width = 0;
    if (alternative.first)
    {
        width = alternative.first->name.size();
    }
    for (const Key& key : alternative.keys)
    {
        width = std::max(width, FormatKey(key).size());
    }
    width = std::min<std::size_t>(width + 6, 30);
    if (alternative.first)
    {
        output << FormatRow("    " + alternative.first->name + "  ",
                            width,
                            alternative.first->help +
                                (alternative.first->required ? " (required, first)" : " (first)"));
    }
    for (const Key& key : alternative.keys)
    {
        output << FormatRow("    " + FormatKey(key) + "  ",
                            width,
                            key.help + " " + FormatKeyNote(key));
    }
}

/** @return a default as JSON, null if there is none */
JsonValue
GetDefault(const Key& key)
{
    return key.initial.empty() ? JsonValue() : ToJsonValue(key, key.initial);
}

/** @return a limit as JSON: whole numbers without a fraction */
JsonValue
GetLimit(const Key& key, double limit)
{
    if (key.type == Key::Type::NUMBER)
    {
        return limit;
    }
    return static_cast<uint64_t>(limit);
}

/** @param key a key or an option @param object receives limits and allowed words */
void
AddLimits(const Key& key, JsonValue& object)
{
    const bool hasLimits = key.type == Key::Type::COUNT || key.type == Key::Type::NUMBER ||
                           key.type == Key::Type::BYTES;
    if (hasLimits && key.min > std::numeric_limits<double>::lowest())
    {
        object.Set("min", GetLimit(key, key.min));
    }
    if (hasLimits && key.max < std::numeric_limits<double>::max())
    {
        object.Set("max", GetLimit(key, key.max));
    }
    if (!key.words.empty())
    {
        auto words = JsonValue::Array();
        for (const std::string& word : key.words)
        {
            words.Append(word);
        }
        object.Set("words", words);
    }
}

/** @return an alternative as JSON */
JsonValue
DescribeAsJson(const AlternativeDescription& alternative)
{
    auto notes = JsonValue::Array();
    for (const std::string& note : alternative.notes)
    {
        notes.Append(note);
    }
    auto keys = JsonValue::Array();
    for (const Key& key : alternative.keys)
    {
        auto object = JsonValue::Object();
        object.Set("name", key.name)
            .Set("help", key.help)
            .Set("type", key.GetTypeName())
            .Set("default", GetDefault(key))
            .Set("allowed", key.GetAllowed());
        AddLimits(key, object);
        if (!key.attribute.empty())
        {
            object.Set("attribute", key.attribute);
        }
        keys.Append(object);
    }
    auto object = JsonValue::Object();
    object.Set("name", alternative.name).Set("help", alternative.help).Set("notes", notes);
    if (alternative.first)
    {
        auto first = JsonValue::Object();
        first.Set("name", alternative.first->name)
            .Set("help", alternative.first->help)
            .Set("required", alternative.first->required);
        object.Set("first", first);
    }
    return object.Set("keys", keys);
}

} // namespace

JsonValue
ToJsonValue(const Key& key, const std::string& text)
{
    if (text.empty() || std::find(key.words.begin(), key.words.end(), text) != key.words.end())
    {
        return text;
    }
    switch (key.type)
    {
    case Key::Type::COUNT:
        return ParseUnsigned(text).value();
    case Key::Type::BYTES:
        return ParseBytes(text).value();
    case Key::Type::NUMBER:
        return ParseDouble(text).value();
    case Key::Type::BOOLEAN:
        return text == "true";
    default:
        return text;
    }
}

std::string
OptionDescription::GetTypeName() const
{
    return isList ? "list" : list ? "choice" : key.GetTypeName();
}

std::string
OptionDescription::GetAllowed() const
{
    if (list)
    {
        return Join(GetNames(list())) + (otherwise.empty() ? "" : ", or " + otherwise) +
               "; --help=" + key.name + " explains them";
    }
    switch (key.type)
    {
    case Key::Type::RATE:
        return key.GetAllowed() + ": " + RATE_UNITS;
    case Key::Type::TIME:
        return key.GetAllowed() + ": " + TIME_UNITS;
    case Key::Type::BYTES:
        return key.GetAllowed() + ", units: " + BYTE_UNITS;
    default:
        return key.GetAllowed();
    }
}

void
ProgramDescription::PrintOverview(std::ostream& output) const
{
    output << program << " --option=value ...\n\n" << description << "\n";
    std::size_t width = 0;
    for (const OptionDescription& option : options)
    {
        width = std::max(width, option.key.name.size());
    }
    width += 6;
    std::string group;
    std::string example;
    for (const OptionDescription& option : options)
    {
        if (option.group != group)
        {
            group = option.group;
            output << "\n" << group << ":\n";
        }
        std::string text = option.key.help;
        if (option.list)
        {
            const auto names = GetNames(option.list());
            text +=
                ": " + Join(names) + (option.otherwise.empty() ? "" : ", or " + option.otherwise);
            example = example.empty() && !names.empty()
                          ? "--help=" + option.key.name + " or --help=" + names.front()
                          : example;
        }
        else if (option.key.type == Key::Type::WORD)
        {
            text += ": " + option.key.GetAllowed();
        }
        output << FormatRow(
            "  --" + option.key.name,
            width,
            text + (option.key.initial.empty() ? "" : " [" + option.key.initial + "]"));
    }
    output
        << "\nHelp:\n"
        << FormatRow("  --help=NAME",
                     width,
                     "details of an option or a value, such as " +
                         (example.empty() ? "--help=" + options.front().key.name : example))
        << FormatRow("  --describe=json", std::max<std::size_t>(width, 19), "all details as JSON")
        << FormatRow("  --version", std::max<std::size_t>(width, 19), "module, commit and ns-3")
        << "\nUnits:\n"
        << "  sizes: bytes, " << BYTE_UNITS << "\n"
        << "  rates: " << RATE_UNITS << "\n"
        << "  times: " << TIME_UNITS << "\n"
        << "\nns-3:\n"
        << "  --RngRun=1, --RngSeed=1, --SchedulerType=ns3::MapScheduler and other global values\n"
        << "  --ns3::TypeName::Attribute=value sets the default of an attribute\n"
        << "  --PrintGlobals, --PrintTypeIds, --PrintAttributes=ns3::TypeName, --PrintGroups,\n"
        << "  --PrintGroup=DistributedTraining\n";
}

void
ProgramDescription::PrintDetails(const std::string& word, std::ostream& output) const
{
    std::set<std::string> printedKinds;
    std::set<std::string> names;
    bool found = false;
    const auto separate = [&] {
        output << (found ? "\n" : "");
        found = true;
    };
    for (const OptionDescription& option : options)
    {
        names.insert(option.key.name);
        if (word == option.key.name || (option.list && word == option.kind))
        {
            separate();
            output << "--" << option.key.name
                   << (option.key.initial.empty() ? "" : "=" + option.key.initial) << "\n"
                   << Wrap(option.key.help, 4);
            if (!option.list)
            {
                output << Wrap("allowed: " + option.GetAllowed() +
                                   (option.isList ? "; may be given several times" : ""),
                               4);
                if (option.form)
                {
                    output << "\n";
                    PrintAlternative(*option.form, output);
                }
                continue;
            }
            output << Wrap("allowed: NAME or NAME:key=value,... of these" +
                               (option.otherwise.empty() ? "" : ", or " + option.otherwise) +
                               "; --help=NAME explains the keys of one",
                           4);
            if (printedKinds.insert(option.kind).second)
            {
                output << "\n";
                PrintAlternatives(option.list(), output);
            }
        }
    }
    for (const OptionDescription& option : options)
    {
        if (!option.list)
        {
            continue;
        }
        names.insert(option.kind);
        for (const AlternativeDescription& alternative : option.list())
        {
            names.insert(alternative.name);
            if (word == alternative.name && !printedKinds.count(option.kind))
            {
                separate();
                output << option.kind << " ";
                PrintAlternative(alternative, output);
            }
        }
    }
    if (!found)
    {
        for (const RenamedOption& former : renamed)
        {
            if (former.name == word)
            {
                throw ConfigurationError("--help=" + word + ": written as " + former.spelling +
                                         " (allowed: see --help=" + former.help + ")");
            }
        }
        throw ConfigurationError("--help=" + word +
                                 SuggestNearest(word, {names.begin(), names.end()}) +
                                 " (allowed: " + Join(names) + ")");
    }
}

JsonValue
ProgramDescription::ToJson() const
{
    auto all = JsonValue::Array();
    auto kinds = JsonValue::Object();
    std::set<std::string> listed;
    for (const OptionDescription& option : options)
    {
        auto object = JsonValue::Object();
        object.Set("name", option.key.name)
            .Set("group", option.group)
            .Set("help", option.key.help)
            .Set("type", option.GetTypeName())
            .Set("default", GetDefault(option.key))
            .Set("allowed", option.GetAllowed());
        AddLimits(option.key, object);
        if (option.form)
        {
            object.Set("form", DescribeAsJson(*option.form));
        }
        if (option.list)
        {
            object.Set("kind", option.kind);
            if (listed.insert(option.kind).second)
            {
                auto alternatives = JsonValue::Array();
                for (const AlternativeDescription& alternative : option.list())
                {
                    alternatives.Append(DescribeAsJson(alternative));
                }
                kinds.Set(option.kind, alternatives);
            }
        }
        all.Append(object);
    }
    auto formerSpellings = JsonValue::Array();
    for (const auto& [name, spelling, help] : renamed)
    {
        auto object = JsonValue::Object();
        object.Set("name", name).Set("spelling", spelling).Set("help", help);
        formerSpellings.Append(object);
    }
    auto document = JsonValue::Object();
    document.Set("program", program)
        .Set("version", GetVersion())
        .Set("description", description)
        .Set("options", all)
        .Set("kinds", kinds)
        .Set("renamed", formerSpellings);
    for (const auto& [name, value] : members)
    {
        document.Set(name, value);
    }
    return document;
}

} // namespace ns3::training
