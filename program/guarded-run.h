/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GUARDED_RUN_H
#define DISTRIBUTED_TRAINING_GUARDED_RUN_H

#include "ns3/pfc-deadlock.h"
#include "ns3/training-cluster.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * A simulation that cannot make progress. The text names the rank, the collective, the step and the
 * message it waits for; a program prints it on standard error and ends with exit status 3.
 */
class SimulationStuck : public std::runtime_error
{
  public:
    /** @param text one line */
    explicit SimulationStuck(const std::string& text)
        : std::runtime_error(text)
    {
    }
};

/**
 * @ingroup distributed-training-helper
 *
 * Runs the simulation of a cluster, in one process or several, and ends it when all that was wanted
 * has happened, when a transport gives up, or when for a long time (120 simulated seconds, twice
 * the longest retransmission timeout of TCP, or 1000 round trips if that is longer) no host has
 * received a frame and no rank computes; also when pauses of priority flow control wait for each
 * other in a cycle. It halts every now and then to look for that.
 *
 * After the last event that was wanted the simulation goes on for one round trip, in which what is
 * under way arrives. So all processes end at the same simulated time, with the same traffic behind
 * them as a single process, though none of them knows at once when the others are done.
 */
class GuardedRun
{
  public:
    /**
     * @param cluster whose ranks are watched; must outlive this
     */
    explicit GuardedRun(const Cluster& cluster);
    ~GuardedRun();
    GuardedRun(const GuardedRun&) = delete;
    GuardedRun& operator=(const GuardedRun&) = delete;

    /**
     * @param computing whether a rank of this process is busy with something that is not
     *        communication
     */
    void SetComputing(std::function<bool()> computing);

    /**
     * @param report called whenever the simulation halts and will go on, in all processes together
     */
    void SetReport(std::function<void()> report);

    /**
     * Runs until all processes have called End() or one of them Stop(), during the run or before.
     * All together (see Processes).
     * @throw SimulationStuck if the simulation cannot get there
     */
    void Run();

    /** All that this process's ranks had to do is done. */
    void End();

    /** Ends the run at once, because it makes no sense to go on. */
    void Stop();

    /**
     * Ends the run by SimulationStuck, which also names a rank that waits.
     * @param peer first rank to be asked whether it waits
     * @param reason one line
     */
    void Fail(uint32_t peer, const std::string& reason);

  private:
    struct State;

    void OnNotice(ProcessBorder::Notice notice, Time when);
    void Halt(uint32_t run);
    bool RunOnce();
    State GetState() const;

    const Cluster& m_cluster;
    std::function<bool()> m_computing;
    std::function<void()> m_report;
    Time m_period;
    Time m_lastCheck;       // of progress, within m_period
    Time m_deadlockPeriod;  // from one halt to the next
    PfcDeadlock m_deadlock; // at the last halt
    uint32_t m_run{0};      // how often Run() has ended
    bool m_ended{false};    // End() was called
    bool m_stopped{false};  // Stop() was called
    uint32_t m_done{0};     // processes whose End() is known here
    Time m_lastDone;        // the latest of these calls
    uint64_t m_progress{0};
    Time m_failureTime;
    uint32_t m_failurePeer{0};
    std::string m_failure; // empty if there is none
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GUARDED_RUN_H
