/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nvls-helper.h"

#include <algorithm>
#include <map>

namespace ns3::training
{

namespace
{

/// Values in a packet of NVLS, bytes: one simulated frame stands for eight packets of NVLink.
constexpr uint32_t NVLS_PAYLOAD = 1024;
/// Packets of all ranks that an NVSwitch has memory for: 8 MiB in all.
constexpr uint32_t NVLS_ADDENDS = 8192;
/// Ranks from which on each has fewer of them.
constexpr uint32_t NVLS_RANKS = 8;

/// The cost is measured.
constexpr InNetworkWork NVLS_WORK{NVLS_PAYLOAD, 3, SumPlace::SERVER};

/**
 * @param request of a job
 * @param ranks how many are at a switch
 * @return attributes of the program in an NVSwitch, unless the user has set them: packets of eight
 *         cache lines, and memory for a bandwidth-delay product
 */
AttributeList
GetNvSwitchAttributes(const InNetworkRequest& request, uint32_t ranks)
{
    const TypeId program = SharpProgram::GetTypeId();
    AttributeList attributes;
    for (const auto& [name, value] : std::map<std::string, uint32_t>{
             {"Payload", NVLS_PAYLOAD},
             {"Slots", std::max(ranks, NVLS_ADDENDS / std::max(ranks, NVLS_RANKS))},
             {"Children", ranks},
             {"Trees", SharpProgram::MAX_CHILDREN}, // no limit is published
             {"Credits", 1}})                       // streaming trees are not used
    {
        if (!request.attributes.Has(program, name) && IsDefaultUnchanged(program, name))
        {
            attributes.Set(program.GetName() + "::" + name, std::to_string(value));
        }
    }
    return attributes;
}

std::vector<Ptr<InNetworkCommunicator>>
InstallNvls(const InNetworkRequest& request)
{
    InNetworkRequest ofNvSwitch = request;
    ofNvSwitch.attributes.Add(
        GetNvSwitchAttributes(request, static_cast<uint32_t>(request.endpoints.size())));
    NvlsHelper helper;
    helper.Configure(ofNvSwitch);
    const auto ranks = helper.AddReadingJob(request.fabric,
                                            request.endpoints,
                                            request.hosts,
                                            SharpHelper::GetJobWindow(ofNvSwitch));
    for (const auto& rank : ranks)
    {
        rank->SetHostModel(request.hostModel);
    }
    return {ranks.begin(), ranks.end()};
}

std::vector<Ptr<InNetworkCommunicator>>
InstallNvlsTree(const InNetworkRequest& request)
{
    const auto servers = NvlsHelper::GetServers(request.fabric.topology,
                                                GetHosts(request.fabric, request.endpoints));
    InNetworkRequest ofNvSwitch = request;
    ofNvSwitch.attributes.Add(
        GetNvSwitchAttributes(request, static_cast<uint32_t>(servers.front().size())));
    NvlsHelper helper;
    helper.Configure(ofNvSwitch);
    const auto ranks = helper.AddTreeJob(request.fabric,
                                         request.endpoints,
                                         request.hosts,
                                         SharpHelper::GetJobWindow(ofNvSwitch));
    for (const auto& rank : ranks)
    {
        rank->SetTreeHostModel(request.hostModel);
    }
    return {ranks.begin(), ranks.end()};
}

/** The groups of a job on the same switch, which divide its memory. */
class NvlsDivision
{
  public:
    /**
     * @param request of the job
     * @param groups all of it
     * @param members indices of those on the switch
     */
    NvlsDivision(const InNetworkRequest& request,
                 const std::vector<InNetworkGroup>& groups,
                 const std::vector<uint32_t>& members)
    {
        std::map<uint32_t, uint32_t> groupsOf; // by endpoint of a rank
        for (uint32_t member : members)
        {
            for (uint32_t endpoint : groups[member].endpoints)
            {
                m_share = std::max(m_share, ++groupsOf[endpoint]);
            }
            m_largest = std::max(m_largest, static_cast<uint32_t>(groups[member].endpoints.size()));
        }
        for (uint32_t member : members)
        {
            const auto ranks = static_cast<uint32_t>(groups[member].endpoints.size());
            const uint32_t window = GetWindow(request, ranks);
            m_slots += window;
            m_addends += uint64_t{window} * ranks;
        }
    }

    /** @return packets that a group of so many ranks reads concurrently */
    uint32_t GetWindow(const InNetworkRequest& request, uint32_t ranks) const
    {
        InNetworkRequest alone = request;
        alone.attributes.Add(GetNvSwitchAttributes(request, ranks));
        const uint32_t window = SharpHelper::GetJobWindow(alone);
        return request.values.IsGiven("window") ? window : std::max(ranks, window / m_share);
    }

    /** @param helper whose next program has memory for all groups */
    void Configure(const InNetworkRequest& request, NvlsHelper& helper) const
    {
        AttributeList attributes = GetNvSwitchAttributes(request, m_largest);
        attributes.Set(SharpProgram::GetTypeId().GetName() + "::Slots", std::to_string(m_slots));
        helper.SetAttributes(attributes);
        helper.SetAddends(m_addends);
        helper.SetNextNumber(0); // in the frames of this switch
    }

  private:
    uint32_t m_share{1};   // groups of the rank that has most
    uint32_t m_largest{1}; // ranks of the largest group
    uint32_t m_slots{0};   // of all groups
    uint64_t m_addends{0}; // packets of ranks that these wait for
};

std::vector<std::vector<Ptr<InNetworkCommunicator>>>
DivideNvls(const InNetworkRequest& request, const std::vector<InNetworkGroup>& groups)
{
    Fabric& fabric = request.fabric;
    std::vector<std::vector<uint32_t>> links;
    std::map<uint32_t, std::vector<uint32_t>> membersOf; // by switch
    for (uint32_t index = 0; index < groups.size(); index++)
    {
        const std::vector<uint32_t> hosts = GetHosts(fabric, groups[index].endpoints);
        links.push_back(NvlsHelper::FindCommonSwitch(fabric.topology, hosts));
        if (!links[index].empty())
        {
            const auto& link = fabric.topology.links[links[index].front()];
            membersOf[TopologyGraph::GetPeer(link, hosts.front())].push_back(index);
        }
    }
    NvlsHelper helper;
    helper.Configure(request);
    request.attributes.Create<NvlsCommunicator>(); // its attributes are valid, and used
    request.attributes.Create<SharpProgram>();
    std::vector<std::vector<Ptr<InNetworkCommunicator>>> workers(groups.size());
    for (const auto& [node, members] : membersOf)
    {
        const NvlsDivision division(request, groups, members);
        division.Configure(request, helper);
        for (uint32_t index : members)
        {
            const InNetworkGroup& group = groups[index];
            const auto ranks = static_cast<uint32_t>(group.endpoints.size());
            for (const auto& rank : helper.AddReadingJobOn(fabric,
                                                           group.endpoints,
                                                           links[index],
                                                           group.hosts,
                                                           division.GetWindow(request, ranks)))
            {
                rank->SetHostModel(group.hostModel);
                workers[index].push_back(rank);
            }
        }
    }
    return workers;
}

std::vector<Key>
GetNvlsKeys()
{
    return SharpHelper::MakeKeys(NvlsCommunicator::GetTypeId());
}

std::vector<Key>
GetNvlsTreeKeys()
{
    return SharpHelper::MakeKeys(NvlsTreeCommunicator::GetTypeId());
}

const Registry<InNetworkSystem>::Entry g_nvls(
    "nvls",
    {"ranks on one switch read sums of all from it and write them to all (NVLink SHARP)",
     &InstallNvls,
     &GetNvlsKeys,
     "all-reduce",
     0,
     nullptr,
     true,
     &DivideNvls,
     NVLS_WORK});

const Registry<InNetworkSystem>::Entry g_nvlsTree(
    "nvls-tree",
    {"NVLink SHARP in each server, and two binary trees between servers (NCCL's NVLSTree)",
     &InstallNvlsTree,
     &GetNvlsTreeKeys,
     "all-reduce",
     0,
     nullptr,
     true,
     nullptr,
     NVLS_WORK});

} // namespace

} // namespace ns3::training
