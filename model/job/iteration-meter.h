/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ITERATION_METER_H
#define DISTRIBUTED_TRAINING_ITERATION_METER_H

#include "ns3/iteration-record.h"
#include "ns3/nstime.h"
#include "ns3/task-meetings.h"
#include "ns3/task-trace.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 * With meetings that are divided among processes: what the reasons of an iteration are found from.
 */
struct UnexplainedTimes
{
    std::vector<IdleInterval> idle;           ///< of the compute stream
    BusySpans busy;                           ///< collectives and sends
    std::vector<TaskTrace::Pointer> received; ///< messages

    /** @param measured receives the times of an iteration, when the meetings are resolved */
    void AddTo(RankIteration& measured) const;
};

/**
 * @ingroup distributed-training-job
 *
 * Measures the iterations of one rank: when it computes, why its compute streams are idle, and when
 * it communicates. All calls are about now. See TrainingApplication for the communication time.
 */
class IterationMeter
{
  public:
    /** @param isLater whether it is known later why the rank was idle, see TakeUnexplained() */
    void SetExplainedLater(bool isLater)
    {
        m_isLater = isLater;
    }

    /** @return whether it is known later */
    bool IsExplainedLater() const
    {
        return m_isLater;
    }

    /** An iteration begins. */
    void Start();

    /**
     * An iteration ends.
     * @param running starts of the computations that go on
     * @return its times
     */
    RankIteration End(const std::vector<Time>& running);

    /**
     * A computation of a stream begins.
     * @param cause what it waited for
     */
    void BeginComputing(const TaskTrace::Pointer& cause);

    /**
     * A computation of a stream ends.
     * @param start since when it was not interrupted
     */
    void EndComputing(Time start);

    /** @return whether a stream computes */
    bool IsComputing() const
    {
        return m_computations > 0;
    }

    /**
     * All streams have been idle up to now.
     * @param cause what they waited for
     */
    void AddIdleTime(const TaskTrace::Pointer& cause);

    /** @param time for which a computation waits for other work of the GPU */
    void AddWait(Time time);

    /** @param time by which collectives made the computation longer that ends now */
    void AddStretch(Time time)
    {
        m_stretch += time;
        AddWait(time);
    }

    /** A collective begins. */
    void BeginCollective();

    /** A collective ends. */
    void EndCollective();

    /** A send begins. */
    void BeginSend()
    {
        Open();
    }

    /** A send ends. */
    void EndSend()
    {
        Close();
    }

    /** @param trace of a message that has been received */
    void EndReceive(const TaskTrace::Pointer& trace);

    /** Computations under way end without a trace. */
    void StopComputing()
    {
        m_computations = 0;
    }

    /** Communication under way ends without a trace. */
    void StopCommunicating();

    /** @return see TrainingApplication::TakeUnexplained() */
    UnexplainedTimes TakeUnexplained();

    /** @param state receives numbers, see RankExecution::AddState() */
    void AddState(std::vector<uint64_t>& state) const;

    /** @param state receives what is in progress, relative to now */
    void AddPresent(std::vector<uint64_t>& state) const;

    /** @return the times of the iteration so far, without what is in progress */
    RankIteration Measure() const;

    /** @param times of a part of the iteration that is left out; its start counts back from now */
    void Add(const RankIteration& times);

  private:
    void Open();
    void Close();

    bool m_isLater{false};
    Time m_start;                   // of the iteration
    RankIteration m_left;           // parts of the iteration that are left out
    BusySpans m_computed;           // computations of the iteration, so far
    IdleTimes m_idle;               // of the iteration, so far
    Time m_stretch;                 // see AddStretch(); of the iteration, so far
    UnexplainedTimes m_unexplained; // likewise, if they are explained later
    BusySpans m_busy;               // communication of the iteration, so far
    Time m_idleSince;               // end of the last computation
    uint32_t m_computations{0};     // of all streams, under way
    uint32_t m_collectives{0};      // in progress
    Time m_collectivesStart;        // of the current interval with collectives
    Time m_collectiveTime;          // earlier intervals with collectives of this iteration
    uint32_t m_open{0};             // collectives and sends in progress
    Time m_openStart;               // since when there is one, in this iteration
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ITERATION_METER_H
