/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_RECORDER_H
#define DISTRIBUTED_TRAINING_RUN_RECORDER_H

#include "kept-reports.h"
#include "link-recorder.h"
#include "report-periods.h"
#include "report-writer.h"
#include "run-figures.h"

#include "ns3/result-store.h"
#include "ns3/timeline-trace.h"
#include "ns3/training-application.h"
#include "ns3/training-cluster.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Writes the collectives, messages and compute phases that trace sources report into a results file
 * and a timeline. It is passive and must outlive the simulation run.
 *
 * If the ranks are divided among processes, each process buffers the reports of its ranks until the
 * first process writes all of them, in the order of a single process.
 */
class RunRecorder
{
  public:
    /**
     * @param cluster its communicators are observed
     * @param store results file, or null
     * @param timeline trace file, or null
     * @param keep whether to buffer reports until WriteKept(), for several processes
     * @param traceRanks ranks in the timeline; empty: all
     */
    RunRecorder(const Cluster& cluster,
                ResultStore* store,
                TimelineTrace* timeline,
                bool keep = false,
                std::set<uint32_t> traceRanks = {});
    ~RunRecorder();
    RunRecorder(const RunRecorder&) = delete;
    RunRecorder& operator=(const RunRecorder&) = delete;

    /**
     * @param application of a rank; its compute phases and its collectives in groups of ranks are
     *        recorded
     */
    void Observe(Ptr<TrainingApplication> application);

    /**
     * A job on some hosts of a cluster: its ranks are recorded as the ranks of the cluster there.
     * @param hosts by rank of the job
     */
    void SetHosts(std::vector<uint32_t> hosts);

    /** @param layers of the collectives */
    void SetLayers(ReportWriter::LayerNames layers);

    /**
     * Numbers the repetitions of a program whose collectives have no iterations. Collectives that
     * end from now on have this number.
     * @param iteration the number
     */
    void BeginIteration(uint32_t iteration);

    /**
     * Records the traffic of the iteration that ends now. Call before ResultStore::AddIteration().
     * Several processes do not record it, as none sees all ports at that time.
     * @param iteration its number
     */
    void OnIteration(uint32_t iteration);

    /**
     * Keeps reports from now on, so that RepeatPeriod() can record them again.
     */
    void KeepPeriods();

    /** A period of the run ends now, and another one begins. */
    void EndPeriod();

    /**
     * @param cycle a number of periods
     * @return whether the reports of the last period were those of the period so many before, with
     *         later times and the numbers that follow; true if nothing is recorded
     */
    bool IsLike(uint32_t cycle);

    /**
     * Records a period once more, that before the number of periods that IsLike() was asked for
     * last. Later reports get the times and numbers that follow if that number of periods, or a
     * multiple, is repeated.
     * @param iteration number of the iteration
     */
    void RepeatPeriod(uint32_t iteration);

    /** Ends KeepPeriods(). */
    void ForgetPeriods();

    /** Leaves out the traffic since the last iteration: a failure has undone it. */
    void SkipTraffic();

    /** Writes buffered reports. Collective: all processes call it (see Processes). */
    void WriteKept();

    /**
     * Writes buffered reports and the counters of every port. Call at the end of the run, after
     * GatherCounters(). Collective: all processes call it (see Processes).
     * @param figures of the cluster, which are written, too; null: they are made
     */
    void Finish(const RunFigures* figures = nullptr);

  private:
    void Connect(const Ptr<Communicator>& collectives, const Ptr<Communicator>& messages);
    bool IsRecording() const;
    void Take(const TraceReport& report);
    void OnCollective(const CollectiveRecord& record);
    void OnSend(const MessageRecord& record);
    void OnReceive(const MessageRecord& record);
    void OnComputePhase(uint32_t rank,
                        uint32_t iteration,
                        const std::string& phase,
                        Time start,
                        Time end);

    const Cluster& m_cluster;
    ResultStore* m_store;
    bool m_keep;
    ReportWriter m_writer;
    ReportPeriods m_periods;
    KeptReports m_kept;
    std::optional<uint32_t> m_iteration;   // number in place of that of the collectives
    std::unique_ptr<LinkRecorder> m_links; // null: no results file
    std::vector<Ptr<TrainingApplication>> m_applications; // observed
    std::set<Ptr<Communicator>> m_observed;               // communicators
    /// Sources of collectives and of messages.
    std::vector<std::pair<Ptr<Communicator>, Ptr<Communicator>>> m_connected;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_RECORDER_H
