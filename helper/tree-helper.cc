/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tree-helper.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <memory>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTreeHelper");

namespace
{

/// Job numbers have 8 bits.
constexpr uint32_t MOST_JOBS = 256;

std::vector<Ptr<InNetworkCommunicator>>
InstallTree(const InNetworkRequest& request)
{
    const InNetworkOptions& options = request.options;
    if (options.framing != "udp")
    {
        throw ConfigurationError("--framing=" + options.framing +
                                 " with algorithm tree (allowed: udp)");
    }
    const auto slots = static_cast<uint32_t>(options.slots);
    const auto window = static_cast<uint32_t>(options.window > 0 ? options.window : slots);
    TreeHelper helper(request.fabric, static_cast<uint32_t>(options.elementsPerPacket), slots);
    const auto ranks = helper.AddJob(request.endpoints, request.hosts, window);
    return {ranks.begin(), ranks.end()};
}

const Registry<InNetworkSystem>::Entry g_tree(
    "tree",
    {"a tree of switches adds, with reliable connections from node to node (SHARP)",
     &InstallTree,
     "all-reduce, reduce, broadcast and barrier"});

} // namespace

TreeHelper::TreeHelper(Fabric& fabric, uint32_t elements, uint32_t slots)
    : m_fabric(fabric),
      m_elements(elements),
      m_slots(slots)
{
}

Ptr<TreeProgram>
TreeHelper::GetProgram(uint32_t index) const
{
    const auto found = m_programs.find(index);
    return found == m_programs.end() ? nullptr : found->second;
}

Ptr<TreeProgram>
TreeHelper::Install(uint32_t index, uint32_t children, uint32_t payload)
{
    Ptr<TreeProgram>& program = m_programs[index];
    if (!program)
    {
        program = CreateObject<TreeProgram>();
        program->SetAttribute("Slots", UintegerValue(m_slots));
        program->SetAttribute("Payload", UintegerValue(payload));
        UintegerValue usual;
        program->GetAttribute("Children", usual);
        program->SetAttribute(
            "Children",
            UintegerValue(std::clamp<uint64_t>(children, usual.Get(), TreeProgram::MOST_CHILDREN)));
        program->SetEndpoint(m_fabric.AddressSwitch(index));
        m_fabric.devicesOfSwitches[index]->AddProgram(program);
    }
    return program;
}

TreeSums
TreeHelper::AddTree(const Job& job,
                    uint32_t number,
                    uint32_t payload,
                    std::vector<TreeCommunicator::Place>& places)
{
    const auto tree = BuildAggregationTree(m_fabric.topology,
                                           job.hosts,
                                           job.number + number,
                                           AggregationLevels::ALL,
                                           job.links);
    const auto rankOf = [&](uint32_t host) {
        return static_cast<uint32_t>(std::find(job.hosts.begin(), job.hosts.end(), host) -
                                     job.hosts.begin());
    };
    TreeSums sums(tree.size());
    std::vector<Ptr<TreeProgram>> programs;
    std::vector<uint32_t> first[2]; // connections of each node, by kind
    for (std::size_t i = 0; i < tree.size(); i++)
    {
        for (uint32_t host : tree[i].hosts)
        {
            sums[i].children.push_back({true, rankOf(host)});
        }
        for (uint32_t below : tree[i].below)
        {
            sums[i].children.push_back({false, below});
        }
        const auto children = static_cast<uint32_t>(sums[i].children.size());
        programs.push_back(Install(tree[i].switchIndex, children, payload));
        for (auto& connections : first)
        {
            connections.push_back(programs.back()->AddQueuePairs(children + 1));
        }
    }
    const auto placeBelow = [&](std::size_t node, std::size_t child) {
        const auto& all = sums[node].children;
        return static_cast<uint32_t>(
            std::find_if(all.begin(),
                         all.end(),
                         [&](const auto& c) { return !c.isRank && c.index == child; }) -
            all.begin());
    };
    std::vector<uint32_t> streamingTrees(tree.size());
    for (const bool streaming : {true, false})
    {
        const auto& connections = first[streaming];
        for (std::size_t i = 0; i < tree.size(); i++)
        {
            TreeNode node;
            node.job = job.number;
            node.streaming = streaming;
            node.slots = job.window;
            node.locks = streaming ? TreeNode::NONE : streamingTrees[i];
            node.firstQueuePair = connections[i];
            node.settings = job.settings;
            for (uint32_t child = 0; child < sums[i].children.size(); child++)
            {
                const auto [isRank, index] = sums[i].children[child];
                if (!isRank)
                {
                    const auto up = static_cast<uint32_t>(sums[index].children.size());
                    node.children.push_back(
                        {programs[index]->GetEndpoint(), connections[index] + up});
                    continue;
                }
                node.children.push_back(
                    {job.endpoints[index], TreeCommunicator::GetQueuePair(number, streaming)});
                places[index].switchEndpoint = programs[i]->GetEndpoint();
                (streaming ? places[index].streaming : places[index].lowLatency) =
                    connections[i] + child;
            }
            if (tree[i].parent != AggregationNode::NONE)
            {
                const uint32_t parent = tree[i].parent;
                node.parent = {programs[parent]->GetEndpoint(),
                               connections[parent] + placeBelow(parent, i)};
            }
            node.childOf = GetChildrenOfRanks(sums, static_cast<uint32_t>(i), job.hosts.size());
            const uint32_t added = programs[i]->AddTree(node);
            streamingTrees[i] = streaming ? added : streamingTrees[i];
        }
    }
    return sums;
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

std::vector<Ptr<TreeCommunicator>>
TreeHelper::AddJob(const std::vector<uint32_t>& endpoints,
                   const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                   uint32_t window)
{
    if (m_jobs >= MOST_JOBS)
    {
        throw ConfigurationError("tree job " + std::to_string(m_jobs) + " (allowed: up to " +
                                 std::to_string(MOST_JOBS - 1) + ")");
    }
    std::vector<Ptr<TreeCommunicator>> communicators;
    for (std::size_t rank = 0; rank < endpoints.size(); rank++)
    {
        communicators.push_back(CreateObject<TreeCommunicator>());
    }
    Job job;
    job.number = static_cast<uint8_t>(m_jobs++);
    job.settings = communicators[0]->GetSettings();
    for (uint32_t endpoint : endpoints)
    {
        job.hosts.push_back(m_fabric.hostOfEndpoint[endpoint]);
    }
    job.links = ChooseAggregationLinks(m_fabric.topology, job.hosts);
    for (std::size_t rank = 0; rank < endpoints.size(); rank++)
    {
        const auto& rails = m_fabric.rails[job.hosts[rank]];
        const auto rail = std::find_if(rails.begin(), rails.end(), [&](const auto& device) {
            return m_fabric.linkOfEndpoint[device->GetEndpoint()] == job.links[rank];
        });
        job.endpoints.push_back((*rail)->GetEndpoint());
    }
    const uint32_t trees = communicators[0]->GetTrees();
    if (window < trees)
    {
        throw ConfigurationError("tree job " + std::to_string(job.number) + " with a window of " +
                                 std::to_string(window) + " (allowed: from " +
                                 std::to_string(trees) + ", its trees)");
    }
    job.window = window / trees;
    const uint32_t payload = m_elements * GetBytes(communicators[0]->GetNumberFormat());
    auto sums = std::make_shared<std::vector<TreeSums>>();
    std::vector<std::vector<TreeCommunicator::Place>> places(endpoints.size()); // by rank
    for (uint32_t tree = 0; tree < trees; tree++)
    {
        std::vector<TreeCommunicator::Place> placesOfTree(endpoints.size());
        sums->push_back(AddTree(job, tree, payload, placesOfTree));
        for (std::size_t rank = 0; rank < endpoints.size(); rank++)
        {
            places[rank].push_back(placesOfTree[rank]);
        }
    }
    const auto program = m_programs.begin()->second;
    for (uint32_t rank = 0; rank < endpoints.size(); rank++)
    {
        InNetworkCommunicator::Group group;
        group.job = job.number;
        group.endpoints = job.endpoints;
        communicators[rank]->SetGroup(rank,
                                      group,
                                      m_fabric.devices[job.endpoints[rank]],
                                      hosts[rank]);
        TreeCommunicator::Session session;
        session.places = std::move(places[rank]);
        session.window = job.window;
        session.elements = m_elements;
        session.credits = program->GetCredits();
        session.streamingBytes = program->GetStreamingPayload();
        communicators[rank]->SetSums(sums);
        communicators[rank]->SetSession(session);
    }
    return communicators;
}

} // namespace ns3::training
