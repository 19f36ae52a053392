/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tree-helper.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/tree-wire-format.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <memory>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTreeHelper");

namespace
{

/** @return operations of each switch */
uint32_t
GetSlots(const InNetworkOptions& options)
{
    return GetAsked<TreeProgram>(options.slots, "Slots");
}

/** @return a helper for a request, or an exception if there is no such framing */
TreeHelper
MakeHelper(const InNetworkRequest& request, const std::string& system)
{
    const InNetworkOptions& options = request.options;
    if (options.framing != "udp")
    {
        throw ConfigurationError("--framing=" + options.framing + " with algorithm " + system +
                                 " (allowed: udp)");
    }
    return TreeHelper(request.fabric,
                      static_cast<uint32_t>(options.elementsPerPacket),
                      GetSlots(options));
}

/** @return operations that a job may have at a time */
uint32_t
GetWindow(const InNetworkOptions& options)
{
    return options.window > 0 ? static_cast<uint32_t>(options.window) : GetSlots(options);
}

std::vector<Ptr<InNetworkCommunicator>>
InstallTree(const InNetworkRequest& request)
{
    const auto ranks = MakeHelper(request, "tree")
                           .AddJob(request.endpoints, request.hosts, GetWindow(request.options));
    return {ranks.begin(), ranks.end()};
}

std::vector<Ptr<InNetworkCommunicator>>
InstallNvls(const InNetworkRequest& request)
{
    const auto ranks =
        MakeHelper(request, "nvls")
            .AddReadingJob(request.endpoints, request.hosts, GetWindow(request.options));
    return {ranks.begin(), ranks.end()};
}

const Registry<InNetworkSystem>::Entry g_tree(
    "tree",
    {"a tree of switches adds, with reliable connections from node to node (SHARP)",
     &InstallTree,
     "all-reduce, reduce, broadcast and barrier"});

const Registry<InNetworkSystem>::Entry g_nvls(
    "nvls",
    {"ranks on one switch read sums of all from it and write them to all (NVLink SHARP)",
     &InstallNvls});

} // namespace

TreeHelper::TreeHelper(Fabric& fabric, uint32_t elements, uint32_t slots)
    : m_fabric(fabric),
      m_elements(elements),
      m_slots(slots),
      m_programs(fabric)
{
}

Ptr<TreeProgram>
TreeHelper::GetProgram(uint32_t index) const
{
    return m_programs.Get(index);
}

Ptr<TreeProgram>
TreeHelper::Install(uint32_t index, uint32_t children, uint32_t payload)
{
    return m_programs.Install(index, [&](TreeProgram& program) {
        program.SetAttribute("Slots", UintegerValue(m_slots));
        program.SetAttribute("Payload", UintegerValue(payload));
        RaiseAttribute(program, "Children", children, TreeProgram::MOST_CHILDREN);
    });
}

TreeHelper::Tree
TreeHelper::MakeTree(const Job& job, uint32_t number, uint32_t payload)
{
    Tree tree;
    tree.nodes = BuildAggregationTree(m_fabric.topology,
                                      job.hosts,
                                      job.number + number,
                                      AggregationLevels::ALL,
                                      job.links);
    std::map<uint32_t, uint32_t> rankOf; // by host
    for (uint32_t rank = 0; rank < job.hosts.size(); rank++)
    {
        rankOf[job.hosts[rank]] = rank;
    }
    tree.sums.resize(tree.nodes.size());
    tree.switchEndpoints.resize(job.hosts.size());
    for (std::size_t i = 0; i < tree.nodes.size(); i++)
    {
        const AggregationNode& node = tree.nodes[i];
        auto& children = tree.sums[i].children;
        for (uint32_t host : node.hosts)
        {
            children.push_back({true, rankOf[host]});
        }
        for (uint32_t below : node.below)
        {
            children.push_back({false, below});
        }
        const auto program =
            Install(node.switchIndex, static_cast<uint32_t>(children.size()), payload);
        for (uint32_t host : node.hosts)
        {
            tree.switchEndpoints[rankOf[host]] = program->GetEndpoint();
        }
        tree.programs.push_back(program);
    }
    return tree;
}

std::vector<uint32_t>
TreeHelper::AddToSwitches(const Job& job,
                          const Tree& tree,
                          bool streaming,
                          uint32_t queuePair,
                          const std::vector<uint32_t>& locks,
                          std::vector<uint32_t>& connections)
{
    std::vector<uint32_t> first; // connection of each node; the last one is to the parent
    for (std::size_t i = 0; i < tree.nodes.size(); i++)
    {
        const auto children = static_cast<uint32_t>(tree.sums[i].children.size());
        first.push_back(tree.programs[i]->AddQueuePairs(children + 1));
    }
    connections.resize(job.hosts.size());
    std::vector<TreeNode> nodes(tree.nodes.size());
    for (uint32_t i = 0; i < nodes.size(); i++)
    {
        const auto& children = tree.sums[i].children;
        TreeNode& node = nodes[i];
        node.job = job.number;
        node.streaming = streaming;
        node.slots = job.window;
        node.locks = locks.empty() ? TreeNode::NONE : locks[i];
        node.firstQueuePair = first[i];
        node.settings = job.settings;
        node.childOf = GetChildrenOfRanks(tree.sums, i, job.hosts.size());
        for (uint32_t child = 0; child < children.size(); child++)
        {
            const auto [isRank, index] = children[child];
            if (isRank)
            {
                node.children.push_back({job.endpoints[index], queuePair});
                connections[index] = first[i] + child;
                continue;
            }
            const auto up = static_cast<uint32_t>(tree.sums[index].children.size());
            node.children.push_back({tree.programs[index]->GetEndpoint(), first[index] + up});
            nodes[index].parent = {tree.programs[i]->GetEndpoint(), first[i] + child};
        }
    }
    std::vector<uint32_t> numbers;
    for (std::size_t i = 0; i < nodes.size(); i++)
    {
        numbers.push_back(tree.programs[i]->AddTree(nodes[i]));
    }
    return numbers;
}

std::vector<uint8_t>
TreeHelper::GetChildrenOfRanks(const TreeSums& sums, uint32_t node, std::size_t ranks)
{
    std::vector<uint8_t> childOf(ranks, TreeProgram::MOST_CHILDREN);
    for (uint32_t child = 0; child < sums[node].children.size(); child++)
    {
        const auto [isRank, index] = sums[node].children[child];
        if (isRank)
        {
            childOf[index] = static_cast<uint8_t>(child);
            continue;
        }
        const auto below = GetChildrenOfRanks(sums, index, ranks);
        for (std::size_t rank = 0; rank < ranks; rank++)
        {
            if (below[rank] != TreeProgram::MOST_CHILDREN)
            {
                childOf[rank] = static_cast<uint8_t>(child);
            }
        }
    }
    return childOf;
}

uint32_t
TreeHelper::GetPayload(const TreeEndpoint& rank) const
{
    const uint32_t bytes = GetBytes(rank.GetNumberFormat());
    if (m_elements > TREE_MOST_PAYLOAD / bytes)
    {
        throw ConfigurationError("tree packets of " + std::to_string(m_elements) +
                                 " numbers (allowed: up to " +
                                 std::to_string(TREE_MOST_PAYLOAD / bytes) + ")");
    }
    const auto payload = GetAsked<TreeProgram>(uint64_t{m_elements} * bytes, "Payload");
    if (payload < bytes)
    {
        throw ConfigurationError("ns3::training::TreeProgram::Payload=" + std::to_string(payload) +
                                 " (allowed: from " + std::to_string(bytes) + ", a number)");
    }
    return payload / bytes * bytes;
}

TreeHelper::Job
TreeHelper::MakeJob(const std::string& system,
                    const std::vector<uint32_t>& endpoints,
                    uint32_t window,
                    uint32_t trees,
                    const TreeEndpoint& rank)
{
    Job job;
    job.number = CheckJobNumber(system, m_jobs);
    if (window < trees)
    {
        throw ConfigurationError(system + " job " + std::to_string(m_jobs) + " with a window of " +
                                 std::to_string(window) + " (allowed: from " +
                                 std::to_string(trees) + ", its trees)");
    }
    m_jobs++;
    job.settings = rank.GetSettings();
    job.window = window / trees;
    job.hosts = GetHosts(m_fabric, endpoints);
    job.links = ChooseAggregationLinks(m_fabric.topology, job.hosts);
    for (std::size_t i = 0; i < endpoints.size(); i++)
    {
        const auto& rails = m_fabric.rails[job.hosts[i]];
        const auto rail = std::find_if(rails.begin(), rails.end(), [&](const auto& device) {
            return m_fabric.linkOfEndpoint[device->GetEndpoint()] == job.links[i];
        });
        job.endpoints.push_back((*rail)->GetEndpoint());
    }
    return job;
}

void
TreeHelper::Join(TreeEndpoint& rank,
                 uint32_t number,
                 const Job& job,
                 Ptr<ScheduledCommunicator> hosts,
                 std::shared_ptr<const std::vector<TreeSums>> sums) const
{
    InNetworkCommunicator::Group group;
    group.job = job.number;
    group.endpoints = job.endpoints;
    rank.SetGroup(number, group, m_fabric.devices[job.endpoints[number]], hosts);
    rank.SetSums(std::move(sums));
}

std::vector<Ptr<TreeCommunicator>>
TreeHelper::AddJob(const std::vector<uint32_t>& endpoints,
                   const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                   uint32_t window)
{
    std::vector<Ptr<TreeCommunicator>> ranks;
    for (std::size_t rank = 0; rank < endpoints.size(); rank++)
    {
        ranks.push_back(CreateObject<TreeCommunicator>());
    }
    const uint32_t trees = ranks[0]->GetTrees();
    const Job job = MakeJob("tree", endpoints, window, trees, *ranks[0]);
    const uint32_t payload = GetPayload(*ranks[0]);
    auto sums = std::make_shared<std::vector<TreeSums>>();
    std::vector<TreeCommunicator::Session> sessions(endpoints.size());
    Ptr<TreeProgram> program; // one of those, which are alike
    for (uint32_t number = 0; number < trees; number++)
    {
        const Tree tree = MakeTree(job, number, payload);
        program = tree.programs.front();
        std::vector<uint32_t> connections[2]; // of ranks, by kind
        std::vector<uint32_t> locks;
        for (const bool streaming : {true, false})
        {
            const uint32_t queuePair = TreeCommunicator::GetQueuePair(number, streaming);
            locks = AddToSwitches(job, tree, streaming, queuePair, locks, connections[streaming]);
        }
        for (std::size_t rank = 0; rank < endpoints.size(); rank++)
        {
            sessions[rank].places.push_back(
                {tree.switchEndpoints[rank], connections[false][rank], connections[true][rank]});
        }
        sums->push_back(tree.sums);
    }
    for (uint32_t rank = 0; rank < endpoints.size(); rank++)
    {
        sessions[rank].window = job.window;
        sessions[rank].elements = payload / GetBytes(ranks[0]->GetNumberFormat());
        sessions[rank].credits = program->GetCredits();
        sessions[rank].streamingBytes = program->GetStreamingPayload();
        Join(*ranks[rank], rank, job, hosts[rank], sums);
        ranks[rank]->SetSession(sessions[rank]);
    }
    return ranks;
}

std::vector<Ptr<NvlsCommunicator>>
TreeHelper::AddReadingJob(const std::vector<uint32_t>& endpoints,
                          const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                          uint32_t window)
{
    const auto owners = static_cast<uint32_t>(endpoints.size());
    std::vector<Ptr<NvlsCommunicator>> ranks;
    for (uint32_t rank = 0; rank < owners; rank++)
    {
        ranks.push_back(CreateObject<NvlsCommunicator>());
    }
    const Job job = MakeJob("nvls", endpoints, window, owners, *ranks[0]);
    const uint32_t payload = GetPayload(*ranks[0]);
    auto sums = std::make_shared<std::vector<TreeSums>>();
    std::vector<NvlsCommunicator::Session> sessions(owners);
    for (uint32_t owner = 0; owner < owners; owner++)
    {
        const Tree tree = MakeTree(job, owner, payload);
        if (tree.nodes.size() > 1)
        {
            throw ConfigurationError("nvls job " + std::to_string(job.number) + " needs " +
                                     std::to_string(tree.nodes.size()) +
                                     " switches (allowed: ranks on one, such as the local switch "
                                     "of a server)");
        }
        std::vector<uint32_t> connections;
        AddToSwitches(job, tree, false, owner, {}, connections);
        for (uint32_t rank = 0; rank < owners; rank++)
        {
            sessions[rank].switchEndpoint = tree.switchEndpoints[rank];
            sessions[rank].connections.push_back(connections[rank]);
        }
        sums->push_back(tree.sums);
    }
    for (uint32_t rank = 0; rank < owners; rank++)
    {
        sessions[rank].window = job.window;
        sessions[rank].elements = payload / GetBytes(ranks[0]->GetNumberFormat());
        Join(*ranks[rank], rank, job, hosts[rank], sums);
        ranks[rank]->SetSession(sessions[rank]);
    }
    return ranks;
}

} // namespace ns3::training
