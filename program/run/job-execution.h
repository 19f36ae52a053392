/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_EXECUTION_H
#define DISTRIBUTED_TRAINING_JOB_EXECUTION_H

#include "circuit-changes.h"
#include "image-counters.h"
#include "job-repetition.h"
#include "job-training.h"
#include "living-job.h"
#include "micro-batch-repetition.h"
#include "prepared-job.h"
#include "training-run-result.h"

#include "ns3/coding-errors.h"
#include "ns3/guarded-run.h"
#include "ns3/reference-sums.h"
#include "ns3/run-files.h"
#include "ns3/training-job.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The simulation of a job: observers of its applications, output files, and what ends it.
 */
class JobExecution
{
  public:
    /// Program name in results files.
    static constexpr const char* PROGRAM = "training-job";

    /** Called after every iteration, warm-up included, in the first process. */
    using Callback = std::function<void(const IterationRecord& record)>;

    /**
     * @param job to be simulated once; must outlive this object
     * @param configuration that the files record
     * @param onIteration or null
     */
    JobExecution(PreparedJob& job, const JsonValue& configuration, Callback onIteration);
    JobExecution(const JobExecution&) = delete;
    JobExecution& operator=(const JobExecution&) = delete;

    /**
     * Simulates until all ranks have finished or a sum is wrong.
     * @throw SimulationStuck if the simulation cannot make progress; the files contain the reason
     */
    void Simulate();

    /** @return number of complete iterations */
    uint64_t GetComplete() const
    {
        return m_complete;
    }

    /** @return packets of derived iterations, micro-batches and collectives, of all ranks */
    uint64_t GetDerivedPackets() const;

    /** @return the training inside the job, or null */
    const JobTraining* GetTraining() const
    {
        return m_training.get();
    }

    /** @param result receives what was measured, after Simulate() */
    void AddTo(TrainingRunResult& result) const;

  private:
    void Observe();
    void Live();
    void CheckResults();
    GraphChecker::Vectors GetSums(const GraphChecker::Collective& collective);
    void Learn(const IterationRecord& record);
    void OnIteration(const IterationRecord& record);
    std::string GetMismatch() const;
    bool IsComputing() const;
    uint64_t GetSkippedHops() const;
    std::optional<RepetitionFigures> GetRepetition() const;
    void ExchangeReports();

    uint64_t DeriveCounters() const
    {
        return m_imageCounters ? m_imageCounters->Derive() : 0;
    }

    void FinishFiles();

    PreparedJob& m_prepared;
    const Cluster& m_cluster;
    Callback m_onIteration;
    TrainingJob m_job; // measures
    ReferenceSums m_reference;
    std::optional<CodingErrors> m_codingErrors; // with real payload and a codec
    RunFiles m_files;
    RunFigures m_figures;                    // of the cluster, at the end
    std::shared_ptr<EnergyFigures> m_energy; // null: not asked for
    std::vector<double> m_portsBefore; // for which ports sent until the measured iterations, s
    std::vector<double> m_portsAfter;  // the same until the end of the last one; empty: none ended
    std::shared_ptr<LifeFigures> m_lifeFigures; // null: without checkpoints and failures
    GuardedRun m_guard;
    std::vector<Ptr<TrainingApplication>> m_applications; // of the local ranks, and storage hosts
    std::unique_ptr<JobTraining> m_training;              // null: gradients do not learn
    std::unique_ptr<LivingJob> m_life;                    // null: no checkpoints and failures
    std::optional<CircuitChanges> m_circuits;             // none: no circuits change
    std::unique_ptr<JobRepetition> m_repetition;          // null: all is simulated
    std::unique_ptr<MicroBatchRepetition> m_microBatches; // null: all are simulated
    std::optional<ImageCounters> m_imageCounters;         // none: no rank is an image
    uint64_t m_complete{0};
    uint64_t m_imageHops{0}; // of derived ranks
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_EXECUTION_H
