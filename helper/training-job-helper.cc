/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-job-helper.h"

#include "accelerate/private-groups.h"
#include "collective/algorithm-dimensions.h"
#include "core/random-streams.h"
#include "job/rank-execution.h"
#include "quiet-groups.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/node.h"
#include "ns3/string.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace ns3::training
{

/** @return ranks of each group */
static std::vector<std::vector<uint32_t>>
ListGroups(const TaskGroups& groups, std::size_t ranks)
{
    if (!groups.groups.empty())
    {
        return groups.groups;
    }
    std::vector<uint32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0);
    return {all};
}

TrainingJobHelper::TrainingJobHelper()
{
    m_application.SetTypeId(TrainingApplication::GetTypeId());
}

void
TrainingJobHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_application.Set(name, value);
}

void
TrainingJobHelper::SetSlowdowns(std::map<uint32_t, double> slowdowns)
{
    m_slowdowns = std::move(slowdowns);
}

/** Lets the communicators of groups pick waiting collectives by priority. */
void
TrainingJobHelper::SetOrder(const TaskGroups& groups, const Handles& handles)
{
    for (const auto& handle : handles)
    {
        if (groups.byPriority && handle)
        {
            if (!DynamicCast<ScheduledCommunicator>(handle))
            {
                throw ConfigurationError("gradient priority",
                                         "layer",
                                         " with sums in switches or NICs, or codes of whole "
                                         "buckets (allowed: with collectives of hosts)");
            }
            handle->SetAttribute("Order", StringValue("priority"));
        }
    }
}

TrainingJobHelper::Handles
TrainingJobHelper::GetAll(const Cluster& cluster, const std::vector<uint32_t>& places) const
{
    Handles handles;
    for (uint32_t rank = 0; places.empty() && rank < cluster.GetRanks(); rank++)
    {
        handles.push_back(cluster.GetCommunicator(rank));
    }
    if (!places.empty())
    {
        const auto byPlace = cluster.GetCommunicators().Split({places}, 1);
        std::vector<Ptr<ScheduledCommunicator>> hosts;
        for (uint32_t place : places)
        {
            hosts.push_back(byPlace[place]);
        }
        const auto workers =
            m_offload ? m_offload(hosts) : std::vector<Ptr<InNetworkCommunicator>>();
        if (!workers.empty())
        {
            return {workers.begin(), workers.end()};
        }
        return {hosts.begin(), hosts.end()};
    }
    return handles;
}

TrainingJobHelper::Handles
TrainingJobHelper::Split(const Cluster& cluster,
                         const TaskGroups& groups,
                         uint32_t number,
                         const std::string& algorithm,
                         const std::set<CollectiveOperation>& operations,
                         const std::vector<uint32_t>& places)
{
    const uint32_t ranks =
        places.empty() ? cluster.GetRanks() : static_cast<uint32_t>(places.size());
    std::vector<std::vector<uint32_t>> placed = ListGroups(groups, ranks);
    for (auto& group : placed)
    {
        for (uint32_t& rank : group)
        {
            rank = places.empty() ? rank : places.at(rank);
        }
    }
    const auto byPlace = cluster.GetCommunicators().Split(placed, number, algorithm, operations);
    Handles handles;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        handles.push_back(byPlace[places.empty() ? rank : places[rank]]);
    }
    return handles;
}

void
TrainingJobHelper::SetOffload(Offload offload)
{
    m_offload = std::move(offload);
}

void
TrainingJobHelper::SetDivision(Division division)
{
    m_division = std::move(division);
}

/** Lets switches sum for groups, in place of hosts. */
void
TrainingJobHelper::Divide(const TaskGraph& graph,
                          const std::vector<std::set<CollectiveOperation>>& operations,
                          const std::vector<uint32_t>& numbers,
                          std::vector<Handles>& byGroups) const
{
    std::vector<SummingGroup> summing;
    for (uint32_t index = 0; index < byGroups.size(); index++)
    {
        const TaskGroups& groups = graph.GetGroups()[index];
        if (operations.at(index).count(CollectiveOperation::ALL_REDUCE) == 0 ||
            !groups.algorithm.empty())
        {
            continue;
        }
        for (const auto& ranks : ListGroups(groups, byGroups[index].size()))
        {
            SummingGroup group{index, numbers[index], ranks, {}, {}};
            for (uint32_t rank : ranks)
            {
                group.hosts.push_back(DynamicCast<ScheduledCommunicator>(byGroups[index][rank]));
            }
            if (ranks.size() > 1 && group.hosts.front())
            {
                summing.push_back(group);
            }
        }
    }
    const auto workers = m_division(summing);
    for (std::size_t i = 0; i < workers.size(); i++)
    {
        for (std::size_t place = 0; place < workers[i].size(); place++)
        {
            byGroups[summing[i].groups][summing[i].ranks[place]] = workers[i][place];
        }
    }
}

void
TrainingJobHelper::SetDerives(bool derives, bool derivesWhole)
{
    m_derives = derives;
    m_derivesWhole = derivesWhole;
}

void
TrainingJobHelper::SetDerivesQuiet(bool derives, bool isLoaded)
{
    m_derivesQuiet = derives;
    m_isLoaded = isLoaded;
}

const std::vector<std::shared_ptr<CollectiveReplay>>&
TrainingJobHelper::GetReplays() const
{
    return m_replays;
}

/** @return hosts of the ranks of a group */
static std::set<uint32_t>
GetHosts(const std::vector<uint32_t>& group, const std::vector<uint32_t>& places)
{
    std::set<uint32_t> hosts;
    for (const uint32_t rank : group)
    {
        hosts.insert(places.empty() ? rank : places[rank]);
    }
    return hosts;
}

/** @return data packets that hosts have sent to each other so far */
static uint64_t
CountPackets(const Cluster& cluster, const std::set<uint32_t>& hosts)
{
    uint64_t packets = 0;
    for (const uint32_t host : hosts)
    {
        for (const HostConnection& connection : cluster.GetTransports().ListConnections(host))
        {
            const uint32_t peer = cluster.GetFabric().hostOfEndpoint.at(connection.remote);
            const bool isInside = connection.counters && hosts.count(peer) > 0;
            packets += isInside ? connection.counters->sentPackets : 0;
        }
    }
    return packets;
}

/** @return links between hosts and switches of a scale-up network */
static std::vector<Ptr<FabricChannel>>
GetScaleUpChannels(const Fabric& fabric, const std::set<uint32_t>& hosts)
{
    const TopologyGraph& topology = fabric.topology;
    std::vector<Ptr<FabricChannel>> channels;
    for (std::size_t link = 0; link < topology.links.size(); link++)
    {
        const auto [host, other] = std::minmax(topology.links[link].a, topology.links[link].b);
        if (hosts.count(host) > 0 && topology.IsScaleUpSwitch(other))
        {
            channels.push_back(fabric.channels[link]);
        }
    }
    return channels;
}

/** @return what watches the groups that share links; null: none is watched */
std::shared_ptr<QuietGroups>
TrainingJobHelper::SetReplays(const Cluster& cluster,
                              const std::shared_ptr<const TaskGraph>& tasks,
                              const std::vector<Handles>& byGroups,
                              const std::vector<uint32_t>& places) const
{
    m_replays.clear();
    const TaskGraph& graph = *tasks;
    std::vector<uint32_t> ranks(graph.GetRanks());
    std::iota(ranks.begin(), ranks.end(), 0);
    const auto servers = cluster.GetTopology().GetServers();
    const bool varies = cluster.HasFaults() || !cluster.GetOptions().FindVariation().empty();
    PrivateGroups::Place place{varies, places.empty(), {}};
    for (uint32_t rank : ranks)
    {
        place.servers.push_back(servers[places.empty() ? rank : places[rank]]);
    }
    const PrivateGroups privates(std::move(place), graph, ranks);
    const bool isKnown = m_derivesQuiet && places.empty() && !varies &&
                         cluster.GetOptions().transport == "rdma" &&
                         cluster.GetInNetworkCommunicators().empty();
    const auto quiet =
        isKnown ? std::make_shared<QuietGroups>(cluster, tasks, m_isLoaded) : nullptr;
    for (uint32_t index = 0; index < byGroups.size(); index++)
    {
        std::map<uint32_t, std::shared_ptr<CollectiveReplay>> replays; // by first rank of a group
        for (uint32_t rank = 0; rank < graph.GetRanks(); rank++)
        {
            const auto communicator = DynamicCast<ScheduledCommunicator>(byGroups[index][rank]);
            const bool isPrivate =
                m_derives &&
                (privates.IsAlone(index) ? m_derivesWhole : privates.IsPrivate(index, rank));
            const bool isQuiet = quiet && !isPrivate && privates.IsInServer(index, rank);
            if (!communicator || !(isPrivate || isQuiet))
            {
                continue;
            }
            const auto group = graph.GetGroup(index, rank);
            if (!std::all_of(group.begin(), group.end(), [&](uint32_t member) {
                    return cluster.IsLocal(places.empty() ? member : places[member]);
                }))
            {
                continue; // some ranks are images, which do not start
            }
            const auto [entry, isNew] = replays.try_emplace(group.front());
            auto& replay = entry->second; // null: the group is not known to be quiet
            auto guard = isNew && isQuiet ? quiet->MakeGuard(index, group) : nullptr;
            if (isNew && (isPrivate || guard))
            {
                const std::set<uint32_t> hosts = GetHosts(group, places);
                replay = std::make_shared<CollectiveReplay>(
                    static_cast<uint32_t>(group.size()),
                    isPrivate && privates.IsAlone(index)
                        ? cluster.GetFabric().channels
                        : GetScaleUpChannels(cluster.GetFabric(), hosts),
                    [&cluster, hosts] { return CountPackets(cluster, hosts); },
                    std::move(guard));
                m_replays.push_back(replay);
            }
            if (replay)
            {
                communicator->SetShortcut(replay);
            }
        }
    }
    return quiet;
}

Ptr<TrainingApplication>
TrainingJobHelper::Make(const Cluster& cluster, uint32_t place, uint32_t rank) const
{
    auto application = m_application.Create<TrainingApplication>();
    application->AssignStreams(GetRandomStream(RandomUse::JOBS, place));
    const auto slow = m_slowdowns.find(rank);
    if (slow != m_slowdowns.end())
    {
        application->SetAttribute("Slowdown", DoubleValue(slow->second));
    }
    if (cluster.GetCodecs().DelaysLayers())
    {
        cluster.GetCodecs().GetUnits()[place]->SetListener(
            [execution = &application->GetExecution()](Time time) { execution->Occupy(time); });
    }
    cluster.GetFabric().hosts.Get(place)->AddApplication(application);
    return application;
}

ApplicationContainer
TrainingJobHelper::Install(const Cluster& cluster,
                           const std::shared_ptr<const TaskGraph>& graph,
                           const std::vector<std::set<CollectiveOperation>>& operations,
                           const std::string& exchangeAlgorithm,
                           const std::vector<uint32_t>& places) const
{
    const uint32_t storage = places.empty() ? cluster.GetStorageHosts() : 0;
    const uint32_t ranks = graph->GetRanks() - storage;
    const Handles all = GetAll(cluster, places);
    NS_ABORT_MSG_UNLESS(all.size() == ranks, "a place for each rank of the graph");
    // The first groups that have all ranks use their communicator, whose number is the lowest.
    uint32_t number = places.empty() ? 1 : 2;
    bool isAllUsed = false;
    std::vector<Handles> byGroups;
    std::vector<uint32_t> numbers; // of the communicators, by groups
    for (std::size_t i = 0; i < graph->GetGroups().size(); i++)
    {
        const TaskGroups& groups = graph->GetGroups()[i];
        numbers.push_back(0);
        if (operations.at(i).empty() && !groups.AreAll(ranks))
        {
            byGroups.emplace_back(ranks);
            continue; // no collectives
        }
        if (!isAllUsed && !groups.exchanges && groups.algorithm.empty() && groups.AreAll(ranks))
        {
            isAllUsed = true;
            byGroups.push_back(all);
            for (CollectiveOperation operation : operations[i])
            {
                if (places.empty())
                {
                    cluster.GetPlanner().Check(operation);
                }
            }
            continue;
        }
        numbers.back() = number;
        byGroups.push_back(
            Split(cluster,
                  groups,
                  number++,
                  !groups.algorithm.empty() ? groups.algorithm
                  : groups.exchanges
                      ? exchangeAlgorithm
                      : SelectDimensions(cluster.GetOptions().algorithm, groups.dimensions),
                  operations[i],
                  places));
    }
    if (m_division && places.empty())
    {
        Divide(*graph, operations, numbers, byGroups);
    }
    for (std::size_t i = 0; i < byGroups.size(); i++)
    {
        SetOrder(graph->GetGroups()[i], byGroups[i]);
    }
    std::shared_ptr<QuietGroups> quiet;
    if ((m_derives || m_derivesQuiet) && Processes::GetCount() == 1)
    {
        quiet = SetReplays(cluster, graph, byGroups, places);
    }
    std::vector<bool> isLocal; // empty: all are
    for (uint32_t rank = 0; Processes::GetCount() > 1 && rank < graph->GetRanks(); rank++)
    {
        isLocal.push_back(rank < ranks && cluster.IsLocal(places.empty() ? rank : places[rank]));
    }
    const auto meetings =
        std::make_shared<TaskMeetings>(*graph, std::move(isLocal), cluster.GetOptions().images);
    ApplicationContainer applications;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        const uint32_t place = places.empty() ? rank : places[rank];
        if (!cluster.IsLocal(place))
        {
            continue;
        }
        std::vector<Ptr<Communicator>> communicators;
        for (const Handles& handles : byGroups)
        {
            communicators.push_back(handles[rank]);
        }
        const auto application = Make(cluster, place, rank);
        application->SetGraph(graph, rank, all[rank], communicators);
        application->SetMeetings(meetings);
        if (storage > 0)
        {
            application->SetStorage(cluster.GetCommunicators().GetOfStorage(rank), ranks);
        }
        applications.Add(application);
        if (quiet)
        {
            quiet->Add(*application);
        }
    }
    applications.Add(InstallStorage(cluster, graph, storage, meetings));
    return applications;
}

ApplicationContainer
TrainingJobHelper::InstallStorage(const Cluster& cluster,
                                  const std::shared_ptr<const TaskGraph>& graph,
                                  uint32_t hosts,
                                  const std::shared_ptr<TaskMeetings>& meetings) const
{
    ApplicationContainer applications;
    const uint32_t ranks = graph->GetRanks() - hosts;
    for (uint32_t host = ranks; host < ranks + hosts; host++)
    {
        const auto application = m_application.Create<TrainingApplication>();
        application->SetGraph(graph,
                              host,
                              nullptr,
                              std::vector<Ptr<Communicator>>(graph->GetGroups().size()));
        application->SetStorage(cluster.GetCommunicators().GetOfStorage(host), ranks);
        application->SetMeetings(meetings);
        cluster.GetFabric().hosts.Get(host)->AddApplication(application);
        applications.Add(application);
    }
    return applications;
}

} // namespace ns3::training
