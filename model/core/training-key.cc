/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-key.h"

#include "training-quantity.h"

#include "ns3/abort.h"
#include "ns3/attribute.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

namespace ns3::training
{

namespace
{

/** @return key name derived from an attribute name, such as rate-ai from RateAi */
std::string
MakeKeyName(const std::string& attribute)
{
    std::string name;
    for (std::size_t i = 0; i < attribute.size(); i++)
    {
        const auto letter = static_cast<unsigned char>(attribute[i]);
        if (std::isupper(letter) && i > 0)
        {
            name += '-';
        }
        name += static_cast<char>(std::tolower(letter));
    }
    return name;
}

/**
 * @param valueType type name of the attribute's values, such as ns3::UintegerValue or BooleanValue
 * @return key type that matches the attribute
 */
Key::Type
GetKeyType(const std::string& valueType)
{
    static const std::map<std::string, Key::Type> types{
        {"UintegerValue", Key::Type::COUNT},
        {"DoubleValue", Key::Type::NUMBER},
        {"DataRateValue", Key::Type::RATE},
        {"TimeValue", Key::Type::TIME},
        {"BooleanValue", Key::Type::BOOLEAN},
    };
    const std::string prefix = "ns3::";
    const auto found =
        types.find(valueType.substr(valueType.rfind(prefix, 0) == 0 ? prefix.size() : 0));
    return found == types.end() ? Key::Type::TEXT : found->second;
}

/** @return the type that declares an attribute: the type itself or an ancestor */
TypeId
GetOwner(TypeId type, const std::string& attribute)
{
    for (;; type = type.GetParent())
    {
        for (std::size_t i = 0; i < type.GetAttributeN(); i++)
        {
            if (type.GetAttribute(i).name == attribute)
            {
                return type;
            }
        }
    }
}

/**
 * @return an ns-3 default in user notation: times and rates in the largest unit that leaves a whole
 *         number
 */
std::string
ToText(Key::Type type, const std::string& value)
{
    if (type == Key::Type::TIME)
    {
        return FormatTime(Time(value));
    }
    if (type == Key::Type::RATE)
    {
        return FormatRate(DataRate(value));
    }
    return value;
}

/**
 * Tests a limit parsed from text, because ns-3 prints limits with 6 digits only.
 * @param checker checker of a number
 * @param limit the limit parsed from text
 * @param step 1 for an upper limit, -1 for a lower limit
 * @return whether `limit` is exactly the limit of the checker
 */
bool
IsLimit(const AttributeChecker& checker, double limit, int step)
{
    return checker.Check(DoubleValue(limit)) &&
           !checker.Check(DoubleValue(std::nextafter(limit, step * HUGE_VAL)));
}

/**
 * Parses the limits of an attribute from ns-3's description, such as "uint32_t 1:4" or "double
 * 0:10".
 * @param checker checker of the attribute
 * @param key receives the limits or words
 */
void
DescribeLimits(const AttributeChecker& checker, Key& key)
{
    if (!checker.HasUnderlyingTypeInformation())
    {
        return;
    }
    const std::string text = checker.GetUnderlyingTypeInformation();
    const std::size_t blank = text.find(' ');
    const std::size_t colon = text.find(':');
    if (checker.GetValueTypeName() == "ns3::EnumValue")
    {
        key.range = text; // words separated by |
    }
    if (blank == std::string::npos || colon == std::string::npos)
    {
        return;
    }
    const std::string least = text.substr(blank + 1, colon - blank - 1);
    const std::string largest = text.substr(colon + 1);
    if (key.type == Key::Type::COUNT)
    {
        key.min = static_cast<double>(ParseUnsigned(least).value());
        key.max = static_cast<double>(ParseUnsigned(largest).value());
    }
    else if (key.type == Key::Type::NUMBER)
    {
        const double min = ParseDouble(least).value_or(key.min); // infinity: no limit
        const double max = ParseDouble(largest).value_or(key.max);
        key.min = IsLimit(checker, min, -1) ? min : key.min;
        key.max = IsLimit(checker, max, 1) ? max : key.max;
    }
    else if (key.type == Key::Type::TIME && !checker.Check(TimeValue(Time(-1))))
    {
        key.range =
            "a time from " + FormatTime(Time(least)) +
            (checker.Check(TimeValue(Time::Max())) ? "" : " to " + FormatTime(Time(largest)));
    }
}

} // namespace

Key
Key::Count(const std::string& name,
           uint64_t initial,
           uint64_t min,
           uint64_t max,
           const std::string& help)
{
    Key key = OptionalCount(name, min, max, help);
    key.initial = std::to_string(initial);
    return key;
}

Key
Key::OptionalCount(const std::string& name, uint64_t min, uint64_t max, const std::string& help)
{
    Key key{name, Type::COUNT, help};
    key.min = static_cast<double>(min);
    key.max = static_cast<double>(max);
    return key;
}

Key
Key::Number(const std::string& name,
            double initial,
            double min,
            double max,
            const std::string& help)
{
    Key key{name, Type::NUMBER, help, FormatDouble(initial)};
    key.min = min;
    key.max = max;
    return key;
}

Key
Key::Word(const std::string& name,
          const std::string& initial,
          const std::vector<std::string>& words,
          const std::string& help)
{
    Key key{name, Type::WORD, help, initial};
    key.words = words;
    return key;
}

Key
Key::Of(const std::string& name, Type type, const std::string& initial, const std::string& help)
{
    return {name, type, help, initial};
}

Key
Key::Attribute(TypeId type, const std::string& attribute, const std::string& name)
{
    TypeId::AttributeInformation information;
    NS_ABORT_MSG_UNLESS(type.LookupAttributeByName(attribute, &information),
                        type.GetName() << " has no attribute " << attribute);
    const auto checker = information.checker;
    Key key;
    key.name = name.empty() ? MakeKeyName(attribute) : name;
    key.type = GetKeyType(checker->GetValueTypeName());
    key.help = information.help;
    key.initial = ToText(key.type, information.initialValue->SerializeToString(checker));
    key.attribute = GetOwner(type, attribute).GetName() + "::" + attribute;
    key.min = std::numeric_limits<double>::lowest();
    DescribeLimits(*checker, key);
    const Type valueType = key.type;
    key.accepts = [checker, valueType](const std::string& value) {
        const auto isSpace = [](unsigned char character) { return std::isspace(character) != 0; };
        if (valueType == Type::TEXT && std::any_of(value.begin(), value.end(), isSpace))
        {
            return false; // ns-3 reads text up to the first space, and aborts
        }
        Key plain;
        plain.type = valueType;
        const auto made = checker->Create();
        return made->DeserializeFromString(plain.ToNs3(value), checker) && checker->Check(*made);
    };
    return key;
}

std::string
Key::ToPlain(const std::string& value) const
{
    const bool isPlain = type != Type::NUMBER || ParseDouble(value);
    const auto number = isPlain ? std::nullopt : ParseScaled(value, FindUnit(help));
    return number ? FormatDouble(*number) : value;
}

bool
Key::Allows(const std::string& text) const
{
    const std::string value = ToPlain(text);
    const auto isWithin = [this](auto number) {
        return number && static_cast<double>(*number) >= min && static_cast<double>(*number) <= max;
    };
    if (std::find(words.begin(), words.end(), value) != words.end())
    {
        return true;
    }
    bool allowed = false;
    switch (type)
    {
    case Type::COUNT:
        allowed = isWithin(ParseUnsigned(value));
        break;
    case Type::NUMBER:
        allowed = isWithin(ParseDouble(value));
        break;
    case Type::BYTES:
        allowed = isWithin(ParseBytes(value));
        break;
    case Type::RATE:
        allowed = ParseRate(value).has_value();
        break;
    case Type::TIME:
        allowed = ParseTime(value).has_value();
        break;
    case Type::BOOLEAN:
        allowed = value == "true" || value == "false";
        break;
    case Type::WORD:
        break;
    case Type::TEXT:
        allowed = !value.empty();
        break;
    }
    return allowed && (!accepts || accepts(value));
}

std::string
Key::ToNs3(const std::string& value) const
{
    switch (type)
    {
    case Type::NUMBER:
        return ToPlain(value);
    case Type::RATE:
        return FormatRate(ParseRate(value).value());
    case Type::TIME:
        return FormatTime(ParseTime(value).value());
    case Type::BYTES:
        return std::to_string(ParseBytes(value).value());
    default:
        return value;
    }
}

std::string
Key::GetAllowed() const
{
    std::string either; // the words, separated by |
    for (const std::string& word : words)
    {
        either += (either.empty() ? "" : "|") + word;
    }
    if (type == Type::WORD)
    {
        return either;
    }
    either += either.empty() ? "" : ", or ";
    if (!range.empty())
    {
        return either + range;
    }
    const auto limits = [this](const auto& format) {
        return max < std::numeric_limits<double>::max() ? format(min) + " to " + format(max)
                                                        : format(min) + " and more";
    };
    const std::string unit = FindUnit(help);
    switch (type)
    {
    case Type::COUNT:
        return either +
               limits([](double value) { return std::to_string(static_cast<uint64_t>(value)); });
    case Type::NUMBER:
        either += min > std::numeric_limits<double>::lowest() ? limits(&FormatDouble)
                  : max < std::numeric_limits<double>::max()  ? "up to " + FormatDouble(max)
                                                              : "a number";
        return unit.empty() ? either : either + " " + unit;
    case Type::BYTES:
        return either + "a size of " +
               limits([](double value) { return FormatBytes(static_cast<uint64_t>(value)); });
    case Type::RATE:
        return either + "a rate with a unit";
    case Type::TIME:
        return either + "a time with a unit";
    case Type::BOOLEAN:
        return either + "true|false";
    default:
        return either + "text";
    }
}

std::string
Key::GetTypeName() const
{
    static const std::map<Type, std::string> names{{Type::COUNT, "count"},
                                                   {Type::NUMBER, "number"},
                                                   {Type::BYTES, "bytes"},
                                                   {Type::RATE, "rate"},
                                                   {Type::TIME, "time"},
                                                   {Type::BOOLEAN, "boolean"},
                                                   {Type::WORD, "word"},
                                                   {Type::TEXT, "text"}};
    return names.at(type);
}

std::vector<Key>
GetAttributeKeys(TypeId type, const std::set<std::string>& except)
{
    std::vector<Key> keys;
    for (TypeId level = type; level != Object::GetTypeId() && level.HasParent();
         level = level.GetParent())
    {
        for (std::size_t i = 0; i < level.GetAttributeN(); i++)
        {
            const auto information = level.GetAttribute(i);
            if ((information.flags & TypeId::ATTR_SET) && !except.count(information.name))
            {
                keys.push_back(Key::Attribute(level, information.name));
            }
        }
    }
    return keys;
}

} // namespace ns3::training
