/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job-repetition.h"

#include "ns3/bucket-scheduler.h"
#include "ns3/double.h"
#include "ns3/fabric-frame.h"
#include "ns3/host-device.h"
#include "ns3/in-network-system.h"
#include "ns3/log.h"
#include "ns3/nic-algorithm.h"
#include "ns3/object-factory.h"
#include "ns3/path-choice.h"
#include "ns3/port-growth.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/simulator.h"
#include "ns3/switch-device.h"
#include "ns3/training-event-kinds.h"
#include "ns3/training-key-values.h"
#include "ns3/training-mix-bits.h"
#include "ns3/training-processes.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <typeinfo>
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
/// Part by which their times, bytes, rates and windows may differ.
constexpr double ABOUT = 1e-3;

/** @return a double attribute of a switch */
double
GetAttribute(const SwitchDevice& device, const std::string& name)
{
    DoubleValue value;
    device.GetAttribute(name, value);
    return value.Get();
}

/** @return the congestion control of queue pairs */
const CongestionControlEntry&
FindCongestionControl(const Cluster& cluster)
{
    const std::string name = KeyValues::Split(cluster.GetOptions().congestionControl).GetName();
    return Registry<CongestionControlEntry>::Find(name);
}

/** @return what it needs */
RdmaCongestionControl::Needs
GetNeeds(const Cluster& cluster)
{
    ObjectFactory factory;
    factory.SetTypeId(FindCongestionControl(cluster).getTypeId());
    return factory.Create<RdmaCongestionControl>()->GetNeeds();
}

/** @return whether it reacts to marked frames */
bool
ReactsToMarks(const Cluster& cluster)
{
    return FindCongestionControl(cluster).ecnStepPerGbps > 0 || GetNeeds(cluster).cnp;
}

/** @return whether it has a state beyond its rate and its window, as it hears of every packet */
bool
HasHiddenState(const Cluster& cluster)
{
    return GetNeeds(cluster).acks || GetNeeds(cluster).telemetry;
}

/** @return whether two numbers differ by at most a part */
bool
IsWithin(double part, double one, double other)
{
    return std::abs(one - other) <= part * std::max(std::abs(one), std::abs(other));
}

/** @return whether two rates are the same */
bool
IsSameRate(double one, double other)
{
    return IsWithin(JobRepetition::TOLERANCE, one, other);
}

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
JobRepetition::FindObstacle(const Cluster& cluster, const std::string& computeJitter)
{
    const ClusterOptions& options = cluster.GetOptions();
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
        return "links fail, or lose or delay frames";
    }
    const std::string variation = options.FindVariation();
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
        m_posted.at(rank) = CountPostedMessages(rank);
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
            HasHiddenState(m_parts.cluster) ? std::max(period, LEAST_SIMULATED) : 1;
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
            return IsWithin(ABOUT, each.communicationTimeS, records.back().communicationTimeS);
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
    PortCounters sum;
    for (const PortCounters& each : last.ports)
    {
        sum += each;
    }
    if (sum.lostFrames + sum.droppedFrames + sum.duplicatedFrames + sum.trimmedFrames > 0 ||
        last.inNetwork.resent > 0 || last.inNetwork.fallenBack)
    {
        return "packets were lost";
    }
    if (m_countsBytes)
    {
        return "the congestion control counts bytes";
    }
    return ReactsToMarks(m_parts.cluster) && MarksAtRandom() ? "switches marked frames at random"
                                                             : "";
}

bool
JobRepetition::AreSame(const Iteration& one, const Iteration& other)
{
    return !other.raisesPeaks && one.length == other.length && one.tasks == other.tasks &&
           one.collectives == other.collectives && one.state == other.state &&
           one.inNetwork.sent == other.inNetwork.sent &&
           one.inNetwork.received == other.inNetwork.received &&
           one.inNetwork.duplicates == other.inNetwork.duplicates &&
           std::equal(one.rates.begin(),
                      one.rates.end(),
                      other.rates.begin(),
                      other.rates.end(),
                      &IsSameRate) &&
           std::equal(one.ports.begin(),
                      one.ports.end(),
                      other.ports.begin(),
                      other.ports.end(),
                      &HasEqualCounts);
}

/** @return whether switches may have drawn numbers that decide whether frames are marked */
bool
JobRepetition::MarksAtRandom() const
{
    for (const auto& device : m_parts.cluster.GetFabric().devicesOfSwitches)
    {
        const double least = GetAttribute(*device, "EcnKminPerGbps");
        const bool isStep = least == GetAttribute(*device, "EcnKmaxPerGbps");
        const bool drops = GetAttribute(*device, "WredPmax") > 0;
        for (uint16_t index = 0; index < device->GetNPorts() && (!isStep || drops); index++)
        {
            const FabricPort& port = device->GetPort(index);
            const double gbps = static_cast<double>(port.GetRate()) * 1e-9;
            const double limit = drops ? 0 : least * gbps;
            for (const PriorityCounters& ofClass : port.GetCounters().byPriority)
            {
                if (static_cast<double>(ofClass.peakQueueBytes) > limit)
                {
                    return true;
                }
            }
        }
    }
    return false;
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
    iteration.isQuiet = AddPorts(iteration);
    for (const auto& application : m_parts.applications)
    {
        const uint32_t rank = application->GetRank();
        application->AddState(iteration.state);
        iteration.isQuiet = iteration.isQuiet && !m_communicates[rank] &&
                            !application->IsCommunicating() &&
                            CountPostedMessages(rank) == m_posted[rank];
    }
    AddConnections(iteration);
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
    uint64_t collectives = 0;
    for (const auto& replay : m_parts.replays)
    {
        collectives += replay->GetSimulated() + replay->GetDerived();
    }
    iteration.collectives = collectives - std::exchange(m_collectivesBefore, collectives);
    return iteration;
}

/** Adds queues, pauses and frames. @return whether the links are idle */
bool
JobRepetition::AddPorts(Iteration& iteration)
{
    const auto& channels = m_parts.cluster.GetFabric().channels;
    m_ports.resize(2 * channels.size());
    bool isIdle = true;
    for (std::size_t i = 0; i < m_ports.size(); i++)
    {
        const FabricPort& port = channels[i / 2]->GetPort(i % 2);
        const PortCounters& sent = port.GetCounters();
        const PortCounters& received = channels[i / 2]->GetPort(1 - i % 2).GetCounters();
        const uint64_t underWay = sent.transmittedFrames + sent.duplicatedFrames -
                                  received.receivedFrames - sent.lostFrames;
        iteration.state.push_back(underWay);
        isIdle = isIdle && underWay == 0;
        for (uint8_t priority = 0; priority < PRIORITIES; priority++)
        {
            const uint64_t queue = port.GetQueueBytes(priority);
            iteration.state.push_back(2 * queue + (port.IsPaused(priority) ? 1 : 0));
            isIdle = isIdle && queue == 0;
        }
        iteration.ports.push_back(GetGrowth(m_ports[i], sent));
        iteration.raisesPeaks = iteration.raisesPeaks || !HasEqualPeaks(m_ports[i], sent);
        m_ports[i] = sent;
    }
    if (!isIdle)
    {
        AddFrames(iteration.state);
    }
    return isIdle;
}

/** Adds the frames on the links, and when they arrive. */
void
JobRepetition::AddFrames(std::vector<uint64_t>& state) const
{
    const auto now = static_cast<uint64_t>(Simulator::Now().GetTimeStep());
    if (!BucketScheduler::GetCurrent())
    {
        state.push_back(now); // never the same
        return;
    }
    std::vector<BucketScheduler::Entry> entries = BucketScheduler::GetCurrent()->GetEntries();
    BucketScheduler::Sort(entries);
    for (const BucketScheduler::Entry& entry : entries)
    {
        if (typeid(*entry.impl) == typeid(Frame))
        {
            const auto& frame = static_cast<const Frame&>(*entry.impl);
            state.insert(state.end(),
                         {entry.time - now,
                          entry.order,
                          uint64_t{frame.bytes} << 32 | frame.destination,
                          uint64_t{frame.destinationQp} << 8 | frame.opcode});
        }
    }
}

/** @return messages that the queue pairs of a rank have got */
uint64_t
JobRepetition::CountPostedMessages(uint32_t rank) const
{
    uint64_t messages = 0;
    for (const auto& nic : m_parts.cluster.GetNics(rank))
    {
        for (const auto& [number, queuePair] : nic->GetQueuePairs())
        {
            messages += queuePair->GetCounters().postedMessages;
        }
    }
    return messages;
}

/** Adds the messages and the congestion control of every queue pair. */
void
JobRepetition::AddConnections(Iteration& iteration)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    for (uint32_t rank = 0; rank < m_parts.cluster.GetRanks(); rank++)
    {
        for (const auto& nic : m_parts.cluster.GetNics(rank))
        {
            UintegerValue ackInterval;
            nic->GetAttribute("AckInterval", ackInterval);
            const auto& queuePairs = nic->GetQueuePairs();
            const std::map<uint32_t, Ptr<RdmaQueuePair>> inOrder(queuePairs.begin(),
                                                                 queuePairs.end());
            for (const auto& [number, queuePair] : inOrder)
            {
                const QueuePairCounters counters = queuePair->GetCounters();
                const uint64_t packets = counters.sentPackets - counters.retransmittedPackets;
                iteration.state.insert(iteration.state.end(),
                                       {number,
                                        counters.postedMessages - counters.completedMessages,
                                        packets % std::max<uint64_t>(ackInterval.Get(), 1),
                                        counters.retransmittedPackets,
                                        counters.timeouts});
                const auto control = queuePair->GetCongestionControl();
                if (control->GetNeeds().sentBytes)
                {
                    m_countsBytes = true;
                    return; // GetRate() would have to be told of them first
                }
                iteration.rates.push_back(control->GetRate(now));
                iteration.rates.push_back(static_cast<double>(control->GetWindow()));
            }
        }
    }
}

/** @return whether two iterations differ by what acknowledgements take, or little else */
bool
JobRepetition::AreAbout(const Iteration& one, const Iteration& other)
{
    const auto areAbout = [](double a, double b) { return IsWithin(ABOUT, a, b); };
    const auto sendAbout = [](const PortCounters& a, const PortCounters& b) {
        constexpr double ACKS = 10000; // bytes
        const auto sent = static_cast<double>(a.transmittedBytes);
        const auto others = static_cast<double>(b.transmittedBytes);
        return IsWithin(ABOUT, sent, others) || std::abs(sent - others) < ACKS;
    };
    return areAbout(one.length.GetSeconds(), other.length.GetSeconds()) &&
           one.state.size() == other.state.size() && one.collectives == other.collectives &&
           one.inNetwork.sent == other.inNetwork.sent &&
           std::equal(one.rates.begin(),
                      one.rates.end(),
                      other.rates.begin(),
                      other.rates.end(),
                      areAbout) &&
           std::equal(one.ports.begin(),
                      one.ports.end(),
                      other.ports.begin(),
                      other.ports.end(),
                      sendAbout);
}

void
JobRepetition::Derive(uint32_t period)
{
    const bool isExact = AreSame(m_last[m_last.size() - 1 - period], m_last.back());
    const auto tell = [this, isExact] {
        m_reason = !isExact ? "none did exactly what another one did"
                   : HasHiddenState(m_parts.cluster)
                       ? "of the congestion control only rates and windows were compared"
                   : MarksAtRandom() ? "marks that nothing reacts to are drawn at random"
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
        least = std::max(least, application->GetReach());
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
        application->Shorten(m_parts.iterations - count);
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
        for (std::size_t port = 0; port < like.ports.size(); port++)
        {
            FabricPort& each = fabric.channels[port / 2]->GetPort(port % 2);
            PortCounters counters = each.GetCounters();
            Grow(counters, like.ports[port]);
            each.SetCounters(counters);
        }
        m_collectives += like.collectives;
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
