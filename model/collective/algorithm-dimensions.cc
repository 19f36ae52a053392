/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/algorithm-dimensions.h"

#include "collective/rank-placement.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <functional>
#include <numeric>
#include <set>

namespace ns3::training
{

using Operation = CollectiveOperation;

namespace
{

/// Most ranks of all dimensions.
constexpr uint32_t MAX_RANKS = 1 << 20;

} // namespace

std::vector<std::string>
SplitAlgorithms(const std::string& text)
{
    std::vector<std::string> names;
    boost::split(names, text, boost::is_any_of("+"));
    return names;
}

std::optional<std::vector<uint32_t>>
ParseDimensions(const std::string& text)
{
    return ParseSides(text, MAX_RANKS);
}

std::string
SelectDimensions(const std::string& algorithm, const std::vector<uint32_t>& dimensions)
{
    const std::size_t colon = std::min(algorithm.find(':'), algorithm.size());
    const std::string name = algorithm.substr(0, colon);
    if (name != "per-dimension" || colon == algorithm.size() || dimensions.empty())
    {
        return "";
    }
    std::string sizes;
    for (uint32_t size : dimensions)
    {
        sizes += size == 1 ? "" : (sizes.empty() ? "" : "x") + std::to_string(size);
    }
    std::vector<std::string> keys;
    boost::split(keys, algorithm.substr(colon + 1), boost::is_any_of(","));
    std::string text = name + ":sizes=" + sizes;
    for (const std::string& key : keys)
    {
        const std::size_t value = std::min(key.find('='), key.size() - 1) + 1;
        const auto all = SplitAlgorithms(key.substr(value));
        std::string some = all.front(); // one algorithm for all ranks, or another key
        for (std::size_t i = 0, found = 0; all.size() == dimensions.size() && i < all.size(); i++)
        {
            if (dimensions[i] > 1)
            {
                some = (found++ == 0 ? "" : some + "+") + all[i];
            }
        }
        if (key.compare(0, value, "sizes=") != 0)
        {
            text += "," + key.substr(0, value) + some;
        }
    }
    return text;
}

AlgorithmDimensions::AlgorithmDimensions(const CollectiveRequest& request)
    : m_request(request)
{
    // All-to-alls of unequal parts have no key of their own.
    const std::string key = GetName(IsAllToAll(request.operation) ? CollectiveOperation::ALL_TO_ALL
                                                                  : request.operation);
    m_algorithms = request.keys.Has(key) ? SplitAlgorithms(request.keys.GetText(key))
                                         : std::vector<std::string>{"ring"};
    if (m_algorithms.size() == 1 || !FindPlaces())
    {
        m_algorithms = {m_algorithms.size() == 1 ? m_algorithms.front() : "ring"};
        m_sizes = {request.ranks};
        m_places.resize(request.ranks);
        std::iota(m_places.begin(), m_places.end(), 0);
    }
    m_ranks.resize(m_places.size());
    for (uint32_t rank = 0; rank < m_places.size(); rank++)
    {
        m_ranks[m_places[rank]] = rank;
    }
}

std::vector<DimensionPhase>
AlgorithmDimensions::GetPhases() const
{
    std::vector<DimensionPhase> phases;
    const std::size_t last = m_sizes.size() - 1;
    const Operation operation = m_request.operation;
    const bool isBaseline = m_request.keys.GetText("optimization") == "baseline";
    const bool turns = operation == Operation::ALL_REDUCE && !isBaseline;
    for (std::size_t i = 0; i < last + (turns ? 0 : 1); i++)
    {
        phases.push_back({turns ? Operation::REDUCE_SCATTER : operation,
                          operation == Operation::ALL_GATHER ? last - i : i});
    }
    if (turns)
    {
        phases.push_back({Operation::ALL_REDUCE, last});
    }
    for (std::size_t i = last; turns && i-- > 0;)
    {
        phases.push_back({Operation::ALL_GATHER, i});
    }
    return phases;
}

CollectiveRequest
AlgorithmDimensions::GetPart(const DimensionPhase& phase) const
{
    CollectiveRequest part;
    part.operation = phase.operation;
    part.ranks = m_sizes[phase.dimension];
    part.segments = 1;
    return part;
}

std::string
AlgorithmDimensions::FindFault() const
{
    if (!m_fault.empty())
    {
        return m_fault;
    }
    if (m_algorithms.size() != m_sizes.size())
    {
        return GetName(m_request.operation) + " by " + std::to_string(m_algorithms.size()) +
               " algorithms in " + std::to_string(m_sizes.size()) + " dimensions";
    }
    for (const DimensionPhase& phase : GetPhases())
    {
        try
        {
            CollectiveRequest part = GetPart(phase);
            CheckRequest(m_algorithms[phase.dimension], part);
        }
        catch (const ConfigurationError& error)
        {
            return "dimension " + std::to_string(phase.dimension) + ": " + error.what();
        }
    }
    return "";
}

uint32_t
AlgorithmDimensions::GetStride(std::size_t dimension) const
{
    return std::accumulate(m_sizes.begin(),
                           m_sizes.begin() + static_cast<std::ptrdiff_t>(dimension),
                           1U,
                           std::multiplies<>());
}

/**
 * Finds sizes and places. It is a fault if the ranks of all hosts do not fill the dimensions.
 * @return whether the ranks are the whole of the dimensions
 */
bool
AlgorithmDimensions::FindPlaces()
{
    const uint32_t ranks = m_request.ranks;
    const RankPlacement placement(m_request);
    const bool isAutomatic = m_request.keys.GetText("sizes") == "auto";
    if (isAutomatic && !placement.IsFull())
    {
        return false;
    }
    m_sizes = isAutomatic ? placement.GetDimensions()
                          : ParseDimensions(m_request.keys.GetText("sizes")).value();
    const auto levels = placement.GetPlaces();
    const auto numbers = RankPlacement::GetSizes(levels);
    std::set<uint32_t> taken;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        uint32_t place = isAutomatic ? 0 : m_request.GetHost(rank);
        for (std::size_t level = 0; isAutomatic && level < numbers.size(); level++)
        {
            place = place * numbers[level] + levels[rank][level];
        }
        m_places.push_back(place);
        taken.insert(place);
    }
    const uint64_t all =
        std::accumulate(m_sizes.begin(), m_sizes.end(), uint64_t{1}, std::multiplies<>());
    const bool isWhole = all == ranks && taken.size() == ranks && *taken.rbegin() < ranks;
    if (!isWhole && placement.IsFull())
    {
        m_fault = std::to_string(ranks) + " ranks in dimensions of " + std::to_string(all);
    }
    if (!isWhole && !placement.IsFull() && !isAutomatic && all == ranks)
    {
        std::iota(m_places.begin(), m_places.end(), 0); // a group that fills some dimensions
        return true;
    }
    return isWhole;
}

} // namespace ns3::training
