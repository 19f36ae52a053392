/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/sample-schedule.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <set>
#include <utility>

namespace ns3::training
{

namespace
{

/// A sample with its length.
using Sample = std::pair<uint32_t, uint64_t>;

/** Ranks that compute samples of a round together. */
struct SampleGroup
{
    uint32_t ranks;
    double work; // of each rank
    std::vector<Sample> samples;
};

/** @return a power of two, ranks that a sample needs */
uint32_t
GetNeeded(uint64_t tokens, uint64_t most)
{
    uint32_t ranks = 1;
    while (ranks * most < tokens)
    {
        ranks *= 2;
    }
    return ranks;
}

/**
 * Takes the samples of a round.
 * @param samples the longest first; those that the round has are removed
 * @param most tokens of a sample at a rank
 * @param places ranks
 * @return groups that have all ranks, the largest first
 */
std::vector<SampleGroup>
TakeRound(std::vector<Sample>& samples, uint64_t most, uint32_t places)
{
    std::vector<SampleGroup> groups;
    std::vector<Sample> rest;
    uint32_t taken = 0;
    double longest = 0;
    for (const Sample& sample : samples)
    {
        const uint32_t ranks = GetNeeded(sample.second, most);
        const auto tokens = static_cast<double>(sample.second);
        const double work = tokens * tokens / ranks;
        if (taken + ranks <= places)
        {
            groups.push_back({ranks, work, {sample}});
            taken += ranks;
            longest = std::max(longest, work);
            continue;
        }
        SampleGroup* least = nullptr;
        for (SampleGroup& group : groups)
        {
            if (group.ranks == ranks && (!least || group.work < least->work))
            {
                least = &group;
            }
        }
        if (!least || least->work + work > longest)
        {
            rest.push_back(sample);
            continue;
        }
        least->work += work;
        least->samples.push_back(sample);
    }
    samples = std::move(rest);
    // Powers of two, the largest first: what is left is a multiple of the smallest.
    while (taken < places)
    {
        const auto smallest =
            std::min_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
                return a.ranks < b.ranks;
            });
        taken += smallest->ranks;
        smallest->ranks *= 2;
    }
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
        return a.ranks > b.ranks;
    });
    return groups;
}

} // namespace

SampleSchedule::SampleSchedule(const ParallelOptions& options)
{
    options.hybridContext > 0 ? Balance(options) : TakeTurns(options);
}

/** Replicas take samples in turn. */
void
SampleSchedule::TakeTurns(const ParallelOptions& options)
{
    const auto context = static_cast<uint32_t>(options.context);
    const auto data = static_cast<uint32_t>(options.data);
    for (uint32_t sample = 0; sample < options.sampleLengths.size(); sample++)
    {
        if (sample % data == 0)
        {
            m_rounds.emplace_back();
        }
        m_rounds.back().push_back(
            {sample, options.sampleLengths[sample], sample % data * context, context});
    }
}

/** Groups of ranks have as much to do as each other. */
void
SampleSchedule::Balance(const ParallelOptions& options)
{
    std::vector<Sample> samples;
    for (uint64_t tokens : options.sampleLengths)
    {
        samples.emplace_back(static_cast<uint32_t>(samples.size()), tokens);
    }
    std::stable_sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
        return a.second > b.second;
    });
    while (!samples.empty())
    {
        m_rounds.emplace_back();
        uint32_t first = 0;
        for (const SampleGroup& group :
             TakeRound(samples,
                       options.hybridContext,
                       static_cast<uint32_t>(options.data * options.context)))
        {
            for (const auto& [sample, tokens] : group.samples)
            {
                m_rounds.back().push_back({sample, tokens, first, group.ranks});
            }
            first += group.ranks;
        }
    }
}

std::vector<uint64_t>
ReadSampleLengths(const std::string& text)
{
    /// Samples of an iteration.
    constexpr std::size_t MOST = 1U << 20;
    constexpr uint64_t LONGEST = uint64_t{1} << 32;
    const auto refuse = [](const std::string& word) {
        throw ConfigurationError("sample lengths",
                                 word,
                                 " (allowed: lengths from 1 token on, such as 8192,2048*6 for one "
                                 "sample of 8192 and six of 2048, up to " +
                                     std::to_string(MOST) + " samples)");
    };
    std::vector<uint64_t> lengths;
    std::vector<std::string> words;
    boost::split(words, text, boost::is_any_of(","));
    for (const std::string& word : words)
    {
        const std::size_t star = word.find('*');
        const auto tokens = ParseUnsigned(word.substr(0, star));
        const auto count = star == std::string::npos ? 1 : ParseUnsigned(word.substr(star + 1));
        if (!tokens || *tokens == 0 || *tokens > LONGEST || !count || *count == 0 ||
            *count > MOST - lengths.size())
        {
            refuse(word);
        }
        lengths.insert(lengths.end(), *count, *tokens);
    }
    return lengths;
}

bool
SampleSchedule::KeepsGroups(std::size_t round) const
{
    const auto get = [this](std::size_t number) {
        std::set<std::pair<uint32_t, uint32_t>> groups;
        for (const PlacedSample& each : m_rounds[number])
        {
            groups.emplace(each.first, each.ranks);
        }
        return groups;
    };
    return round == 0 || get(round) == get(round - 1);
}

} // namespace ns3::training
