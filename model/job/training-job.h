/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAINING_JOB_H
#define DISTRIBUTED_TRAINING_TRAINING_JOB_H

#include "graph-checker.h"
#include "iteration-meter.h"
#include "iteration-statistics.h"
#include "training-application.h"

#include "ns3/task-trace.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * Results of a job: observes the trace sources of the applications of all ranks, merges their
 * measurements (IterationStatistics) and checks their results (GraphChecker). It is passive, and
 * must outlive the simulation run.
 */
class TrainingJob
{
  public:
    /**
     * @param ranks number of ranks, at least 1
     * @param iterations expected iterations of every rank
     * @param warmup number of initial iterations excluded from means
     * @param busBytes bytes of a rank and iteration for the bus bandwidth, see GetBusFactor()
     */
    TrainingJob(uint32_t ranks, uint32_t iterations, uint32_t warmup, double busBytes);
    ~TrainingJob();
    TrainingJob(const TrainingJob&) = delete;
    TrainingJob& operator=(const TrainingJob&) = delete;

    /**
     * Observes a rank. All ranks must be observed before the simulation starts.
     * @param application the application of a rank
     */
    void Observe(Ptr<TrainingApplication> application);

    /** @param seconds lower bound of the communication time of an iteration, s */
    void SetLowerBound(double seconds);

    /** @param images number of ranks for which the report of an observed rank stands */
    void SetImages(uint32_t images)
    {
        m_images = images;
    }

    /**
     * Checks the results of all collectives and messages bit by bit. Requires applications with
     * RealPayload.
     * @param checker of their graph
     * @param sums collectives of a rank in an iteration, which is complete when all are compared;
     *        none: it is right if all results until its end are
     */
    void SetChecker(std::unique_ptr<GraphChecker> checker, std::optional<uint64_t> sums = {});

    /** @return the critical path of the last complete iteration; empty if there is none */
    const std::vector<PathStep>& GetCriticalPath() const;

    /**
     * Several processes: finds the critical path of the last complete iteration, after Merge().
     * Collective call.
     */
    void FindSharedPath();

    /**
     * Several processes: exchanges who started communication when, from time to time and before
     * Pack(), at the same simulated time. Collective call.
     */
    void ExchangeStarts();

    /**
     * @param callback called when the last rank has finished an iteration
     */
    void OnIterationComplete(IterationStatistics::Complete callback);

    /**
     * @param callback called when all observed ranks have finished
     */
    void OnRanksFinished(std::function<void()> callback);

    /** Ignores what ranks report until Rewind(): a failure has undone it. */
    void Suspend();

    /**
     * Forgets iterations that are lost, and goes on observing.
     * @param first number of the first iteration that runs again
     */
    void Rewind(uint32_t first);

    /**
     * Adds an iteration like an earlier one, which ranks leave out: their applications are to be
     * shortened by it, see TrainingApplication::Shorten(), or the job ends with End().
     * @param period see IterationStatistics::Repeat()
     */
    void Repeat(uint32_t period);

    /**
     * Ends the job when Repeat() has added all iterations that are left, without those that ranks
     * have begun.
     * @param path critical path of the iteration that the last one is like
     * @param delay from that iteration to the last one
     */
    void End(std::vector<PathStep> path, Time delay);

    /**
     * Ranks leave out a part of the present iteration, see RankExecution::Skip(): periods like the
     * last one, which ends now. The critical path goes through them as through the last one.
     * @param period length of the last one
     * @param count of periods that are left out
     */
    void LeaveOut(Time period, uint64_t count);

    /** @return time that Repeat() and LeaveOut() have added, which ends and records contain */
    Time GetRepeatedTime() const;

    /** @return what is to be added to the times of the critical path */
    Time GetPathDelay() const;

    /** @param start when the next iteration begins, rather than at the end of the last one */
    void BeginAt(Time start);

    /**
     * Packs observations for other processes. If ranks are divided among processes, each observes
     * its own ranks and exchanges its observations from time to time.
     * @return bytes for Merge(): the observations since the last call
     */
    std::string Pack();

    /** @param packed observations of another process with other ranks */
    void Merge(const std::string& packed);

    /** @return whether all ranks have finished all iterations */
    bool IsFinished() const;

    /** @return simulated time at which the last rank has finished; those that have, so far */
    Time GetEnd() const;

    /** @return the iterations complete so far */
    const std::vector<IterationRecord>& GetResults() const;

    /**
     * @return the first wrong sum: rank, iteration, bucket, element and both values; empty if all
     *         compared sums were correct
     */
    std::string GetMismatch() const;

  private:
    /** An iteration of a rank whose times are not all known yet. */
    struct Unexplained
    {
        uint32_t iteration;
        RankIteration measured; // without the times below
        UnexplainedTimes times;
    };

    void Arrived(uint32_t rank, const GraphTask& task, uint64_t number, Ptr<const Tensor> result);
    void FindPath(const IterationRecord& record);
    std::vector<PathStep> Complete(std::vector<PathStep> path) const;
    bool IsDivided() const;
    void Forget(Time before);
    void IterationEnded(uint32_t rank, uint32_t iteration, const RankIteration& measured);
    void RankFinished(uint32_t rank);

    uint32_t m_ranks;
    uint32_t m_iterations;
    IterationStatistics m_statistics;
    std::unique_ptr<GraphChecker> m_checker;        // null: results are not compared
    bool m_countsSums{false};                       // see SetChecker()
    IterationStatistics::Complete m_complete;       // or empty
    std::map<uint32_t, TaskTrace::Pointer> m_marks; // last ends, by iteration that is not complete
    std::vector<PathStep> m_path;                   // of the last complete iteration
    Time m_pathDelay;                               // see GetPathDelay()
    Time m_leftOutFrom;                             // start of the period, see LeaveOut()
    Time m_leftOutPeriod;                           // its length
    uint64_t m_leftOut{0};                          // periods of the present iteration
    std::shared_ptr<TaskMeetings> m_meetings;       // of the applications, or null
    std::vector<Unexplained> m_unexplained;         // in the order of their ends
    std::function<void()> m_ranksFinished;          // or empty
    uint32_t m_images{1};                           // see SetImages()
    uint32_t m_finished{0};                         // observed ranks that have finished
    bool m_isSuspended{false};                      // between Suspend() and Rewind()
    Time m_end; // when the last rank, of any process, has finished
    std::map<uint32_t, Ptr<TrainingApplication>> m_applications; // observed, by rank
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAINING_JOB_H
