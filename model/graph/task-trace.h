/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TASK_TRACE_H
#define DISTRIBUTED_TRAINING_TASK_TRACE_H

#include "task-graph.h"

#include "ns3/nstime.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 *
 * A task that has ended, and what let it start. Traces form chains back to the start of the job, as
 * long as a task that has not ended can follow from them.
 */
struct TaskTrace
{
    /// A trace, kept by those that followed from it.
    using Pointer = std::shared_ptr<const TaskTrace>;

    uint32_t rank{0};                           ///< whose task it was
    TaskKind kind{TaskKind::COMPUTE};           ///< see GraphTask
    Parallelism parallelism{Parallelism::NONE}; ///< see GraphTask
    uint32_t name{0};                           ///< see GraphTask
    int32_t layer{-1};                          ///< see GraphTask
    int32_t microBatch{-1};                     ///< see GraphTask
    bool isDistant{false};                      ///< whether it is a DistantCause
    Time start;                                 ///< when it started
    /// Communication: when all that it needs from other ranks had started: the message was sent,
    /// the last rank had joined the collective. Otherwise its start.
    Time ready;
    Time end; ///< when it ended
    /// Of the tasks that it waited for the last one to end; null: it waited for none.
    Pointer cause;
    /// Communication: the cause of the start of the last other rank; null: none was later.
    Pointer partner;

    TaskTrace() = default;

    /**
     * @param task of a rank, which has started now
     * @param taskRank its rank
     */
    TaskTrace(const GraphTask& task, uint32_t taskRank);
    ~TaskTrace();
    TaskTrace(const TaskTrace&) = delete;
    TaskTrace& operator=(const TaskTrace&) = delete;

    /** @return whether it was a collective or a message */
    bool IsCommunication() const;
};

/**
 * @ingroup distributed-training-graph
 * The start of a communication at a rank: kind, groups, group and number of a collective; kind,
 * sender, receiver, tag and number of a message.
 */
using StartKey = std::array<uint64_t, 5>;

/**
 * @ingroup distributed-training-graph
 * Stands for the cause of a start of a rank in another process. Only that process has the trace.
 */
struct DistantCause : public TaskTrace
{
    StartKey key; ///< what was started

    /**
     * @param starter rank that started it
     * @param started what was started
     */
    DistantCause(uint32_t starter, const StartKey& started)
        : key(started)
    {
        rank = starter;
        isDistant = true;
    }
};

/**
 * @ingroup distributed-training-graph
 * Why the compute stream of a rank was idle. The parts add up to its idle time.
 */
struct IdleTimes
{
    /// Until what it waited for could begin: a message was sent, the last rank had joined a
    /// collective. The bubble of a pipeline, and the wait for stragglers.
    Time bubble;
    std::array<Time, PARALLELISMS> exposed{}; ///< communication was in progress, by its reason
    Time other;                               ///< delays, and other work of the GPU

    /**
     * Adds the reasons of an interval.
     * @param cause what ended it; null: not known
     * @param from its start
     * @param to its end
     */
    void Add(const TaskTrace::Pointer& cause, Time from, Time to);
};

/**
 * @ingroup distributed-training-graph
 * An interval in which the compute stream of a rank was idle, for IdleTimes::Add().
 */
struct IdleInterval
{
    TaskTrace::Pointer cause; ///< what ended it; null: not known
    Time from;                ///< its start
    Time to;                  ///< its end
};

/**
 * @ingroup distributed-training-graph
 * The times in which something was in progress.
 */
class BusySpans
{
  public:
    /**
     * @param from start of a span
     * @param to its end, not before that of earlier ones
     */
    void Add(Time from, Time to);

    /** Drops the spans but not their length: none to come begins before their end. */
    void Settle();

    /** @return the time in which at least one span lies */
    Time GetLength() const
    {
        return m_length;
    }

    /** @return end of the last one; 0: there is none */
    Time GetEnd() const;

    /**
     * @param messages of the rank that have ended; they were in progress from TaskTrace::ready on
     * @param begin of the time that counts
     * @return these spans and those of the messages
     */
    BusySpans Join(const std::vector<TaskTrace::Pointer>& messages, Time begin) const;

  private:
    std::deque<std::pair<Time, Time>> m_spans; // disjoint, in order
    Time m_length;                             // of these and of those that were dropped
};

/**
 * @ingroup distributed-training-graph
 * A part of a critical path.
 */
struct PathStep
{
    TaskTrace::Pointer task; ///< that was in progress; null: none was
    Time start;              ///< of the part
    Time end;                ///< of the part
};

/**
 * @ingroup distributed-training-graph
 * Follows a critical path from its end back to its start.
 */
class PathFinder
{
  public:
    /**
     * @param start where the path begins
     * @param end where it ends
     */
    PathFinder(Time start, Time end);

    /**
     * Follows traces as far as they lead.
     * @param task a task that ended last
     * @return null: the path is complete; otherwise the DistantCause at which it goes on
     */
    TaskTrace::Pointer Follow(TaskTrace::Pointer task);

    /**
     * Adds a part before those that are known.
     * @param task that was in progress; null: none was
     * @param from start of the part
     */
    void Add(const TaskTrace::Pointer& task, Time from);

    /** @return the parts so far, the last one first */
    const std::vector<PathStep>& GetBackwards() const
    {
        return m_steps;
    }

    /** @return the path, in order of time: without gaps from the start to the end */
    std::vector<PathStep> Finish();

  private:
    Time m_start;
    Time m_until; // start of the parts that are known
    std::vector<PathStep> m_steps;
};

/**
 * @ingroup distributed-training-graph
 * @param last a task
 * @param start where the path begins
 * @return the chain of tasks, over all ranks, that its end followed from, in order of time: without
 *         gaps from the start to its end
 */
std::vector<PathStep> FindCriticalPath(const TaskTrace::Pointer& last, Time start);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_TRACE_H
