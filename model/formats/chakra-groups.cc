/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/chakra-groups.h"

#include "core/input-file.h"
#include "core/json-tree.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-packed-file.h"

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <functional>
#include <numeric>
#include <set>

namespace ns3::training
{

using Json = boost::property_tree::ptree;

ChakraGroups::ChakraGroups(uint32_t ranks, bool lenient, FormatProblems& problems)
    : m_ranks(ranks),
      m_isLenient(lenient),
      m_problems(problems)
{
}

void
ChakraGroups::ReadFile(const std::string& path)
{
    const auto text = ReadPackedFile(path);
    if (!text)
    {
        throw ConfigurationError(path + ": cannot be read (allowed: a JSON file of groups)");
    }
    const Json object = ReadJsonTree(*text, path, "a JSON object of lists of ranks");
    for (const auto& [name, list] : object)
    {
        std::vector<uint32_t> ranks;
        for (const auto& [key, value] : list)
        {
            const std::string& digits = value.data();
            if (digits.empty() || digits.size() > 7 ||
                digits.find_first_not_of("0123456789") != std::string::npos ||
                std::stoul(digits) >= m_ranks)
            {
                throw ConfigurationError(path + ": group '" + MakePrintableName(name) +
                                         "' has rank '" + MakePrintableName(digits) +
                                         "' (allowed: ranks below " + std::to_string(m_ranks) +
                                         ")");
            }
            ranks.push_back(static_cast<uint32_t>(std::stoul(digits)));
        }
        const auto refuse = [&](bool isWrong, const std::string& what) {
            if (isWrong)
            {
                throw ConfigurationError(path + ": group '" + MakePrintableName(name) + "' " +
                                         what +
                                         " (allowed: each group once, with ranks of which "
                                         "none is twice)");
            }
        };
        refuse(std::set<uint32_t>(ranks.begin(), ranks.end()).size() < ranks.size(),
               "has a rank twice");
        refuse(!m_groups.emplace(name, ranks).second, "is there twice");
    }
}

void
ChakraGroups::ReadNodes(const std::vector<ChakraNode>& nodes, const std::string& path)
{
    for (const ChakraNode& node : nodes)
    {
        if (node.type != ChakraType::METADATA || node.groups.empty())
        {
            continue;
        }
        const std::string where = path + ": node " + std::to_string(node.id);
        const Json list = ReadJsonTree(node.groups, where, "a JSON list of objects");
        for (const auto& [key, group] : list)
        {
            const auto name = group.get_optional<std::string>("pg_name");
            const auto ranks = group.get_child_optional("ranks");
            if (!name || !ranks)
            {
                continue;
            }
            auto& members = m_groups[*name];
            members.clear();
            for (const auto& [place, rank] : *ranks)
            {
                members.push_back(rank.get_value<uint32_t>(m_ranks));
            }
            // PyTorch lists no ranks of the group of all.
            const auto size = group.get_optional<uint64_t>("group_size");
            if (members.empty())
            {
                members = MakeAll();
            }
            const uint64_t count = members.size();
            if ((size && *size != count) ||
                std::set<uint32_t>(members.begin(), members.end()).size() < members.size())
            {
                throw ConfigurationError(where + ": group '" + MakePrintableName(*name) + "' has " +
                                         std::to_string(count) + " ranks" +
                                         (size ? ", group_size " + std::to_string(*size) : "") +
                                         " (allowed: group_size ranks, each once)");
            }
        }
    }
}

/** @return all ranks of the job */
std::vector<uint32_t>
ChakraGroups::MakeAll() const
{
    std::vector<uint32_t> ranks(m_ranks);
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

std::vector<uint32_t>
ChakraGroups::Get(const ChakraNode& node, const std::string& where)
{
    std::string name = node.group;
    const auto number = node.Find(ChakraNumber::GROUP);
    if (name.empty() && number)
    {
        name = std::to_string(*number);
    }
    std::vector<uint32_t> ranks;
    const auto found = m_groups.find(name);
    if (found != m_groups.end())
    {
        ranks = found->second;
    }
    else if (!name.empty() && name != "0" && m_isLenient)
    {
        m_problems.Add("a group that is not defined, which is all ranks", where);
        ranks = MakeAll();
    }
    else if (!name.empty() && name != "0")
    {
        throw ConfigurationError(where + ": group '" + MakePrintableName(name) + "' (allowed: " +
                                 (m_groups.empty() ? "none is defined; groups=PATH defines some"
                                                   : "those of the group file or of the trace") +
                                 ")");
    }
    else
    {
        ranks = MakeAll();
    }
    if (ranks.empty())
    {
        throw ConfigurationError(where + ": group '" + MakePrintableName(name) +
                                 "' has no ranks (allowed: groups of one rank or more)");
    }
    for (uint32_t rank : ranks)
    {
        if (rank >= m_ranks)
        {
            throw ConfigurationError(where + ": group '" + MakePrintableName(name) + "' has rank " +
                                     std::to_string(rank) + " (allowed: ranks below " +
                                     std::to_string(m_ranks) + ")");
        }
    }
    return ranks;
}

std::vector<uint32_t>
ChakraGroups::GetDimensions(const ChakraNode& node,
                            const std::vector<uint32_t>& network,
                            const std::string& where)
{
    const auto& involved = node.dimensions;
    const auto count = std::count(involved.begin(), involved.end(), true);
    const bool areAll = static_cast<std::size_t>(count) == involved.size();
    if (involved.empty() || (network.empty() && areAll))
    {
        return {};
    }
    const uint64_t ranks =
        std::accumulate(network.begin(), network.end(), uint64_t{1}, std::multiplies<>());
    if (involved.size() != network.size() || count == 0 || ranks != m_ranks)
    {
        throw ConfigurationError(
            where + ": involved_dim has " + std::to_string(involved.size()) +
            " dimensions, of which " + std::to_string(count) + " are true (allowed: " +
            (network.empty() ? "all true, or a network of dimensions by --topology=astra-network"
             : ranks != m_ranks
                 ? "a network of " + std::to_string(m_ranks) + " ranks"
                 : std::to_string(network.size()) + ", as the network has, one true at least") +
            ")");
    }
    if (areAll)
    {
        return {};
    }
    const auto number = node.Find(ChakraNumber::GROUP);
    if (!node.group.empty() || number.value_or(0) != 0)
    {
        m_problems.Add("involved_dim beside a group, which counts", where);
        return {};
    }
    std::vector<uint32_t> dimensions;
    for (std::size_t i = 0; i < network.size(); i++)
    {
        dimensions.push_back(involved[i] ? network[i] : 1);
    }
    return dimensions;
}

} // namespace ns3::training
