/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RANK_ACTIONS_H
#define DISTRIBUTED_TRAINING_RANK_ACTIONS_H

#include "chunk-list.h"
#include "schedule-action.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::training
{

class ChunkDependencies;

/**
 * @ingroup distributed-training-collective
 *
 * The actions of a rank in one segment of a CollectiveSchedule, in compact form, and their order.
 */
class RankActions
{
  public:
    /** Where the chunks of an action are. */
    enum class Place : uint8_t
    {
        ACTION, ///< in the action: one run
        RANK,   ///< in the list of its rank: index of the first run, number of runs
        SHARED  ///< in the shared lists: number of the list
    };

    /** An action in compact form. */
    struct Action
    {
        uint32_t peer;             ///< see ScheduleAction
        uint32_t step;             ///< see ScheduleAction
        ChunkRun run;              ///< see Place
        uint32_t after;            ///< index of its first dependency
        uint32_t next;             ///< index of its first dependent action
        uint16_t message;          ///< see ScheduleAction
        ScheduleAction::Kind kind; ///< kind of the action
        uint8_t place : 2;         ///< a Place
        uint8_t isGranted : 1;     ///< see ScheduleAction

        /** @return whether it has no message */
        bool IsLocal() const
        {
            return kind == ScheduleAction::Kind::COPY || kind == ScheduleAction::Kind::REDUCE;
        }
    };

    /** A range of action numbers . */
    struct Indices
    {
        const uint32_t* first; ///< first action number
        const uint32_t* last;  ///< end (exclusive)

        /** @return the first action number */
        const uint32_t* begin() const
        {
            return first;
        }

        /** @return the end (exclusive) */
        const uint32_t* end() const
        {
            return last;
        }
    };

    /// Result of FindReceive() if there is no such action.
    static constexpr uint32_t NONE = 0xffffffff;

    /** @return the actions, by numbers */
    const std::vector<Action>& GetAll() const
    {
        return m_actions;
    }

    /** @return runs of actions with several runs */
    const std::vector<ChunkRun>& GetRuns() const
    {
        return m_runs;
    }

    /**
     * @param action one of them
     * @param shared lists of all ranks
     * @return its runs of chunks, first and end
     */
    std::pair<const ChunkRun*, const ChunkRun*> GetRuns(const Action& action,
                                                        const SharedChunkLists& shared) const
    {
        switch (static_cast<Place>(action.place))
        {
        case Place::RANK: {
            const ChunkRun* first = m_runs.data() + action.run.first;
            return {first, first + action.run.count};
        }
        case Place::SHARED: {
            const auto& runs = shared.Get(action.run.first);
            return {runs.data(), runs.data() + runs.size()};
        }
        case Place::ACTION:
            break;
        }
        return {&action.run, &action.run + 1};
    }

    /**
     * Appends an action.
     * @param action without dependencies
     * @param after earlier actions that it depends on
     * @return its number
     */
    uint32_t Append(Action action, const std::vector<uint32_t>& after);

    /** @param runs of the last action */
    void AppendRuns(const std::vector<ChunkRun>& runs);

    /**
     * Derives the dependencies, after the last Append().
     * @param dependencies between actions on the same chunks; null: actions depend only on those
     *        that they name
     * @param shared lists of all ranks
     * @param chunks number of chunks of the schedule
     * @param stepwise whether actions depend on those of the previous step as well
     */
    void Close(ChunkDependencies* dependencies,
               const SharedChunkLists& shared,
               uint32_t chunks,
               bool stepwise);

    /** @param number of an action @param isGranted whether its message waits for a grant */
    void SetGranted(uint32_t number, bool isGranted)
    {
        m_actions[number].isGranted = isGranted;
    }

    /** @param index of an action @return the earlier actions that it depends on, ascending */
    Indices GetDependencies(uint32_t index) const
    {
        return Find(m_after, &Action::after, index);
    }

    /** @param index of an action @return the later actions that depend on it, ascending */
    Indices GetNext(uint32_t index) const
    {
        return Find(m_next, &Action::next, index);
    }

    /** @return the actions without dependencies */
    Indices GetRoots() const
    {
        return {m_roots.data(), m_roots.data() + m_roots.size()};
    }

    /**
     * @param peer sending rank
     * @param step of the message
     * @param message its index
     * @return number of the action that receives the message, or NONE
     */
    uint32_t FindReceive(uint32_t peer, uint32_t step, uint32_t message) const;

    /** @return memory beside that of the object, bytes */
    uint64_t GetMemory() const;

  private:
    void UseChunks(uint32_t index,
                   ChunkDependencies& dependencies,
                   const SharedChunkLists& shared,
                   uint32_t chunks) const;
    void FindNext(std::vector<uint32_t>& waiting);

    Indices Find(const std::vector<uint32_t>& all, uint32_t Action::*first, uint32_t index) const
    {
        const std::size_t end =
            index + 1 < m_actions.size() ? m_actions[index + 1].*first : all.size();
        return {all.data() + m_actions[index].*first, all.data() + end};
    }

    std::vector<Action> m_actions;
    std::vector<ChunkRun> m_runs; // of actions with several runs
    std::vector<uint32_t> m_after;
    std::vector<uint32_t> m_next;
    std::vector<uint32_t> m_roots;
    std::vector<uint32_t> m_receives; // sorted by peer, step, message
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANK_ACTIONS_H
