/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_OUTPUTS_H
#define DISTRIBUTED_TRAINING_RUN_OUTPUTS_H

#include "run-files-options.h"
#include "run-report.h"
#include "run-sampler.h"

#include "ns3/result-store.h"
#include "ns3/timeline-trace.h"
#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"

#include <memory>
#include <set>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The files that one or several simulations of a program are recorded into: a run of the results
 * file for each; in the timeline one after the other; one page for all.
 */
class RunOutputs
{
  public:
    /**
     * Opens the timeline, and prepares the report; with several processes, the first one does.
     * @param options of the files
     * @param program its name
     * @throw ConfigurationError if a file cannot be written
     */
    RunOutputs(const RunFilesOptions& options, std::string program);
    /** Removes what is temporary. */
    ~RunOutputs();
    RunOutputs(const RunOutputs&) = delete;
    RunOutputs& operator=(const RunOutputs&) = delete;

    /** @return that of RunExperiment(), which records all simulations of the program; or null */
    static RunOutputs* GetCurrent();

    /**
     * Lets GetCurrent() return this object, until it ends.
     * @param configuration that the results of simulations record, with what tells each of them
     */
    void MakeCurrent(const JsonValue& configuration);

    /**
     * @param cluster of a simulation
     * @return configuration of its run, for MakeCurrent()
     */
    std::string GetConfiguration(const Cluster& cluster) const;

    /**
     * @param resolved what tells a simulation from the others of the program
     * @return configuration of its run, for MakeCurrent()
     */
    std::string GetConfiguration(const JsonValue& resolved) const;

    /**
     * Opens a run in the results file, which the report draws.
     * @param configuration its options, as JSON
     * @return the run; null: no file, or not the first process
     */
    std::unique_ptr<ResultStore> OpenStore(const std::string& configuration);

    /** @return options of the files */
    const RunFilesOptions& GetOptions() const
    {
        return m_options;
    }

    /** @return whether a page draws the simulations */
    bool HasReport() const
    {
        return m_report != nullptr;
    }

    /**
     * @param cluster of a simulation
     * @return ranks in the timeline; empty: all
     */
    std::set<uint32_t> GetTraceRanks(const Cluster& cluster) const
    {
        return m_options.Check(cluster.GetRanks());
    }

    /** @return the timeline; null: none, or not the first process */
    TimelineTrace* GetTimeline() const
    {
        return m_timeline.get();
    }

    /**
     * @param cluster is sampled; must outlive the samples
     * @param store run of the samples, or null
     * @return what samples; null: nothing does
     */
    std::unique_ptr<RunSampler> Sample(const Cluster& cluster, ResultStore* store) const;

    /** Completes the timeline, and writes the report. Call when the results file has all runs. */
    void Complete();

  private:
    RunFilesOptions m_options;
    std::string m_program;
    JsonValue m_configuration;
    std::unique_ptr<RunReport> m_report;       // null: none
    std::unique_ptr<TimelineTrace> m_timeline; // null: no file
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_OUTPUTS_H
