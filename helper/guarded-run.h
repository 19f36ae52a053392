/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GUARDED_RUN_H
#define DISTRIBUTED_TRAINING_GUARDED_RUN_H

#include "cluster.h"
#include "pfc-deadlock.h"

#include "ns3/event-id.h"

#include <functional>
#include <stdexcept>
#include <string>

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
 * Runs the simulation of a cluster, and ends it when a transport gives up, when nothing is left to
 * happen, or when for a long time (120 simulated seconds, twice the
 * longest retransmission timeout of TCP, or 1000 round trips if that is longer) no
 * host has received a frame and no rank computes; also when pauses of priority flow control wait
 * for each other in a cycle.
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
     * @param computing whether a rank is busy with something that is not communication
     */
    void SetComputing(std::function<bool()> computing);

    /**
     * Runs until someone calls Simulator::Stop().
     * @param done whether all that was wanted has happened
     * @throw SimulationStuck if the simulation ended without
     */
    void Run(const std::function<bool()>& done);

  private:
    void Check();
    void CheckDeadlock();
    void Fail(const std::string& reason);
    uint64_t GetProgress() const;
    std::string GetWaitingFor(uint32_t first) const;

    const Cluster& m_cluster;
    std::function<bool()> m_computing;
    Time m_period;
    EventId m_check;
    Time m_deadlockPeriod;
    EventId m_deadlockCheck;
    PfcDeadlock m_deadlock; // at the last look
    uint64_t m_progress{0};
    std::string m_failure;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GUARDED_RUN_H
