/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job-repetition.h"

#include "core/event-kinds.h"
#include "job/rank-execution.h"
#include "record/network-figures.h"

#include "ns3/in-network-system.h"
#include "ns3/log.h"
#include "ns3/nic-algorithm.h"
#include "ns3/path-choice.h"
#include "ns3/simulator.h"
#include "ns3/training-mix-bits.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingJobRepetition");

namespace
{

/// Iterations that are simulated before any is derived.
constexpr std::size_t LEAST_SIMULATED = 3;

/// Iterations that are compared, and come again, if none did exactly what another one did.
constexpr uint32_t ABOUT_PERIOD = 8;
} // namespace

JobRepetition::JobRepetition(const Parts& parts, std::string obstacle)
    : m_parts(parts),
      m_reason(std::move(obstacle))
{
    if (m_reason.empty() && m_parts.files.IsSampled())
    {
        m_reason = "samples are taken at regular times";
    }
    m_isActive = m_reason.empty();
    if (!m_isActive)
    {
        return;
    }
    m_network.emplace(m_parts.cluster.GetFabric(),
                      m_parts.cluster.GetRanks(),
                      m_parts.cluster.GetOptions().congestionControl);
    m_posted.resize(m_parts.cluster.GetRanks());
    m_communicates.resize(m_parts.cluster.GetRanks());
    m_reason = "too few iterations to compare";
    m_parts.files.GetRecorder().KeepPeriods();
    for (const auto& application : m_parts.applications)
    {
        application->TraceConnectWithoutContext("TaskEnd",
                                                MakeCallback(&JobRepetition::OnTaskEnd, this));
    }
}

JobRepetition::~JobRepetition()
{
    Stop();
}

void
JobRepetition::Stop()
{
    if (!std::exchange(m_isActive, false))
    {
        return;
    }
    m_parts.files.GetRecorder().ForgetPeriods();
    for (const auto& application : m_parts.applications)
    {
        application->TraceDisconnectWithoutContext("TaskEnd",
                                                   MakeCallback(&JobRepetition::OnTaskEnd, this));
    }
    m_last.clear();
}

std::string
JobRepetition::FindVariation(const Cluster& cluster, const std::string& computeJitter)
{
    if (Processes::GetCount() > 1)
    {
        return "several processes: none sees the state of all";
    }
    if (computeJitter != "none")
    {
        return "compute times are drawn at random";
    }
    if (cluster.HasFaults())
    {
        return "links fail, change, or lose or delay frames";
    }
    return cluster.GetOptions().FindVariation();
}

std::string
JobRepetition::FindObstacle(const Cluster& cluster, const std::string& computeJitter)
{
    const ClusterOptions& options = cluster.GetOptions();
    const std::string variation = FindVariation(cluster, computeJitter);
    if (!variation.empty())
    {
        return variation;
    }
    if (!options.GetTransport().repeats)
    {
        return "transport " + options.transport + " is not known to repeat itself";
    }
    if (!GetPathChoice(options.path).repeats)
    {
        return "path choice " + options.path + " is not known to repeat itself";
    }
    if (IsInNic(options.algorithm))
    {
        return "engines and codecs count what they do";
    }
    return "";
}

void
JobRepetition::OnTaskEnd(uint32_t rank, const GraphTask& task)
{
    uint64_t hash = static_cast<uint64_t>((Simulator::Now() - m_start).GetTimeStep());
    for (const uint64_t part :
         {uint64_t{rank}, static_cast<uint64_t>(task.kind), uint64_t{task.name}, task.tag})
    {
        hash = MixBits(hash ^ part);
    }
    m_tasks += hash; // in any order
    if (task.kind == TaskKind::MARK)
    {
        m_posted.at(rank) = m_network->CountPostedMessages(rank);
        m_communicates.at(rank) = false;
    }
    else if (task.kind != TaskKind::COMPUTE && task.kind != TaskKind::MEMORY)
    {
        m_communicates.at(rank) = true;
    }
}

void
JobRepetition::OnIteration()
{
    if (m_isActive && !m_parts.job.IsFinished())
    {
        // When all else of this time is over.
        Simulator::ScheduleWithContext(
            Simulator::NO_CONTEXT,
            Time(0),
            new BystanderCall<JobRepetition>(&JobRepetition::Look, this));
    }
}

void
JobRepetition::Look()
{
    if (!m_isActive)
    {
        return;
    }
    RunRecorder& recorder = m_parts.files.GetRecorder();
    recorder.EndPeriod();
    m_last.push_back(Take());
    const Iteration& last = m_last.back();
    if (m_last.size() > IterationStatistics::MAX_PERIOD + 1)
    {
        m_last.pop_front();
    }
    m_reason = FindDisturbance(last);
    if (!m_reason.empty())
    {
        m_last.clear();
        return;
    }
    m_reason = m_parts.job.GetResults().size() < LEAST_SIMULATED
                   ? "too few iterations to compare"
                   : "no iteration did what an earlier one did, and left the same state";
    for (std::size_t period = 1;
         period < m_last.size() && m_parts.job.GetResults().size() >= LEAST_SIMULATED;
         period++)
    {
        const auto number = static_cast<uint32_t>(period);
        // What is not compared may show in more iterations.
        const std::size_t compared =
            m_network->HasHiddenState() ? std::max(period, LEAST_SIMULATED) : 1;
        bool isPeriod = m_last.size() >= compared + period;
        for (std::size_t i = 0; isPeriod && i < compared; i++)
        {
            const std::size_t place = m_last.size() - 1 - i;
            isPeriod = AreSame(m_last[place - period], m_last[place]);
        }
        if (isPeriod && recorder.IsLike(number))
        {
            Derive(number);
            return;
        }
    }
    const auto& records = m_parts.job.GetResults();
    // No period is that long: true if nothing is recorded.
    const bool hasNoFile = recorder.IsLike(IterationStatistics::MAX_PERIOD + 1);
    const bool isAbout =
        m_last.size() > ABOUT_PERIOD && hasNoFile &&
        std::all_of(m_last.end() - ABOUT_PERIOD - 1,
                    m_last.end(),
                    [&](const auto& each) { return AreAbout(each, last); }) &&
        std::all_of(records.end() - ABOUT_PERIOD - 1, records.end(), [&](const auto& each) {
            return NetworkRepetition::IsWithin(NetworkRepetition::ABOUT,
                                               each.communicationTimeS,
                                               records.back().communicationTimeS);
        });
    if (isAbout)
    {
        Derive(ABOUT_PERIOD);
    }
}

/** @return why the last iteration need not come again; empty: it may */
std::string
JobRepetition::FindDisturbance(const Iteration& last) const
{
    const PortCounters sum = last.network.GetSum();
    if (sum.lostFrames + sum.droppedFrames + sum.duplicatedFrames + sum.trimmedFrames > 0 ||
        last.inNetwork.resent > 0 || last.inNetwork.fallenBack)
    {
        return "packets were lost";
    }
    if (m_network->CountsBytes())
    {
        return "the congestion control counts bytes";
    }
    return m_network->ReactsToMarks() && m_network->MarksAtRandom()
               ? "switches marked frames at random"
               : "";
}

bool
JobRepetition::AreSame(const Iteration& one, const Iteration& other)
{
    return NetworkRepetition::AreSame(one.network, other.network) && one.length == other.length &&
           one.tasks == other.tasks && one.collectives == other.collectives &&
           one.inNetwork.sent == other.inNetwork.sent &&
           one.inNetwork.received == other.inNetwork.received &&
           one.inNetwork.duplicates == other.inNetwork.duplicates;
}

/** @return the iteration that ends now */
JobRepetition::Iteration
JobRepetition::Take()
{
    Iteration iteration;
    iteration.start = std::exchange(m_start, Simulator::Now());
    iteration.length = m_start - iteration.start;
    iteration.tasks = std::exchange(m_tasks, 0);
    iteration.path = m_parts.job.GetCriticalPath();
    iteration.network = m_network->Take();
    iteration.isQuiet = iteration.network.isIdle;
    for (const auto& application : m_parts.applications)
    {
        const uint32_t rank = application->GetRank();
        application->GetExecution().AddState(iteration.network.state);
        iteration.isQuiet = iteration.isQuiet && !m_communicates[rank] &&
                            !application->GetExecution().IsCommunicating() &&
                            m_network->CountPostedMessages(rank) == m_posted[rank];
    }
    if (!m_parts.cluster.GetInNetworkCommunicators().empty())
    {
        const InNetworkFigures now = SumFigures(m_parts.cluster.GetInNetworkCommunicators());
        iteration.inNetwork = now;
        iteration.inNetwork.sent -= m_before.sent;
        iteration.inNetwork.resent -= m_before.resent;
        iteration.inNetwork.received -= m_before.received;
        iteration.inNetwork.duplicates -= m_before.duplicates;
        m_before = now;
    }
    const auto sums = CollectiveReplay::Add(m_parts.replays);
    const uint64_t collectives = sums.simulated + sums.derived;
    const uint64_t packets = CountNetwork(m_parts.cluster).sentPackets +
                             m_parts.cluster.GetOptions().images.GetCount() * sums.packets;
    iteration.packets = packets - std::exchange(m_packetsBefore, packets);
    iteration.collectives = collectives - std::exchange(m_collectivesBefore, collectives);
    return iteration;
}

/** @return whether two iterations differ by what acknowledgements take, or little else */
bool
JobRepetition::AreAbout(const Iteration& one, const Iteration& other)
{
    return NetworkRepetition::IsWithin(NetworkRepetition::ABOUT,
                                       one.length.GetSeconds(),
                                       other.length.GetSeconds()) &&
           NetworkRepetition::AreAbout(one.network, other.network) &&
           one.collectives == other.collectives && one.inNetwork.sent == other.inNetwork.sent;
}

void
JobRepetition::Derive(uint32_t period)
{
    const bool isExact = AreSame(m_last[m_last.size() - 1 - period], m_last.back());
    const auto tell = [this, isExact] {
        m_reason = !isExact ? "none did exactly what another one did"
                   : m_network->HasHiddenState()
                       ? "of the congestion control only rates and windows were compared"
                   : m_network->MarksAtRandom() ? "marks that nothing reacts to are drawn at random"
                                                : "";
    };
    const auto complete = static_cast<uint32_t>(m_parts.job.GetResults().size());
    const bool isQuiet = std::all_of(m_last.end() - period, m_last.end(), [](const auto& each) {
        return each.isQuiet;
    });
    if (isQuiet && complete < m_parts.iterations)
    {
        const uint32_t count = m_parts.iterations - complete;
        const Iteration& like = m_last[m_last.size() - period + (count - 1) % period];
        const std::vector<PathStep> path = like.path;
        const Time start = like.start;
        const Time length = like.length;
        Repeat(count, period);
        const Time delay = m_parts.job.GetRepeatedTime() + m_start - start - length;
        tell();
        Stop();
        m_parts.job.End(path, delay);
        return;
    }
    uint32_t least = complete + 1;
    for (const auto& application : m_parts.applications)
    {
        least = std::max(least, application->GetExecution().GetReach());
    }
    const uint32_t left = m_parts.iterations - std::min(least, m_parts.iterations);
    const uint32_t count = isExact ? left / period * period : left; // the state must come again
    if (count == 0)
    {
        m_reason = "too few iterations are left";
        return;
    }
    for (const auto& application : m_parts.applications)
    {
        application->GetExecution().Shorten(m_parts.iterations - count);
    }
    Repeat(count, period);
    tell();
    Stop();
}

/** Records iterations like those so many before. */
void
JobRepetition::Repeat(uint32_t count, uint32_t period)
{
    const auto complete = static_cast<uint32_t>(m_parts.job.GetResults().size());
    NS_LOG_INFO(count << " iterations after " << complete << " have a period of " << period);
    const Fabric& fabric = m_parts.cluster.GetFabric();
    const uint64_t hops = fabric.GetPacketHops();
    for (uint32_t i = 0; i < count; i++)
    {
        const Iteration& like = m_last[m_last.size() - period + i % period];
        m_network->Repeat(like.network);
        m_collectives += like.collectives;
        m_packets += like.packets;
        m_inNetwork.sent += like.inNetwork.sent;
        m_inNetwork.received += like.inNetwork.received;
        m_inNetwork.duplicates += like.inNetwork.duplicates;
        m_parts.files.GetRecorder().RepeatPeriod(complete + i);
        m_parts.job.Repeat(period);
    }
    m_packetHops = fabric.GetPacketHops() - hops;
    m_derived = count;
}

void
JobRepetition::AddTo(InNetworkFigures& figures) const
{
    figures.sent += m_inNetwork.sent;
    figures.received += m_inNetwork.received;
    figures.duplicates += m_inNetwork.duplicates;
}

} // namespace ns3::training
