/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-schedule.h"

#include "ns3/abort.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-mix-bits.h"

#include <algorithm>
#include <tuple>

namespace ns3::training
{

ChunkList::ChunkList(uint32_t chunk)
    : runs{{chunk, 1}}
{
}

ChunkList::ChunkList(ChunkRun run)
    : runs{run}
{
}

ChunkList::ChunkList(std::vector<ChunkRun> runs)
    : runs(std::move(runs))
{
}

uint32_t
ScheduleAction::GetFirstChunk() const
{
    if (first == last)
    {
        return 0;
    }
    const uint32_t copy = first->first / chunks * chunks;
    return copy +
           Flip(static_cast<uint32_t>((uint64_t{first->first} - copy + chunkShift) % chunks));
}

std::string
ScheduleAction::DescribeChunks() const
{
    uint64_t count = 0;
    for (const ChunkRun* run = first; run != last; run++)
    {
        count += run->count;
    }
    std::string text = "chunk " + std::to_string(GetFirstChunk() % chunks);
    if (GetFirstChunk() >= chunks)
    {
        text += " (copy " + std::to_string(GetFirstChunk() / chunks) + ")";
    }
    return text + (count > 1 ? " and " + std::to_string(count - 1) + " more" : "");
}

void
CollectiveSchedule::Resize(uint32_t ranks)
{
    m_size = ranks;
    m_symmetry = Symmetry::NONE;
    m_symmetricChunks = false;
    m_copies = 1;
    m_lists.assign(ranks, {});
    m_shared.clear();
    m_sharedNumbers.clear();
}

void
CollectiveSchedule::StoreRankZero(Symmetry symmetry, bool chunksToo)
{
    m_symmetry = symmetry;
    m_symmetricChunks = chunksToo;
    m_lists.assign(1, {});
}

void
CollectiveSchedule::UseRotation(bool chunksToo)
{
    StoreRankZero(Symmetry::ROTATION, chunksToo);
}

void
CollectiveSchedule::UseExclusiveOr()
{
    NS_ABORT_MSG_UNLESS(CanUseExclusiveOr(),
                        "exclusive or of " << m_size << " ranks with " << chunks << " chunks");
    StoreRankZero(Symmetry::EXCLUSIVE_OR, true);
}

bool
CollectiveSchedule::CanUseExclusiveOr() const
{
    const bool isPowerOfTwo = m_size > 0 && (m_size & (m_size - 1)) == 0;
    const uint64_t unit = IsAllToAll(operation) ? uint64_t{m_size} * m_size : m_size;
    return isPowerOfTwo && chunks > 0 && chunks % unit == 0;
}

SharedChunks
CollectiveSchedule::Share(const ChunkList& list)
{
    if (list.runs.size() == 1 && list.runs.front().count > 0)
    {
        return {list.runs.front()};
    }
    uint64_t hash = list.runs.size();
    for (const ChunkRun& run : list.runs)
    {
        hash = MixBits(hash ^ (uint64_t{run.first} << 32 | run.count));
    }
    const auto isEqual = [](const ChunkRun& a, const ChunkRun& b) {
        return a.first == b.first && a.count == b.count;
    };
    const auto [first, last] = m_sharedNumbers.equal_range(hash);
    for (auto known = first; known != last; known++)
    {
        const auto& other = m_shared[known->second];
        if (std::equal(other.begin(), other.end(), list.runs.begin(), list.runs.end(), isEqual))
        {
            return {{known->second, 0}};
        }
    }
    const auto number = static_cast<uint32_t>(m_shared.size());
    m_shared.emplace_back(list.runs.begin(), list.runs.end());
    m_sharedNumbers.emplace(hash, number);
    return {{number, 0}};
}

uint32_t
CollectiveSchedule::Add(uint32_t rank,
                        Kind kind,
                        uint32_t peer,
                        const ChunkList& list,
                        uint32_t step,
                        const std::vector<uint32_t>& after,
                        uint32_t message)
{
    if (list.runs.size() == 1)
    {
        return Append(rank, kind, peer, Place::ACTION, list.runs.front(), step, after, message);
    }
    const auto first = rank < m_lists.size() ? m_lists[rank].runs.size() : 0;
    const ChunkRun range{static_cast<uint32_t>(first), static_cast<uint32_t>(list.runs.size())};
    const uint32_t index = Append(rank, kind, peer, Place::RANK, range, step, after, message);
    m_lists[rank].runs.insert(m_lists[rank].runs.end(), list.runs.begin(), list.runs.end());
    return index;
}

uint32_t
CollectiveSchedule::Add(uint32_t rank,
                        Kind kind,
                        uint32_t peer,
                        ChunkRun run,
                        uint32_t step,
                        const std::vector<uint32_t>& after,
                        uint32_t message)
{
    return Append(rank, kind, peer, Place::ACTION, run, step, after, message);
}

uint32_t
CollectiveSchedule::Add(uint32_t rank,
                        Kind kind,
                        uint32_t peer,
                        SharedChunks list,
                        uint32_t step,
                        const std::vector<uint32_t>& after,
                        uint32_t message)
{
    const Place place = list.run.count > 0 ? Place::ACTION : Place::SHARED;
    return Append(rank, kind, peer, place, list.run, step, after, message);
}

uint32_t
CollectiveSchedule::Append(uint32_t rank,
                           Kind kind,
                           uint32_t peer,
                           Place place,
                           ChunkRun run,
                           uint32_t step,
                           const std::vector<uint32_t>& after,
                           uint32_t message)
{
    if (rank >= m_lists.size())
    {
        throw ConfigurationError(algorithm + ": an action of rank " + std::to_string(rank) +
                                 " (allowed: 0 to " + std::to_string(m_lists.size() - 1) + ")");
    }
    if (message >= MAX_MESSAGES)
    {
        throw ConfigurationError(algorithm + ": message " + std::to_string(message) +
                                 " of a step (allowed: 0 to " + std::to_string(MAX_MESSAGES - 1) +
                                 ")");
    }
    List& mine = m_lists[rank];
    Stored stored{};
    stored.peer = peer;
    stored.step = step;
    stored.run = run;
    stored.after = static_cast<uint32_t>(mine.after.size());
    stored.message = static_cast<uint16_t>(message);
    stored.kind = kind;
    stored.place = static_cast<uint8_t>(place);
    mine.actions.push_back(stored);
    mine.after.insert(mine.after.end(), after.begin(), after.end());
    return static_cast<uint32_t>(mine.actions.size() - 1);
}

std::pair<const ChunkRun*, const ChunkRun*>
CollectiveSchedule::GetRuns(const List& list, const Stored& stored) const
{
    switch (static_cast<Place>(stored.place))
    {
    case Place::RANK: {
        const ChunkRun* first = list.runs.data() + stored.run.first;
        return {first, first + stored.run.count};
    }
    case Place::SHARED: {
        const auto& runs = m_shared[stored.run.first];
        return {runs.data(), runs.data() + runs.size()};
    }
    case Place::ACTION:
        break;
    }
    return {&stored.run, &stored.run + 1};
}

ScheduleAction
CollectiveSchedule::Get(uint32_t rank, uint32_t index) const
{
    const List& list = GetList(rank);
    const auto count = static_cast<uint32_t>(list.actions.size());
    const uint32_t segment = segments == 1 ? 0 : index / count;
    const uint32_t base = index - segment * count;
    const Stored& stored = list.actions[base];
    const auto [first, last] = GetRuns(list, stored);
    ScheduleAction action;
    action.kind = stored.kind;
    action.peer = stored.peer;
    action.flip = 0;
    if (m_symmetry == Symmetry::EXCLUSIVE_OR)
    {
        action.flip = rank;
    }
    if (stored.kind != Kind::COPY && stored.kind != Kind::REDUCE)
    {
        action.peer = m_symmetry == Symmetry::ROTATION && rank > 0
                          ? static_cast<uint32_t>((uint64_t{stored.peer} + rank) % m_size)
                          : stored.peer ^ action.flip;
    }
    action.step = stored.step + segment;
    action.message = stored.message * segments + segment;
    action.segment = segment;
    const uint32_t shift = GetChunkShift();
    action.chunkShift = shift == 0 ? 0 : static_cast<uint32_t>(uint64_t{rank} * shift % chunks);
    action.chunks = chunks;
    action.ranks = m_size;
    action.isOfPairs = action.flip != 0 && IsAllToAll(operation);
    action.isGranted = stored.isGranted != 0;
    action.first = first;
    action.last = last;
    return action;
}

CollectiveSchedule::Indices
CollectiveSchedule::Find(const std::vector<uint32_t>& all,
                         const List& list,
                         uint32_t Stored::*first,
                         uint32_t index) const
{
    const std::size_t end =
        index + 1 < list.actions.size() ? list.actions[index + 1].*first : all.size();
    return {all.data() + list.actions[index].*first, all.data() + end};
}

CollectiveSchedule::Indices
CollectiveSchedule::GetDependencies(uint32_t rank, uint32_t index) const
{
    const List& list = GetList(rank);
    return Find(list.after, list, &Stored::after, index);
}

CollectiveSchedule::Indices
CollectiveSchedule::GetNext(uint32_t rank, uint32_t index) const
{
    const List& list = GetList(rank);
    return Find(list.next, list, &Stored::next, index);
}

CollectiveSchedule::Indices
CollectiveSchedule::GetRoots(uint32_t rank) const
{
    const auto& roots = GetList(rank).roots;
    return {roots.data(), roots.data() + roots.size()};
}

uint32_t
CollectiveSchedule::FindReceive(uint32_t rank, uint32_t peer, uint32_t step, uint32_t message) const
{
    const List& list = GetList(rank);
    const uint32_t segment = message % segments;
    const uint32_t stored = m_symmetry == Symmetry::NONE ? peer : GetRelative(peer, rank);
    const auto wanted = std::make_tuple(stored, step - segment, message / segments);
    const auto keyOf = [&](uint32_t index) {
        const Stored& action = list.actions[index];
        return std::make_tuple(action.peer, action.step, uint32_t{action.message});
    };
    const auto found =
        std::lower_bound(list.receives.begin(),
                         list.receives.end(),
                         wanted,
                         [&](uint32_t index, const auto& key) { return keyOf(index) < key; });
    if (found == list.receives.end() || keyOf(*found) != wanted)
    {
        return NONE;
    }
    return *found + segment * static_cast<uint32_t>(list.actions.size());
}

uint32_t
CollectiveSchedule::GetSource(uint32_t chunk) const
{
    switch (operation)
    {
    case CollectiveOperation::ALL_GATHER:
        return GetOwner(chunk);
    case CollectiveOperation::BROADCAST:
        return root;
    case CollectiveOperation::ALL_TO_ALL:
    case CollectiveOperation::ALL_TO_ALL_V:
        return chunk / (chunks / m_size);
    case CollectiveOperation::SEND_RECEIVE:
        return chunk;
    case CollectiveOperation::ALL_REDUCE:
    case CollectiveOperation::REDUCE_SCATTER:
    case CollectiveOperation::REDUCE:
    case CollectiveOperation::BARRIER:
        break;
    }
    NS_ABORT_MSG(GetName(operation) << " has data at every rank");
    return 0;
}

bool
CollectiveSchedule::HasAtStart(uint32_t rank, uint32_t chunk) const
{
    switch (operation)
    {
    case CollectiveOperation::ALL_REDUCE:
    case CollectiveOperation::REDUCE_SCATTER:
    case CollectiveOperation::REDUCE:
    case CollectiveOperation::BARRIER:
        return true;
    default:
        return rank == GetSource(chunk);
    }
}

CollectiveSchedule::Promise
CollectiveSchedule::GetPromise(uint32_t rank, uint32_t chunk) const
{
    switch (operation)
    {
    case CollectiveOperation::REDUCE_SCATTER:
        return rank == GetOwner(chunk) ? Promise::SUM : Promise::NOTHING;
    case CollectiveOperation::REDUCE:
        return rank == root ? Promise::SUM : Promise::NOTHING;
    case CollectiveOperation::ALL_GATHER:
    case CollectiveOperation::BROADCAST:
        return Promise::COPY;
    case CollectiveOperation::ALL_TO_ALL:
    case CollectiveOperation::ALL_TO_ALL_V:
        return rank == GetTarget(chunk) ? Promise::COPY : Promise::NOTHING;
    case CollectiveOperation::SEND_RECEIVE:
        return rank == (chunk + 1) % m_size ? Promise::COPY : Promise::NOTHING;
    case CollectiveOperation::ALL_REDUCE:
    case CollectiveOperation::BARRIER:
        break;
    }
    return Promise::SUM;
}

uint32_t
CollectiveSchedule::GetSteps() const
{
    uint32_t steps = 0;
    for (const List& list : m_lists)
    {
        for (const Stored& action : list.actions)
        {
            steps = std::max(steps, action.step + segments);
        }
    }
    return steps;
}

uint64_t
CollectiveSchedule::GetMemory() const
{
    uint64_t bytes = sizeof(*this) + m_lists.capacity() * sizeof(List);
    for (const List& list : m_lists)
    {
        bytes += list.actions.capacity() * sizeof(Stored) +
                 list.runs.capacity() * sizeof(ChunkRun) +
                 (list.after.capacity() + list.next.capacity() + list.roots.capacity() +
                  list.receives.capacity()) *
                     sizeof(uint32_t);
    }
    for (const auto& list : m_shared)
    {
        bytes += sizeof(list) + list.capacity() * sizeof(ChunkRun);
    }
    return bytes;
}

} // namespace ns3::training
