/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-schedule.h"

#include "ns3/abort.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <map>
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
    return copy + static_cast<uint32_t>((uint64_t{first->first} - copy + chunkShift) % chunks);
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
    m_rotated = false;
    m_rotateChunks = false;
    m_copies = 1;
    m_lists.assign(ranks, {});
}

void
CollectiveSchedule::UseRotation(bool chunksToo)
{
    m_rotated = true;
    m_rotateChunks = chunksToo;
    m_lists.assign(1, {});
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
    mine.actions.push_back({peer,
                            step,
                            static_cast<uint32_t>(mine.runs.size()),
                            static_cast<uint32_t>(mine.after.size()),
                            0,
                            static_cast<uint16_t>(message),
                            kind});
    mine.runs.insert(mine.runs.end(), list.runs.begin(), list.runs.end());
    mine.after.insert(mine.after.end(), after.begin(), after.end());
    return static_cast<uint32_t>(mine.actions.size() - 1);
}

/** The latest accesses to each chunk of a rank, for deriving dependencies. */
class CollectiveSchedule::Hazards
{
  public:
    explicit Hazards(uint64_t chunks)
        : m_writer(chunks, NONE),
          m_readers(chunks, NONE)
    {
    }

    /** Appends the actions that an access to a chunk depends on, and records the access. */
    void Use(uint32_t index, uint32_t chunk, bool write, std::vector<uint32_t>& after)
    {
        if (m_writer[chunk] == NONE && m_readers[chunk] == NONE)
        {
            m_touched.push_back(chunk);
        }
        if (m_writer[chunk] != NONE && m_writer[chunk] != index)
        {
            after.push_back(m_writer[chunk]);
        }
        if (!write)
        {
            m_pool.emplace_back(index, m_readers[chunk]);
            m_readers[chunk] = static_cast<uint32_t>(m_pool.size() - 1);
            return;
        }
        for (uint32_t i = m_readers[chunk]; i != NONE; i = m_pool[i].second)
        {
            if (m_pool[i].first != index)
            {
                after.push_back(m_pool[i].first);
            }
        }
        m_readers[chunk] = NONE;
        m_writer[chunk] = index;
    }

    /** Removes all accesses. */
    void Clear()
    {
        for (uint32_t chunk : m_touched)
        {
            m_writer[chunk] = NONE;
            m_readers[chunk] = NONE;
        }
        m_touched.clear();
        m_pool.clear();
    }

  private:
    std::vector<uint32_t> m_writer;
    std::vector<uint32_t> m_readers; // reads since the last write: heads of lists in m_pool
    std::vector<std::pair<uint32_t, uint32_t>> m_pool;
    std::vector<uint32_t> m_touched;
};

void
CollectiveSchedule::Close(bool derive)
{
    m_copies = 1;
    m_lanes = 1;
    uint64_t steps = 0;
    uint64_t messages = 0;
    for (const List& list : m_lists)
    {
        for (const Stored& action : list.actions)
        {
            steps = std::max<uint64_t>(steps, uint64_t{action.step} + segments);
            m_lanes = std::max(m_lanes, uint32_t{action.message} + 1);
            messages = std::max(messages, uint64_t{m_lanes} * segments);
            const bool local = action.kind == Kind::COPY || action.kind == Kind::REDUCE;
            m_copies = std::max(m_copies, local ? action.peer + 1 : 1);
        }
        for (const ChunkRun& run : list.runs)
        {
            m_copies = std::max(m_copies, run.first / chunks + 1);
        }
    }
    if (m_copies > MAX_COPIES)
    {
        throw ConfigurationError(algorithm + ": copy " + std::to_string(m_copies - 1) + " of " +
                                 std::to_string(chunks) + " chunks (allowed: 0 to " +
                                 std::to_string(MAX_COPIES - 1) + ")");
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
    Hazards hazards(derive ? uint64_t{chunks} * m_copies : 0);
    for (List& list : m_lists)
    {
        std::map<uint32_t, std::vector<uint32_t>> taken; // earlier actions by step, if stepwise
        std::vector<uint32_t> all;
        std::vector<uint32_t> after;
        std::vector<uint32_t> waiting(list.actions.size() +
                                      1); // per action, number of dependent actions
        list.roots.clear();
        list.receives.clear();
        for (uint32_t i = 0; i < list.actions.size(); i++)
        {
            Stored& stored = list.actions[i];
            const std::size_t end =
                i + 1 < list.actions.size() ? list.actions[i + 1].after : list.after.size();
            after.assign(list.after.begin() + stored.after, list.after.begin() + end);
            stored.after = static_cast<uint32_t>(all.size());
            if (derive)
            {
                const ScheduleAction action = Get(static_cast<uint32_t>(&list - m_lists.data()), i);
                const bool local = stored.kind == Kind::COPY || stored.kind == Kind::REDUCE;
                action.ForEachChunk([&](uint32_t chunk) {
                    if (local)
                    {
                        hazards.Use(i, chunk % chunks + stored.peer * chunks, false, after);
                    }
                    hazards.Use(i, chunk, action.IsWrite(), after);
                });
            }
            if (derive && stepwise)
            {
                const auto step = taken.try_emplace(stored.step).first;
                if (step != taken.begin())
                {
                    const auto& previous = std::prev(step)->second;
                    after.insert(after.end(), previous.begin(), previous.end());
                }
                step->second.push_back(i);
            }
            std::sort(after.begin(), after.end());
            after.erase(std::unique(after.begin(), after.end()), after.end());
            for (uint32_t before : after)
            {
                if (before < list.actions.size()) // otherwise a fault; the verifier reports it
                {
                    waiting[before]++;
                }
            }
            if (after.empty())
            {
                list.roots.push_back(i);
            }
            if (stored.kind == Kind::RECEIVE || stored.kind == Kind::RECEIVE_REDUCE)
            {
                list.receives.push_back(i);
            }
            all.insert(all.end(), after.begin(), after.end());
        }
        hazards.Clear();
        list.after = std::move(all);
        list.after.shrink_to_fit();
        list.actions.shrink_to_fit();
        list.runs.shrink_to_fit();

        uint32_t total = 0;
        for (uint32_t i = 0; i < list.actions.size(); i++)
        {
            list.actions[i].next = total;
            total += waiting[i];
            waiting[i] = list.actions[i].next;
        }
        list.next.assign(total, 0);
        for (uint32_t i = 0; i < list.actions.size(); i++)
        {
            for (uint32_t before : Find(list.after, list, &Stored::after, i))
            {
                if (before < list.actions.size())
                {
                    list.next[waiting[before]++] = i;
                }
            }
        }
        std::sort(list.receives.begin(), list.receives.end(), [&](uint32_t a, uint32_t b) {
            const Stored& x = list.actions[a];
            const Stored& y = list.actions[b];
            return std::tie(x.peer, x.step, x.message, a) < std::tie(y.peer, y.step, y.message, b);
        });
    }
    if (stepwise && !m_rotated) // with rotation, all ranks are equally far
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
        for (uint32_t i = 0; i < m_lists[rank].actions.size(); i++)
        {
            if (m_lists[rank].actions[i].kind == Kind::SEND)
            {
                sends[m_lists[rank].actions[i].step].emplace_back(rank, i);
            }
        }
    }
    std::vector<uint32_t> ready(m_size); // messages in a chain before the step
    for (const auto& [step, messages] : sends)
    {
        auto next = ready;
        for (const auto& [rank, index] : messages)
        {
            Stored& send = m_lists[rank].actions[index];
            const uint32_t receive =
                send.peer < m_size
                    ? FindReceive(send.peer, rank, step, uint32_t{send.message} * segments)
                    : NONE;
            if (receive == NONE)
            {
                continue; // a fault; the verifier reports it
            }
            send.isGranted = ready[rank] < ready[send.peer];
            m_lists[send.peer].actions[receive].isGranted = send.isGranted;
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
    const List& list = GetList(rank);
    const auto count = static_cast<uint32_t>(list.actions.size());
    const uint32_t segment = segments == 1 ? 0 : index / count;
    const uint32_t base = index - segment * count;
    const Stored& stored = list.actions[base];
    const uint32_t end =
        base + 1 < count ? list.actions[base + 1].runs : static_cast<uint32_t>(list.runs.size());
    ScheduleAction action;
    action.kind = stored.kind;
    action.peer = stored.peer;
    if (m_rotated && rank > 0 && stored.kind != Kind::COPY && stored.kind != Kind::REDUCE)
    {
        action.peer = static_cast<uint32_t>((uint64_t{stored.peer} + rank) % m_size);
    }
    action.step = stored.step + segment;
    action.message = stored.message * segments + segment;
    action.segment = segment;
    action.chunkShift =
        static_cast<uint32_t>(m_rotated ? uint64_t{rank} * GetChunkShift() % chunks : 0);
    action.chunks = chunks;
    action.isGranted = stored.isGranted;
    action.first = list.runs.data() + stored.runs;
    action.last = list.runs.data() + end;
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
    const uint32_t stored = m_rotated ? (peer + m_size - rank) % m_size : peer;
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
    return bytes;
}

} // namespace ns3::training
