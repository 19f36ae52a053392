/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MICRO_BATCH_REPETITION_H
#define DISTRIBUTED_TRAINING_MICRO_BATCH_REPETITION_H

#include "prepared-job.h"

#include "ns3/iteration-record.h"
#include "ns3/network-repetition.h"
#include "ns3/repetition-figures.h"
#include "ns3/task-period.h"
#include "ns3/training-application.h"
#include "ns3/training-job.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Derives micro-batches of a pipeline that are like earlier ones. In its steady phase the tasks of
 * each rank repeat themselves with a period of some micro-batches (TaskPeriod). Each time that the
 * first rank has done a period, the job is at a border. Two borders are equal if all ranks are at
 * the same place of their periods, with the same tasks open and running for the same time, and the
 * network is in the same state (NetworkRepetition). If two borders in a row are equal, and what was
 * done until each of them was the same, to the picosecond, the periods to come do it again. So each
 * rank leaves out as many of its next periods as all ranks have: the tasks behind them take their
 * places, and times and counters grow as in the last period. The end of the iteration is simulated.
 *
 * What was done is the end of each task, the counters of each port, and what each rank measures.
 * What is not compared is the inside of a collective under way, but for its frames.
 */
class MicroBatchRepetition
{
  public:
    /**
     * @param job of the run
     * @return why no micro-batch will be derived; empty: some may be
     */
    static std::string FindObstacle(const PreparedJob& job);

    /**
     * @param prepared the job; must outlive this, as must all others
     * @param job whose iterations have micro-batches
     * @param applications of all simulated ranks
     */
    MicroBatchRepetition(const PreparedJob& prepared,
                         TrainingJob& job,
                         const std::vector<Ptr<TrainingApplication>>& applications);
    ~MicroBatchRepetition();
    MicroBatchRepetition(const MicroBatchRepetition&) = delete;
    MicroBatchRepetition& operator=(const MicroBatchRepetition&) = delete;

    /** An iteration is complete. */
    void OnIteration();

    /** @param figures receive what was derived, or why nothing was */
    void AddTo(RepetitionFigures& figures) const;

    /** @return packet-hops of the derived micro-batches, of simulated ranks */
    uint64_t GetPacketHops() const
    {
        return m_packetHops;
    }

    /** @return packets that the senders of all ranks would have sent in derived micro-batches */
    uint64_t GetPackets() const
    {
        return m_packets;
    }

  private:
    /** A rank of the job. */
    struct Member
    {
        Ptr<TrainingApplication> application;
        std::unique_ptr<TaskSource> source; // makes its tasks once more, an iteration at a time
        TaskPeriod period;                  // of the present iteration
        RankIteration before;               // its times at the last border
    };

    /** What was done from one border to the next. */
    struct Span
    {
        Time length;
        NetworkRepetition::Span network;  // with the state of ranks at its end
        uint64_t tasks{0};                // hash of the tasks that have ended in it, and when
        uint64_t packets{0};              // of all ranks that senders have sent
        uint64_t collectives{0};          // of groups whose collectives may be derived
        uint64_t repeated{0};             // of these, and timeouts
        std::vector<RankIteration> times; // by rank: what it has added
    };

    bool FindPeriods();
    void OnTaskEnd(uint32_t rank, const GraphTask& task);
    void Look();
    Span Take();
    std::string FindDisturbance(const Span& last) const;
    std::string FindDifference(const Span& one, const Span& other) const;
    void Derive(uint64_t spans);

    const PreparedJob& m_prepared;
    TrainingJob& m_job;
    std::vector<Member> m_members;
    NetworkRepetition m_network;
    std::string m_reason; // why nothing was derived; or why not exactly
    bool m_isActive{false};
    uint64_t m_border{0};  // next task of the first rank that ends at a border
    uint64_t m_borders{0}; // of the present iteration so far
    Time m_start;          // last border
    uint64_t m_tasks{0};   // hash, since then
    uint64_t m_packetsBefore{0};
    uint64_t m_collectivesBefore{0};
    uint64_t m_repeatedBefore{0};
    std::deque<Span> m_last;
    uint64_t m_iterations{0};   // complete
    uint32_t m_microBatches{0}; // of an iteration
    uint64_t m_derived{0};
    uint64_t m_packetHops{0};
    uint64_t m_packets{0};
    uint64_t m_collectives{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MICRO_BATCH_REPETITION_H
