/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guarded-run.h"

#include "ns3/log.h"
#include "ns3/quantity.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingGuardedRun");

GuardedRun::GuardedRun(const Cluster& cluster)
    : m_cluster(cluster),
      m_computing([] { return false; }),
      m_period(std::max(Seconds(120), 1000 * cluster.GetRoundTrip())),
      m_deadlockPeriod(std::max(MilliSeconds(10), 100 * cluster.GetRoundTrip()))
{
    for (uint32_t rank = 0; rank < m_cluster.GetRanks(); rank++)
    {
        m_cluster.GetCommunicator(rank)->SetErrorHandler(
            [this](uint32_t peer, const std::string& reason) {
                const std::string waiting = GetWaitingFor(peer);
                Fail(waiting.empty() ? reason : waiting + "; " + reason);
            });
    }
}

GuardedRun::~GuardedRun()
{
    for (uint32_t rank = 0; rank < m_cluster.GetRanks(); rank++)
    {
        m_cluster.GetCommunicator(rank)->SetErrorHandler(nullptr);
    }
}

void
GuardedRun::SetComputing(std::function<bool()> computing)
{
    m_computing = std::move(computing);
}

void
GuardedRun::Run(const std::function<bool()>& done)
{
    m_check = Simulator::Schedule(m_period, &GuardedRun::Check, this);
    m_deadlockCheck = Simulator::Schedule(m_deadlockPeriod, &GuardedRun::CheckDeadlock, this);
    Simulator::Run();
    Simulator::Cancel(m_check);
    Simulator::Cancel(m_deadlockCheck);
    if (!m_failure.empty())
    {
        throw SimulationStuck(m_failure);
    }
    if (!done())
    {
        const std::string waiting = GetWaitingFor(0);
        throw SimulationStuck((waiting.empty() ? "no rank waits for a message" : waiting) +
                              "; nothing is left to happen");
    }
}

void
GuardedRun::CheckDeadlock()
{
    const PfcDeadlock deadlock = FindPfcDeadlock(m_cluster.GetFabric());
    if (!deadlock.cycle.empty() && deadlock.cycle == m_deadlock.cycle &&
        deadlock.sentFrames == m_deadlock.sentFrames)
    {
        const std::string waiting = GetWaitingFor(0);
        Fail((waiting.empty() ? "" : waiting + "; ") +
             "deadlock of priority flow control: " + deadlock.cycle);
        return;
    }
    m_deadlock = deadlock;
    m_deadlockCheck = Simulator::Schedule(m_deadlockPeriod, &GuardedRun::CheckDeadlock, this);
}

void
GuardedRun::Check()
{
    const uint64_t progress = GetProgress();
    if (progress == m_progress && !m_computing())
    {
        const std::string waiting = GetWaitingFor(0);
        if (!waiting.empty())
        {
            Fail(waiting + "; no host has received a frame for " + FormatTime(m_period) +
                 " of simulated time");
            return;
        }
    }
    m_progress = progress;
    m_check = Simulator::Schedule(m_period, &GuardedRun::Check, this);
}

void
GuardedRun::Fail(const std::string& reason)
{
    if (m_failure.empty())
    {
        m_failure = reason + " (at " + FormatDouble(Simulator::Now().GetSeconds()) + " s)";
        Simulator::Stop();
    }
}

uint64_t
GuardedRun::GetProgress() const
{
    uint64_t progress = 0;
    for (uint32_t rank = 0; rank < m_cluster.GetRanks(); rank++)
    {
        const auto& counters = m_cluster.GetFabric().devices[rank]->GetPort().counters;
        progress += counters.receivedFrames - counters.pausesReceived;
    }
    return progress;
}

std::string
GuardedRun::GetWaitingFor(uint32_t first) const
{
    for (uint32_t i = 0; i < m_cluster.GetRanks(); i++)
    {
        const uint32_t rank = (first + i) % m_cluster.GetRanks();
        const std::string waiting = m_cluster.GetCommunicator(rank)->GetWaitingFor();
        if (!waiting.empty())
        {
            return waiting;
        }
    }
    return "";
}

} // namespace ns3::training
