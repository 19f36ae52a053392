/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster-communicators.h"

#include "library-selector.h"

#include "ns3/communicator-list.h"
#include "ns3/host-model.h"
#include "ns3/message-tag.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <numeric>

namespace ns3::training
{

namespace
{

/// Number of the communicator of storage hosts, for tables.
constexpr uint32_t STORAGE_COMMUNICATOR = MessageTag::MAX_COMMUNICATOR;

/**
 * Lists communicators at the nodes of their ranks.
 * @param fabric whose host r has rank r
 * @param communicators by rank; null: none
 */
template <typename T>
void
AddToLists(const Fabric& fabric, const std::vector<Ptr<T>>& communicators)
{
    for (uint32_t rank = 0; rank < communicators.size(); rank++)
    {
        if (communicators[rank])
        {
            CommunicatorList::Add(fabric.hosts.Get(rank), communicators[rank]);
        }
    }
}

} // namespace

ClusterCommunicators::ClusterCommunicators(const Parts& parts,
                                           uint32_t largestJob,
                                           std::vector<std::string>& notes)
    : m_parts(parts)
{
    const auto planner = MakePlanner();
    InstallOnHosts(planner);
    InstallInNetwork(largestJob, notes);
    InstallInNics(planner, notes);
    InstallCodecs(notes);
    InstallStorage();
}

ScheduledCommunicator::Planner
ClusterCommunicators::MakePlanner() const
{
    const auto planner = m_parts.plan.Get();
    const auto gathers = m_parts.codecs.CodesBuckets() ? m_parts.plan.MakeGathers() : planner;
    return [planner, gathers](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
        return (operation == CollectiveOperation::ALL_GATHER ? gathers : planner)
            ->Get(operation, bytes, root);
    };
}

void
ClusterCommunicators::InstallOnHosts(const ScheduledCommunicator::Planner& planner)
{
    const auto hostModel = m_parts.plan.GetHostModel({});
    for (uint32_t rank = 0; rank < GetRanks(); rank++)
    {
        const auto transport = m_parts.transports.Make(rank, MessageUse::RANKS);
        auto communicator = m_parts.attributes.Create<ScheduledCommunicator>();
        communicator->Setup(rank, GetRanks(), transport, planner);
        communicator->SetHostModel(hostModel);
        communicator->SetCoding(m_parts.engines.GetCoding());
        m_parts.codecs.InstallIn(*communicator, rank);
        m_hosts.push_back(communicator);
    }
    AddToLists(m_parts.fabric, m_hosts);
}

/** @return the system whose switches groups of ranks divide, in place of all ranks; or none */
std::string
ClusterCommunicators::FindDividedSystem() const
{
    const ClusterOptions& options = m_parts.options;
    if (!options.sumsInGroups || !options.schedule.empty())
    {
        return "";
    }
    if (options.algorithm != LibrarySelector::NAME)
    {
        const bool divides = IsInNetwork(options.algorithm) &&
                             Choose<InNetworkSystem>(options.algorithm).entry->divide;
        return divides ? options.algorithm : "";
    }
    // NCCL's trees between servers are those of all ranks.
    const uint32_t gpus = m_parts.topology.shape.GetHostsPerServer();
    std::vector<uint32_t> server(std::min(gpus, GetRanks()));
    std::iota(server.begin(), server.end(), 0);
    return !(options.sumsOfAll && options.ranks > gpus) &&
                   m_parts.plan.GetHostModel(server)->HasSwitches()
               ? LibrarySelector::GetInNetwork(m_parts.topology, gpus)
               : "";
}

/** @throw ConfigurationError if hosts take a time that sums in switches do not know */
void
ClusterCommunicators::CheckHostLatency() const
{
    if (m_parts.options.hostLatency.IsStrictlyPositive())
    {
        throw ConfigurationError("host latency",
                                 FormatTime(m_parts.options.hostLatency),
                                 " with " + m_parts.options.algorithm +
                                     " (allowed: with algorithms that run on hosts)");
    }
}

/** @return a request without ranks */
InNetworkRequest
ClusterCommunicators::MakeRequest(const Choice<InNetworkSystem>& system,
                                  std::vector<std::string>& notes) const
{
    InNetworkRequest request{m_parts.fabric,
                             {},
                             {},
                             nullptr,
                             system.values,
                             system.values.GetAttributes(GetKeys(*system.entry)),
                             notes};
    request.attributes.Add(m_parts.attributes);
    return request;
}

void
ClusterCommunicators::InstallInNetwork(uint32_t largestJob, std::vector<std::string>& notes)
{
    const ClusterOptions& options = m_parts.options;
    const auto hostModel = m_parts.plan.GetHostModel({});
    m_dividedSystem = largestJob == 0 ? FindDividedSystem() : "";
    const std::string name = !m_dividedSystem.empty() ? m_dividedSystem
                             : options.algorithm == LibrarySelector::NAME &&
                                     hostModel->HasSwitches() && largestJob == 0 &&
                                     options.schedule.empty()
                                 ? LibrarySelector::GetInNetwork(m_parts.topology, options.ranks)
                                 : options.algorithm;
    if (!IsInNetwork(name))
    {
        return;
    }
    CheckHostLatency();
    const auto system = Choose<InNetworkSystem>(name);
    InNetworkRequest request = MakeRequest(system, notes);
    if (!m_dividedSystem.empty())
    {
        system.entry->divide(request, {}); // refuses keys
        return;
    }
    request.hosts = m_hosts;
    request.hostModel = hostModel;
    request.largestJob = largestJob;
    for (uint32_t rank = 0; rank < GetRanks(); rank++)
    {
        request.endpoints.push_back(m_parts.fabric.devices[rank]->GetEndpoint());
    }
    if (largestJob > 0)
    {
        if (!system.entry->control)
        {
            throw ConfigurationError(
                "collective",
                options.algorithm,
                " with jobs that share switches (allowed: " + GetSharedSystems() + ")");
        }
        request.hosts.clear();
        m_controller = system.entry->control(request);
        return;
    }
    m_inNetwork = system.entry->install(request);
    m_chosenSystem = name == options.algorithm ? "" : KeyValues::Split(name).GetName();
    AddToLists(m_parts.fabric, m_inNetwork);
}

std::vector<std::vector<Ptr<InNetworkCommunicator>>>
ClusterCommunicators::Divide(const std::vector<SummingGroup>& groups,
                             std::vector<std::string>& notes)
{
    std::vector<std::vector<Ptr<InNetworkCommunicator>>> workers(groups.size());
    const std::string& algorithm = m_parts.options.algorithm;
    const bool isLibrary = algorithm == LibrarySelector::NAME;
    std::vector<uint32_t> able;
    std::vector<InNetworkGroup> asked;
    for (uint32_t index = 0; index < groups.size() && !m_dividedSystem.empty(); index++)
    {
        const SummingGroup& group = groups[index];
        const auto hostModel = m_parts.plan.GetHostModel(group.ranks);
        const auto isPreferred = [&](uint64_t bytes) { return hostModel->PrefersSwitches(bytes); };
        if (isLibrary && !(hostModel->HasSwitches() &&
                           std::any_of(group.sums.begin(), group.sums.end(), isPreferred)))
        {
            continue;
        }
        able.push_back(index);
        asked.push_back({{}, group.hosts, hostModel});
        for (uint32_t rank : group.ranks)
        {
            asked.back().endpoints.push_back(m_parts.fabric.devices[rank]->GetEndpoint());
        }
    }
    std::size_t served = 0;
    if (!asked.empty())
    {
        const auto system = Choose<InNetworkSystem>(m_dividedSystem);
        const auto divided = system.entry->divide(MakeRequest(system, notes), asked);
        for (std::size_t i = 0; i < able.size(); i++)
        {
            const SummingGroup& group = groups[able[i]];
            for (std::size_t rank = 0; rank < divided[i].size(); rank++)
            {
                divided[i][rank]->SetPlace(group.ranks[rank], group.number);
                CommunicatorList::Add(m_parts.fabric.hosts.Get(group.ranks[rank]),
                                      divided[i][rank]);
            }
            served += divided[i].empty() ? 0 : 1;
            workers[able[i]] = divided[i];
            m_divided[group.ranks] = divided[i];
            m_inNetwork.insert(m_inNetwork.end(), divided[i].begin(), divided[i].end());
        }
    }
    const bool isAsked = isLibrary ? served > 0 : IsInNetwork(algorithm) && !groups.empty();
    if (isAsked)
    {
        notes.push_back(algorithm + ": switches sum for " +
                        (m_dividedSystem.empty() ? "all ranks"
                                                 : std::to_string(served) + " of " +
                                                       std::to_string(groups.size()) + " groups") +
                        (served < groups.size() ? ", hosts for other groups" : ""));
    }
    return workers;
}

const std::vector<Ptr<InNetworkCommunicator>>&
ClusterCommunicators::GetInNetworkOf(const std::vector<uint32_t>& ranks) const
{
    static const std::vector<Ptr<InNetworkCommunicator>> none;
    const auto found = m_divided.find(ranks);
    return found == m_divided.end() ? none : found->second;
}

std::string
ClusterCommunicators::FindChosenSystem(CollectiveOperation operation, uint64_t bytes) const
{
    std::vector<uint32_t> all(GetRanks());
    std::iota(all.begin(), all.end(), 0);
    const auto& divided = GetInNetworkOf(all);
    const std::string system =
        divided.empty() ? m_chosenSystem : KeyValues::Split(m_dividedSystem).GetName();
    return !system.empty() && operation == CollectiveOperation::ALL_REDUCE &&
                   (divided.empty() ? m_inNetwork : divided).front()->IsChosen(bytes)
               ? system
               : "";
}

void
ClusterCommunicators::InstallInNics(const ScheduledCommunicator::Planner& planner,
                                    std::vector<std::string>& notes)
{
    if (!IsInNic(m_parts.options.algorithm))
    {
        return;
    }
    const PacketSize packet = m_parts.transports.GetTransport().GetPacketSize();
    m_inNics = training::InstallInNics(
        m_parts.options,
        m_parts.attributes,
        m_parts.fabric,
        m_hosts,
        planner,
        packet,
        [&](uint64_t rate) { return m_parts.engines.GetGain(packet, rate); },
        m_parts.link,
        notes);
    AddToLists(m_parts.fabric, m_inNics.ranks);
}

void
ClusterCommunicators::InstallCodecs(std::vector<std::string>& notes)
{
    if (m_parts.codecs.IsInstalled())
    {
        std::vector<Ptr<Communicator>> inner;
        for (uint32_t rank = 0; rank < GetRanks(); rank++)
        {
            inner.push_back(Get(rank));
        }
        m_coded = m_parts.codecs.Wrap(inner);
        AddToLists(m_parts.fabric, m_coded);
        notes.push_back(m_parts.codecs.Describe());
    }
}

void
ClusterCommunicators::InstallStorage()
{
    const auto storage = static_cast<uint32_t>(m_parts.options.storageHosts);
    const uint32_t hosts = storage > 0 ? GetRanks() + storage : 0;
    for (uint32_t host = 0; host < hosts; host++)
    {
        auto communicator = m_parts.attributes.Create<ScheduledCommunicator>();
        communicator->Setup(host,
                            hosts,
                            m_parts.transports.Make(host, MessageUse::STORAGE),
                            nullptr, // messages only
                            STORAGE_COMMUNICATOR);
        m_storage.push_back(communicator);
    }
}

Ptr<Communicator>
ClusterCommunicators::Get(uint32_t rank) const
{
    if (!m_coded.empty())
    {
        return m_coded.at(rank);
    }
    if (!m_inNetwork.empty() && !IsDivided())
    {
        return m_inNetwork.at(rank);
    }
    if (!m_inNics.ranks.empty())
    {
        return m_inNics.ranks.at(rank);
    }
    return m_hosts.at(rank);
}

std::vector<Ptr<ScheduledCommunicator>>
ClusterCommunicators::Split(const std::vector<std::vector<uint32_t>>& groups,
                            uint32_t number,
                            const std::string& algorithm,
                            const std::set<CollectiveOperation>& operations) const
{
    std::vector<Ptr<ScheduledCommunicator>> communicators(m_parts.options.ranks);
    for (const std::vector<uint32_t>& group : groups)
    {
        const auto planner = m_parts.plan.MakeForGroup(group, algorithm);
        const auto hostModel = m_parts.plan.GetHostModel(group);
        for (CollectiveOperation operation : operations)
        {
            planner->Check(operation);
        }
        for (uint32_t rank : group)
        {
            communicators.at(rank) = m_hosts.at(rank)->Split(
                group,
                [planner](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
                    return planner->Get(operation, bytes, root);
                },
                number);
            m_parts.attributes.ApplyTo(*communicators[rank]);
            communicators[rank]->SetHostModel(hostModel);
        }
    }
    AddToLists(m_parts.fabric, communicators);
    return communicators;
}

void
ClusterCommunicators::Restart()
{
    m_parts.transports.Restart();
    uint64_t next = 0;
    for (const auto& communicator : m_hosts)
    {
        next = std::max(next, communicator->GetNextCollective());
    }
    for (const auto* communicators : {&m_hosts, &m_storage})
    {
        for (const auto& communicator : *communicators)
        {
            communicator->Abort(next);
        }
    }
}

std::shared_ptr<const CollectiveSchedule>
ClusterCommunicators::GetReferenceSchedule(CollectiveOperation operation, uint64_t bytes) const
{
    const bool isByPackets = m_inNics.packets && NicCommunicator::IsOffloaded(operation) &&
                             m_parts.engines.CodesBlocks();
    return isByPackets ? m_inNics.packets->Get(operation, bytes, 0)
                       : m_parts.plan.Get()->Get(operation, bytes, 0);
}

MessageCoding
ClusterCommunicators::GetCoding(CollectiveOperation operation) const
{
    if (m_inNics.packets && NicCommunicator::IsOffloaded(operation))
    {
        return m_inNics.ranks.front()->GetCoding();
    }
    return m_parts.codecs.IsInstalled() ? m_parts.codecs.GetCoding() : m_parts.engines.GetCoding();
}

} // namespace ns3::training
