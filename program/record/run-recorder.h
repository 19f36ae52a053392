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

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
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

    /** A phase of computation. */
    struct PhaseRecord
    {
        uint32_t rank{0};
        uint32_t iteration{0};
        std::string phase;
        Time start;
        Time end;
    };

    /** A message that is sent. */
    struct SendRecord
    {
        MessageRecord message;
    };

    using Report = std::variant<CollectiveRecord, MessageRecord, SendRecord, PhaseRecord>;

    /// What is numbered one after the other: rank or source, destination, communicator, and 1 and
    /// more for messages that are in no collective.
    using Sequence = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;

    /** Reports between two ends of periods. */
    struct Period
    {
        Time start;
        std::vector<Report> reports;
    };

    static Sequence GetSequence(const CollectiveRecord& record);
    static Sequence GetSequence(const MessageRecord& record);
    bool Follows(const Report& before, Time later, const Report& report);
    void Take(const Report& report);
    void Write(Report report);
    uint64_t GetAdded(const Sequence& sequence) const;
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
    bool m_keepsPeriods{false};
    std::deque<Period> m_last;             // complete periods
    Period m_period;                       // the present one
    uint32_t m_cycle{1};                   // see IsLike()
    Time m_cycleTime;                      // of so many periods
    std::map<Sequence, uint64_t> m_growth; // of numbers, in this time
    uint32_t m_repeats{0};                 // calls of RepeatPeriod()
    uint32_t m_cycles{0};                  // these times, begun with these calls
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_RECORDER_H
