/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nvls-helper.h"

#include "ns3/collective-planner.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace ns3::training
{

namespace
{

/// The algorithm of the trees between servers.
constexpr const char* TREES = "double-binary-tree";

/** Gives a switch whose neighbors are hosts the flow control of an NVSwitch. */
void
MakeScaleUp(const Fabric& fabric, uint32_t index)
{
    const TopologyGraph& topology = fabric.topology;
    const bool hasSwitches =
        std::any_of(topology.links.begin(), topology.links.end(), [&](const auto& link) {
            const uint32_t node = topology.hosts + index;
            return (link.a == node || link.b == node) &&
                   TopologyGraph::GetPeer(link, node) >= topology.hosts;
        });
    if (!hasSwitches)
    {
        fabric.devicesOfSwitches[index]->SetScaleUp();
        fabric.devicesOfSwitches[index]->Configure();
    }
}

/**
 * @return the link of a host to the first switch of its scale-up network, or the first link to
 *         elsewhere; NO_LINK if there is none
 */
uint32_t
FindLink(const TopologyGraph& topology,
         uint32_t host,
         const std::vector<uint32_t>& links,
         bool isScaleUp)
{
    uint32_t found = Fabric::NO_LINK;
    uint32_t first = topology.GetNodes();
    for (uint32_t link : links)
    {
        const uint32_t peer = TopologyGraph::GetPeer(topology.links[link], host);
        const bool isUp = topology.IsScaleUpSwitch(peer);
        if (isUp == isScaleUp && (found == Fabric::NO_LINK || (isScaleUp && peer < first)))
        {
            first = peer;
            found = link;
        }
    }
    return found;
}

/** @return the device of a host on one of its links */
Ptr<HostDevice>
FindDevice(const Fabric& fabric, uint32_t host, uint32_t link)
{
    const auto& rails = fabric.rails[host];
    return *std::find_if(rails.begin(), rails.end(), [&](const auto& device) {
        return fabric.linkOfEndpoint[device->GetEndpoint()] == link;
    });
}

/** The trees between servers, as their schedule has them. */
class ServerTrees
{
  public:
    explicit ServerTrees(const CollectiveSchedule& schedule)
    {
        for (uint32_t tree = 0; tree < NvlsTreeCommunicator::TREES; tree++)
        {
            m_children[tree].resize(schedule.GetSize());
            std::vector<bool> isChild(schedule.GetSize(), false);
            for (uint32_t server = 0; server < schedule.GetSize(); server++)
            {
                for (uint32_t i = 0; i < schedule.GetActions(server); i++)
                {
                    const ScheduleAction action = schedule.Get(server, i);
                    if (action.kind == ScheduleAction::Kind::RECEIVE_REDUCE &&
                        action.GetFirstChunk() == tree)
                    {
                        m_children[tree][server].push_back(action.peer);
                        isChild[action.peer] = true;
                    }
                }
            }
            m_roots[tree] = static_cast<uint32_t>(std::find(isChild.begin(), isChild.end(), false) -
                                                  isChild.begin());
        }
    }

    /**
     * @param tree number of a tree
     * @param below sums of an owner's switch in each server, with ranks of the job
     * @return the sums of all servers: each rank adds those of its switch and its children
     */
    SharpSums Join(uint32_t tree, const std::vector<SharpSums>& below) const
    {
        SharpSums sums;
        Add(tree, m_roots[tree], below, sums);
        return sums;
    }

  private:
    uint32_t Add(uint32_t tree,
                 uint32_t server,
                 const std::vector<SharpSums>& below,
                 SharpSums& sums) const
    {
        const auto place = static_cast<uint32_t>(sums.size());
        sums.emplace_back();
        std::vector<SharpSum::Child> children{{false, static_cast<uint32_t>(sums.size())}};
        sums.push_back(below[server].front());
        for (uint32_t child : m_children[tree][server])
        {
            children.push_back({false, Add(tree, child, below, sums)});
        }
        sums[place].children = children;
        return place;
    }

    std::vector<std::vector<uint32_t>> m_children[NvlsTreeCommunicator::TREES]; // by server
    uint32_t m_roots[NvlsTreeCommunicator::TREES];
};

} // namespace

void
NvlsHelper::SetReaderAttribute(const std::string& name, const AttributeValue& value)
{
    AttributeList attributes;
    attributes.Set(NvlsCommunicator::GetTypeId().GetName() + "::" + name, value);
    SetAttributes(attributes);
}

NvlsHelper::Readers
NvlsHelper::MakeReaders(const Job& job, const NvlsCommunicator& rank)
{
    const auto owners = static_cast<uint32_t>(job.hosts.size());
    const uint32_t payload = GetPayload(rank);
    SetMostChildren(SharpProgram::MAX_CHILDREN);
    Readers readers{job, {}, std::vector<NvlsCommunicator::Session>(owners)};
    std::set<uint32_t> switches;
    for (uint32_t owner = 0; owner < owners; owner++)
    {
        const Tree tree = MakeTree(job, owner, payload);
        if (tree.nodes.size() > 1)
        {
            throw ConfigurationError("nvls for " + std::to_string(owners) + " ranks, which " +
                                     std::to_string(tree.nodes.size()) +
                                     " switches connect (allowed: ranks at one, such as the "
                                     "NVSwitch of a server, or nvls-tree)");
        }
        switches.insert(tree.nodes[0].switchIndex);
        std::vector<uint32_t> connections;
        AddToSwitches(job, tree, false, owner, {}, connections);
        for (uint32_t member = 0; member < owners; member++)
        {
            NvlsCommunicator::Session& session = readers.sessions[member];
            session.switchEndpoint = tree.switchEndpoints[member];
            session.connections.push_back(connections[member]);
            session.member = member;
            session.window = job.window;
            session.elements = payload / GetBytes(rank.GetNumberFormat());
        }
        readers.sums.push_back(tree.sums);
    }
    for (uint32_t index : switches)
    {
        MakeScaleUp(GetFabric(), index);
    }
    return readers;
}

std::vector<Ptr<NvlsCommunicator>>
NvlsHelper::AddReadingJob(Fabric& fabric,
                          const std::vector<uint32_t>& endpoints,
                          const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                          uint32_t window)
{
    return AddReadingJobOn(fabric,
                           endpoints,
                           ChooseAggregationLinks(fabric.topology, GetHosts(fabric, endpoints)),
                           hosts,
                           window);
}

std::vector<Ptr<NvlsCommunicator>>
NvlsHelper::AddReadingJobOn(Fabric& fabric,
                            const std::vector<uint32_t>& endpoints,
                            const std::vector<uint32_t>& links,
                            const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                            uint32_t window)
{
    UseFabric(fabric);
    const auto owners = static_cast<uint32_t>(endpoints.size());
    std::vector<Ptr<NvlsCommunicator>> ranks;
    for (uint32_t rank = 0; rank < owners; rank++)
    {
        ranks.push_back(GetAttributes().Create<NvlsCommunicator>());
    }
    const Job job =
        MakeJob("nvls", TakeNumber("nvls"), endpoints, links, window, owners, *ranks[0]);
    Readers readers = MakeReaders(job, *ranks[0]);
    const uint64_t lineRate = GetLineRate(job.endpoints, false);
    const uint32_t slots = GetNumber(GetAttributes(), SharpProgram::GetTypeId(), "Slots");
    const auto sums = std::make_shared<const std::vector<SharpSums>>(std::move(readers.sums));
    for (uint32_t rank = 0; rank < owners; rank++)
    {
        NvlsCommunicator::Session& session = readers.sessions[rank];
        session.key = window < slots ? "window" : "slots";
        session.slots = window;
        session.lineRate = lineRate;
        JoinGroup(*ranks[rank], rank, job.number, job.endpoints, hosts);
        ranks[rank]->SetSums(sums, rank, owners);
        ranks[rank]->SetSession(session);
    }
    return ranks;
}

std::vector<uint32_t>
NvlsHelper::FindCommonSwitch(const TopologyGraph& topology, const std::vector<uint32_t>& hosts)
{
    const auto linksOf = topology.GetLinksOfNodes();
    std::vector<uint32_t> found;
    std::set<uint32_t> switches;
    for (uint32_t host : hosts)
    {
        uint32_t link = FindLink(topology, host, linksOf[host], true);
        link = link == Fabric::NO_LINK ? FindLink(topology, host, linksOf[host], false) : link;
        if (link == Fabric::NO_LINK)
        {
            return {};
        }
        found.push_back(link);
        switches.insert(TopologyGraph::GetPeer(topology.links[link], host));
    }
    const bool isCommon = switches.size() == 1 && *switches.begin() >= topology.hosts;
    return isCommon ? found : std::vector<uint32_t>();
}

std::vector<std::vector<uint32_t>>
NvlsHelper::GetServers(const TopologyGraph& topology, const std::vector<uint32_t>& hosts)
{
    const auto linksOf = topology.GetLinksOfNodes();
    std::map<uint32_t, std::vector<uint32_t>> ranksOf; // by switch
    for (uint32_t rank = 0; rank < hosts.size(); rank++)
    {
        const auto& links = linksOf[hosts[rank]];
        const uint32_t link = FindLink(topology, hosts[rank], links, true);
        if (link == Fabric::NO_LINK ||
            FindLink(topology, hosts[rank], links, false) == Fabric::NO_LINK)
        {
            throw ConfigurationError(
                "topology '" + topology.name +
                "' with nvls-tree: " + topology.GetName(hosts[rank]) +
                (link == Fabric::NO_LINK ? " has no scale-up switch" : " has no other port") +
                " (allowed: servers with a scale-up switch and NICs, such as rail-optimized)");
        }
        ranksOf[TopologyGraph::GetPeer(topology.links[link], hosts[rank])].push_back(rank);
    }
    std::vector<std::vector<uint32_t>> servers;
    for (const auto& [node, ranks] : ranksOf)
    {
        servers.push_back(ranks);
        if (ranks.size() != servers.front().size())
        {
            throw ConfigurationError("nvls-tree with servers of " +
                                     std::to_string(servers.front().size()) + " and " +
                                     std::to_string(ranks.size()) +
                                     " ranks (allowed: equally many ranks in each server)");
        }
    }
    if (servers.size() < 2)
    {
        throw ConfigurationError("nvls-tree with one server (allowed: two or more; in one, nvls)");
    }
    return servers;
}

std::vector<NvlsHelper::Readers>
NvlsHelper::MakeReadersOfServers(const std::vector<uint32_t>& endpoints,
                                 const std::vector<std::vector<uint32_t>>& servers,
                                 uint32_t window,
                                 const NvlsCommunicator& rank)
{
    const Fabric& fabric = GetFabric();
    const auto linksOf = fabric.topology.GetLinksOfNodes();
    const uint8_t number = TakeNumber("nvls-tree");
    std::vector<Readers> readers;
    for (const auto& server : servers)
    {
        std::vector<uint32_t> ofServer;
        std::vector<uint32_t> links;
        for (uint32_t member : server)
        {
            const uint32_t host = fabric.hostOfEndpoint[endpoints[member]];
            ofServer.push_back(endpoints[member]);
            links.push_back(FindLink(fabric.topology, host, linksOf[host], true));
        }
        const auto owners = static_cast<uint32_t>(server.size());
        readers.push_back(
            MakeReaders(MakeJob("nvls-tree", number, ofServer, links, window, owners, rank), rank));
        for (auto& sums : readers.back().sums)
        {
            for (SharpSum::Child& child : sums.front().children)
            {
                child.index = server[child.index];
            }
        }
    }
    return readers;
}

std::vector<Ptr<NvlsTreeCommunicator>>
NvlsHelper::AddTreeJob(Fabric& fabric,
                       const std::vector<uint32_t>& endpoints,
                       const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                       uint32_t window)
{
    UseFabric(fabric);
    const std::vector<uint32_t> hostsOfRanks = GetHosts(fabric, endpoints);
    const auto servers = GetServers(fabric.topology, hostsOfRanks);
    const auto linksOf = fabric.topology.GetLinksOfNodes();
    std::vector<Ptr<NvlsTreeCommunicator>> ranks;
    std::vector<Ptr<HostDevice>> nics;
    InNetworkCommunicator::Group group;
    for (uint32_t host : hostsOfRanks)
    {
        ranks.push_back(GetAttributes().Create<NvlsTreeCommunicator>());
        nics.push_back(
            FindDevice(fabric, host, FindLink(fabric.topology, host, linksOf[host], false)));
        group.endpoints.push_back(nics.back()->GetEndpoint());
    }
    const auto readers = MakeReadersOfServers(endpoints, servers, window, *ranks[0]);
    group.job = readers.front().job.number;

    CollectiveRequest request;
    request.ranks = static_cast<uint32_t>(servers.size());
    request.segments = 1;
    const auto planner = std::make_shared<CollectivePlanner>(TREES, request);
    const ServerTrees trees(*planner->Get(CollectiveOperation::ALL_REDUCE, 0, 0));
    const auto owners = static_cast<uint32_t>(servers.front().size());
    auto sums = std::make_shared<std::vector<SharpSums>>();
    for (uint32_t owner = 0; owner < owners; owner++)
    {
        std::vector<SharpSums> below;
        for (const Readers& ofServer : readers)
        {
            below.push_back(ofServer.sums[owner]);
        }
        for (uint32_t tree = 0; tree < NvlsTreeCommunicator::TREES; tree++)
        {
            sums->push_back(trees.Join(tree, below));
        }
    }

    for (uint32_t member = 0; member < owners; member++)
    {
        std::vector<uint32_t> rail;
        for (const auto& server : servers)
        {
            rail.push_back(server[member]);
        }
        for (std::size_t server = 0; server < servers.size(); server++)
        {
            const Readers& ofServer = readers[server];
            const uint32_t rank = rail[server];
            group.device = nics[rank];
            ranks[rank]->SetGroup(rank,
                                  group,
                                  fabric.devices[ofServer.job.endpoints[member]],
                                  hosts[rank]);
            ranks[rank]->SetSums(sums, member, owners);
            ranks[rank]->SetSession(ofServer.sessions[member]);
            ranks[rank]->SetRail(hosts[rank]->Split(
                rail,
                [planner](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
                    return planner->Get(operation, bytes, root);
                },
                TREE_COMMUNICATOR));
        }
    }
    return ranks;
}

} // namespace ns3::training
