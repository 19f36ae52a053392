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
#include <set>
#include <tuple>
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
     */
    RunRecorder(const Cluster& cluster,
                ResultStore* store,
                TimelineTrace* timeline,
                bool keep = false);
    ~RunRecorder();
    RunRecorder(const RunRecorder&) = delete;
    RunRecorder& operator=(const RunRecorder&) = delete;

    /**
     * @param application of a rank; its compute phases and its collectives in groups of ranks are
     *        recorded
     */
    void Observe(Ptr<TrainingApplication> application);

    /** Writes buffered reports. Collective: all processes call it (see Processes). */
    void WriteKept();

    /**
     * Writes buffered reports and the counters of every port. Call at the end of the run, after
     * GatherCounters(). Collective: all processes call it (see Processes).
     */
    void Finish();

  private:
    /** Source, destination and tag of a message between sending and receipt. */
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
    void AddNicCounters();
    void AddCodecCounters();

    const Cluster& m_cluster;
    ResultStore* m_store;
    TimelineTrace* m_timeline;
    bool m_keep;
    ByteWriter m_kept;
    std::vector<Ptr<TrainingApplication>> m_applications; // observed
    std::set<Ptr<Communicator>> m_observed;               // communicators
    std::vector<Ptr<Communicator>> m_groups;              // those of them that are of groups
    std::map<MessageKey, Time> m_sent;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_RECORDER_H
