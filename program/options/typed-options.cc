/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "typed-options.h"

#include "options/command-line-words.h"
#include "options/value-suggestion.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTypedOptions");

void
TypedOptions::Group(const std::string& title)
{
    m_group = title;
}

TypedOptions::Option&
TypedOptions::AddOption(const Key& key,
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
TypedOptions::Add(const Key& key, std::string& value)
{
    AddOption(
        key,
        [&value](const std::string& text) { value = text; },
        [&value] { return value; });
}

void
TypedOptions::AddString(const std::string& name, const std::string& help, std::string& value)
{
    Key key = Key::Of(name, Key::Type::TEXT, "", help);
    key.range = "text that is not empty";
    Add(key, value);
}

void
TypedOptions::AddOutput(const std::string& name,
                        const std::string& help,
                        std::string& value,
                        OutputKind kind)
{
    AddString(name, help, value);
    m_options.back().output = kind;
}

void
TypedOptions::AddJson(std::string& value)
{
    AddOutput("json",
              "file for the results as JSON, or - for standard output",
              value,
              OutputKind::RESULTS);
}

void
TypedOptions::AddChoice(const std::string& name,
                        const std::string& help,
                        std::string& value,
                        const std::vector<std::string>& allowed)
{
    Add(Key::Word(name, "", allowed, help), value);
}

void
TypedOptions::AddKind(const std::string& name,
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
TypedOptions::AddUnsigned(const std::string& name,
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
TypedOptions::AddDouble(const std::string& name,
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
TypedOptions::AddBool(const std::string& name, const std::string& help, bool& value)
{
    AddOption(
        Key::Of(name, Key::Type::BOOLEAN, "", help),
        [&value](const std::string& text) { value = text == "true"; },
        [&value] { return std::string(value ? "true" : "false"); });
}

void
TypedOptions::AddRate(const std::string& name, const std::string& help, DataRate& value)
{
    AddOption(
        Key::Of(name, Key::Type::RATE, "", help),
        [&value](const std::string& text) { value = ParseRate(text).value(); },
        [&value] { return FormatRate(value); });
}

void
TypedOptions::AddTime(const std::string& name, const std::string& help, Time& value)
{
    AddOption(
        Key::Of(name, Key::Type::TIME, "", help),
        [&value](const std::string& text) { value = ParseTime(text).value(); },
        [&value] { return FormatTime(value); });
}

void
TypedOptions::AddBytes(const std::string& name,
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
TypedOptions::AddAutomatic(Key key, uint64_t& value)
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
TypedOptions::AddAutomatic(Key key, std::optional<uint64_t>& value)
{
    key.words = {"auto"};
    AddOption(
        key,
        [&value](const std::string& text) { value = ParseBytes(text); },
        [&value] { return value ? std::to_string(*value) : "auto"; });
}

void
TypedOptions::AddList(const std::string& name,
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

const TypedOptions::Option*
TypedOptions::Find(const std::string& name) const
{
    const auto found =
        std::find_if(m_options.begin(), m_options.end(), [&name](const Option& option) {
            return option.description.key.name == name;
        });
    return found == m_options.end() ? nullptr : &*found;
}

TypedOptions::Option*
TypedOptions::Find(const std::string& name)
{
    return const_cast<Option*>(std::as_const(*this).Find(name));
}

void
TypedOptions::Set(Option& option, const std::string& text)
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
TypedOptions::CheckAlternative(const OptionDescription& option, const std::string& text)
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

bool
TypedOptions::IsGiven(const std::string& name) const
{
    const Option* option = Find(name);
    return option && option->isGiven;
}

} // namespace ns3::training
