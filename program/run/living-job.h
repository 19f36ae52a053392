/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LIVING_JOB_H
#define DISTRIBUTED_TRAINING_LIVING_JOB_H

#include "failure-plan.h"

#include "ns3/checkpoint-graph.h"
#include "ns3/guarded-run.h"
#include "ns3/life-figures.h"
#include "ns3/link-outage.h"
#include "ns3/spare-nodes.h"
#include "ns3/training-application.h"
#include "ns3/training-cluster.h"
#include "ns3/training-job.h"

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
 * @ingroup distributed-training-helper
 *
 * A job by packets that saves its state, fails and restarts.
 *
 * What fails is off the network from then on. The others go on, and what they do does not count.
 * After the detection all ranks stop, and everything on its way is abandoned. When all nodes have
 * been replaced and links repaired, links are up, and the job restarts: rendezvous, load of the
 * last checkpoint that was stored at all ranks before the failure, and the iterations after it. A
 * failure during detection, waiting or restart begins the detection again. A node that is down does
 * not fail. Rules and accounts are those of LiveJob().
 */
class LivingJob
{
  public:
    /// Failures without a new checkpoint after which the job is given up.
    static constexpr uint64_t MAX_FAILURES = 100;

    /** Objects of a simulation, which outlive this one. */
    struct Parts
    {
        Cluster& cluster;                       ///< network of the job
        std::shared_ptr<const TaskGraph> graph; ///< of the ranks, without checkpoints
        CheckpointPlan plan;                    ///< see LifePlan
        uint32_t iterations;                    ///< of the job
        /// Of the ranks, then of the storage hosts.
        std::vector<Ptr<TrainingApplication>> applications;
        TrainingJob& job;  ///< whose life it is
        GuardedRun& guard; ///< runs the simulation
    };

    /**
     * @param parts of the simulation
     * @param options spans and spares
     * @param failures of the job
     */
    LivingJob(Parts parts, const LifeOptions& options, FailurePlan failures);
    ~LivingJob();
    LivingJob(const LivingJob&) = delete;
    LivingJob& operator=(const LivingJob&) = delete;

    /** @param callback called with the number of the first iteration that is lost */
    void OnRewind(std::function<void(uint32_t first)> callback);

    /** The last rank has finished: what fails later does not matter. */
    void Finish();

    /** @return whether something has failed and the job has not restarted yet */
    bool IsDown() const
    {
        return m_phase == Phase::DETECTION || m_phase == Phase::WAITING;
    }

    /** @return where the time has gone; until now, if it has not finished */
    LifeFigures GetFigures() const;

  private:
    /** What the job does. */
    enum class Phase
    {
        WORK,
        DETECTION,
        WAITING,
        RESTART
    };

    /** Something that is down. */
    struct Outage
    {
        PlannedFailure failure;
        std::unique_ptr<LinkOutage> links;
        bool isRepaired{false}; // a link
    };

    void OnTaskEnd(uint32_t rank, const GraphTask& task);
    void OnIterationEnd(uint32_t rank, uint32_t iteration, const RankIteration& measured);
    void OnReached();
    void OnStored(uint32_t iterations);
    void OnRestarted();
    void Save();
    bool IsSavedAfter(uint32_t iteration) const;
    LifeUse GetUse() const;
    void Close(LifeLedger& ledger, Time now) const;
    void ScheduleFailure();
    void Fail(uint64_t number);
    bool IsDown(const PlannedFailure& failure) const;
    void TakeDown(const PlannedFailure& failure);
    void Detect(uint64_t number);
    void RepairNode(uint64_t number);
    void RepairLink(uint64_t outage);
    void Recover();
    void Restart();
    void Schedule(Time delay, void (LivingJob::*method)(uint64_t), uint64_t number);

    Parts m_parts;
    LifeOptions m_options;
    FailurePlan m_failures;
    std::optional<PlannedFailure> m_next; // the next failure
    SpareNodes m_nodes;
    uint32_t m_ranks;  // of the job
    uint32_t m_shares; // ranks that save something
    uint64_t m_mostRestarts;
    std::function<void(uint32_t)> m_onRewind; // or empty

    LifeLedger m_ledger;
    LifeFigures m_figures; // without the ledger
    Phase m_phase{Phase::WORK};
    std::shared_ptr<const CheckpointGraph> m_graph; // of the present life
    bool m_isFinished{false};
    bool m_isStopped{false};    // applications are aborted
    std::string m_target;       // detection: what has failed last
    std::string m_cause;        // and why
    uint64_t m_sinceSaved{0};   // failures since the last new checkpoint
    uint64_t m_abandoned{0};    // calls of ClusterCommunicators::Restart()
    uint64_t m_detections{0};   // begun
    std::vector<Outage> m_down; // until the restart

    // Of the present life.
    uint32_t m_complete{0};                 // iterations that all ranks have ended
    bool m_isReached{false};                // all ranks have reached the checkpoint of the next one
    uint32_t m_restarted{0};                // ranks
    uint32_t m_stored{0};                   // iterations stored by all ranks
    std::map<uint32_t, uint32_t> m_reached; // ranks, by iteration
    std::map<uint32_t, uint32_t> m_ended;   // likewise
    std::map<uint32_t, uint32_t> m_written; // likewise, by number of iterations that are stored
    std::map<uint32_t, Time> m_writeStarts; // likewise
    std::vector<uint32_t> m_iterations;     // number of the present one, by rank
    std::vector<uint32_t> m_writing;        // iterations of the next checkpoint stored, by rank
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LIVING_JOB_H
