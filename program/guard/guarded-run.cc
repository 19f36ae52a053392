/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guarded-run.h"

#include "guard/run-interrupts.h"
#include "guard/run-state.h"
#include "guard/slow-flows.h"

#include "ns3/gradient-codec.h"
#include "ns3/log.h"
#include "ns3/roce-wire-format.h"
#include "ns3/run-cost.h"
#include "ns3/simulator.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingGuardedRun");

namespace
{

/// Least time without progress after which a run is stuck: ns-3's TCP gives up after 200 s, and
/// says why.
constexpr double STALL_SECONDS = 240;

} // namespace

void
GuardedRun::CheckDuration(double seconds, const std::string& what)
{
    if (seconds > MAX_SECONDS)
    {
        throw ConfigurationError(what + ": takes at least " + FormatDouble(std::ceil(seconds)) +
                                 " s of simulated time (allowed: up to " +
                                 FormatDouble(MAX_SECONDS) + " s)");
    }
}

double
GuardedRun::EstimateMemory(uint64_t bytes, uint32_t copies)
{
    constexpr double BYTES_PER_REQUEST = 100; // of at most MAX_REQUEST bytes
    return static_cast<double>(bytes) *
           (BYTES_PER_REQUEST / static_cast<double>(MAX_REQUEST) + copies);
}

GuardedRun::GuardedRun(const Cluster& cluster)
    : m_cluster(cluster),
      m_computing([] { return false; }),
      m_isDown([] { return false; }),
      m_period(std::max(Seconds(STALL_SECONDS), 1000 * cluster.GetRoundTrip())),
      m_deadlockPeriod(std::max(MilliSeconds(10), 100 * cluster.GetRoundTrip())),
      m_signalPeriod(std::max(MicroSeconds(10), cluster.GetRoundTrip())),
      m_idlePeriod(std::max(
          {Seconds(1), 1000 * cluster.GetRoundTrip(), 100 * cluster.GetOptions().hostLatency})),
      m_slowFlows(std::make_unique<SlowFlows>(cluster))
{
    SetErrorHandlers([this](uint32_t peer, const std::string& reason) {
        if (!m_isDown())
        {
            Fail(peer, reason);
        }
    });
    if (m_cluster.GetBorder())
    {
        m_cluster.GetBorder()->SetNoticeHandler(
            [this](ProcessBorder::Notice notice, Time when) { OnNotice(notice, when); });
    }
    RunInterrupts::Begin();
    LeaveOutEvents(0);
}

GuardedRun::~GuardedRun()
{
    RunInterrupts::End();
    SetErrorHandlers(nullptr);
    if (m_cluster.GetBorder())
    {
        m_cluster.GetBorder()->SetNoticeHandler(nullptr);
    }
}

void
GuardedRun::SetErrorHandlers(const Communicator::ErrorHandler& handler)
{
    const uint32_t ranks = m_cluster.GetRanks();
    const uint32_t storage = m_cluster.GetStorageHosts();
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        m_cluster.GetCommunicator(rank)->SetErrorHandler(handler);
    }
    for (const auto& worker : m_cluster.GetInNetworkCommunicators())
    {
        worker->SetErrorHandler(handler); // that of a group, too
    }
    for (uint32_t host = 0; storage > 0 && host < ranks + storage; host++)
    {
        m_cluster.GetCommunicators().GetOfStorage(host)->SetErrorHandler(handler);
    }
}

void
GuardedRun::SetDown(std::function<bool()> isDown)
{
    m_isDown = std::move(isDown);
}

void
GuardedRun::CheckSoon()
{
    m_checkTime = Simulator::Now();
    Simulator::Stop();
}

void
GuardedRun::SetComputing(std::function<bool()> computing)
{
    m_computing = std::move(computing);
}

void
GuardedRun::SetWaiting(std::function<std::string(uint32_t rank)> waiting)
{
    m_waiting = std::move(waiting);
}

void
GuardedRun::SetReport(std::function<void()> report)
{
    m_report = std::move(report);
}

void
GuardedRun::End()
{
    NS_LOG_FUNCTION(this);
    m_ended = true;
    if (m_cluster.GetBorder())
    {
        m_cluster.GetBorder()->Announce(ProcessBorder::Notice::DONE);
    }
    OnNotice(ProcessBorder::Notice::DONE, Simulator::Now());
}

void
GuardedRun::Stop()
{
    NS_LOG_FUNCTION(this);
    m_stopped = true;
    if (m_cluster.GetBorder())
    {
        m_cluster.GetBorder()->Announce(ProcessBorder::Notice::STOP);
    }
    Simulator::Stop();
}

void
GuardedRun::Fail(uint32_t peer, const std::string& reason)
{
    NS_LOG_FUNCTION(this << peer << reason);
    if (m_failure.empty())
    {
        m_failureTime = Simulator::Now();
        m_failurePeer = peer;
        m_failure = reason;
        Stop();
    }
}

void
GuardedRun::OnNotice(ProcessBorder::Notice notice, Time when)
{
    if (notice == ProcessBorder::Notice::STOP)
    {
        Simulator::Stop();
        return;
    }
    m_lastDone = std::max(m_lastDone, when);
    if (++m_done == Processes::GetCount())
    {
        // Without a node context the event runs after all others at the same time.
        Simulator::ScheduleWithContext(Simulator::NO_CONTEXT,
                                       m_lastDone + m_cluster.GetRoundTrip() - Simulator::Now(),
                                       &GuardedRun::Halt,
                                       this,
                                       m_run);
    }
}

void
GuardedRun::Halt(uint32_t run)
{
    if (run == m_run)
    {
        Simulator::Stop();
    }
}

void
GuardedRun::CheckSignal()
{
    RunInterrupts::Look();
    if (RunInterrupts::GetSignal() == 0)
    {
        m_signalCheck = Simulator::Schedule(m_signalPeriod, &GuardedRun::CheckSignal, this);
        return;
    }
    m_cluster.GetBorder()->Announce(ProcessBorder::Notice::STOP);
    Simulator::Stop(m_cluster.GetRoundTrip()); // when the others know
}

void
GuardedRun::Run()
{
    m_lastProgress = Simulator::Now();
    m_isEarly = false;
    while (!RunOnce())
    {
    }
    m_run++;
    m_done = 0;
    m_lastDone = Time(0);
    m_ended = false;
    m_stopped = false;
}

void
GuardedRun::Simulate()
{
    try
    {
        Simulator::Run();
    }
    catch (const CodecError& error)
    {
        RunInterrupts::SetSimulating(false);
        if (Processes::GetCount() > 1)
        {
            throw; // the other processes do not know of the error
        }
        throw SimulationCodecError(std::string("codec: ") + error.what() + " (at " +
                                   FormatDouble(Simulator::Now().GetSeconds()) + " s)");
    }
}

bool
GuardedRun::RunOnce()
{
    if (!m_isEarly)
    {
        m_checkTime = Simulator::Now() + (m_isDown() ? m_period : m_deadlockPeriod);
    }
    const Time next = std::max(Simulator::Now(), m_slowFlows->GetNext()); // it waits while down
    const Time until = m_isDown() ? m_checkTime : std::min(m_checkTime, next);
    const EventId check =
        Simulator::Schedule(until - Simulator::Now(), &GuardedRun::Halt, this, m_run);
    if (Processes::GetCount() > 1)
    {
        m_signalCheck = Simulator::Schedule(m_signalPeriod, &GuardedRun::CheckSignal, this);
    }
    RunInterrupts::SetSimulating(Processes::GetCount() == 1);
    if (RunInterrupts::GetSignal() == 0 || Processes::GetCount() > 1)
    {
        Simulate();
    }
    RunInterrupts::SetSimulating(false);
    m_isEarly = (RunInterrupts::Look() || Simulator::Now() == until) &&
                Simulator::Now() < m_checkTime && Processes::GetCount() == 1;
    if (until == m_checkTime)
    {
        Simulator::Cancel(check);
    }
    else if (Simulator::IsExpired(check))
    {
        LeaveOutEvents(1);
    }
    else
    {
        Simulator::Remove(check); // one that is cancelled counts as an event
    }
    Simulator::Cancel(m_signalCheck);
    // All processes are here now, at the same simulated time unless one of them has stopped early.
    RunState all = GetState();
    if (Processes::GetCount() > 1)
    {
        const auto states = Processes::Gather(all.Pack());
        all = RunState::Unpack(states[0]);
        for (std::size_t process = 1; process < states.size(); process++)
        {
            all.Add(RunState::Unpack(states[process]));
        }
    }
    const auto stuck = [&](uint32_t peer, const std::string& reason, Time when) {
        auto waiting = all.waiting.lower_bound(peer);
        waiting = waiting == all.waiting.end() ? all.waiting.begin() : waiting;
        return SimulationStuck(
            (waiting == all.waiting.end() ? "" : waiting->second + "; ") + reason + " (at " +
            FormatDouble(static_cast<double>(when.GetPicoSeconds()) / 1e12) + " s)");
    };
    if (all.signal != 0)
    {
        throw SimulationInterrupted(all.signal, Simulator::Now());
    }
    if (!all.failure.empty())
    {
        throw stuck(all.failurePeer, all.failure, all.failureTime);
    }
    if (all.stopped || (all.ended && Simulator::Now() >= all.lastDone + m_cluster.GetRoundTrip()))
    {
        return true;
    }
    if (!m_isDown())
    {
        m_slowFlows->Look(all.computing);
    }
    if (m_isEarly)
    {
        return false;
    }
    if (Simulator::Now().GetSeconds() > MAX_SECONDS)
    {
        throw stuck(0, "the limit of simulated time is reached", Simulator::Now());
    }
    const PfcDeadlock deadlock = FindPfcDeadlock(m_cluster.GetFabric());
    if (!deadlock.cycle.empty() && deadlock.cycle == m_deadlock.cycle &&
        deadlock.sentFrames == m_deadlock.sentFrames)
    {
        throw stuck(0, "deadlock of flow control: " + deadlock.cycle, Simulator::Now());
    }
    m_deadlock = deadlock;
    const std::string stall = FindStall(all);
    if (!stall.empty())
    {
        throw stuck(0, stall, Simulator::Now());
    }
    if (m_report)
    {
        m_report();
    }
    return false;
}

std::string
GuardedRun::FindStall(const RunState& all)
{
    const Time now = Simulator::Now();
    const bool hasBackground = m_cluster.GetBackground() != nullptr;
    const RankProgress ranks = hasBackground ? GetRankProgress(m_cluster) : RankProgress();
    const uint64_t progress = hasBackground ? ranks.count : all.progress;
    if (all.computing || all.ended || progress != m_progress)
    {
        m_progress = progress;
        m_lastProgress = now;
    }
    const Time period = hasBackground && !ranks.hasMessages ? m_idlePeriod : m_period;
    if (now - m_lastProgress < period)
    {
        return "";
    }
    return (hasBackground ? "beside background traffic, no rank has received anything for "
                          : "no host has received a frame for ") +
           FormatTime(period) + " of simulated time";
}

std::string
GuardedRun::GetWaitingFor(uint32_t rank) const
{
    if (m_waiting)
    {
        return m_waiting(rank);
    }
    std::string waiting = m_cluster.GetCommunicator(rank)->GetWaitingFor();
    for (const auto& worker : m_cluster.GetInNetworkCommunicators())
    {
        const bool isOfGroup = waiting.empty() && worker->GetPlace() == rank;
        waiting = isOfGroup ? worker->GetWaitingFor() : waiting;
    }
    if (waiting.empty()) // groups of ranks use communicators on hosts
    {
        waiting = m_cluster.GetHostCommunicator(rank)->GetWaitingFor();
    }
    if (waiting.empty() && m_cluster.GetStorageHosts() > 0)
    {
        waiting = m_cluster.GetCommunicators().GetOfStorage(rank)->GetWaitingFor();
    }
    return waiting;
}

RunState
GuardedRun::GetState() const
{
    RunState state;
    state.failureTime = m_failureTime;
    state.failurePeer = m_failurePeer;
    state.failure = m_failure;
    state.stopped = m_stopped;
    state.ended = m_ended;
    state.lastDone = m_lastDone;
    const auto& units = m_cluster.GetCodecs().GetUnits();
    state.computing =
        m_computing() ||
        std::any_of(units.begin(), units.end(), [](const auto& unit) { return unit->IsBusy(); });
    state.signal = RunInterrupts::GetSignal();
    for (uint32_t rank = 0; rank < m_cluster.GetRanks(); rank++)
    {
        if (!m_cluster.IsLocal(rank))
        {
            continue;
        }
        for (const auto& device : m_cluster.GetFabric().rails[rank])
        {
            const PortCounters& counters = device->GetPort().GetCounters();
            state.progress += counters.receivedFrames - counters.pausesReceived;
        }
        const std::string waiting = m_ended ? "" : GetWaitingFor(rank);
        if (!waiting.empty())
        {
            state.waiting[rank] = waiting;
        }
    }
    return state;
}

} // namespace ns3::training
