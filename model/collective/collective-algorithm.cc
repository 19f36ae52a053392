/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-algorithm.h"

#include "ns3/log.h"
#include "ns3/quantity.h"

#include <algorithm>
#include <sstream>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCollectiveAlgorithm");

namespace
{

/// The chunks of an all-to-all are numbered with 32 bits.
constexpr uint32_t MOST_ALL_TO_ALL_RANKS = 65535;

std::string
GetNames(const std::vector<CollectiveOperation>& operations)
{
    std::string names;
    for (CollectiveOperation operation : operations)
    {
        names += (names.empty() ? "" : ", ") + GetName(operation);
    }
    return names;
}

bool
IsAllowed(const AlgorithmKey& key, const std::string& value)
{
    if (key.choices.empty())
    {
        const auto number = ParseUnsigned(value);
        return number && *number >= key.least && *number <= key.most;
    }
    return std::find(key.choices.begin(), key.choices.end(), value) != key.choices.end();
}

/** Adds the key=value pairs behind an algorithm's name, and the defaults of the others. */
void
ReadKeys(const std::string& spec,
         const std::string& name,
         const CollectiveAlgorithm& entry,
         CollectiveRequest& request)
{
    std::map<std::string, std::string> given;
    std::istringstream text(spec.size() > name.size() ? spec.substr(name.size() + 1) + "," : "");
    std::string pair;
    while (std::getline(text, pair, ','))
    {
        const std::size_t equals = pair.find('=');
        const auto known = entry.keys.find(pair.substr(0, equals));
        if (equals == std::string::npos || known == entry.keys.end() ||
            !IsAllowed(known->second, pair.substr(equals + 1)) ||
            !given.emplace(known->first, pair.substr(equals + 1)).second)
        {
            std::string allowed;
            for (const auto& [key, value] : entry.keys)
            {
                allowed += (allowed.empty() ? "" : ", ") + key + "=" + value.GetAllowed();
            }
            throw ConfigurationError("algorithm '" + spec + "': '" + pair + "' (allowed: " +
                                     (allowed.empty() ? "no keys" : allowed + ", each once") + ")");
        }
    }
    for (const auto& [key, value] : given)
    {
        request.keys[key] = value;
    }
    for (const auto& [key, value] : entry.keys)
    {
        request.keys.emplace(key, value.initial);
    }
}

} // namespace

std::string
AlgorithmKey::GetAllowed() const
{
    if (choices.empty())
    {
        return std::to_string(least) + " to " + std::to_string(most);
    }
    std::string text;
    for (const std::string& choice : choices)
    {
        text += (text.empty() ? "" : "|") + choice;
    }
    return text;
}

std::vector<std::pair<std::string, std::string>>
DescribeAlgorithms()
{
    std::vector<std::pair<std::string, std::string>> rows;
    for (const auto& [name, algorithm] : Registry<CollectiveAlgorithm>::All())
    {
        const bool all = algorithm.operations.size() == GetCollectiveOperations().size();
        rows.emplace_back(name, algorithm.help);
        rows.emplace_back("", "for " + (all ? "every operation" : GetNames(algorithm.operations)));
        for (const auto& [key, value] : algorithm.keys)
        {
            rows.emplace_back("  " + key + "=" + value.initial,
                              value.help + " (" + value.GetAllowed() + ")");
        }
    }
    return rows;
}

const std::string&
CollectiveRequest::Get(const std::string& key) const
{
    return keys.at(key);
}

uint64_t
CollectiveRequest::GetNumber(const std::string& key) const
{
    return ParseUnsigned(keys.at(key)).value();
}

uint32_t
CollectiveRequest::GetHost(uint32_t rank) const
{
    return hosts.empty() ? rank : hosts.at(rank);
}

const CollectiveAlgorithm&
CheckRequest(const std::string& algorithm, CollectiveRequest& request)
{
    const std::string name = algorithm.substr(0, algorithm.find(':'));
    const CollectiveAlgorithm& entry = Registry<CollectiveAlgorithm>::Find(name);
    const auto& able = entry.operations;
    if (std::find(able.begin(), able.end(), request.operation) == able.end())
    {
        throw ConfigurationError("the algorithm '" + name + "' has no " +
                                 GetName(request.operation) + " (allowed: " + GetNames(able) + ")");
    }
    if (request.ranks == 0 || request.root >= request.ranks)
    {
        throw ConfigurationError("root " + std::to_string(request.root) + " of " +
                                 std::to_string(request.ranks) +
                                 " ranks (allowed: 0 to ranks - 1)");
    }
    if (request.servers == 0 || request.servers > request.ranks)
    {
        throw ConfigurationError(std::to_string(request.servers) + " parameter servers for " +
                                 std::to_string(request.ranks) + " ranks (allowed: 1 to ranks)");
    }
    if (IsExchange(request.operation) && request.ranks > MOST_ALL_TO_ALL_RANKS)
    {
        throw ConfigurationError(GetName(request.operation) + " among " +
                                 std::to_string(request.ranks) + " ranks (allowed: up to " +
                                 std::to_string(MOST_ALL_TO_ALL_RANKS) + ")");
    }
    ReadKeys(algorithm, name, entry, request);
    if (entry.check)
    {
        entry.check(request);
    }
    return entry;
}

CollectiveSchedule
BuildSchedule(const std::string& algorithm, CollectiveRequest request)
{
    const CollectiveAlgorithm& entry = CheckRequest(algorithm, request);
    CollectiveSchedule schedule;
    schedule.operation = request.operation;
    schedule.algorithm = algorithm.substr(0, algorithm.find(':'));
    schedule.root = request.root;
    schedule.chunks = request.ranks;
    if (request.operation == CollectiveOperation::ALL_TO_ALL ||
        request.operation == CollectiveOperation::ALL_TO_ALL_V)
    {
        schedule.chunks = request.ranks * request.ranks;
    }
    else if (request.operation == CollectiveOperation::BARRIER)
    {
        schedule.chunks = 1;
    }
    schedule.Resize(request.ranks);
    if (request.ranks > 1)
    {
        schedule.segments = request.segments > 0 ? request.segments
                            : entry.segments     ? entry.segments(request)
                                                 : 1;
        entry.build(request, schedule);
    }
    schedule.Close();
    return schedule;
}

} // namespace ns3::training
