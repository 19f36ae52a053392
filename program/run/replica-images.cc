/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/replica-images.h"

#include "run/image-paths.h"
#include "run/network-images.h"

#include "ns3/scheduled-communicator.h"
#include "ns3/training-application.h"
#include "ns3/training-key-values.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/** @return what makes replicas differ, or needs all ranks; empty: nothing that options tell */
std::string
FindUnequalOption(const TrainingRunOptions& options)
{
    const ClusterOptions& cluster = options.cluster;
    const std::string variation = cluster.FindVariation();
    const std::pair<bool, std::string> reasons[] = {
        {Processes::GetCount() > 1, "several processes divide the ranks"},
        {cluster.transport != "rdma" && cluster.transport != "uec",
         "transport " + cluster.transport + " connects hosts by name"},
        {options.IsReal(), "a real payload has numbers of all ranks"},
        {options.computeJitter != "none", "compute times are drawn at random"},
        {!options.stragglers.empty(), "stragglers are no images of other ranks"},
        {!variation.empty(), variation},
        {cluster.loss > 0 || !cluster.faults.empty(), "links fail, or lose or delay frames"},
        {!options.model.sampleLengths.empty(), "samples have lengths of their own"},
        {options.gradientPriority == "layer", "rank 0 announces every collective"},
        {options.life.HasCheckpoints() || options.life.HasFailures(),
         "checkpoints and failures are of single hosts"},
        {!options.energy.IsEmpty(), "energy is that of all hosts"},
        {options.RunFilesOptions::IsGiven(), "files have records of all ranks"},
        {!cluster.pcap.empty(), "captures have packets of all ranks"}};
    const auto found = std::find_if(std::begin(reasons), std::end(reasons), [](const auto& each) {
        return each.first;
    });
    return found == std::end(reasons) ? "" : found->second;
}

/** @return ranks with the same replica in a row, and the number of replicas */
std::pair<uint32_t, uint32_t>
GetReplicas(const TrainingRunOptions& options, uint32_t ranks)
{
    if (!options.model.HasTransformer())
    {
        return {1, ranks};
    }
    const ParallelOptions& parallel = options.model.parallel;
    const std::map<std::string, uint64_t> sizes{{"tp", parallel.tensor},
                                                {"cp", parallel.context},
                                                {"pp", parallel.pipeline}};
    uint64_t stride = 1;
    std::istringstream order(parallel.order);
    for (std::string name; std::getline(order, name, '-') && name != "dp";)
    {
        stride *= sizes.at(name);
    }
    return {
        static_cast<uint32_t>(stride),
        static_cast<uint32_t>(ranks / (parallel.tensor * parallel.context * parallel.pipeline))};
}

/** A map of numbers on others, which may contradict itself. */
class NumberMap
{
  public:
    /** @return whether the number has this image, and no other one has it */
    bool Add(uint32_t number, uint32_t image)
    {
        return m_images.try_emplace(number, image).first->second == image &&
               m_numbers.try_emplace(image, number).first->second == number;
    }

    /** @return each number with its image */
    const std::map<uint32_t, uint32_t>& Get() const
    {
        return m_images;
    }

  private:
    std::map<uint32_t, uint32_t> m_images;
    std::map<uint32_t, uint32_t> m_numbers; // by image
};

/** @return where groups are not the same after a shift by some images; empty: nowhere */
std::string
FindUnequalGroup(const TaskGraph& graph, const RankImages& images, uint32_t turns)
{
    const uint32_t ranks = graph.GetRanks();
    for (const TaskGroups& groups : graph.GetGroups())
    {
        const std::vector<uint32_t> indices = groups.GetIndices(ranks);
        NumberMap mapped;
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            // A group of several images has the same ranks of each.
            bool isEqual = mapped.Add(indices[rank], indices[images.Turn(rank, turns)]);
            for (uint32_t member :
                 isEqual&& indices[rank] != TaskGroups::NO_GROUP && images.GetImage(rank) == 0
                     ? graph.GetGroup(static_cast<uint32_t>(&groups - graph.GetGroups().data()),
                                      rank)
                     : std::vector<uint32_t>())
            {
                isEqual = isEqual && indices[images.GetSimulated(member)] == indices[rank];
            }
            if (!isEqual)
            {
                return "groups of " + std::string(GetName(groups.parallelism)) +
                       " parallelism are no images of one another";
            }
        }
    }
    return "";
}

/** @return whether images are of one row, or hierarchical collectives see a server for each row */
bool
HasRowsOfServers(const ClusterOptions& cluster,
                 const TopologyGraph& topology,
                 const RankImages& images)
{
    if (images.GetRow() == images.GetCount())
    {
        return true;
    }
    std::map<uint32_t, uint32_t> rowOf; // by server
    bool isServer = topology.shape.groupSize > 1 &&
                    KeyValues::Split(cluster.algorithm).GetName() == "hierarchical";
    for (uint32_t rank = 0; isServer && rank < cluster.ranks; rank++)
    {
        const uint32_t row = images.GetImage(rank) / images.GetRow();
        isServer = rowOf.emplace(rank / topology.shape.groupSize, row).first->second == row;
    }
    return isServer;
}

/** @return where network or groups are not the same after each shift; empty: nowhere */
std::string
FindUnequal(const TopologyGraph& topology, const TaskGraph& graph, const RankImages& images)
{
    std::string unequal = NetworkImages(topology, graph.GetRanks(), images).GetObstacle();
    // All other shifts follow from one within rows, and one of rows.
    unequal = unequal.empty() ? FindUnequalGroup(graph, images, 1) : unequal;
    return unequal.empty() && images.GetRow() < images.GetCount()
               ? FindUnequalGroup(graph, images, images.GetRow())
               : unequal;
}

/** @return whether a task of a rank is that of another one, some images further */
bool
IsImage(const GraphTask& task, const GraphTask& of, uint32_t turns, const RankImages& images)
{
    const bool isMessage = of.kind == TaskKind::SEND || of.kind == TaskKind::RECEIVE;
    const auto describe = [](const GraphTask& each) {
        return std::tie(each.id,
                        each.kind,
                        each.parallelism,
                        each.stream,
                        each.operation,
                        each.untilSent,
                        each.groups,
                        each.priority,
                        each.tag,
                        each.bytes,
                        each.length,
                        each.after);
    };
    return describe(task) == describe(of) && !task.matrix && !of.matrix && !task.code == !of.code &&
           task.peer == (isMessage ? images.Turn(of.peer, turns) : of.peer);
}

/** Compares the tasks of all ranks with those of the simulated ones. */
void
CheckTasks(const TrainingRunOptions& options, const TaskGraph& graph, const RankImages& images)
{
    // An iteration after the first one may begin otherwise.
    const auto iterations =
        static_cast<uint32_t>(std::min<uint64_t>(2, options.warmup + options.iterations));
    for (uint32_t rank = 0; rank < graph.GetRanks(); rank++)
    {
        if (images.GetImage(rank) > 0)
        {
            continue;
        }
        std::vector<GraphTask> tasks;
        const auto source = graph.MakeSource(rank, iterations);
        for (GraphTask task; source->Next(task); task = {})
        {
            tasks.push_back(task);
        }
        for (uint32_t turns = 1; turns < images.GetCount(); turns++)
        {
            const uint32_t other = images.Turn(rank, turns);
            const auto tasksOfOther = graph.MakeSource(other, iterations);
            std::size_t number = 0;
            bool isEqual = true;
            for (GraphTask task; isEqual && tasksOfOther->Next(task); task = {})
            {
                isEqual = number < tasks.size() && IsImage(task, tasks[number], turns, images);
                number++;
            }
            if (!isEqual || number != tasks.size())
            {
                RefuseImages("rank " + std::to_string(other) + " does not do what rank " +
                             std::to_string(rank) + " does");
            }
        }
    }
}

/** Looks at the collectives and messages of the simulated ranks. */
class ImageChecker
{
  public:
    ImageChecker(const TaskGraph& graph, const Cluster& cluster)
        : m_graph(graph),
          m_images(cluster.GetOptions().images),
          m_paths(cluster)
    {
    }

    /** Compares the collectives and paths of a rank. */
    void Check(const TrainingApplication& application)
    {
        const uint32_t rank = application.GetRank();
        const auto source = m_graph.MakeSource(rank, 1);
        for (GraphTask task; source->Next(task); task = {})
        {
            if (task.kind == TaskKind::SEND || task.kind == TaskKind::RECEIVE)
            {
                m_paths.Add(rank, task.peer);
            }
            else if (task.kind == TaskKind::COLLECTIVE)
            {
                const auto group = m_graph.GetGroup(task.groups, rank);
                if (m_known
                        .emplace(task.groups, group.front(), task.operation, task.bytes, task.peer)
                        .second)
                {
                    CheckCollective(application, task, group);
                }
            }
        }
    }

    /** Lets switches turn messages. @return why images are not exact; empty: they are */
    std::string Finish() const
    {
        m_paths.Apply();
        const std::string chunks = m_isUneven ? "chunks of a collective differ by a number" : "";
        const std::string paths =
            m_paths.AreChosen() ? "switches choose among paths by what they have sent" : "";
        return chunks + (chunks.empty() || paths.empty() ? "" : "; ") + paths;
    }

  private:
    void CheckCollective(const TrainingApplication& application,
                         const GraphTask& task,
                         const std::vector<uint32_t>& group)
    {
        const auto communicator =
            DynamicCast<ScheduledCommunicator>(application.GetCommunicators().at(task.groups));
        if (!communicator)
        {
            const auto isSimulated = [this](uint32_t rank) { return m_images.GetImage(rank) == 0; };
            if (DynamicCast<InNetworkCommunicator>(
                    application.GetCommunicators().at(task.groups)) &&
                std::all_of(group.begin(), group.end(), isSimulated))
            {
                return; // all that it sends is between its ranks and their switch
            }
            RefuseImages("switches or NICs compute a collective");
        }
        const auto schedule = communicator->GetSchedule(task.operation, task.bytes, task.peer);
        std::map<uint32_t, uint32_t> places; // by rank
        for (uint32_t place = 0; place < group.size(); place++)
        {
            places[group[place]] = place;
        }
        bool isShared = false;
        for (uint32_t place = 0; place < group.size(); place++)
        {
            const uint32_t turns = m_images.GetImage(group[place]);
            if (turns == 0)
            {
                AddPeers(*schedule, place, group);
            }
            else if (!AreImages(*schedule, place, group, places))
            {
                RefuseImages("in the " + GetName(task.operation) + " of " +
                             std::to_string(group.size()) + " ranks by " + schedule->algorithm +
                             ", rank " + std::to_string(place) + " does not do what rank " +
                             std::to_string(places.at(m_images.GetSimulated(group[place]))) +
                             " does");
            }
            isShared = isShared || turns > 0;
        }
        const uint64_t parts = uint64_t{schedule->chunks} * schedule->segments * sizeof(float);
        m_isUneven = m_isUneven || (isShared && task.bytes % parts != 0);
    }

    /** @return whether the actions at a place are images of those of the simulated rank */
    bool AreImages(const CollectiveSchedule& schedule,
                   uint32_t place,
                   const std::vector<uint32_t>& group,
                   const std::map<uint32_t, uint32_t>& places) const
    {
        const uint32_t turns = m_images.GetImage(group[place]);
        const uint32_t simulated = places.at(m_images.GetSimulated(group[place]));
        const uint32_t actions = schedule.GetActions(simulated);
        if (schedule.GetActions(place) != actions)
        {
            return false;
        }
        const auto describe = [](const ScheduleAction& action) {
            uint64_t chunks = 0;
            action.ForEachChunk([&chunks](uint32_t) { chunks++; });
            return std::make_tuple(action.kind,
                                   action.step,
                                   action.message,
                                   action.segment,
                                   action.isGranted,
                                   chunks);
        };
        const uint32_t stored = schedule.GetStoredActions(simulated);
        for (uint32_t i = 0; i < actions; i++)
        {
            const ScheduleAction one = schedule.Get(simulated, i);
            const ScheduleAction other = schedule.Get(place, i);
            const bool isLocal =
                one.kind == ScheduleAction::Kind::COPY || one.kind == ScheduleAction::Kind::REDUCE;
            const auto before = schedule.GetDependencies(simulated, i % stored);
            const auto otherBefore = schedule.GetDependencies(place, i % stored);
            if (describe(one) != describe(other) ||
                other.peer !=
                    (isLocal ? one.peer : places.at(m_images.Turn(group[one.peer], turns))) ||
                !std::equal(before.begin(), before.end(), otherBefore.begin(), otherBefore.end()))
            {
                return false;
            }
        }
        return true;
    }

    /** Checks the paths of a simulated rank in a collective. */
    void AddPeers(const CollectiveSchedule& schedule,
                  uint32_t place,
                  const std::vector<uint32_t>& group)
    {
        for (uint32_t i = 0; i < schedule.GetStoredActions(place); i++)
        {
            const ScheduleAction action = schedule.Get(place, i);
            if (action.kind != ScheduleAction::Kind::COPY &&
                action.kind != ScheduleAction::Kind::REDUCE)
            {
                m_paths.Add(group[place], group[action.peer]);
            }
        }
    }

    const TaskGraph& m_graph;
    const RankImages m_images;
    ImagePaths m_paths;
    std::set<std::tuple<uint32_t, uint32_t, CollectiveOperation, uint64_t, uint32_t>> m_known;
    bool m_isUneven{false};
};

} // namespace

RankImages
FindImages(const TrainingRunOptions& options, const JobPlan& plan)
{
    if (options.replicas == "simulate")
    {
        return {};
    }
    std::string reason = FindUnequalOption(options);
    const uint32_t ranks = plan.graph->GetRanks();
    const auto [stride, replicas] = GetReplicas(options, ranks);
    if (reason.empty() && replicas < 2)
    {
        reason = "there is one replica";
    }
    if (!reason.empty())
    {
        RefuseImages(reason);
    }
    const auto topology = options.cluster.GetTopology();
    for (uint32_t block = 1; block < replicas; block++)
    {
        const uint32_t count = replicas % block == 0 ? replicas / block : 0;
        for (uint32_t row = count; row > 1; row--)
        {
            const RankImages images(stride, replicas, block, row);
            if (count % row != 0 || !HasRowsOfServers(options.cluster, *topology, images))
            {
                continue;
            }
            const std::string unequal = FindUnequal(*topology, *plan.graph, images);
            if (unequal.empty())
            {
                CheckTasks(options, *plan.graph, images);
                return images;
            }
            reason = reason.empty() ? unequal : reason;
        }
    }
    RefuseImages(reason);
}

std::string
CheckImages(const JobPlan& plan, const Cluster& cluster, const ApplicationContainer& applications)
{
    if (cluster.HasFaults())
    {
        RefuseImages("links fail, change, or lose or delay frames");
    }
    ImageChecker checker(*plan.graph, cluster);
    for (uint32_t i = 0; i < applications.GetN(); i++)
    {
        checker.Check(*DynamicCast<TrainingApplication>(applications.Get(i)));
    }
    return checker.Finish();
}

} // namespace ns3::training
