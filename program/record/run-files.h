/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_FILES_H
#define DISTRIBUTED_TRAINING_RUN_FILES_H

#include "life-figures.h"
#include "run-files-options.h"
#include "run-outputs.h"
#include "run-recorder.h"

#include "ns3/training-json-writer.h"

#include <memory>
#include <set>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The files of a simulation, and what writes them. It must outlive the simulation.
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

    /**
     * One of several simulations.
     * @param outputs files of all of them; must outlive this object
     * @param cluster is recorded; must outlive this object
     */
    RunFiles(RunOutputs& outputs, const Cluster& cluster);

    /**
     * A simulation without cluster: links and samples of ports, and what AddMessage() and
     * AddCollective() get.
     * @param options of the files
     * @param fabric is recorded; must outlive this object
     * @param program its name
     * @param configuration all its options, as JSON
     * @throw ConfigurationError if a file cannot be written
     */
    RunFiles(const RunFilesOptions& options,
             const Fabric& fabric,
             const std::string& program,
             const std::string& configuration);

    /**
     * One of several simulations, without cluster.
     * @param outputs files of all of them; must outlive this object
     * @param fabric is recorded; must outlive this object
     * @param resolved what tells it from the others
     */
    RunFiles(RunOutputs& outputs, const Fabric& fabric, const JsonValue& resolved);

    /**
     * @param options of the files
     * @param cluster is recorded; must outlive the files
     * @param program its name
     * @param configuration all its options, as JSON
     * @return one of several simulations, if RunOutputs::GetCurrent() records them, otherwise files
     *         of its own
     * @throw ConfigurationError if a file cannot be written
     */
    static RunFiles Open(const RunFilesOptions& options,
                         const Cluster& cluster,
                         const std::string& program,
                         const std::string& configuration);

    /** @return what records the run of a cluster */
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

    /** @return whether something samples the network at regular times */
    bool IsSampled() const
    {
        return m_sampler != nullptr;
    }

    /**
     * Records a message, or a flow, that no communicator has sent.
     * @param row the message
     * @param start its start
     * @param end its end
     */
    void AddMessage(MessageRow row, Time start, Time end);

    /**
     * Records a collective that no communicator has executed.
     * @param row the collective
     * @param start its start
     * @param end its end
     */
    void AddCollective(CollectiveRow row, Time start, Time end);

    /**
     * Forgets iterations that a failure has undone, as they will run again.
     * @param first number of the first one
     */
    void DropIterations(uint32_t first);

    /** @param life of the job, at its end */
    void AddLife(const LifeFigures& life);

    /**
     * Records the counters of the links, and how much was simulated. Call at the end of the run,
     * after GatherCounters().
     * @param derived what the run has got without simulation, beside steady states: the packet-hops
     *        are part of those of the fabric
     * @param figures of the cluster, which are recorded, too; null: they are made
     */
    void Finish(const SimulationRow& derived = {}, const RunFigures* figures = nullptr);

    /**
     * Completes the run in the files, and the files that are its own.
     * @param failure why the run is not complete, one line; empty if it is
     */
    void Close(const std::string& failure);

  private:
    void OpenStore(const std::string& configuration, uint64_t ranks);
    void Record(const Cluster& cluster);
    void Record(const Fabric& fabric);
    uint32_t Draw(uint32_t rank,
                  TimelineTrace::Track track,
                  const std::string& name,
                  Time start,
                  Time end);

    std::unique_ptr<RunOutputs> m_own; // null: those of several simulations
    RunOutputs& m_outputs;
    std::set<uint32_t> m_traceRanks;      // empty: all
    std::set<uint32_t> m_named;           // ranks of AddMessage() and AddCollective() so far
    std::unique_ptr<ResultStore> m_store; // null: no file
    std::unique_ptr<RunRecorder> m_recorder;
    std::unique_ptr<LinkRecorder> m_links; // without cluster; null: no results file
    std::unique_ptr<RunSampler> m_sampler; // null: no samples
    const Fabric* m_fabric{nullptr};       // is recorded
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_FILES_H
