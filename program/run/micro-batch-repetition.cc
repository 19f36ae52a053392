/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "micro-batch-repetition.h"

#include "core/event-kinds.h"
#include "job-repetition.h"
#include "job/rank-execution.h"
#include "record/network-figures.h"

#include "ns3/log.h"
#include "ns3/nic-algorithm.h"
#include "ns3/simulator.h"
#include "ns3/training-mix-bits.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingMicroBatchRepetition");

namespace
{

/// Largest number of spans of the tasks after which all may be the same again.
constexpr std::size_t MOST_SPANS = 16;

/// Spans in a row that must be the same if a part of the state is not compared.
constexpr std::size_t SPANS_OF_HIDDEN_STATE = 2;

/// Why nothing was derived, unless more is known.
const std::string NOTHING = "no micro-batches did what earlier ones did";

/** @return whether all times are equal */
bool
AreEqual(const RankIteration& one, const RankIteration& other)
{
    const auto& fields = GetIterationFields();
    return std::all_of(fields.begin(), fields.end(), [&](const IterationField& field) {
        return !field.measured || one.*field.measured == other.*field.measured;
    });
}

} // namespace

std::string
MicroBatchRepetition::FindObstacle(const PreparedJob& job)
{
    const TrainingRunOptions& options = job.options;
    const std::string random = JobRepetition::FindVariation(*job.cluster, options.computeJitter);
    const std::string& transport = options.cluster.transport;
    const std::pair<bool, std::string> reasons[] = {
        {!random.empty(), random},
        {transport != "rdma" && transport != "uec",
         "transport " + transport + " is not known to repeat itself"},
        {!job.cluster->GetInNetworkCommunicators().empty(),
         "the state of switches or NICs that compute collectives is not compared"},
        {IsInNic(options.cluster.algorithm) || job.cluster->GetCodecs().IsInstalled(),
         "engines and codecs count what they do"},
        {options.IsReal(), "numbers of a real payload differ"},
        {options.gradientPriority == "layer", "rank 0 announces every collective"},
        {job.life.has_value(), "checkpoints and failures come at times of their own"},
        {options.RunFilesOptions::IsGiven(), "files have records of all micro-batches"},
        {!options.energy.IsEmpty(), "energy is that of what was simulated"}};
    const auto found = std::find_if(std::begin(reasons), std::end(reasons), [](const auto& each) {
        return each.first;
    });
    return found == std::end(reasons) ? "" : found->second;
}

MicroBatchRepetition::MicroBatchRepetition(
    const PreparedJob& prepared,
    TrainingJob& job,
    const std::vector<Ptr<TrainingApplication>>& applications)
    : m_prepared(prepared),
      m_job(job),
      m_network(prepared.cluster->GetFabric(),
                prepared.cluster->GetRanks(),
                prepared.cluster->GetOptions().FindRdmaControl()),
      m_reason(FindObstacle(prepared))
{
    if (!m_reason.empty())
    {
        return;
    }
    for (const auto& application : applications)
    {
        m_members.push_back(
            {application,
             prepared.GetGraph().MakeSource(application->GetRank(), prepared.GetIterations()),
             {},
             {}});
        application->TraceConnectWithoutContext(
            "TaskEnd",
            MakeCallback(&MicroBatchRepetition::OnTaskEnd, this));
    }
    m_isActive = FindPeriods();
}

MicroBatchRepetition::~MicroBatchRepetition()
{
    for (const Member& member : m_members)
    {
        member.application->TraceDisconnectWithoutContext(
            "TaskEnd",
            MakeCallback(&MicroBatchRepetition::OnTaskEnd, this));
    }
}

/** @return whether the tasks of the next iteration repeat themselves at all ranks */
bool
MicroBatchRepetition::FindPeriods()
{
    uint32_t microBatches = 0;
    for (Member& member : m_members)
    {
        std::vector<GraphTask> tasks;
        for (GraphTask task;
             (tasks.empty() || tasks.back().kind != TaskKind::MARK) && member.source->Next(task);
             task = {})
        {
            tasks.push_back(std::move(task));
        }
        for (const GraphTask& task : tasks)
        {
            m_microBatches = std::max(m_microBatches, static_cast<uint32_t>(task.microBatch + 1));
        }
        const auto period = TaskPeriod::Find(tasks, microBatches);
        if (!period)
        {
            m_reason = m_derived > 0 ? m_reason : "there are too few micro-batches to compare";
            return false;
        }
        NS_LOG_LOGIC("rank " << member.application->GetRank() << " repeats " << period->shift.tasks
                             << " tasks of " << period->shift.microBatches
                             << " micro-batches, from " << period->first << " to " << period->end
                             << " of " << tasks.back().id);
        member.period = *period;
        microBatches = period->shift.microBatches;
        if (m_border == 0)
        {
            const auto place = std::find_if(
                tasks.begin() + static_cast<std::ptrdiff_t>(period->first - tasks.front().id),
                tasks.end(),
                [](const GraphTask& task) {
                    return task.kind == TaskKind::COMPUTE && task.stream == COMPUTE_STREAM;
                });
            m_border = place->id;
        }
    }
    m_reason = m_derived > 0 ? m_reason : NOTHING;
    return true;
}

void
MicroBatchRepetition::OnIteration()
{
    m_iterations++;
    m_last.clear();
    m_borders = 0;
    m_border = 0;
    m_isActive = !m_members.empty() && !m_job.IsFinished() && FindPeriods();
}

void
MicroBatchRepetition::OnTaskEnd(uint32_t rank, const GraphTask& task)
{
    if (!m_isActive)
    {
        return;
    }
    const Member& first = m_members.front();
    const auto earlier = m_borders * first.period.shift.microBatches;
    uint64_t hash = static_cast<uint64_t>((Simulator::Now() - m_start).GetTimeStep());
    for (const uint64_t part : {uint64_t{rank},
                                static_cast<uint64_t>(task.kind),
                                uint64_t{task.name},
                                static_cast<uint64_t>(task.layer),
                                static_cast<uint64_t>(task.microBatch) - earlier})
    {
        hash = MixBits(hash ^ part);
    }
    m_tasks += hash; // in any order
    const uint64_t number = task.id + first.application->GetExecution().GetRunner()->GetSkipped();
    if (rank == first.application->GetRank() && number == m_border)
    {
        m_border += first.period.shift.tasks;
        // When all else of this time is over.
        Simulator::ScheduleWithContext(
            Simulator::NO_CONTEXT,
            Time(0),
            new BystanderCall<MicroBatchRepetition>(&MicroBatchRepetition::Look, this));
    }
}

void
MicroBatchRepetition::Look()
{
    if (!m_isActive)
    {
        return;
    }
    m_last.push_back(Take());
    m_borders++;
    NS_LOG_LOGIC("border " << m_borders << " after " << m_last.back().length << ", tasks "
                           << m_last.back().tasks);
    if (m_last.size() > 2 * MOST_SPANS)
    {
        m_last.pop_front();
    }
    const std::string disturbance = FindDisturbance(m_last.back());
    if (!disturbance.empty())
    {
        m_reason = m_derived > 0 ? m_reason : disturbance;
        m_last.clear();
        return;
    }
    const std::size_t least = m_network.HasHiddenState() ? SPANS_OF_HIDDEN_STATE : 1;
    // The first span begins before the first border.
    for (std::size_t spans = 1; spans <= MOST_SPANS; spans++)
    {
        const std::size_t compared = std::max(spans, least);
        bool isPeriod = m_last.size() >= compared + spans + (m_last.size() == m_borders ? 1 : 0);
        for (std::size_t i = 0; isPeriod && i < compared; i++)
        {
            const std::size_t place = m_last.size() - 1 - i;
            isPeriod = FindDifference(m_last[place - spans], m_last[place]).empty();
        }
        if (isPeriod)
        {
            Derive(spans);
            return;
        }
    }
    if (m_derived == 0 && m_borders > 2 && m_last.size() > 1)
    {
        const std::string difference = FindDifference(m_last[m_last.size() - 2], m_last.back());
        m_reason = difference.empty() ? m_reason : NOTHING + ": " + difference;
    }
}

/** @return what was done since the last border */
MicroBatchRepetition::Span
MicroBatchRepetition::Take()
{
    Span span;
    const Time now = Simulator::Now();
    span.length = now - std::exchange(m_start, now);
    span.tasks = std::exchange(m_tasks, 0);
    span.network = m_network.Take();
    for (Member& member : m_members)
    {
        const RankExecution& execution = member.application->GetExecution();
        // Different at ranks that are not in their steady phase, or have left it.
        span.network.state.push_back(execution.GetRunner()->GetNext() -
                                     m_borders * member.period.shift.tasks);
        execution.AddProgress(span.network.state);
        RankIteration times = execution.Measure();
        std::swap(times, member.before);
        span.times.push_back(member.before);
        span.times.back().Add(times, -1);
    }
    const NetworkFigures figures = CountNetwork(*m_prepared.cluster);
    const auto sums = CollectiveReplay::Add(m_prepared.replays);
    const uint64_t packets =
        figures.sentPackets + m_prepared.cluster->GetOptions().images.GetCount() * sums.packets;
    span.packets = packets - std::exchange(m_packetsBefore, packets);
    const uint64_t collectives = sums.simulated + sums.derived;
    span.collectives = collectives - std::exchange(m_collectivesBefore, collectives);
    const uint64_t repeated = figures.repeatedPackets + figures.timeouts;
    span.repeated = repeated - std::exchange(m_repeatedBefore, repeated);
    return span;
}

/** @return why the last span need not come again; empty: it may */
std::string
MicroBatchRepetition::FindDisturbance(const Span& last) const
{
    const PortCounters sum = last.network.GetSum();
    if (sum.lostFrames + sum.droppedFrames + sum.duplicatedFrames + sum.trimmedFrames +
            last.repeated >
        0)
    {
        return "packets were lost";
    }
    if (m_network.CountsBytes())
    {
        return "the congestion control counts bytes";
    }
    return m_network.ReactsToMarks() && m_network.MarksAtRandom()
               ? "switches marked frames at random"
               : "";
}

/** @return what differs between two spans; empty: nothing does */
std::string
MicroBatchRepetition::FindDifference(const Span& one, const Span& other) const
{
    return one.length != other.length
               ? "one took " + FormatDouble(Abs(other.length - one.length).GetSeconds() * 1e9) +
                     " ns longer than another"
           : one.tasks != other.tasks     ? "tasks end at other times"
           : one.packets != other.packets ? "they send other numbers of packets"
           : !NetworkRepetition::AreSame(one.network, other.network, m_network.ReactsToMarks())
               ? "the network or a rank is in another state afterwards"
           : !std::equal(one.times.begin(), one.times.end(), other.times.begin(), &AreEqual)
               ? "ranks measure other times"
               : "";
}

/** Leaves out what is like the last spans. */
void
MicroBatchRepetition::Derive(uint64_t spans)
{
    uint64_t count = std::numeric_limits<uint64_t>::max();
    for (const Member& member : m_members)
    {
        const RankExecution& execution = member.application->GetExecution();
        count = std::min(count, member.period.Count(execution.GetRunner()->GetNext()) / spans);
    }
    if (count == 0)
    {
        m_reason = m_derived > 0 ? m_reason : "too few micro-batches are left";
        return;
    }
    NS_LOG_INFO(count << " times " << spans << " periods are left out at " << m_start);
    const Fabric& fabric = m_prepared.cluster->GetFabric();
    const uint64_t hops = fabric.GetPacketHops();
    Time length;
    for (auto span = m_last.end() - static_cast<std::ptrdiff_t>(spans); span != m_last.end();
         span++)
    {
        length += span->length;
        m_packets += count * span->packets;
        m_collectives += count * span->collectives;
        for (uint64_t i = 0; i < count; i++)
        {
            m_network.Repeat(span->network);
        }
    }
    for (std::size_t i = 0; i < m_members.size(); i++)
    {
        RankIteration times;
        for (auto span = m_last.end() - static_cast<std::ptrdiff_t>(spans); span != m_last.end();
             span++)
        {
            times.Add(span->times[i], static_cast<int64_t>(count));
        }
        times.start -= times.end; // it ends now
        times.end = Time();
        m_members[i].application->GetExecution().Skip(
            m_members[i].period.shift.Times(count * spans),
            times);
    }
    m_job.LeaveOut(length, count);
    m_packetHops += fabric.GetPacketHops() - hops;
    m_derived += count * spans * m_members.front().period.shift.microBatches;
    m_reason =
        !m_network.HasHiddenState()
            ? (m_network.MarksAtRandom() ? "marks that nothing reacts to are drawn at random" : "")
        : m_prepared.cluster->GetOptions().transport != "rdma"
            ? "of senders only their packets were compared"
            : "of the congestion control only rates and windows were compared";
    m_isActive = false;
}

void
MicroBatchRepetition::AddTo(RepetitionFigures& figures) const
{
    figures.derivedMicroBatches = m_derived;
    figures.simulatedMicroBatches = m_iterations * m_microBatches - m_derived;
    figures.microBatchReason = m_reason;
    figures.derivedCollectives += m_collectives;
}

} // namespace ns3::training
