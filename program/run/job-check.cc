/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/job-check.h"

#include "accelerate/private-groups.h"
#include "graph/graph-timing.h"
#include "parallel/transformer-graph.h"
#include "pipeline/pipeline-timing.h"
#include "run/checked-network.h"
#include "run/switch-sums.h"

#include "ns3/parallel-command-line.h"
#include "ns3/parallel-memory.h"
#include "ns3/run-cost.h"
#include "ns3/topology-builder.h"
#include "ns3/training-cluster.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-time-resolution.h"

#include <algorithm>
#include <boost/format.hpp>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return who the ranks of a group are */
std::string
DescribeMembers(PlanGroups groups)
{
    switch (groups)
    {
    case PlanGroups::TENSOR:
        return "parts of each layer";
    case PlanGroups::DATA:
        return "replicas";
    case PlanGroups::SHARD:
        return "replicas near each other";
    case PlanGroups::REPLICA:
        return "replicas far from each other";
    case PlanGroups::CONTEXT:
        return "parts of a sequence";
    case PlanGroups::EXPERT:
        return "experts";
    case PlanGroups::EXPERT_NODE:
        return "experts of a node";
    case PlanGroups::EXPERT_ACROSS:
        return "experts of other nodes";
    case PlanGroups::EXPERT_DATA:
        return "replicas of experts";
    case PlanGroups::EMBEDDING:
        return "stages with the embedding";
    case PlanGroups::EXPERT_SHARD:
        return "near replicas of experts";
    case PlanGroups::EXPERT_REPLICA:
        return "far replicas of experts";
    case PlanGroups::EXPERT_TENSOR:
        return "parts of experts";
    }
    return "";
}

/// Order in which kinds of groups are listed.
constexpr Parallelism KINDS[] = {Parallelism::TENSOR,
                                 Parallelism::PIPELINE,
                                 Parallelism::DATA,
                                 Parallelism::CONTEXT,
                                 Parallelism::EXPERT};

/** Adds a collective or a message to a list. */
void
Add(std::vector<CheckedCollective>& all,
    const std::string& operation,
    const std::string& purpose,
    uint64_t bytes)
{
    auto found = std::find_if(all.begin(), all.end(), [&](const CheckedCollective& each) {
        return each.operation == operation && each.bytes == bytes;
    });
    if (found == all.end())
    {
        all.push_back({operation, purpose, bytes, 0});
        found = all.end() - 1;
    }
    if (found->purpose.find(purpose) == std::string::npos)
    {
        found->purpose += ", " + purpose;
    }
    found->count++;
}

/** Everything about a job that takes no simulation. */
class Checker
{
  public:
    /**
     * @param graph the job
     * @param plan that it follows, or null
     * @param typical ranks: all others do what one of them does
     * @param cluster its network
     * @param shortcuts see CheckJob()
     */
    Checker(std::shared_ptr<const TaskGraph> graph,
            const ParallelPlan* plan,
            std::vector<uint32_t> typical,
            const ClusterOptions& cluster,
            const WorkShortcuts& shortcuts)
        : m_graph(std::move(graph)),
          m_plan(plan),
          m_typical(std::move(typical)),
          m_cluster(cluster),
          m_shortcuts(shortcuts),
          m_network(*m_graph, cluster),
          m_sums(cluster, m_network.GetTopology())
    {
    }

    JobCheck Run();

  private:
    void ListGroups();
    void FindLowerBound();
    PrivateGroups FindPrivateGroups() const;
    void EstimateRank(uint32_t rank, const PrivateGroups& privates, SimulatedWork& work);
    void EstimateCost();

    std::shared_ptr<const TaskGraph> m_graph;
    const ParallelPlan* m_plan;
    std::vector<uint32_t> m_typical;
    const ClusterOptions& m_cluster;
    const WorkShortcuts m_shortcuts;
    CheckedNetwork m_network;
    SwitchSums m_sums;
    JobCheck m_check;
};

void
Checker::ListGroups()
{
    // By groups and parallelism.
    std::map<std::pair<uint32_t, Parallelism>, std::vector<CheckedCollective>> collectives;
    std::map<Parallelism, std::vector<CheckedCollective>> messages;
    const auto source = m_graph->MakeSource(m_typical.front(), 1);
    GraphTask task;
    while (source->Next(task))
    {
        const std::string purpose =
            m_plan ? m_graph->GetNames()[task.name] : GetName(task.parallelism);
        if (task.kind == TaskKind::COLLECTIVE)
        {
            // Without a plan, exchanges are those of embeddings, whose tables are divided.
            const Parallelism kind = m_plan ? m_graph->GetGroups()[task.groups].parallelism
                                     : task.parallelism == Parallelism::NONE ? Parallelism::TENSOR
                                                                             : task.parallelism;
            Add(collectives[{task.groups, kind}], GetName(task.operation), purpose, task.bytes);
        }
        else if (task.kind == TaskKind::SEND)
        {
            Add(messages[task.parallelism], "send", purpose, task.bytes);
        }
        task = {};
    }
    for (Parallelism kind : KINDS)
    {
        if (!messages[kind].empty())
        {
            const auto isRing = m_plan && kind == Parallelism::CONTEXT;
            const bool isHybrid = isRing && m_plan->GetOptions().hybridContext > 0;
            const PlanGroups ring = isHybrid ? PlanGroups::DATA : PlanGroups::CONTEXT;
            m_check.groups.push_back(
                {kind,
                 isHybrid ? "at most, of a sample"
                 : isRing ? DescribeMembers(ring)
                          : "stages",
                 isRing ? m_plan->GetSize(ring) : static_cast<uint32_t>(m_typical.size()),
                 messages[kind]});
        }
        for (const auto& [key, all] : collectives)
        {
            const auto& [groups, parallelism] = key;
            const std::size_t size = m_graph->GetGroup(groups, m_typical.front()).size();
            if (parallelism == kind && size > 1)
            {
                m_check.groups.push_back(
                    {kind,
                     m_plan ? DescribeMembers(static_cast<PlanGroups>(groups)) : "ranks",
                     static_cast<uint32_t>(size),
                     all});
            }
        }
    }
}

void
Checker::FindLowerBound()
{
    // Pipelines are alike: one of them, whose collectives and messages meet no others.
    const std::vector<uint32_t>& pipeline = m_typical;
    std::map<uint32_t, double> secondsPerByte; // by receiver, from its fastest neighbour
    for (std::size_t place = 0; place < pipeline.size() && pipeline.size() > 1; place++)
    {
        for (std::size_t step : {std::size_t{1}, pipeline.size() - 1})
        {
            const uint32_t from = pipeline[(place + step) % pipeline.size()];
            const double seconds = m_network.GetSecondsPerByte(from, pipeline[place]);
            const auto found = secondsPerByte.emplace(pipeline[place], seconds).first;
            found->second = std::min(found->second, seconds);
        }
    }
    CommunicationTimes times;
    times.collective = [&](const GraphTask& task, uint32_t) {
        // The first rank's groups begin at a server, so that none are closer to each other.
        return m_network.GetTime(task, m_typical.front());
    };
    times.message = [&](const GraphTask& task) {
        const auto found = secondsPerByte.find(task.peer);
        return found == secondsPerByte.end()
                   ? Time()
                   : Seconds(found->second * static_cast<double>(task.bytes));
    };
    const Time first = TimeGraph(*m_graph, 1, times, pipeline).end;
    const Time both = TimeGraph(*m_graph, 2, times, pipeline).end;
    // The first one lacks the end of the one before, the second one may start during the first.
    m_check.lowerBound = std::min(first, both - first).GetSeconds();
}

/** @return groups whose collectives repeat themselves on links of their own */
PrivateGroups
Checker::FindPrivateGroups() const
{
    const bool varies = !m_cluster.MakeFaults(m_network.GetTopology()).IsEmpty() ||
                        !m_cluster.FindVariation().empty();
    const auto servers = m_network.GetTopology().GetServers();
    return PrivateGroups({varies, true, servers}, *m_graph, m_typical);
}

/** Counts what a rank does, and what of it is simulated. */
void
Checker::EstimateRank(uint32_t rank, const PrivateGroups& privates, SimulatedWork& work)
{
    struct Derivable
    {
        double count{0};
        SimulatedMessages messages{}; // of one
    };

    const double packet = m_cluster.GetMtu();
    const auto servers = m_network.GetTopology().GetServers();
    const double part = m_plan && m_shortcuts.microBatches
                            ? SimulatedWork::GetPartOfMicroBatches(m_plan->GetOptions().pipeline,
                                                                   m_plan->GetMicroBatches())
                            : 1;
    std::map<std::tuple<uint32_t, CollectiveOperation, uint64_t, uint32_t>, Derivable> derivable;
    double messages = 0; // from elsewhere
    double count = 0;    // of what is derivable
    const auto source = m_graph->MakeSource(rank, 1);
    for (GraphTask task; source->Next(task); task = {})
    {
        m_check.tasks++;
        const bool isMessage = task.kind == TaskKind::SEND;
        if (!isMessage && task.kind != TaskKind::COLLECTIVE)
        {
            continue;
        }
        const bool isRepeated = task.parallelism != Parallelism::DATA;
        const auto bytes = static_cast<double>(task.bytes);
        if (isMessage)
        {
            const double links = m_network.GetHops(rank, task.peer);
            m_check.payload += bytes;
            m_check.packetHops += bytes / packet * links;
            work.Add({1, bytes / packet, links}, isRepeated ? part : 1);
            messages +=
                servers[rank] == TopologyGraph::NO_SERVER || servers[rank] != servers[task.peer];
            continue;
        }
        const std::vector<uint32_t> group = m_graph->GetGroup(task.groups, rank);
        const auto size = static_cast<uint32_t>(group.size());
        const double sentPart = GetSentPart(task.operation, size);
        const double steps = std::round(sentPart * size); // each sends a part of one rank
        const auto sums = m_sums.Find(task.operation, group, bytes);
        const SimulatedMessages sent =
            sums ? *sums
                 : SimulatedMessages{steps,
                                     steps > 0 ? bytes * sentPart / packet / steps : 0,
                                     m_network.GetHopsInGroup(task.groups, rank),
                                     task.operation == CollectiveOperation::ALL_TO_ALL};
        const bool isPrivate = m_shortcuts.collectives && !privates.IsAlone(task.groups) &&
                               privates.IsPrivate(task.groups, rank);
        m_check.payload += sums ? bytes : bytes * sentPart;
        const bool isWhole = std::all_of(group.begin(), group.end(), [this](uint32_t each) {
            return m_cluster.images.GetImage(each) == 0;
        });
        if (isWhole && (isPrivate || (m_shortcuts.quiet && privates.IsInServer(task.groups, rank))))
        {
            Derivable& of = derivable[{task.groups, task.operation, task.bytes, task.peer}];
            of.count++;
            of.messages = sent;
            count++;
        }
        else
        {
            m_check.packetHops += sent.GetHops();
            work.Add(sent, isRepeated ? part : 1);
        }
    }
    for (const auto& [kind, of] : derivable)
    {
        const double before = messages * of.count / count;
        const double simulated = SimulatedWork::GetSimulated(of.count * part, before * part);
        m_check.derivedHops += of.messages.GetHops() * (of.count - simulated);
        m_check.packetHops += of.messages.GetHops() * simulated;
        work.Add(of.messages, simulated);
    }
}

void
Checker::EstimateCost()
{
    const PrivateGroups privates = FindPrivateGroups();
    SimulatedWork work(m_cluster);
    for (uint32_t rank : m_typical)
    {
        EstimateRank(rank, privates, work);
    }
    const uint32_t simulated = m_graph->GetRanks() / m_cluster.images.GetCount();
    const double others = simulated / static_cast<double>(m_typical.size());
    work.Scale(others);
    m_check.packetHops *= others;
    m_check.derivedHops *= others;
    m_check.simulatedHops = work.GetHops();
    m_check.tasks *= others;
    m_check.payload *= others;
    const auto estimate = [&](uint32_t ranks) {
        return EstimateRunCost(work.GetCost(), ranks, m_cluster.transport, m_check.tasks);
    };
    m_check.cpuSeconds = estimate(simulated).cpuSeconds;
    m_check.memoryOfRun = estimate(m_graph->GetRanks()).peakMemoryMebibytes; // all have a host
}

JobCheck
Checker::Run()
{
    m_check.worldSize = m_graph->GetRanks();
    ListGroups();
    FindLowerBound();
    EstimateCost();
    return m_check;
}

} // namespace

double
GetSentPart(CollectiveOperation operation, uint32_t size)
{
    const double others = (size - 1.0) / size;
    return operation == CollectiveOperation::ALL_REDUCE ? 2 * others : others;
}

JsonValue
JobCheck::ToJson() const
{
    auto list = JsonValue::Array();
    for (const CheckedGroup& group : groups)
    {
        auto all = JsonValue::Array();
        for (const CheckedCollective& each : group.collectives)
        {
            auto row = JsonValue::Object();
            row.Set("operation", each.operation)
                .Set("bytes", each.bytes)
                .Set("count", each.count)
                .Set("purpose", each.purpose);
            all.Append(row);
        }
        auto row = JsonValue::Object();
        row.Set("kind", GetName(group.kind))
            .Set("size", group.size)
            .Set("members", group.members)
            .Set("collectives", all);
        list.Append(row);
    }
    auto estimate = JsonValue::Object();
    estimate.Set("packet_hops", packetHops)
        .Set("derived_packet_hops", derivedHops)
        .Set("simulated_packet_hops", simulatedHops)
        .Set("cpu_s", cpuSeconds)
        .Set("peak_memory_MiB", memoryOfRun);
    auto document = JsonValue::Object();
    document.Set("world_size", worldSize)
        .Set("parameters", parameters)
        .Set("groups", list)
        .Set("memory_per_gpu_bytes", memory)
        .Set("lower_bound_s", lowerBound);
    if (!schedule.empty())
    {
        auto pipeline = JsonValue::Object();
        pipeline.Set("name", schedule)
            .Set("makespan_forward_passes", makespan)
            .Set("work_forward_passes", work);
        document.Set("schedule", pipeline);
    }
    if (!operators.empty())
    {
        document.Set("operators", training::ToJson(operators));
    }
    if (!measured.empty())
    {
        document.Set("kernels", measured);
    }
    document.Set("estimate", estimate);
    return document;
}

std::string
JobCheck::ToText() const
{
    std::string text =
        (boost::format("%1% ranks, %2% parameters%4%, %3$.1f GB of memory per GPU\n") % worldSize %
         parameters % (static_cast<double>(memory) / 1e9) %
         CompareParameters(static_cast<double>(parameters), expectedParameters))
            .str();
    text += (boost::format("%-9s %6s  %-28s %-15s %-20s %15s %8s\n") % "kind" % "ranks" %
             "members" % "operation" % "purpose" % "bytes" % "count")
                .str();
    for (const CheckedGroup& group : groups)
    {
        for (const CheckedCollective& each : group.collectives)
        {
            text += (boost::format("%-9s %6d  %-28s %-15s %-20s %15d %8d\n") % GetName(group.kind) %
                     group.size % group.members % each.operation % each.purpose % each.bytes %
                     each.count)
                        .str();
        }
    }
    text += training::ToText(operators);
    text += measured.empty() ? "" : "kernels: " + measured + "\n";
    text += (boost::format("lower bound of an iteration: %.3f ms\n") % (lowerBound * 1e3)).str();
    if (!schedule.empty())
    {
        text += (boost::format("schedule %s without communication: %.6g forward passes of a rank, "
                               "of which its micro-batches take %.6g\n") %
                 schedule % makespan % work)
                    .str();
    }
    const std::string derived =
        derivedHops > 0 ? (boost::format(" (and %.3g derived ones)") % derivedHops).str() : "";
    text +=
        (boost::format("estimate of an iteration's simulation: %.3g packet-hops%s, of which %.3g "
                       "are simulated, %.3g s of CPU, %.0f MiB\n") %
         packetHops % derived % simulatedHops % cpuSeconds % memoryOfRun)
            .str();
    return text;
}

JobCheck
CheckJob(const std::shared_ptr<const ParallelPlan>& plan,
         const TransformerRates& rates,
         const ClusterOptions& cluster,
         const WorkShortcuts& shortcuts)
{
    UsePicoseconds();
    const ParallelOptions& options = plan->GetOptions();
    const bool isUnequal = !options.sampleLengths.empty(); // then there is one stage
    std::vector<uint32_t> pipeline;                        // otherwise all pipelines are alike
    for (uint64_t place = 0; isUnequal && place < options.data * options.context; place++)
    {
        pipeline.push_back(static_cast<uint32_t>(place * options.tensor));
    }
    for (uint32_t place = 0; !isUnequal && place < options.pipeline; place++)
    {
        pipeline.push_back(plan->GetRankOfStage(0, place));
    }
    const auto graph = std::make_shared<const TransformerGraph>(plan, rates);
    JobCheck check = Checker(graph, plan.get(), pipeline, cluster, shortcuts).Run();
    check.parameters = plan->GetModel().GetParameters();
    check.memory = GetMostMemoryBytes(*plan);
    if (!isUnequal)
    {
        check.operators = CheckOperators(*plan, rates);
    }
    if (options.pipeline > 1)
    {
        PipelineSchedule schedule = plan->GetSchedule();
        schedule.SeparateActions(); // a job does them one after the other
        const double pass = static_cast<double>(schedule.GetRanks()) / schedule.GetStages();
        const PipelineTiming timing = TimePipeline(schedule, {pass, pass, pass});
        check.schedule = plan->GetOptions().schedule;
        check.makespan = timing.end;
        check.work = timing.end - timing.bubble;
    }
    return check;
}

JobCheck
CheckJob(const JobPlan& plan, const ClusterOptions& cluster, const WorkShortcuts& shortcuts)
{
    if (plan.format != "workload" && plan.format != "csv")
    {
        throw ConfigurationError("check",
                                 plan.name,
                                 " is a file (allowed: --model or a workload that is built in)");
    }
    JobCheck check = Checker(plan.graph, nullptr, {0}, cluster, shortcuts).Run();
    check.parameters = plan.parameters;
    constexpr uint64_t WEIGHT = 4;
    check.memory = (WEIGHT + plan.gradientBytes) * check.parameters;
    return check;
}

} // namespace ns3::training
