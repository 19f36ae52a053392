/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_FILES_H
#define DISTRIBUTED_TRAINING_RUN_FILES_H

#include "life-figures.h"
#include "program-options.h"
#include "run-recorder.h"
#include "run-sampler.h"

#include <memory>
#include <set>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Files with what happens in a run, of every program that runs collectives.
 */
struct RunFilesOptions
{
    std::string results;    ///< SQLite results file; empty: none
    std::string trace;      ///< timeline file; empty: none
    std::string traceRanks; ///< ranks in it, such as 0-3,8; empty: all
    Time sample;            ///< interval of samples; 0: none

    /** @param options of a program, which receive the fields */
    void AddTo(ProgramOptions& options);

    /**
     * @param ranks number of ranks
     * @return ranks in the timeline; empty: all
     * @throw ConfigurationError if they are malformed, or other fields are missing
     */
    std::set<uint32_t> Check(uint64_t ranks) const;
};

/**
 * @ingroup distributed-training-helper
 *
 * The files of a run, and what writes them. It must outlive the simulation run.
 */
class RunFiles
{
  public:
    /**
     * Opens the files; with several processes, the first one does.
     * @param options of the files
     * @param cluster is recorded; must outlive this object
     * @param program its name
     * @param configuration all its options, as JSON
     * @throw ConfigurationError if a file cannot be written
     */
    RunFiles(const RunFilesOptions& options,
             const Cluster& cluster,
             const std::string& program,
             const std::string& configuration);

    /** @return what records the run */
    RunRecorder& GetRecorder()
    {
        return *m_recorder;
    }

    /** @return the results file, or null */
    ResultStore* GetStore() const
    {
        return m_store.get();
    }

    /**
     * Writes what is known when an iteration ends. Call in each process that has a file.
     * @param record the iteration
     */
    void AddIteration(const IterationRecord& record);

    /**
     * Forgets iterations that a failure has undone, as they will run again.
     * @param first number of the first one
     */
    void DropIterations(uint32_t first);

    /** @param life of the job, at its end */
    void AddLife(const LifeFigures& life);

    /**
     * Completes the files.
     * @param failure why the run is not complete, one line; empty if it is
     */
    void Close(const std::string& failure);

  private:
    std::unique_ptr<ResultStore> m_store;      // null: no file
    std::unique_ptr<TimelineTrace> m_timeline; // null: no file
    std::unique_ptr<RunRecorder> m_recorder;
    std::unique_ptr<RunSampler> m_sampler; // null: no samples
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_FILES_H
