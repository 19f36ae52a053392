/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sharp-helper.h"

#include "ns3/sharp-wire-format.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <map>
#include <memory>

namespace ns3::training
{

namespace
{

std::vector<Ptr<InNetworkCommunicator>>
InstallSharp(const InNetworkRequest& request)
{
    SharpHelper helper;
    helper.Configure(request);
    const auto ranks = helper.AddJob(request.fabric,
                                     request.endpoints,
                                     request.hosts,
                                     SharpHelper::GetJobWindow(request));
    return {ranks.begin(), ranks.end()};
}

std::vector<Key>
GetSharpKeys()
{
    return SharpHelper::MakeKeys(SharpCommunicator::GetTypeId());
}

const Registry<InNetworkSystem>::Entry g_sharp(
    "sharp",
    {"a tree of switches adds, with reliable connections from node to node (SHARP)",
     &InstallSharp,
     &GetSharpKeys,
     "all-reduce, reduce, broadcast and barrier",
     0,
     nullptr,
     true,
     nullptr,
     {2048, 1.7, SumPlace::TREE}});

} // namespace

void
SharpHelper::SetElementsPerPacket(uint32_t elements)
{
    m_elements = elements;
}

std::vector<Key>
SharpHelper::MakeKeys(TypeId communicator)
{
    const TypeId program = SharpProgram::GetTypeId();
    std::vector<Key> keys = GetAttributeKeys(program, {"Payload", "Trees"});
    keys.push_back(
        Key::OptionalCount(ELEMENTS_KEY,
                           1,
                           SHARP_MAX_PAYLOAD / 2,
                           "numbers in a packet of a low-latency tree; default: as many as "
                           "ns3::training::SharpProgram::Payload has space for"));
    keys.push_back(Key::Attribute(program, "Trees", "tree-limit"));
    keys.push_back(MakeWindowKey(1 << 16));
    const auto ofRanks = GetAttributeKeys(communicator);
    keys.insert(keys.end(), ofRanks.begin(), ofRanks.end());
    return keys;
}

void
SharpHelper::Configure(const InNetworkRequest& request)
{
    SetAttributes(request.attributes);
    if (request.values.IsGiven(ELEMENTS_KEY))
    {
        SetElementsPerPacket(static_cast<uint32_t>(request.values.GetCount(ELEMENTS_KEY)));
    }
}

uint32_t
SharpHelper::GetJobWindow(const InNetworkRequest& request)
{
    return GetWindow(request.values,
                     GetNumber(request.attributes, SharpProgram::GetTypeId(), "Slots"));
}

Ptr<SharpProgram>
SharpHelper::Install(uint32_t index, uint32_t children, uint32_t payload)
{
    return InstallProgram(index, [&](SharpProgram& program) {
        program.SetAttribute("Payload", UintegerValue(payload));
        RaiseAttribute(program, "Children", children, m_mostChildren);
        program.SetAddends(m_addends);
    });
}

SharpHelper::Tree
SharpHelper::MakeTree(const Job& job, uint32_t number, uint32_t payload)
{
    Tree tree;
    tree.nodes = BuildAggregationTree(GetFabric().topology,
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
SharpHelper::AddToSwitches(const Job& job,
                           const Tree& tree,
                           bool streaming,
                           uint32_t queuePair,
                           const std::vector<uint32_t>& locks,
                           std::vector<uint32_t>& connections)
{
    std::vector<uint32_t> first; // first connection of each node; its last one leads to the parent
    for (std::size_t i = 0; i < tree.nodes.size(); i++)
    {
        const auto children = static_cast<uint32_t>(tree.sums[i].children.size());
        first.push_back(tree.programs[i]->AddQueuePairs(children + 1));
    }
    connections.resize(job.hosts.size());
    std::vector<SharpNode> nodes(tree.nodes.size());
    for (uint32_t i = 0; i < nodes.size(); i++)
    {
        const auto& children = tree.sums[i].children;
        SharpNode& node = nodes[i];
        node.job = job.number;
        node.streaming = streaming;
        node.slots = job.window;
        node.locks = locks.empty() ? SharpNode::NONE : locks[i];
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

std::vector<uint16_t>
SharpHelper::GetChildrenOfRanks(const SharpSums& sums, uint32_t node, std::size_t ranks)
{
    std::vector<uint16_t> childOf(ranks, SharpProgram::MAX_CHILDREN);
    for (uint32_t child = 0; child < sums[node].children.size(); child++)
    {
        const auto [isRank, index] = sums[node].children[child];
        if (isRank)
        {
            childOf[index] = static_cast<uint16_t>(child);
            continue;
        }
        const auto below = GetChildrenOfRanks(sums, index, ranks);
        for (std::size_t rank = 0; rank < ranks; rank++)
        {
            if (below[rank] != SharpProgram::MAX_CHILDREN)
            {
                childOf[rank] = static_cast<uint16_t>(child);
            }
        }
    }
    return childOf;
}

uint32_t
SharpHelper::GetPayload(const SharpEndpoint& rank) const
{
    const uint32_t bytes = GetBytes(rank.GetNumberFormat());
    if (m_elements > SHARP_MAX_PAYLOAD / bytes)
    {
        throw ConfigurationError("sharp packets of " + std::to_string(m_elements) +
                                 " numbers (allowed: up to " +
                                 std::to_string(SHARP_MAX_PAYLOAD / bytes) + ")");
    }
    const uint32_t payload = m_elements > 0
                                 ? m_elements * bytes
                                 : GetNumber(GetAttributes(), SharpProgram::GetTypeId(), "Payload");
    if (payload < bytes)
    {
        throw ConfigurationError("ns3::training::SharpProgram::Payload=" + std::to_string(payload) +
                                 " (allowed: from " + std::to_string(bytes) + ", a number)");
    }
    return payload / bytes * bytes;
}

SharpHelper::Job
SharpHelper::MakeJob(const std::string& system,
                     uint8_t number,
                     const std::vector<uint32_t>& endpoints,
                     const std::vector<uint32_t>& links,
                     uint32_t window,
                     uint32_t trees,
                     const SharpEndpoint& rank) const
{
    Job job;
    job.number = number;
    if (window < trees)
    {
        throw ConfigurationError(system + " job " + std::to_string(number) + " with a window of " +
                                 std::to_string(window) + " (allowed: from " +
                                 std::to_string(trees) + ", its trees)");
    }
    job.settings = rank.GetSettings();
    job.window = window / trees;
    job.hosts = GetHosts(GetFabric(), endpoints);
    job.links = links;
    for (std::size_t i = 0; i < endpoints.size(); i++)
    {
        const auto& rails = GetFabric().rails[job.hosts[i]];
        const auto rail = std::find_if(rails.begin(), rails.end(), [&](const auto& device) {
            return GetFabric().linkOfEndpoint[device->GetEndpoint()] == job.links[i];
        });
        job.endpoints.push_back((*rail)->GetEndpoint());
    }
    return job;
}

std::vector<Ptr<SharpCommunicator>>
SharpHelper::AddJob(Fabric& fabric,
                    const std::vector<uint32_t>& endpoints,
                    const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                    uint32_t window)
{
    UseFabric(fabric);
    std::vector<Ptr<SharpCommunicator>> ranks;
    for (std::size_t rank = 0; rank < endpoints.size(); rank++)
    {
        ranks.push_back(GetAttributes().Create<SharpCommunicator>());
    }
    const uint32_t trees = ranks[0]->GetTrees();
    const Job job = MakeJob("sharp",
                            TakeNumber("sharp"),
                            endpoints,
                            ChooseAggregationLinks(fabric.topology, GetHosts(fabric, endpoints)),
                            window,
                            trees,
                            *ranks[0]);
    bool isBetweenSwitches = false;
    const uint32_t payload = GetPayload(*ranks[0]);
    auto sums = std::make_shared<std::vector<SharpSums>>();
    std::vector<SharpCommunicator::Session> sessions(endpoints.size());
    Ptr<SharpProgram> program; // any of the programs, which are identical
    for (uint32_t number = 0; number < trees; number++)
    {
        const Tree tree = MakeTree(job, number, payload);
        program = tree.programs.front();
        isBetweenSwitches |= tree.nodes.size() > 1;
        std::vector<uint32_t> connections[2]; // by rank, for each type of tree
        std::vector<uint32_t> locks;
        for (const bool streaming : {true, false})
        {
            const uint32_t queuePair = SharpCommunicator::GetQueuePair(number, streaming);
            locks = AddToSwitches(job, tree, streaming, queuePair, locks, connections[streaming]);
        }
        for (std::size_t rank = 0; rank < endpoints.size(); rank++)
        {
            sessions[rank].positions.push_back(
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
        sessions[rank].creditsOfSwitch =
            GetNumber(GetAttributes(), SharpProgram::GetTypeId(), "Credits");
        sessions[rank].lineRate = GetLineRate(job.endpoints, isBetweenSwitches);
        JoinGroup(*ranks[rank], rank, job.number, job.endpoints, hosts);
        ranks[rank]->SetSums(sums, rank, ranks[rank]->GetSize());
        ranks[rank]->SetSession(sessions[rank]);
    }
    return ranks;
}

} // namespace ns3::training
