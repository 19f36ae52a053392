/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAINING_JOB_H
#define DISTRIBUTED_TRAINING_TRAINING_JOB_H

#include "iteration-statistics.h"
#include "sum-checker.h"
#include "training-application.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * Outcome of a job: listens to the trace sources of the applications of all ranks, merges their
 * measurements (IterationStatistics) and compares their sums (SumChecker). It takes no part in the
 * simulation, and must live as long as the simulation runs.
 */
class TrainingJob
{
  public:
    /** Makes the expected sum of a collective. */
    using Reference = SumChecker::Reference;

    /**
     * @param ranks number of ranks, at least 1
     * @param iterations iterations to expect of every rank
     * @param warmup the first so many are left out of means
     * @param task of the ranks
     */
    TrainingJob(uint32_t ranks, uint32_t iterations, uint32_t warmup, const TrainingTask& task);
    ~TrainingJob();
    TrainingJob(const TrainingJob&) = delete;
    TrainingJob& operator=(const TrainingJob&) = delete;

    /**
     * Listens to a rank. All ranks must be observed before the simulation starts.
     * @param application the application of a rank
     */
    void Observe(Ptr<TrainingApplication> application);

    /** @param seconds lower bound of the communication time of an iteration, s */
    void SetLowerBound(double seconds);

    /**
     * Compares every sum of every rank bit by bit, see SumChecker. Needs applications with
     * RealPayload and a task that only sums the vectors of all ranks.
     * @param seed the seed of the applications
     * @param reference makes the expected sum
     */
    void SetReference(uint64_t seed, Reference reference);

    /**
     * @param alternative makes another sum that is right, if then all ranks have it; or returns
     *        nothing if there is none
     */
    void SetAlternative(Reference alternative);

    /**
     * @param callback called as soon as the last rank has ended an iteration
     */
    void OnIterationComplete(IterationStatistics::Complete callback);

    /**
     * @param callback called when all observed ranks have finished
     */
    void OnRanksFinished(std::function<void()> callback);

    /**
     * If ranks are divided among processes, each observes its own, and they tell each other now and
     * then what they have seen.
     * @return bytes for Merge(): what was observed since the last call
     */
    std::string Pack();

    /** @param packed by the job of another process, with other ranks */
    void Merge(const std::string& packed);

    /** @return whether all ranks have ended all iterations */
    bool IsFinished() const;

    /** @return simulated time at which the last rank has finished; those that have, so far */
    Time GetEnd() const;

    /** @return the iterations complete so far */
    const std::vector<IterationRecord>& GetResults() const;

    /**
     * @return the first wrong sum, naming rank, iteration, bucket, element and both values; empty
     *         if all were right or none was compared
     */
    std::string GetMismatch() const;

  private:
    void CollectiveDone(uint32_t rank,
                        uint32_t iteration,
                        uint32_t collective,
                        Ptr<const Tensor> result);
    void IterationEnded(uint32_t rank, uint32_t iteration, const RankIteration& measured);
    void RankFinished(uint32_t rank);

    uint32_t m_ranks;
    uint32_t m_iterations;
    uint32_t m_collectives; // of an iteration
    IterationStatistics m_statistics;
    std::unique_ptr<SumChecker> m_checker; // null: sums are not compared
    std::function<void()> m_ranksFinished; // or empty
    uint32_t m_finished{0};                // observed ranks that have finished
    Time m_end;                            // when the last rank, of any process, has finished
    std::vector<Ptr<TrainingApplication>> m_applications; // observed ranks
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAINING_JOB_H
