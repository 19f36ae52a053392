/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-schedule.h"

#include "schedule/chunk-dependencies.h"

#include "ns3/abort.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3::training
{

const std::vector<std::string>&
CollectiveSchedule::GetProtocols()
{
    static const std::vector<std::string> names{"Simple", "LL", "LL128"};
    return names;
}

double
CollectiveSchedule::GetWireFactor() const
{
    // LL has a flag of 4 bytes behind each 4, LL128 one of 8 behind each 120.
    constexpr double FACTORS[]{1, 2, 128.0 / 120};
    return FACTORS[protocol];
}

void
CollectiveSchedule::Resize(uint32_t ranks)
{
    m_size = ranks;
    m_symmetry = Symmetry::NONE;
    m_symmetricChunks = false;
    m_copies = 1;
    m_lists.assign(ranks, {});
    m_shared = {};
}

void
CollectiveSchedule::StoreRankZero(Symmetry symmetry, bool chunksToo)
{
    m_symmetry = symmetry;
    m_symmetricChunks = chunksToo;
    m_lists.assign(1, {});
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
    const auto first = rank < m_lists.size() ? m_lists[rank].GetRuns().size() : 0;
    const ChunkRun range{static_cast<uint32_t>(first), static_cast<uint32_t>(list.runs.size())};
    const uint32_t index = Append(rank, kind, peer, Place::RANK, range, step, after, message);
    m_lists[rank].AppendRuns(list.runs);
    return index;
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
    RankActions::Action stored{};
    stored.peer = peer;
    stored.step = step;
    stored.run = run;
    stored.message = static_cast<uint16_t>(message);
    stored.kind = kind;
    stored.place = static_cast<uint8_t>(place);
    return m_lists[rank].Append(stored, after);
}

void
CollectiveSchedule::CheckLimits()
{
    m_copies = 1;
    m_lanes = 1;
    uint64_t steps = 0;
    uint64_t messages = 0;
    const auto countCopies = [&](const ChunkRun& run) {
        m_copies = std::max(m_copies, run.first / chunks + 1);
    };
    for (const RankActions& list : m_lists)
    {
        for (const auto& action : list.GetAll())
        {
            steps = std::max<uint64_t>(steps, uint64_t{action.step} + segments);
            m_lanes = std::max(m_lanes, uint32_t{action.message} + 1);
            messages = std::max(messages, uint64_t{m_lanes} * segments);
            m_copies = std::max(m_copies, action.IsLocal() ? action.peer + 1 : 1);
            if (action.place == static_cast<uint8_t>(Place::ACTION))
            {
                countCopies(action.run);
            }
        }
        std::for_each(list.GetRuns().begin(), list.GetRuns().end(), countCopies);
    }
    for (const auto& list : m_shared.GetAll())
    {
        std::for_each(list.begin(), list.end(), countCopies);
    }
    const uint32_t limit = std::min(MAX_COPIES, NONE / chunks);
    if (m_copies > limit)
    {
        throw ConfigurationError(algorithm + ": copy " + std::to_string(m_copies - 1) + " of " +
                                 std::to_string(chunks) + " chunks (allowed: 0 to " +
                                 std::to_string(limit - 1) + ")");
    }
    if (steps > MAX_STEPS || messages > MAX_MESSAGES || segments == 0)
    {
        throw ConfigurationError(
            algorithm + ": " + std::to_string(segments) + " segments, " + std::to_string(steps) +
            " steps with up to " + std::to_string(messages) +
            " messages between two ranks (allowed: 1 segment and more, up to " +
            std::to_string(MAX_STEPS) + " steps and " + std::to_string(MAX_MESSAGES) +
            " messages)");
    }
}

void
CollectiveSchedule::Close(bool derive)
{
    CheckLimits();
    m_shared.Close();
    const ChunkOrder order(derive ? m_shared.GetAll() : std::vector<std::vector<ChunkRun>>(),
                           chunks,
                           m_copies);
    ChunkDependencies dependencies(order, chunks);
    for (RankActions& list : m_lists)
    {
        list.Close(derive ? &dependencies : nullptr, m_shared, chunks, stepwise);
    }
    if (stepwise && m_symmetry == Symmetry::NONE) // with symmetry, all ranks are equally far
    {
        MarkGranted();
    }
}

void
CollectiveSchedule::MarkGranted()
{
    std::map<uint32_t, std::vector<std::pair<uint32_t, uint32_t>>> sends; // by step: rank, action
    for (uint32_t rank = 0; rank < m_size; rank++)
    {
        for (uint32_t i = 0; i < m_lists[rank].GetAll().size(); i++)
        {
            if (m_lists[rank].GetAll()[i].kind == Kind::SEND)
            {
                sends[m_lists[rank].GetAll()[i].step].emplace_back(rank, i);
            }
        }
    }
    std::vector<uint32_t> ready(m_size); // messages in a chain before the step
    for (const auto& [step, messages] : sends)
    {
        auto next = ready;
        for (const auto& [rank, index] : messages)
        {
            const RankActions::Action& send = m_lists[rank].GetAll()[index];
            const uint32_t receive =
                send.peer < m_size
                    ? FindReceive(send.peer, rank, step, uint32_t{send.message} * segments)
                    : NONE;
            if (receive == NONE)
            {
                continue; // a fault; the verifier reports it
            }
            const bool isGranted = ready[rank] < ready[send.peer];
            m_lists[rank].SetGranted(index, isGranted);
            m_lists[send.peer].SetGranted(receive, isGranted);
            const uint32_t end = std::max(ready[rank], ready[send.peer]) + 1;
            next[rank] = std::max(next[rank], end);
            next[send.peer] = std::max(next[send.peer], end);
        }
        ready = std::move(next);
    }
}

ScheduleAction
CollectiveSchedule::Get(uint32_t rank, uint32_t index) const
{
    const RankActions& list = GetList(rank);
    const auto count = static_cast<uint32_t>(list.GetAll().size());
    const uint32_t segment = segments == 1 ? 0 : index / count;
    const uint32_t base = index - segment * count;
    const RankActions::Action& stored = list.GetAll()[base];
    const auto [first, last] = list.GetRuns(stored, m_shared);
    ScheduleAction action;
    action.kind = stored.kind;
    action.peer = stored.peer;
    action.flip = 0;
    if (m_symmetry == Symmetry::EXCLUSIVE_OR)
    {
        action.flip = rank;
    }
    if (!stored.IsLocal())
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

uint32_t
CollectiveSchedule::FindReceive(uint32_t rank, uint32_t peer, uint32_t step, uint32_t message) const
{
    const RankActions& list = GetList(rank);
    const uint32_t segment = message % segments;
    const uint32_t stored = m_symmetry == Symmetry::NONE ? peer : GetRelative(peer, rank);
    const uint32_t found = list.FindReceive(stored, step - segment, message / segments);
    return found == NONE ? NONE : found + segment * static_cast<uint32_t>(list.GetAll().size());
}

uint32_t
CollectiveSchedule::GetSteps() const
{
    uint32_t steps = 0;
    for (const RankActions& list : m_lists)
    {
        for (const auto& action : list.GetAll())
        {
            steps = std::max(steps, action.step + segments);
        }
    }
    return steps;
}

uint64_t
CollectiveSchedule::GetMemory() const
{
    uint64_t bytes = sizeof(*this) + m_lists.capacity() * sizeof(RankActions);
    for (const RankActions& list : m_lists)
    {
        bytes += list.GetMemory();
    }
    return bytes + m_shared.GetMemory();
}

} // namespace ns3::training
