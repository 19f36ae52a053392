/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3-arguments.h"

#include "options/value-suggestion.h"

#include "ns3/attribute.h"
#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/global-value.h"
#include "ns3/integer.h"
#include "ns3/log.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-configuration-error.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingNs3Arguments");

namespace
{

/** ns-3's arguments that print and end the program, and whether they take a value. */
const std::vector<std::pair<std::string, bool>> PRINT_ARGUMENTS{{"PrintAttributes", true},
                                                                {"PrintGlobals", false},
                                                                {"PrintGroup", true},
                                                                {"PrintGroups", false},
                                                                {"PrintTypeIds", false}};

/// Time limit of such a try; a realtime simulator, for example, never ends.
constexpr unsigned MAX_PROBE_SECONDS = 5;

/**
 * Tries an action in a child process first, because ns-3 ends the program at many values it cannot
 * parse, some only when they are used.
 *
 * @param action returns whether it succeeded
 * @return whether it succeeded and the child process survived
 */
bool
Succeeds(const std::function<bool()>& action)
{
    std::cout.flush();
    std::cerr.flush();
    std::fflush(nullptr); // otherwise the child would print the buffers too
    const pid_t child = fork();
    if (child < 0)
    {
        throw std::runtime_error(std::string("no process can be started to try an argument (") +
                                 std::strerror(errno) + ")");
    }
    if (child == 0)
    {
        alarm(MAX_PROBE_SECONDS); // its default action ends the process
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        bool succeeded = false;
        try
        {
            succeeded = action();
        }
        catch (const ConfigurationError&)
        {
            // An exception of a setter must not leave the child.
        }
        _exit(succeeded ? 0 : 1);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/**
 * Event of CanSimulate().
 * @param hasRun set to true
 */
void
DrawNumber(bool* hasRun)
{
    *hasRun = CreateObject<UniformRandomVariable>()->GetValue() <= 1;
}

/** @return whether a simulation with random numbers can start with the current global values */
bool
CanSimulate()
{
    bool hasRun = false;
    Simulator::Schedule(Time(1), &DrawNumber, &hasRun);
    Simulator::Run();
    return hasRun;
}

/**
 * @param name name of a global value
 * @return its checker, or nullptr if there is no such value
 */
Ptr<const AttributeChecker>
FindGlobalValue(const std::string& name)
{
    for (auto global = GlobalValue::Begin(); global != GlobalValue::End(); ++global)
    {
        if ((*global)->GetName() == name)
        {
            return (*global)->GetChecker();
        }
    }
    return nullptr;
}

/**
 * @param typeName a name that no type has
 * @return a suggestion of a type with a similar name, or of the same name in another namespace
 */
std::string
SuggestType(const std::string& typeName)
{
    const std::string space = "ns3::"; // common to all types
    const auto getLast = [](const std::string& name) {
        const auto separator = name.rfind("::");
        return separator == std::string::npos ? name : name.substr(separator + 2);
    };
    std::vector<std::string> names;
    for (uint16_t index = 0; index < TypeId::GetRegisteredN(); ++index)
    {
        const std::string name = TypeId::GetRegistered(index).GetName();
        if (getLast(name) == getLast(typeName))
        {
            return FormatSuggestion(name);
        }
        if (name.rfind(space, 0) == 0)
        {
            names.push_back(name.substr(space.size()));
        }
    }
    const bool isInSpace = typeName.rfind(space, 0) == 0;
    return SuggestNearest(isInSpace ? typeName.substr(space.size()) : typeName, names, space);
}

/**
 * @param type a type
 * @param attributeName a name that no attribute of the type itself has
 * @return a suggestion of an attribute of the type, or of the types that it derives from
 */
std::string
SuggestAttribute(TypeId type, const std::string& attributeName)
{
    std::vector<std::string> names;
    std::vector<std::string> owners;
    for (bool isFirst = true; isFirst || type.HasParent(); isFirst = false)
    {
        type = isFirst ? type : type.GetParent();
        for (std::size_t index = 0; index < type.GetAttributeN(); ++index)
        {
            names.push_back(type.GetAttribute(index).name);
            owners.push_back(type.GetName());
        }
    }
    const std::string nearest = GetNearest(attributeName, names);
    const auto place = std::find(names.begin(), names.end(), nearest) - names.begin();
    return nearest.empty() ? "" : FormatSuggestion(nearest, "--" + owners[place] + "::");
}

/**
 * @param fullName a name such as "ns3::TcpSocket::SegmentSize"
 * @return the attribute's checker
 * @throw ConfigurationError if there is no such attribute
 */
Ptr<const AttributeChecker>
FindAttribute(const std::string& fullName)
{
    const auto separator = fullName.rfind("::");
    const std::string typeName = fullName.substr(0, separator);
    const std::string attributeName = fullName.substr(separator + 2);
    TypeId type;
    if (!TypeId::LookupByNameFailSafe(typeName, &type))
    {
        throw ConfigurationError("--" + fullName + ": there is no type '" + typeName + "'" +
                                 SuggestType(typeName) + " (allowed: see --PrintTypeIds)");
    }
    for (std::size_t index = 0; index < type.GetAttributeN(); ++index)
    {
        if (type.GetAttribute(index).name == attributeName)
        {
            return type.GetAttribute(index).checker;
        }
    }
    throw ConfigurationError("--" + fullName + ": type '" + typeName + "' has no attribute '" +
                             attributeName + "' of its own" +
                             SuggestAttribute(type, attributeName) +
                             " (allowed: see --PrintAttributes=" + typeName + ")");
}

/**
 * Tries a value on an object of this module: where ns-3's string checker accepts everything, the
 * setter of the attribute decides.
 * @param fullName a name such as "ns3::training::SwitchDevice::Weights"
 * @param value accepted by the attribute's checker
 * @return whether an object accepts it
 */
bool
IsTakenByObject(const std::string& fullName, const std::string& value)
{
    const auto separator = fullName.rfind("::");
    const TypeId type = TypeId::LookupByName(fullName.substr(0, separator));
    if (fullName.rfind("ns3::training::", 0) != 0 || !type.HasConstructor() ||
        !type.IsChildOf(Object::GetTypeId()))
    {
        return true;
    }
    ObjectFactory factory;
    factory.SetTypeId(type);
    return factory.Create<Object>()->SetAttributeFailSafe(fullName.substr(separator + 2),
                                                          StringValue(value));
}

/// Attributes that were set, with their values, and whether objects have taken them.
std::vector<std::pair<std::string, std::shared_ptr<bool>>> g_watched;

/** A default of an attribute that tells when an object takes a copy. */
template <class Value>
class WatchedValue : public Value
{
  public:
    WatchedValue(const Value& value, std::shared_ptr<bool> isTaken)
        : Value(value),
          m_isTaken(std::move(isTaken))
    {
    }

    Ptr<AttributeValue> Copy() const override
    {
        *m_isTaken = true;
        return Value::Copy();
    }

  private:
    std::shared_ptr<bool> m_isTaken;
};

/** Puts a watched value in place of a default, if it is of this type. @return whether it is */
template <class Value>
bool
WatchValue(TypeId type, std::size_t index, const std::shared_ptr<bool>& isTaken)
{
    const auto value = type.GetAttribute(index).initialValue;
    const auto* found = dynamic_cast<const Value*>(PeekPointer(value));
    return found &&
           type.SetAttributeInitialValue(index, Create<WatchedValue<Value>>(*found, isTaken));
}

/**
 * Notices whether an object takes the default of an attribute.
 * @param name full name of the attribute
 * @param value as it was written
 */
void
Watch(const std::string& name, const std::string& value)
{
    const auto separator = name.rfind("::");
    TypeId type = TypeId::LookupByName(name.substr(0, separator));
    const auto isTaken = std::make_shared<bool>(false);
    // A program may parse its arguments again, and the last value counts.
    const auto isSame = [&name](const auto& each) {
        return each.first.compare(0, name.size() + 1, name + "=") == 0;
    };
    g_watched.erase(std::remove_if(g_watched.begin(), g_watched.end(), isSame), g_watched.end());
    for (std::size_t index = 0; index < type.GetAttributeN(); ++index)
    {
        if (type.GetAttribute(index).name == name.substr(separator + 2) &&
            (WatchValue<UintegerValue>(type, index, isTaken) ||
             WatchValue<IntegerValue>(type, index, isTaken) ||
             WatchValue<DoubleValue>(type, index, isTaken) ||
             WatchValue<BooleanValue>(type, index, isTaken) ||
             WatchValue<TimeValue>(type, index, isTaken) ||
             WatchValue<DataRateValue>(type, index, isTaken) ||
             WatchValue<StringValue>(type, index, isTaken)))
        {
            g_watched.emplace_back(name + "=" + value, isTaken);
        }
    }
}

/** @return the names of the type groups */
std::set<std::string>
GetGroupNames()
{
    std::set<std::string> groups;
    for (uint16_t index = 0; index < TypeId::GetRegisteredN(); ++index)
    {
        groups.insert(TypeId::GetRegistered(index).GetGroupName());
    }
    return groups;
}

} // namespace

Ns3Arguments::Ns3Arguments(const std::string& program)
    : m_program(program)
{
}

void
Ns3Arguments::Reserve(const std::string& attribute, const std::string& option)
{
    m_reserved[attribute] = option;
}

bool
Ns3Arguments::Parse(const std::string& name,
                    const std::string& value,
                    bool hasValue,
                    const std::function<bool(const std::string&)>& hasOption)
{
    NS_LOG_FUNCTION(this << name << value);
    const std::string argument = "--" + name + (hasValue ? "=" + value : "");
    const auto print =
        std::find_if(PRINT_ARGUMENTS.begin(),
                     PRINT_ARGUMENTS.end(),
                     [&name](const auto& candidate) { return candidate.first == name; });
    if (print != PRINT_ARGUMENTS.end())
    {
        TypeId type;
        if (name == "PrintAttributes" && !TypeId::LookupByNameFailSafe(value, &type))
        {
            throw ConfigurationError(argument + " (allowed: a type that --PrintTypeIds lists)");
        }
        if (name == "PrintGroup" && GetGroupNames().count(value) == 0)
        {
            throw ConfigurationError(argument + " (allowed: a group that --PrintGroups lists)");
        }
        if (!print->second && hasValue)
        {
            throw ConfigurationError(argument + " (allowed: --" + name + " without a value)");
        }
        CommandLine().Parse(std::vector<std::string>{m_program, argument}); // ends the program
        return true;
    }

    Ptr<const AttributeChecker> checker = FindGlobalValue(name);
    const bool isGlobal = checker != nullptr;
    if (!isGlobal)
    {
        if (name.find("::") == std::string::npos)
        {
            return false;
        }
        checker = FindAttribute(name);
    }
    if (value.empty())
    {
        throw ConfigurationError(argument + " (allowed: --" + name + "= and a value)");
    }
    if (m_fixed.count(name) > 0)
    {
        throw ConfigurationError(argument + ": NS_ATTRIBUTE_DEFAULT sets it, too (allowed: one of "
                                            "both)");
    }
    const auto reserved = m_reserved.find(name);
    if (reserved != m_reserved.end())
    {
        throw ConfigurationError(
            argument + ": the program sets it (allowed: " +
            (hasOption(reserved->second) ? "--" + reserved->second : "follows from other options") +
            ")");
    }
    const auto set = [&] {
        return isGlobal ? GlobalValue::BindFailSafe(name, StringValue(value))
                        : Config::SetDefaultFailSafe(name, StringValue(value));
    };
    // ns-3 parses "-1" as the largest number.
    const bool isWrapped = value[0] == '-' && checker->GetValueTypeName() == "ns3::UintegerValue";
    if (isWrapped || !Succeeds([&] {
            return set() && (isGlobal ? CanSimulate() : IsTakenByObject(name, value));
        }))
    {
        const std::string lister =
            isGlobal ? "PrintGlobals" : "PrintAttributes=" + name.substr(0, name.rfind("::"));
        throw ConfigurationError(argument + ": ns-3 does not take this value (allowed: see --" +
                                 lister + ")");
    }
    set();
    if (!isGlobal)
    {
        Watch(name, value);
    }
    NS_LOG_INFO("sets " << argument);
    m_given.emplace_back(name, value);
    return true;
}

void
Ns3Arguments::ParseEnvironment(const std::function<bool(const std::string&)>& hasOption)
{
    static bool isApplied = false; // once, as values of the command line prevail later
    m_fixed.clear();
    std::set<std::string> attributes;
    for (const std::string variable : {"NS_GLOBAL_VALUE", "NS_ATTRIBUTE_DEFAULT"})
    {
        const char* text = std::getenv(variable.c_str());
        if (!text && variable == "NS_GLOBAL_VALUE")
        {
            text = std::getenv("DT_GLOBAL_VALUE"); // hidden from ns-3: see examples/
        }
        std::istringstream entries(text ? text : "");
        for (std::string entry; std::getline(entries, entry, ';');)
        {
            if (entry.empty())
            {
                continue;
            }
            const auto equals = entry.find('=');
            const std::string name = entry.substr(0, equals);
            const bool isAttribute = name.find("::") != std::string::npos;
            if (isApplied)
            {
                m_given.emplace_back(name, entry.substr(equals + 1));
                continue;
            }
            try
            {
                if (equals == std::string::npos ||
                    isAttribute != (variable == "NS_ATTRIBUTE_DEFAULT") ||
                    !Parse(name, entry.substr(equals + 1), true, hasOption))
                {
                    throw ConfigurationError(entry + (isAttribute ? " (allowed: TYPE::NAME=VALUE)"
                                                                  : " (allowed: NAME=VALUE, see "
                                                                    "--PrintGlobals)"));
                }
            }
            catch (const ConfigurationError& error)
            {
                throw ConfigurationError("environment variable " + variable + ": " + error.what());
            }
            if (isAttribute)
            {
                attributes.insert(name);
            }
        }
    }
    isApplied = true;
    m_fixed = attributes; // they would prevail over values of the command line
}

std::vector<std::pair<std::string, bool>>
Ns3Arguments::ListUses()
{
    std::vector<std::pair<std::string, bool>> uses;
    for (const auto& [name, isTaken] : g_watched)
    {
        uses.emplace_back(name, *isTaken);
    }
    return uses;
}

const std::vector<std::pair<std::string, std::string>>&
Ns3Arguments::GetGiven() const
{
    return m_given;
}

std::vector<std::pair<std::string, std::string>>
Ns3Arguments::GetLast() const
{
    std::vector<std::pair<std::string, std::string>> last;
    for (const auto& argument : m_given)
    {
        last.erase(std::remove_if(last.begin(),
                                  last.end(),
                                  [&](const auto& other) { return other.first == argument.first; }),
                   last.end());
        last.push_back(argument);
    }
    return last;
}

} // namespace ns3::training
