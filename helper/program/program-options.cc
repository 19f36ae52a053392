/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "program-options.h"

#include "ns3/abort.h"
#include "ns3/attribute.h"
#include "ns3/bucket-scheduler.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/configuration-error.h"
#include "ns3/global-value.h"
#include "ns3/log.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/quantity.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/time-resolution.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <set>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingProgramOptions");

namespace
{

/** ns-3's arguments that print something and end the program, and whether they have a value. */
const std::vector<std::pair<std::string, bool>> PRINT_ARGUMENTS{{"PrintAttributes", true},
                                                                {"PrintGlobals", false},
                                                                {"PrintGroup", true},
                                                                {"PrintGroups", false},
                                                                {"PrintTypeIds", false},
                                                                {"PrintVersion", false},
                                                                {"version", false}};

/**
 * @param words some words
 * @return the words separated by ", "
 */
std::string
Join(const std::vector<std::string>& words)
{
    std::string joined;
    for (const auto& word : words)
    {
        joined += (joined.empty() ? "" : ", ") + word;
    }
    return joined;
}

/**
 * @param first a word
 * @param second another word
 * @return how many letters must be inserted, removed or changed to get from one to the other
 */
std::size_t
GetEditDistance(const std::string& first, const std::string& second)
{
    std::vector<std::size_t> row(second.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= first.size(); ++i)
    {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= second.size(); ++j)
        {
            const std::size_t change = diagonal + (first[i - 1] == second[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

/**
 * ns-3 ends the program at many values it cannot read, some only when they are used: tries them in
 * a child process first, which may end as it likes.
 *
 * @param action returns whether it went well
 * @return whether it did, and the process is still there
 */
bool
Succeeds(const std::function<bool()>& action)
{
    std::cout.flush();
    std::cerr.flush();
    std::fflush(nullptr); // else the child would print what is buffered, too
    const pid_t child = fork();
    NS_ABORT_MSG_IF(child < 0, "cannot start a process");
    if (child == 0)
    {
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
            // What a setter throws must not lead the child beyond here.
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
 * The event of CanSimulate().
 * @param hasRun set to true
 */
void
DrawNumber(bool* hasRun)
{
    *hasRun = CreateObject<UniformRandomVariable>()->GetValue() <= 1;
}

/** @return whether a simulation with random numbers can begin, with the global values as set */
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
        throw ConfigurationError("--" + fullName + ": there is no type '" + typeName +
                                 "' (allowed: those that --PrintTypeIds lists)");
    }
    for (std::size_t index = 0; index < type.GetAttributeN(); ++index)
    {
        if (type.GetAttribute(index).name == attributeName)
        {
            return type.GetAttribute(index).checker;
        }
    }
    throw ConfigurationError(
        "--" + fullName + ": type '" + typeName + "' has no attribute '" + attributeName +
        "' of its own (allowed: those that --PrintAttributes=" + typeName + " lists)");
}

/**
 * Asks an object of this module for values whose setter alone knows what is right, as ns-3's
 * checker of texts takes everything.
 * @param fullName a name such as "ns3::training::SwitchDevice::Weights"
 * @param value a value that the attribute's checker takes
 * @return whether an object takes it
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

/** @return the names of the groups of types */
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

ProgramOptions::ProgramOptions(const std::string& program, const std::string& description)
    : m_program(program),
      m_description(description),
      m_group("Options")
{
    NS_LOG_FUNCTION(this << program);
    UsePicoseconds();
    BucketScheduler::UseByDefault();
}

void
ProgramOptions::Group(const std::string& title)
{
    m_group = title;
}

void
ProgramOptions::Add(const std::string& name,
                    const std::string& help,
                    Kind kind,
                    const std::string& allowed,
                    std::function<bool(const std::string&)> read,
                    std::function<std::string()> write)
{
    NS_LOG_FUNCTION(this << name << kind);
    NS_ABORT_MSG_IF(Find(name), "option --" << name << " added twice");
    m_options.push_back({m_group,
                         name,
                         help,
                         kind,
                         allowed,
                         write(),
                         false,
                         std::move(read),
                         std::move(write),
                         {}});
}

void
ProgramOptions::AddString(const std::string& name, const std::string& help, std::string& value)
{
    Add(
        name,
        help,
        STRING,
        "text that is not empty",
        [&value](const std::string& text) {
            value = text;
            return !text.empty();
        },
        [&value] { return value; });
}

void
ProgramOptions::AddChoice(const std::string& name,
                          const std::string& help,
                          std::string& value,
                          const std::vector<std::string>& allowed)
{
    Add(
        name,
        help,
        CHOICE,
        Join(allowed),
        [&value, allowed](const std::string& text) {
            value = text;
            return std::find(allowed.begin(), allowed.end(), text) != allowed.end();
        },
        [&value] { return value; });
}

void
ProgramOptions::AddUnsigned(const std::string& name,
                            const std::string& help,
                            uint64_t& value,
                            uint64_t min,
                            uint64_t max)
{
    Add(
        name,
        help,
        UNSIGNED,
        "whole numbers from " + std::to_string(min) + " to " + std::to_string(max),
        [&value, min, max](const std::string& text) {
            const auto number = ParseUnsigned(text);
            value = number.value_or(value);
            return number && *number >= min && *number <= max;
        },
        [&value] { return std::to_string(value); });
}

void
ProgramOptions::AddDouble(const std::string& name,
                          const std::string& help,
                          double& value,
                          double min,
                          double max)
{
    Add(
        name,
        help,
        DOUBLE,
        "numbers from " + FormatDouble(min) + " to " + FormatDouble(max),
        [&value, min, max](const std::string& text) {
            const auto number = ParseDouble(text);
            value = number.value_or(value);
            return number && *number >= min && *number <= max;
        },
        [&value] { return FormatDouble(value); });
}

void
ProgramOptions::AddBool(const std::string& name, const std::string& help, bool& value)
{
    Add(
        name,
        help,
        BOOL,
        "true, false",
        [&value](const std::string& text) {
            value = text == "true" || text == "1" || text == "t";
            return value || text == "false" || text == "0" || text == "f";
        },
        [&value] { return std::string(value ? "true" : "false"); });
}

void
ProgramOptions::AddRate(const std::string& name, const std::string& help, DataRate& value)
{
    Add(
        name,
        help,
        RATE,
        std::string("a rate above 0 with one of the units ") + RATE_UNITS,
        [&value](const std::string& text) {
            const auto rate = ParseRate(text);
            value = rate.value_or(value);
            return rate.has_value();
        },
        [&value] { return FormatRate(value); });
}

void
ProgramOptions::AddTime(const std::string& name, const std::string& help, Time& value)
{
    Add(
        name,
        help,
        TIME,
        std::string("a time from 0 with one of the units ") + TIME_UNITS,
        [&value](const std::string& text) {
            const auto time = ParseTime(text);
            value = time.value_or(value);
            return time.has_value();
        },
        [&value] { return FormatTime(value); });
}

void
ProgramOptions::AddList(const std::string& name,
                        const std::string& help,
                        std::vector<std::string>& values)
{
    Add(
        name,
        help,
        LIST,
        "texts that are not empty, separated by ;",
        [&values](const std::string& text) {
            std::istringstream stream(text);
            std::string item;
            while (std::getline(stream, item, ';'))
            {
                if (item.empty())
                {
                    return false;
                }
                values.push_back(item);
            }
            return !text.empty();
        },
        [&values] {
            std::string text;
            for (const auto& value : values)
            {
                text += (text.empty() ? "" : ";") + value;
            }
            return text;
        });
    m_options.back().clear = [&values] { values.clear(); };
}

void
ProgramOptions::AddBytes(const std::string& name,
                         const std::string& help,
                         uint64_t& value,
                         uint64_t min,
                         uint64_t max)
{
    constexpr uint64_t UNLIMITED = std::numeric_limits<int64_t>::max();
    Add(
        name,
        help,
        BYTES,
        "a size from " + FormatBytes(min) + (max < UNLIMITED ? " to " + FormatBytes(max) : "") +
            ", in bytes or with one of the units " + BYTE_UNITS,
        [&value, min, max](const std::string& text) {
            const auto bytes = ParseBytes(text);
            value = bytes.value_or(value);
            return bytes && *bytes >= min && *bytes <= max;
        },
        [&value] { return FormatBytes(value); });
}

const ProgramOptions::Option*
ProgramOptions::Find(const std::string& name) const
{
    const auto found = std::find_if(m_options.begin(),
                                    m_options.end(),
                                    [&name](const auto& option) { return option.name == name; });
    return found == m_options.end() ? nullptr : &*found;
}

void
ProgramOptions::Reserve(const std::string& attribute, const std::string& option)
{
    m_reserved[attribute] = option;
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
    // Gives ns-3's documentation run and event metrics their chance.
    CommandLine().Parse(std::vector<std::string>{m_program});

    std::set<std::string> begun; // lists that this command line has begun
    for (const auto& argument : arguments)
    {
        if (argument.compare(0, 2, "--") != 0)
        {
            throw ConfigurationError("unexpected argument '" + argument +
                                     "' (allowed: options written as --name=value; --help lists "
                                     "them)");
        }
        const auto equals = argument.find('=');
        const bool hasValue = equals != std::string::npos;
        const std::string name = argument.substr(2, hasValue ? equals - 2 : equals);
        const std::string value = hasValue ? argument.substr(equals + 1) : "";
        if (name == "help" || name == "PrintHelp")
        {
            PrintHelp(std::cout);
            std::cout.flush();
            std::exit(0);
        }
        const auto option =
            std::find_if(m_options.begin(), m_options.end(), [&name](const auto& candidate) {
                return candidate.name == name;
            });
        if (option == m_options.end())
        {
            if (!ParseNs3Argument(name, value, hasValue))
            {
                throw ConfigurationError("unknown option --" + name + GetNearest(name));
            }
            continue;
        }
        if (option->kind == LIST && begun.insert(name).second)
        {
            option->clear();
        }
        const bool isFlag = option->kind == BOOL && !hasValue;
        if (!option->read(isFlag ? "true" : value))
        {
            throw ConfigurationError("--" + name + (hasValue ? "=" + value : " without value") +
                                     " (allowed: " + option->allowed + ")");
        }
        option->isGiven = true;
    }
}

bool
ProgramOptions::ParseNs3Argument(const std::string& name, const std::string& value, bool hasValue)
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
    const auto reserved = m_reserved.find(name);
    if (reserved != m_reserved.end())
    {
        throw ConfigurationError(
            argument + ": the program sets it (allowed: " +
            (Find(reserved->second) ? "--" + reserved->second : "what follows from other options") +
            ")");
    }
    const auto set = [&] {
        return isGlobal ? GlobalValue::BindFailSafe(name, StringValue(value))
                        : Config::SetDefaultFailSafe(name, StringValue(value));
    };
    // ns-3 reads "-1" as the largest number there is.
    const bool isWrapped = value[0] == '-' && checker->GetValueTypeName() == "ns3::UintegerValue";
    if (isWrapped || !Succeeds([&] {
            return set() && (isGlobal ? CanSimulate() : IsTakenByObject(name, value));
        }))
    {
        const std::string lister =
            isGlobal ? "PrintGlobals" : "PrintAttributes=" + name.substr(0, name.rfind("::"));
        throw ConfigurationError(argument + ": ns-3 does not take this value (allowed: what --" +
                                 lister + " says)");
    }
    set();
    m_ns3Arguments.push_back({name, value, NS3});
    return true;
}

std::string
ProgramOptions::GetNearest(const std::string& name) const
{
    std::vector<std::string> names{"help", "RngRun", "RngSeed", "SchedulerType"};
    for (const auto& option : m_options)
    {
        names.push_back(option.name);
    }
    std::string nearest;
    std::size_t leastDistance = std::max<std::size_t>(2, name.size() / 3) + 1;
    for (const auto& candidate : names)
    {
        const std::size_t distance = GetEditDistance(name, candidate);
        if (distance < leastDistance)
        {
            leastDistance = distance;
            nearest = candidate;
        }
    }
    return (nearest.empty() ? "" : "; did you mean --" + nearest + "?") +
           std::string(" (allowed: those that --help lists)");
}

std::vector<ProgramOptions::Value>
ProgramOptions::Values() const
{
    std::vector<Value> values;
    for (const auto& option : m_options)
    {
        values.push_back({option.name, option.write(), option.kind});
    }
    values.insert(values.end(), m_ns3Arguments.begin(), m_ns3Arguments.end());
    return values;
}

JsonValue
ProgramOptions::ToJson() const
{
    auto object = JsonValue::Object();
    for (const auto& option : m_options)
    {
        const std::string text = option.write();
        switch (option.kind)
        {
        case UNSIGNED:
            object.Set(option.name, ParseUnsigned(text).value());
            break;
        case BYTES:
            object.Set(option.name, ParseBytes(text).value());
            break;
        case DOUBLE:
            object.Set(option.name, ParseDouble(text).value());
            break;
        case BOOL:
            object.Set(option.name, text == "true");
            break;
        default:
            object.Set(option.name, text);
        }
    }
    // Of an argument given twice the last value counts, and a JSON object has a name once.
    std::vector<Value> last;
    for (const auto& argument : m_ns3Arguments)
    {
        last.erase(std::remove_if(last.begin(),
                                  last.end(),
                                  [&](const auto& other) { return other.name == argument.name; }),
                   last.end());
        last.push_back(argument);
    }
    for (const auto& argument : last)
    {
        object.Set(argument.name, argument.text);
    }
    return object;
}

bool
ProgramOptions::IsGiven(const std::string& name) const
{
    const Option* option = Find(name);
    return option && option->isGiven;
}

void
ProgramOptions::AddSection(const std::string& title,
                           const std::vector<std::pair<std::string, std::string>>& rows)
{
    std::size_t width = 0;
    for (const auto& [name, text] : rows)
    {
        width = std::max(width, name.size());
    }
    m_sections += "\n" + title + ":\n";
    for (const auto& [name, text] : rows)
    {
        m_sections += "  " + name + std::string(width + 2 - name.size(), ' ') + text + "\n";
    }
}

void
ProgramOptions::PrintHelp(std::ostream& output) const
{
    output << m_program << " [--option=value ...]\n\n" << m_description << "\n";
    std::size_t width = 0;
    for (const auto& option : m_options)
    {
        width = std::max(width, option.name.size());
    }
    std::string group;
    for (const auto& option : m_options)
    {
        if (option.group != group)
        {
            group = option.group;
            output << "\n" << group << ":\n";
        }
        output << "  --" << std::left << std::setw(static_cast<int>(width) + 2) << option.name
               << std::right << option.help;
        if (option.kind == CHOICE)
        {
            output << ": " << option.allowed;
        }
        output << (option.byDefault.empty() ? "" : " [" + option.byDefault + "]") << "\n";
    }
    output
        << m_sections << "\nUnits:\n"
        << "  sizes: bytes, " << BYTE_UNITS << "\n"
        << "  rates: " << RATE_UNITS << "\n"
        << "  times: " << TIME_UNITS << "\n"
        << "\nns-3:\n"
        << "  --RngRun=1, --RngSeed=1, --SchedulerType=ns3::MapScheduler and other global values\n"
        << "  --ns3::TypeName::Attribute=value sets the default of an attribute\n"
        << "  --PrintGlobals, --PrintTypeIds, --PrintAttributes=ns3::TypeName, --PrintGroups,\n"
        << "  --PrintGroup=DistributedTraining, --PrintVersion\n";
}

} // namespace ns3::training
