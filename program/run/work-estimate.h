/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WORK_ESTIMATE_H
#define DISTRIBUTED_TRAINING_WORK_ESTIMATE_H

#include "run/job-check.h"
#include "training-run-options.h"
#include "training-run.h"

#include "ns3/collective-operation.h"
#include "ns3/run-cost.h"
#include "ns3/training-cluster.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param options of a job
 * @return what is known of it without a simulation, see CheckJob()
 * @throw ConfigurationError as CheckJob()
 */
JobCheck CheckJob(const TrainingRunOptions& options);

/** @ingroup distributed-training-helper What some work sends, about; 0: not known. */
struct WorkVolume
{
    double packetHops{0}; ///< packets over all links, without acknowledgements
    double bytes{0};      ///< payload as in RankProgress
    double tasks{0};      ///< that are known at a time, of all ranks
    double cpuSeconds{0}; ///< of what is simulated of it; 0: as of all of these packet-hops

    /**
     * @param parts of the work
     * @return volume of one part
     */
    WorkVolume Divide(double parts) const
    {
        return {packetHops / parts, bytes / parts, tasks, cpuSeconds / parts};
    }
};

/**
 * @ingroup distributed-training-helper
 * @param cluster with a network
 * @param operation a collective of all ranks
 * @param sizes of whole vectors, one for each collective
 * @return what all of them send. Packets that NICs code remain as many, codes of hosts are smaller
 */
WorkVolume EstimateCollectives(const Cluster& cluster,
                               CollectiveOperation operation,
                               const std::vector<uint64_t>& sizes);

/**
 * @ingroup distributed-training-helper
 * @param cluster with a network
 * @param ends sources and destinations of messages, or a sample of them
 * @param bytes of all messages
 * @return packet-hops of their data, about
 */
double EstimateMessages(const Cluster& cluster,
                        const std::vector<std::pair<uint32_t, uint32_t>>& ends,
                        double bytes);

/**
 * @ingroup distributed-training-helper
 *
 * What a simulation will take, and how far it is, by the payload that has arrived. Work that is to
 * come is expected to send as much as the work that is complete has sent, and at first as much as
 * was estimated. It is for people: without a terminal on standard error nothing is estimated.
 */
class WorkEstimate
{
  public:
    /// CPU time above which Describe() has a line, s.
    static constexpr double LONG_SECONDS = 20;

    /** @return whether standard error is a terminal */
    static bool IsWanted();

    /**
     * @param work of the whole run, in any unit, such as iterations or bytes; more than 0
     * @param volume of a unit of work
     * @param cluster that is simulated
     * @param what the work, for Describe()
     */
    WorkEstimate(double work,
                 const WorkVolume& volume,
                 const ClusterOptions& cluster,
                 const std::string& what);

    /**
     * @param options of a job: its work is its iterations
     * @param cluster of the job
     */
    WorkEstimate(const TrainingRunOptions& options, const Cluster& cluster);

    /** @return packet-hops, CPU time and memory of the whole run, one line; empty if it is short */
    std::string Describe() const;

    /** @return work of the whole run */
    double GetWork() const
    {
        return m_work;
    }

    /** @return whether the volume of its work is known */
    bool IsKnown() const
    {
        return m_volume.bytes > 0;
    }

    /** Prints Describe() on standard error, once among all processes, if that is a terminal. */
    void Show() const;

    /**
     * @param complete work that is complete
     * @param next work that is in progress, which ends before more is complete
     * @param bytes payload so far, see RankProgress
     * @return completed part of the run, 0 to 1; it does not fall
     */
    double GetFraction(double complete, double next, double bytes);

    /**
     * @param run of the job
     * @return completed part of it, 0 to 1; it does not fall
     */
    double GetFraction(const TrainingRun& run);

  private:
    double m_work;
    WorkVolume m_volume; // of a unit, as estimated
    RunCost m_cost;      // of the whole run
    bool m_skips;        // what repeats, which makes the run cheaper than that
    bool m_codes;        // hosts send codes, which are smaller
    std::string m_what;
    double m_complete{0};      // work that was complete at the last call
    double m_completeBytes{0}; // payload until then
    double m_fraction{0};      // of the last call
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WORK_ESTIMATE_H
