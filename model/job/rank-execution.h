/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RANK_EXECUTION_H
#define DISTRIBUTED_TRAINING_RANK_EXECUTION_H

#include "iteration-meter.h"
#include "job/compute-stream.h"
#include "job/task-communication.h"

#include "ns3/event-id.h"
#include "ns3/host-load.h"
#include "ns3/iteration-record.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"
#include "ns3/task-graph.h"
#include "ns3/task-runner.h"
#include "ns3/task-trace.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * The tasks of one rank while they run: starts each when TaskRunner says so, and ends it when its
 * computation or communication has ended. It works for a TrainingApplication, by whose attributes
 * it is controlled and by whose trace sources it reports.
 */
class RankExecution
{
  public:
    /** Attributes of the application. */
    struct Settings
    {
        uint32_t& iterations;                    ///< from number 0 on; see Shorten()
        const bool& realPayload;                 ///< whether tensors are real numbers
        const uint64_t& seed;                    ///< of real numbers
        const double& slowdown;                  ///< factor of compute times
        const Ptr<RandomVariableStream>& jitter; ///< of a further factor; null: none
        const double& overlapCompute;            ///< of compute times beside copies of collectives
        const double& overlapCopies;             ///< of copies beside computations
    };

    /** Trace sources of the application. */
    struct Traces
    {
        const TracedCallback<uint32_t, uint32_t>& iterationStart; ///< an iteration begins
        const TracedCallback<uint32_t, uint32_t, const std::string&, Time, Time>&
            computePhase; ///< a phase of computation is over
        const TracedCallback<uint32_t, uint32_t, const RankIteration&>&
            iterationEnd;                                          ///< an iteration is over
        const TracedCallback<uint32_t, const GraphTask&>& taskEnd; ///< a task has ended
        const TracedCallback<uint32_t>& finished;                  ///< all iterations are over
        TaskCommunication::Traces communication;                   ///< see there
    };

    /**
     * @param settings of the application, which outlives this
     * @param traces of the application
     */
    RankExecution(const Settings& settings, const Traces& traces);

    /**
     * @param graph the job
     * @param rank of the application
     */
    void SetGraph(std::shared_ptr<const TaskGraph> graph, uint32_t rank);

    /** @param first number of the iteration with which it begins */
    void Begin(uint32_t first);

    /** Stops: what is under way has no effect. */
    void Stop();

    /** Stops, and leaves all tasks as they are. */
    void Abort();

    /**
     * Begins again after Abort().
     * @param graph the job
     * @param first number of its first iteration
     */
    void Restart(std::shared_ptr<const TaskGraph> graph, uint32_t first);

    /** Stops, and releases other objects. */
    void Dispose();

    /**
     * Takes the GPU away from the layers: a computation under way ends that much later, and one
     * that starts waits. It does not count as computation.
     * @param time of other work of the GPU, behind all earlier such work
     */
    void Occupy(Time time);

    /**
     * Adds what decides what the rank does next, relative to now and to its iteration: two equal
     * states are followed by the same.
     * @param state receives numbers
     */
    void AddState(std::vector<uint64_t>& state) const;

    /**
     * Likewise inside an iteration, without what the iteration has measured so far, and without the
     * numbers of tasks, micro-batches and collectives.
     * @param state receives numbers
     */
    void AddProgress(std::vector<uint64_t>& state) const;

    /**
     * @param counts whether a task is looked for, see TaskRunner::GetLeastTimeTo()
     * @param least time that a collective under way still takes, at least
     * @return time until such a task starts, at least
     */
    Time GetLeastTimeTo(const std::function<bool(const GraphTask&)>& counts,
                        const std::function<Time(const GraphTask&)>& least) const;

    /** @return whether a computation of its stream is under way */
    bool IsStreamBusy() const
    {
        return m_stream.IsBusy();
    }

    /**
     * @param least time that a collective under way still takes, at least
     * @return time until its stream begins or ends a computation, at least
     */
    Time GetLeastTimeToCompute(const std::function<Time(const GraphTask&)>& least) const;

    /** @return the times of the iteration so far, without what is in progress */
    RankIteration Measure() const
    {
        return m_meter.Measure();
    }

    /** @return what decides which tasks start; null before Begin() */
    const TaskRunner* GetRunner() const
    {
        return m_runner.get();
    }

    /**
     * Leaves out a part of the iteration, as it is like what was done.
     * @param shift tasks to come, see TaskRunner::Skip()
     * @param times that they would add to the iteration
     */
    void Skip(const TaskShift& shift, const RankIteration& times);

    /** @return whether a collective, or a message that it sends, is under way */
    bool IsCommunicating() const;

    /** @return iterations from number 0 on of which it has started a task */
    uint32_t GetReach() const;

    /**
     * Makes the job shorter while it runs.
     * @param iterations from number 0 on, in place of the attribute; at least GetReach(), and more
     *        than are complete
     */
    void Shorten(uint32_t iterations);

    /**
     * With divided meetings: drops the history of the rank.
     * @param before marks of iterations that ended until then remain without what led to them,
     *        other than the last one
     */
    void ForgetHistory(Time before);

    /** @return the end of its last complete iteration; null: there is none */
    TaskTrace::Pointer GetLastMark() const
    {
        return m_marks.empty() ? nullptr : m_marks.back();
    }

    /**
     * With meetings that are divided among processes it is known later why a rank was idle, and
     * since when messages were on their way.
     * @return the times of the iteration that ends; once
     */
    UnexplainedTimes TakeUnexplained()
    {
        return m_meter.TakeUnexplained();
    }

    /** @return the job, or null */
    const std::shared_ptr<const TaskGraph>& GetGraph() const
    {
        return m_graph;
    }

    /** @return number of this rank in the job */
    uint32_t GetRank() const
    {
        return m_rank;
    }

    /** @return its communication */
    TaskCommunication& GetCommunication()
    {
        return m_communication;
    }

    /** @return whether all tasks of all iterations have ended */
    bool IsFinished() const
    {
        return m_finished;
    }

    /** @return whether it is computing, or moves data between its memory and storage */
    bool IsComputing() const
    {
        return m_stream.IsBusy() || m_inParallel > 0;
    }

  private:
    /** A task that has started and has not ended. */
    struct Running
    {
        const GraphTask* task{nullptr};
        std::shared_ptr<TaskTrace> trace;
        uint32_t iteration{0}; // in which it started
        EventId end{};         // of a task that takes a known time, beside the stream
    };

    void AddStream(std::vector<uint64_t>& state) const;
    void StartTask(const GraphTask& task, const TaskTrace::Pointer& cause);
    Time GetLength(const GraphTask& task) const;
    void StartCompute(const GraphTask& task);
    void EndCompute(uint64_t id);
    void UseGpu(const GraphTask& task, bool begins);
    static void TaskEnded(RankExecution* self, uint64_t id);
    void EndTask(uint64_t id);
    void StartIteration();
    void EndIteration();
    void Finish();

    const Settings m_settings;
    const Traces m_traces;
    std::shared_ptr<const TaskGraph> m_graph;
    uint32_t m_rank{0};
    std::unique_ptr<TaskRunner> m_runner;
    std::unordered_map<uint64_t, Running> m_tasks;  // that run, by their numbers
    std::deque<std::shared_ptr<TaskTrace>> m_marks; // ends of iterations, with their history
    IterationMeter m_meter;
    TaskCommunication m_communication;
    ComputeStream m_stream;
    double m_pace{1}; // factor of compute times in the current iteration
    std::shared_ptr<HostLoad> m_load{std::make_shared<HostLoad>()};
    uint32_t m_copying{0}; // collectives under way whose copies take part of the GPU

    bool m_running{false};    // between Begin() and Finish(), or Stop()
    bool m_finished{false};   // all tasks of all iterations have ended
    uint32_t m_inParallel{0}; // computations beside the stream, and tasks in memory
    uint32_t m_first{0};      // iteration with which it began
    uint32_t m_iteration{0};
    bool m_phaseIsOpen{false}; // a phase has started
    Time m_phaseStart;         // start of the phase
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANK_EXECUTION_H
