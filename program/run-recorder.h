/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_RECORDER_H
#define DISTRIBUTED_TRAINING_RUN_RECORDER_H

#include "ns3/result-store.h"
#include "ns3/timeline-trace.h"
#include "ns3/training-application.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-cluster.h"

#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Writes collectives, messages and compute phases of a run into a results file and a timeline, as
 * its trace sources report them. Takes no part in the simulation; must live as long as the
 * simulation runs.
 *
 * If the ranks are divided among processes, each process keeps the reports of its ranks until the
 * first process writes all of them, in the order of a single process.
 */
class RunRecorder
{
  public:
    /**
     * @param cluster whose communicators are listened to
     * @param sequences by communicator, the numbers of its collectives in an iteration, in order of
     *        start
     * @param store results file, or null
     * @param timeline trace file, or null
     * @param keep whether to keep what is recorded until WriteKept(), there being several processes
     */
    RunRecorder(const Cluster& cluster,
                std::vector<std::vector<uint32_t>> sequences,
                ResultStore* store,
                TimelineTrace* timeline,
                bool keep = false);
    ~RunRecorder();
    RunRecorder(const RunRecorder&) = delete;
    RunRecorder& operator=(const RunRecorder&) = delete;

    /**
     * @param application of a rank, whose compute phases and whose collectives in groups of ranks
     *        are recorded
     */
    void Observe(Ptr<TrainingApplication> application);

    /** Writes what was kept, if anything. All processes together (see Processes). */
    void WriteKept();

    /**
     * Writes what was kept, and the counters of every port, at the end of the run and after
     * GatherCounters(). All processes together (see Processes).
     */
    void Finish();

  private:
    /** A message, from its sending to its receipt. */
    using MessageKey = std::tuple<uint32_t, uint32_t, uint64_t>;

    bool IsRecording() const;
    void OnCollective(const CollectiveRecord& record);
    void OnSend(const MessageRecord& record);
    void OnReceive(const MessageRecord& record);
    void OnComputePhase(uint32_t rank,
                        uint32_t iteration,
                        const std::string& phase,
                        Time start,
                        Time end);
    template <typename... T>
    void Keep(char kind, const T&... fields);
    void WriteCollective(const CollectiveRecord& record);
    void WriteMessage(const MessageRecord& record);
    void WriteComputePhase(uint32_t rank,
                           uint32_t iteration,
                           const std::string& phase,
                           Time start,
                           Time end);
    void WriteKept(ByteReader& reader);
    void AddLinkCounters();

    const Cluster& m_cluster;
    std::vector<std::vector<uint32_t>> m_sequences;
    ResultStore* m_store;
    TimelineTrace* m_timeline;
    bool m_keep;
    ByteWriter m_kept;
    std::vector<Ptr<TrainingApplication>> m_applications; // whose phases are recorded
    std::vector<Ptr<Communicator>> m_groups;              // communicators of groups of ranks
    std::map<MessageKey, Time> m_sent;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_RECORDER_H
