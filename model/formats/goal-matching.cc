/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/goal-matching.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ns3::training
{

namespace
{

/// Sender and tag of messages to a rank.
using Label = std::pair<uint32_t, uint64_t>;

/// Number of messages by sender and tag.
using Messages = std::map<Label, uint64_t>;

/** Receives of a rank that name the same: nothing, a sender, or a tag. */
struct Alike
{
    bool anySource{false};
    bool anyTag{false};
    Label named; // as far as it is named
    std::vector<const GoalRank::Wildcard*> receives;

    /** @return whether they can take a message */
    bool Takes(const Label& label) const
    {
        return (anySource || label.first == named.first) &&
               (anyTag || label.second == named.second);
    }
};

/** The receives of a rank. */
class Receiver
{
  public:
    /**
     * @param rank the rank
     * @param left messages to it that no other receive takes
     */
    Receiver(GoalRank& rank, Messages left);

    /** Chooses a message for each receive. */
    void Match();

  private:
    bool Match(const Alike& alike);
    bool AreInterchangeable(const Alike& alike) const;
    void Take(const Alike& alike, std::size_t index, Messages::iterator label);

    GoalRank& m_rank;
    Messages m_left;
    std::vector<Alike> m_open;
    std::map<std::size_t, std::set<std::size_t>> m_later; // operations that wait for a receive
};

Receiver::Receiver(GoalRank& rank, Messages left)
    : m_rank(rank),
      m_left(std::move(left))
{
    for (const GoalRank::Wildcard& wildcard : rank.GetWildcards())
    {
        const GraphTask& task = rank.GetSorter().Get(wildcard.place);
        const Label named{wildcard.anySource ? 0 : task.peer, wildcard.anyTag ? 0 : task.tag};
        auto found = std::find_if(m_open.begin(), m_open.end(), [&](const Alike& alike) {
            return alike.anySource == wildcard.anySource && alike.anyTag == wildcard.anyTag &&
                   alike.named == named;
        });
        if (found == m_open.end())
        {
            m_open.push_back({wildcard.anySource, wildcard.anyTag, named, {}});
            found = m_open.end() - 1;
        }
        found->receives.push_back(&wildcard);
        m_later[wildcard.place];
    }
    for (std::size_t place = 0; place < rank.GetSorter().GetSize(); place++)
    {
        for (std::size_t earlier : rank.GetSorter().GetEarlier(place))
        {
            const auto found = m_later.find(earlier);
            if (found != m_later.end())
            {
                found->second.insert(place);
            }
        }
    }
}

void
Receiver::Match()
{
    for (bool moves = true; moves;)
    {
        // What some receives take leaves less choice to others.
        const auto end = std::remove_if(m_open.begin(), m_open.end(), [this](const Alike& alike) {
            return Match(alike);
        });
        moves = end != m_open.end();
        m_open.erase(end, m_open.end());
    }
    if (!m_open.empty())
    {
        throw ConfigurationError(
            m_open.front().receives.front()->where +
            ": recv from any rank or of any tag: which message it takes depends on when they "
            "arrive (allowed: one sender and tag left by other receives, or as many messages as "
            "receives that wait for the same and that the same waits for)");
    }
}

/** @return whether the messages are chosen */
bool
Receiver::Match(const Alike& alike)
{
    uint64_t count = 0;
    std::vector<Messages::iterator> labels;
    for (auto label = m_left.begin(); label != m_left.end(); ++label)
    {
        if (label->second > 0 && alike.Takes(label->first))
        {
            count += label->second;
            labels.push_back(label);
        }
    }
    if (count < alike.receives.size())
    {
        throw ConfigurationError(
            alike.receives[count]->where + ": recv from any rank or of any tag: other receives " +
            "take all messages that it could (allowed: as many sends as receives)");
    }
    const bool takesAll = count == alike.receives.size() && AreInterchangeable(alike);
    if (labels.size() > 1 && !takesAll)
    {
        return false;
    }
    auto label = labels.begin();
    for (std::size_t index = 0; index < alike.receives.size(); index++)
    {
        label += (*label)->second == 0 ? 1 : 0;
        Take(alike, index, *label);
    }
    return true;
}

bool
Receiver::AreInterchangeable(const Alike& alike) const
{
    const auto getWaits = [this](const GoalRank::Wildcard& wildcard) {
        TaskSorter& sorter = m_rank.GetSorter();
        const auto& earlier = sorter.GetEarlier(wildcard.place);
        return std::make_tuple(sorter.Get(wildcard.place).bytes,
                               std::set<std::size_t>(earlier.begin(), earlier.end()),
                               m_later.at(wildcard.place));
    };
    const auto first = getWaits(*alike.receives.front());
    return std::all_of(alike.receives.begin(),
                       alike.receives.end(),
                       [&](const GoalRank::Wildcard* each) { return getWaits(*each) == first; });
}

void
Receiver::Take(const Alike& alike, std::size_t index, Messages::iterator label)
{
    label->second--;
    GraphTask& task = m_rank.GetSorter().Get(alike.receives[index]->place);
    task.peer = label->first.first;
    task.tag = label->first.second;
}

/** @return places of the receives of a rank that do not name sender and tag */
std::set<std::size_t>
GetPlaces(const GoalRank& rank)
{
    std::set<std::size_t> places;
    for (const GoalRank::Wildcard& wildcard : rank.GetWildcards())
    {
        places.insert(wildcard.place);
    }
    return places;
}

} // namespace

void
MatchWildcards(std::vector<GoalRank>& ranks, const std::string& path, FormatProblems& problems)
{
    std::map<uint32_t, Messages> left; // by receiver
    for (uint32_t rank = 0; rank < ranks.size(); rank++)
    {
        if (!ranks[rank].GetWildcards().empty())
        {
            left[rank];
        }
    }
    if (left.empty())
    {
        return;
    }
    for (uint32_t rank = 0; rank < ranks.size(); rank++)
    {
        TaskSorter& sorter = ranks[rank].GetSorter();
        for (std::size_t place = 0; place < sorter.GetSize(); place++)
        {
            const GraphTask& task = sorter.Get(place);
            const auto receiver = task.kind == TaskKind::SEND ? left.find(task.peer) : left.end();
            if (receiver != left.end())
            {
                receiver->second[{rank, task.tag}]++;
            }
        }
    }
    for (auto& [rank, messages] : left)
    {
        TaskSorter& sorter = ranks[rank].GetSorter();
        const auto wildcards = GetPlaces(ranks[rank]);
        for (std::size_t place = 0; place < sorter.GetSize(); place++)
        {
            const GraphTask& task = sorter.Get(place);
            if (task.kind == TaskKind::RECEIVE && wildcards.count(place) == 0)
            {
                const auto found = messages.find({task.peer, task.tag});
                if (found != messages.end() && found->second > 0)
                {
                    found->second--;
                }
            }
        }
        Receiver(ranks[rank], messages).Match();
        for (std::size_t i = 0; i < wildcards.size(); i++)
        {
            problems.Add("recv from any rank or of any tag, which takes what other receives leave",
                         path);
        }
    }
}

} // namespace ns3::training
