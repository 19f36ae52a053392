/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GUARDED_RUN_H
#define DISTRIBUTED_TRAINING_GUARDED_RUN_H

#include "rank-progress.h"
#include "simulation-stuck.h"

#include "ns3/event-id.h"
#include "ns3/pfc-deadlock.h"
#include "ns3/training-cluster.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

struct RunState;
class SlowFlows;

/**
 * @ingroup distributed-training-helper
 *
 * Runs the simulation of a cluster, in one process or several. It ends when all requested work is
 * complete, when a transport fails, or when the simulation is stuck: for a long time (240 simulated
 * seconds, twice the longest retransmission timeout of TCP, or 1000 round trips if that is longer)
 * no host has received a frame and no rank computes, PFC pauses form a deadlock, or MAX_SECONDS are
 * over. Beside background traffic only the traffic of the ranks counts, and a second is enough if
 * none of their messages is on its way (100 latencies of a host, if that is longer). It halts
 * periodically to check for this.
 *
 * After the last requested event the simulation continues for one round trip, in which frames in
 * flight arrive. So all processes end at the same simulated time and with the same traffic as a
 * single process, although no process knows immediately that the others are done.
 */
class GuardedRun
{
  public:
    /**
     * Maximum simulated time, s: half of what 64 bits of picoseconds hold, so that no sum of times
     * overflows.
     */
    static constexpr double MAX_SECONDS = 4611686;

    /**
     * Refuses a simulation that would exceed MAX_SECONDS.
     * @param seconds lower bound of its duration, s
     * @param what options that determine it, as "--bytes=1E18"
     * @throw ConfigurationError if it is too long
     */
    static void CheckDuration(double seconds, const std::string& what);

    /// Copies of real values: of a rank, of its messages, and of the sum that is expected.
    static constexpr uint32_t REAL_COPIES = 5;

    /**
     * @param bytes of the collectives that a rank has at a time
     * @param copies number of copies of real values; 0: the payload is virtual
     * @return estimate of the memory that they take at a rank, bytes
     */
    static double EstimateMemory(uint64_t bytes, uint32_t copies);

    /**
     * @param cluster its ranks are watched; must outlive this object
     */
    explicit GuardedRun(const Cluster& cluster);
    ~GuardedRun();
    GuardedRun(const GuardedRun&) = delete;
    GuardedRun& operator=(const GuardedRun&) = delete;

    /**
     * @param computing whether a local rank is busy other than by communication
     */
    void SetComputing(std::function<bool()> computing);

    /**
     * @param waiting what the job on a rank's host waits for, with its name; empty: for nothing.
     *        Otherwise the rank itself is asked
     */
    void SetWaiting(std::function<std::string(uint32_t rank)> waiting);

    /**
     * @param isDown whether something has failed that is known: transports may fail, and the run is
     *        checked rarely until CheckSoon()
     */
    void SetDown(std::function<bool()> isDown);

    /** Ends the time of rare checks. Needs a single process. */
    void CheckSoon();

    /**
     * @param report called, in all processes together, when the simulation halts and will continue
     */
    void SetReport(std::function<void()> report);

    /**
     * Runs until all processes have called End() or one of them Stop(), during the run or before.
     * Collective: all processes call it (see Processes).
     * @throw SimulationStuck if the simulation cannot complete
     */
    void Run();

    /** Reports that all work of the local ranks is done. */
    void End();

    /** Ends the run immediately, because continuing makes no sense. */
    void Stop();

    /**
     * Ends the run with SimulationStuck, which also names a waiting rank.
     * @param peer first rank to ask whether it waits
     * @param reason one line
     */
    void Fail(uint32_t peer, const std::string& reason);

  private:
    void SetErrorHandlers(const Communicator::ErrorHandler& handler);
    void OnNotice(ProcessBorder::Notice notice, Time when);
    void Halt(uint32_t run);
    void CheckSignal();
    static void Simulate();
    bool RunOnce();
    RunState GetState() const;
    std::string FindStall(const RunState& all);
    std::string GetWaitingFor(uint32_t rank) const;

    const Cluster& m_cluster;
    std::function<bool()> m_computing;
    std::function<std::string(uint32_t)> m_waiting; // or null
    std::function<bool()> m_isDown;
    std::function<void()> m_report;
    Time m_period;
    Time m_deadlockPeriod;  // time between two halts
    Time m_checkTime;       // of the next halt
    bool m_isEarly{false};  // the last halt was for a look, before that time
    Time m_signalPeriod;    // several processes: time between two looks for a signal
    EventId m_signalCheck;  // the next look
    PfcDeadlock m_deadlock; // state at the last halt
    uint32_t m_run{0};      // completed calls of Run()
    bool m_ended{false};    // End() was called
    bool m_stopped{false};  // Stop() was called
    uint32_t m_done{0};     // processes known to have called End()
    Time m_lastDone;        // latest of these calls
    Time m_idlePeriod;      // beside background traffic, without messages on their way
    uint64_t m_progress{0}; // at the last halt
    Time m_lastProgress;    // last halt at which it had changed, or a rank was busy
    Time m_failureTime;
    uint32_t m_failurePeer{0};
    std::string m_failure; // empty if there was none
    std::unique_ptr<SlowFlows> m_slowFlows;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GUARDED_RUN_H
