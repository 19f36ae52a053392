/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TASK_RUNNER_H
#define DISTRIBUTED_TRAINING_TASK_RUNNER_H

#include "task-graph.h"
#include "task-period.h"
#include "task-trace.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 *
 * Decides which tasks of a rank may start. It knows neither time nor network: its owner performs
 * the tasks and tells when they are complete.
 */
class TaskRunner
{
  public:
    /**
     * Starts a task. It may call Complete() at once, or later.
     * @param task the task
     * @param cause the end, or null, that let it start: of those it waited for, the last one
     */
    using Starter = std::function<void(const GraphTask& task, const TaskTrace::Pointer& cause)>;

    /**
     * @param source makes the tasks
     * @param window see TaskGraph::GetWindow()
     * @param start starts a task
     */
    TaskRunner(std::unique_ptr<TaskSource> source, std::size_t window, Starter start);
    ~TaskRunner();
    TaskRunner(const TaskRunner&) = delete;
    TaskRunner& operator=(const TaskRunner&) = delete;

    /** Starts the first tasks. */
    void Run();

    /**
     * Ends a task, and starts those that waited for it.
     * @param id a task that was started
     * @param trace how it went
     */
    void Complete(uint64_t id, TaskTrace::Pointer trace);

    /** @return whether all tasks are complete */
    bool IsFinished() const;

    /**
     * @return number of ends of iterations that are not complete, up to the one behind all tasks
     *         that have started
     */
    uint32_t GetReach() const;

    /**
     * Forgets later iterations.
     * @param iterations ends of iterations to come, at least GetReach() and 1, and no more than
     *        there are
     */
    void EndAfter(uint32_t iterations);

    /**
     * @return number, as the source counts, of the first task behind all that have started or whose
     *         start an ended task has brought nearer
     */
    uint64_t GetNext() const
    {
        return m_touched + m_skipped + 1;
    }

    /** @return tasks that were left out: numbers of open tasks are so much lower */
    uint64_t GetSkipped() const
    {
        return m_skipped;
    }

    /**
     * Leaves out tasks from GetNext() on. Those behind them take their places: their numbers, and
     * until the end of the iteration those of their micro-batches and collectives.
     * @param shift what is left out, whole periods that are like the last one
     * @param source a new one with the same tasks
     */
    void Skip(const TaskShift& shift, std::unique_ptr<TaskSource> source);

    /** @param state receives the open tasks before GetNext(), counted backwards from there */
    void AddState(std::vector<uint64_t>& state) const;

    /**
     * Looks ahead: when may a task run at the earliest?
     * @param counts whether a task is looked for. Each such task must wait for the one before it of
     *        COMPUTE_STREAM
     * @param least returns the time from now that a running task still takes, at least, or that a
     *        later one takes from its start
     * @return time from now, at least
     */
    Time GetLeastTimeTo(const std::function<bool(const GraphTask&)>& counts,
                        const std::function<Time(const GraphTask&, bool isRunning)>& least) const;

    /** @return the tasks that have started and are not complete, in no order */
    std::vector<const GraphTask*> GetRunning() const;

  private:
    /** A task that is not complete. */
    struct Open
    {
        GraphTask task;
        uint32_t missing{0}; // tasks to be complete before it may start
        bool isRunning{false};
        TaskTrace::Pointer cause;      // the last one to end of those it waited for
        std::vector<uint64_t> waiting; // tasks that wait for it
    };

    /** Tasks of a stream that have not started, and whether one is running. */
    struct Stream
    {
        std::deque<uint64_t> queue;
        bool isBusy{false};
    };

    void TakeIn();
    bool Next(GraphTask& task);
    void Add(GraphTask task);
    bool MayStart(const Open& open) const;
    void Consider(uint64_t id);
    void Start(Open& open);
    void SetCause(uint64_t id, const TaskTrace::Pointer& trace);
    void Forget(uint64_t first);
    void Advance();
    std::vector<Open*>::const_iterator FindOpen(uint64_t id) const;

    std::unique_ptr<TaskSource> m_source; // null: it has no more tasks
    std::size_t m_window;
    Starter m_start;
    std::unordered_map<uint64_t, Open> m_open;        // by id
    std::vector<Open*> m_inOrder;                     // all of these, in the order of ids
    std::optional<uint64_t> m_lastId;                 // of the last task of the source
    std::map<uint16_t, Stream> m_streams;             // by number
    std::map<uint32_t, std::deque<uint64_t>> m_order; // collectives to start, by groups
    std::deque<std::pair<uint64_t, TaskTrace::Pointer>> m_complete; // to be dealt with
    std::size_t m_waiting{0};                                       // tasks that have not started
    bool m_advancing{false};
    std::optional<uint32_t> m_iterationsLeft; // to take from the source; none: all of its
    uint64_t m_touched{0};                    // last task that is not as it was taken in
    uint64_t m_skipped{0};                    // tasks, see GetSkipped()
    TaskShift m_shift;                        // of the tasks to come until the end of the iteration
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_RUNNER_H
