/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule-verifier.h"

#include "core/memory.h"
#include "schedule/schedule-order.h"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <deque>
#include <unordered_map>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Promise = CollectiveSchedule::Promise;

/**
 * Race detector: finds two unordered actions of a rank on one chunk, at least one of which writes.
 */
class OrderCheck
{
  public:
    explicit OrderCheck(const CollectiveSchedule& schedule)
        : m_schedule(schedule),
          m_users(uint64_t{schedule.chunks} * schedule.GetCopies())
    {
    }

    std::string Check(uint32_t rank)
    {
        m_fault.clear();
        for (uint32_t i = 0; i < m_schedule.GetStoredActions(rank) && m_fault.empty(); i++)
        {
            const ScheduleAction action = m_schedule.Get(rank, i);
            const bool local = action.kind == Kind::COPY || action.kind == Kind::REDUCE;
            action.ForEachChunk([&](uint32_t chunk) {
                if (local)
                {
                    Use(rank, i, chunk % action.chunks + action.peer * action.chunks, false);
                }
                Use(rank, i, chunk, action.IsWrite());
            });
        }
        for (uint32_t chunk : m_touched)
        {
            m_users[chunk] = {};
        }
        m_touched.clear();
        return m_fault;
    }

  private:
    /** The latest actions that accessed a chunk. */
    struct Users
    {
        uint32_t writer{CollectiveSchedule::NONE}; // last action that wrote the chunk
        std::vector<uint32_t> readers{};           // reads since that write
    };

    void Use(uint32_t rank, uint32_t index, uint32_t chunk, bool write)
    {
        Users& users = m_users[chunk];
        m_touched.push_back(chunk);
        Expect(rank, users.writer, index);
        if (!write)
        {
            users.readers.push_back(index);
            return;
        }
        for (uint32_t reader : users.readers)
        {
            Expect(rank, reader, index);
        }
        users.writer = index;
        users.readers.clear();
    }

    void Expect(uint32_t rank, uint32_t before, uint32_t index)
    {
        if (before != CollectiveSchedule::NONE && before != index && m_fault.empty() &&
            !IsBefore(rank, before, index))
        {
            m_fault = DescribeAction(rank, m_schedule.Get(rank, index)) +
                      ", in no order with step " +
                      std::to_string(m_schedule.Get(rank, before).step) + " on the same chunk";
        }
    }

    /** @return whether an action depends on another, directly or indirectly */
    bool IsBefore(uint32_t rank, uint32_t before, uint32_t index)
    {
        const auto direct = m_schedule.GetDependencies(rank, index);
        if (std::binary_search(direct.begin(), direct.end(), before))
        {
            return true;
        }
        std::vector<bool> seen(index - before);
        std::vector<uint32_t> open{index};
        while (!open.empty())
        {
            const uint32_t i = open.back();
            open.pop_back();
            for (uint32_t j : m_schedule.GetDependencies(rank, i))
            {
                if (j == before)
                {
                    return true;
                }
                if (j > before && !seen[j - before])
                {
                    seen[j - before] = true;
                    open.push_back(j);
                }
            }
        }
        return false;
    }

    const CollectiveSchedule& m_schedule;
    std::vector<Users> m_users;
    std::vector<uint32_t> m_touched;
    std::string m_fault;
};

/** Symbolic execution of a schedule, chunk by chunk: the values are sets of contributions. */
class SymbolicRun
{
  public:
    SymbolicRun(const CollectiveSchedule& schedule, const ScheduleOrder& order)
        : m_schedule(schedule),
          m_order(order),
          m_rotated(schedule.GetStoredRanks() < schedule.GetSize()),
          m_exclusive(schedule.GetSymmetry() == CollectiveSchedule::Symmetry::EXCLUSIVE_OR),
          m_shift(m_rotated && schedule.HasSymmetricChunks() ? schedule.chunks / schedule.GetSize()
                                                             : 0),
          m_state(uint64_t{schedule.GetSize()} * schedule.GetCopies())
    {
        // Accesses to each chunk, or to each class of chunks equivalent under symmetry, in order.
        const uint32_t classes = m_shift > 0 ? m_shift : schedule.chunks;
        m_begin.resize(uint64_t{classes} + 1);
        ForEachUse([&](uint32_t, uint32_t chunk) { m_begin[Classify(chunk) + 1]++; });
        for (uint32_t i = 0; i < classes; i++)
        {
            m_begin[i + 1] += m_begin[i];
        }
        m_uses.resize(m_begin.back());
        auto next = m_begin;
        ForEachUse([&](uint32_t entry, uint32_t chunk) {
            m_uses[next[Classify(chunk)]++] = {entry, chunk};
        });
    }

    std::string Check()
    {
        // Chunks are equivalent under symmetry only if the operation is the same for all ranks.
        const bool alike =
            m_shift > 0 && !HasRoot(m_schedule.operation) &&
            !(m_exclusive && m_schedule.operation == CollectiveOperation::SEND_RECEIVE);
        const uint32_t count = alike ? m_shift : m_schedule.chunks;
        for (uint32_t chunk = 0; chunk < count && m_fault.empty(); chunk++)
        {
            CheckChunk(chunk);
        }
        return m_fault.empty() ? m_lack : m_fault;
    }

  private:
    /// Ranks that have contributed to a chunk; none: the chunk is empty.
    using Set = boost::dynamic_bitset<>;

    /** An access to a chunk. */
    struct ChunkUse
    {
        uint32_t entry; // position in the order
        uint32_t chunk; // chunk number as stored
    };

    template <class F>
    void ForEachUse(F visit) const
    {
        for (uint32_t i = 0; i < m_order.entries.size(); i++)
        {
            const auto& entry = m_order.entries[i];
            m_schedule.Get(entry.rank, entry.index).ForEachChunk([&](uint32_t chunk) {
                visit(i, chunk);
            });
        }
    }

    uint32_t Classify(uint32_t chunk) const
    {
        chunk %= m_schedule.chunks;
        if (m_exclusive && m_shift > 0 && IsAllToAll(m_schedule.operation))
        {
            const uint32_t parts = m_schedule.GetPartsOfPair();
            return (m_schedule.GetSource(chunk) ^ m_schedule.GetTarget(chunk)) * parts +
                   chunk % parts;
        }
        return m_shift > 0 ? chunk % m_shift : chunk;
    }

    void CheckChunk(uint32_t chunk)
    {
        const uint32_t n = m_schedule.GetSize();
        for (Set& set : m_state)
        {
            set.resize(n);
            set.reset();
        }
        for (uint32_t rank = 0; rank < n; rank++)
        {
            if (m_schedule.HasAtStart(rank, chunk))
            {
                m_state[rank].set(rank);
            }
        }
        m_messages.clear();
        const uint32_t kind = Classify(chunk);
        for (uint64_t i = m_begin[kind]; i < m_begin[kind + 1] && m_fault.empty(); i++)
        {
            const auto [position, stored] = m_uses[i];
            const auto& entry = m_order.entries[position];
            const uint32_t copy = stored / m_schedule.chunks;
            if (!m_rotated)
            {
                Perform(entry.rank, entry, chunk, copy);
            }
            else if (m_shift > 0)
            {
                const uint32_t from = stored % m_schedule.chunks / m_shift;
                Perform(m_schedule.GetRelative(chunk / m_shift, from), entry, chunk, copy);
            }
            else
            {
                for (uint32_t rank = 0; rank < n && m_fault.empty(); rank++)
                {
                    Perform(rank, entry, chunk, copy);
                }
            }
        }
        for (uint32_t rank = 0; rank < n && m_fault.empty() && m_lack.empty(); rank++)
        {
            CheckPromise(rank, chunk);
        }
    }

    void Perform(uint32_t rank, const ScheduleOrder::Entry& entry, uint32_t chunk, uint32_t copy)
    {
        const ScheduleAction action = m_schedule.Get(rank, entry.index);
        const auto fail = [&](const std::string& fault) {
            m_fault =
                DescribeAction(rank, action) + fault + " (chunk " + std::to_string(chunk) + ")";
        };
        Set& mine = GetState(rank, copy);
        if (action.kind == Kind::SEND)
        {
            if (mine.none())
            {
                fail(" before it has received it");
                return;
            }
            m_messages[GetKey(action.peer, entry.other)].push_back(mine);
            return;
        }
        Set theirs;
        if (action.IsReceive())
        {
            auto& message = m_messages[GetKey(rank, entry.index)];
            theirs = std::move(message.front());
            message.pop_front();
        }
        else
        {
            theirs = GetState(rank, action.peer);
            if (theirs.none())
            {
                fail(" before there is one");
                return;
            }
        }
        if (action.kind == Kind::RECEIVE || action.kind == Kind::COPY)
        {
            if (copy == 0 && !mine.is_subset_of(theirs))
            {
                const Set lost = mine - theirs;
                fail(" over different content, with rank " + std::to_string(lost.find_first()) +
                     "'s contribution");
                return;
            }
            mine = theirs;
            return;
        }
        if (mine.none())
        {
            fail(" to nothing");
            return;
        }
        if (m_schedule.operation != CollectiveOperation::BARRIER && mine.intersects(theirs))
        {
            fail(" with rank " + std::to_string((mine & theirs).find_first()) +
                 "'s contribution a second time");
            return;
        }
        mine |= theirs;
    }

    void CheckPromise(uint32_t rank, uint32_t chunk)
    {
        const uint32_t n = m_schedule.GetSize();
        const Promise promise = m_schedule.GetPromise(rank, chunk);
        if (promise == Promise::NOTHING)
        {
            return;
        }
        Set expected(n);
        if (promise == Promise::SUM)
        {
            expected.set();
        }
        else
        {
            expected.set(m_schedule.GetSource(chunk));
        }
        const Set& mine = m_state[rank];
        const std::string where =
            "rank " + std::to_string(rank) + ", at the end: chunk " + std::to_string(chunk);
        if (!expected.is_subset_of(mine))
        {
            m_lack = where + " lacks rank " + std::to_string((expected - mine).find_first()) +
                     "'s contribution";
        }
        else if (mine != expected)
        {
            m_lack = where + " has rank " + std::to_string((mine - expected).find_first()) +
                     "'s contribution, too";
        }
    }

    Set& GetState(uint32_t rank, uint32_t copy)
    {
        return m_state[uint64_t{copy} * m_schedule.GetSize() + rank];
    }

    static uint64_t GetKey(uint32_t rank, uint32_t index)
    {
        return uint64_t{rank} << 32 | index;
    }

    const CollectiveSchedule& m_schedule;
    const ScheduleOrder& m_order;
    bool m_rotated;   // whether the actions of one rank stand for all
    bool m_exclusive; // whether by exclusive or
    uint32_t m_shift; // number of chunk classes equivalent under symmetry; 0: no such classes
    std::vector<uint64_t> m_begin;
    std::vector<ChunkUse> m_uses;
    std::vector<Set> m_state; // contributions by copy, rank
    std::unordered_map<uint64_t, std::deque<Set>> m_messages;
    std::string m_fault; // fault of an action: the cause of m_lack
    std::string m_lack;  // deviation of the final state from the promise
};

/** @return memory for the check of a schedule, bytes */
double
EstimateMemory(const CollectiveSchedule& schedule)
{
    constexpr double BYTES_PER_CHUNK = 48; // of OrderCheck
    constexpr double BYTES_PER_USE = 12;   // in both checks
    constexpr double BYTES_PER_SET = 64;   // beside its bits
    const double ranks = schedule.GetSize();
    const double set = ranks / 8 + BYTES_PER_SET;
    double uses = 0;
    double sends = 0;
    for (uint32_t rank = 0; rank < schedule.GetStoredRanks(); rank++)
    {
        for (uint32_t i = 0; i < schedule.GetStoredActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            sends += action.kind == Kind::SEND;
            for (const ChunkRun* run = action.first; run != action.last; run++)
            {
                uses += run->count;
            }
        }
    }
    // A message leaves when it arrives: most sends of a rank are not in flight together.
    const double flying = std::min(sends, schedule.GetStoredRanks() * 1.0) *
                          (schedule.GetStoredRanks() < schedule.GetSize() ? ranks : 1);
    return BYTES_PER_CHUNK * schedule.chunks * schedule.GetCopies() + BYTES_PER_USE * uses +
           set * (ranks * schedule.GetCopies() + flying);
}

} // namespace

std::string
VerifySchedule(const CollectiveSchedule& schedule)
{
    const uint32_t n = schedule.GetSize();
    const uint64_t chunks = schedule.chunks;
    bool fits = n > 0 && chunks > 0;
    switch (schedule.operation)
    {
    case CollectiveOperation::ALL_GATHER:
    case CollectiveOperation::REDUCE_SCATTER:
        fits = fits && (n < 2 || chunks % n == 0);
        break;
    case CollectiveOperation::ALL_TO_ALL:
    case CollectiveOperation::ALL_TO_ALL_V:
        fits = fits && chunks % (uint64_t{n} * n) == 0;
        break;
    case CollectiveOperation::SEND_RECEIVE:
        fits = fits && chunks == n;
        break;
    case CollectiveOperation::BARRIER:
        fits = fits && chunks == 1;
        break;
    default:
        break;
    }
    if (schedule.GetStoredRanks() < n && schedule.HasSymmetricChunks())
    {
        fits = fits && chunks % n == 0;
    }
    if (!fits)
    {
        return GetName(schedule.operation) + " of " + std::to_string(n) + " ranks cannot have " +
               std::to_string(chunks) + " chunks";
    }
    CheckMemory(EstimateMemory(schedule),
                "schedule " + schedule.algorithm + " of " + std::to_string(n) + " ranks and " +
                    std::to_string(chunks) + " chunks");
    const ScheduleOrder order = OrderSchedule(schedule);
    std::string fault = order.fault;
    OrderCheck check(schedule);
    for (uint32_t rank = 0; rank < schedule.GetStoredRanks() && fault.empty(); rank++)
    {
        fault = check.Check(rank);
    }
    return fault.empty() ? SymbolicRun(schedule, order).Check() : fault;
}

} // namespace ns3::training
