/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_RECORDER_H
#define DISTRIBUTED_TRAINING_RUN_RECORDER_H

#include "link-recorder.h"

#include "ns3/result-store.h"
#include "ns3/timeline-trace.h"
#include "ns3/training-application.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-cluster.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
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

    /** Names the layers of a model that a collective belongs to. (rank, number in the iteration) */
    using LayerNames = std::function<std::string(uint32_t, uint32_t)>;

    /** @param layers of the collectives */
    void SetLayers(LayerNames layers);

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

    /** Leaves out the traffic since the last iteration: a failure has undone it. */
    void SkipTraffic();

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

    /** A collective at a rank: the rank, and the fields of a MessageTag. */
    using CollectiveKey = std::tuple<uint32_t, uint32_t, uint64_t>;

    /** A message that waits for the name of its collective. */
    struct DrawnMessage
    {
        MessageRecord record;
        Time sent;
    };

    bool IsRecording() const;
    bool IsDrawn(uint32_t rank) const;
    uint32_t GetProcess(uint32_t rank) const;
    void Draw(const DrawnMessage& message, const std::string& collective);
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
    void AddNicCounters();
    void AddCodecCounters();

    const Cluster& m_cluster;
    ResultStore* m_store;
    TimelineTrace* m_timeline;
    bool m_keep;
    LayerNames m_layers;
    std::optional<uint32_t> m_iteration;   // number in place of that of the collectives
    std::unique_ptr<LinkRecorder> m_links; // null: no results file
    ByteWriter m_kept;
    std::vector<Ptr<TrainingApplication>> m_applications; // observed
    std::set<Ptr<Communicator>> m_observed;               // communicators
    std::vector<Ptr<Communicator>> m_groups;              // those of them that are of groups
    std::map<MessageKey, Time> m_sent;
    std::set<uint32_t> m_traceRanks; // empty: all
    std::vector<uint32_t> m_hosts;   // by rank of the job; empty: the ranks are the cluster's
    /// Messages of collectives that are not complete at their receiver.
    std::map<CollectiveKey, std::vector<DrawnMessage>> m_drawn;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_RECORDER_H
