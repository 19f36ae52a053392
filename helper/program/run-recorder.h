/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_RECORDER_H
#define DISTRIBUTED_TRAINING_RUN_RECORDER_H

#include "ns3/byte-archive.h"
#include "ns3/cluster.h"
#include "ns3/result-store.h"
#include "ns3/timeline-trace.h"
#include "ns3/training-application.h"

#include <map>
#include <memory>
#include <tuple>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Listens to the trace sources of a run and writes what they say into a results file and a timeline
 * trace, as it happens. Takes no part in the simulation; must live as long as the simulation runs.
 *
 * If the ranks are divided among processes, each process keeps what its ranks do until the first
 * process writes all of it, in the order of a single process.
 */
class RunRecorder
{
  public:
    /**
     * @param cluster whose communicators are listened to
     * @param collectivesPerIteration to number collectives within an iteration, at least 1
     * @param store results file, or null
     * @param timeline trace file, or null
     * @param keep whether to keep what is recorded until WriteKept(), there being several processes
     */
    RunRecorder(const Cluster& cluster,
                uint32_t collectivesPerIteration,
                ResultStore* store,
                TimelineTrace* timeline,
                bool keep = false);
    ~RunRecorder();
    RunRecorder(const RunRecorder&) = delete;
    RunRecorder& operator=(const RunRecorder&) = delete;

    /** @param application of a rank, whose compute phases are recorded */
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
    uint32_t m_collectivesPerIteration;
    ResultStore* m_store;
    TimelineTrace* m_timeline;
    bool m_keep;
    ByteWriter m_kept;
    std::vector<Ptr<TrainingApplication>> m_applications;
    std::map<MessageKey, Time> m_sent;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_RECORDER_H
