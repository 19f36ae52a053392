/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-helper.h"

#include "ns3/aggregation-tree.h"
#include "ns3/switchml-wire-format.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

std::vector<Ptr<InNetworkCommunicator>>
InstallSwitchMl(const InNetworkRequest& request)
{
    const KeyValues& values = request.values;
    const bool isRdma = values.GetText("framing") == "rdma";
    if (!isRdma && values.IsGiven("message-packets"))
    {
        throw ConfigurationError(std::string(InNetworkSystem::KIND) + " '" + values.GetSpelling() +
                                 "': message-packets (allowed with framing=rdma)");
    }
    const uint32_t slots = GetNumber(request.attributes, SwitchMlProgram::GetTypeId(), "Slots");
    SwitchMlHelper helper;
    helper.SetAttributes(request.attributes);
    helper.SetMessagePackets(isRdma ? static_cast<uint32_t>(values.GetCount("message-packets"))
                                    : 0);
    const auto workers =
        helper.AddJob(request.fabric, request.endpoints, request.hosts, GetWindow(values, slots));
    return {workers.begin(), workers.end()};
}

std::vector<Key>
GetSwitchMlKeys()
{
    std::vector<Key> keys = GetAttributeKeys(SwitchMlProgram::GetTypeId());
    keys.push_back(MakeWindowKey(SWITCHML_MAX_SLOTS));
    keys.push_back(Key::Word("framing", "udp", {"udp", "rdma"}, "framing of packets"));
    keys.push_back(Key::Count("message-packets",
                              4,
                              1,
                              SWITCHML_MAX_SLOTS,
                              "framing=rdma: packets in a message"));
    const auto ofWorkers = GetAttributeKeys(SwitchMlCommunicator::GetTypeId());
    keys.insert(keys.end(), ofWorkers.begin(), ofWorkers.end());
    return keys;
}

const Registry<InNetworkSystem>::Entry g_switchMl(
    "switchml",
    {"switches add 32-bit integers (SwitchML, NSDI 2021)", &InstallSwitchMl, &GetSwitchMlKeys});

} // namespace

void
SwitchMlHelper::SetMessagePackets(uint32_t packets)
{
    m_message = packets;
}

Ptr<SwitchMlProgram>
SwitchMlHelper::Install(uint32_t index, uint32_t children)
{
    return InstallProgram(index, [&](SwitchMlProgram& program) {
        RaiseAttribute(program, "Workers", children, SwitchMlProgram::MAX_CHILDREN);
    });
}

std::vector<Ptr<SwitchMlCommunicator>>
SwitchMlHelper::AddJob(Fabric& fabric,
                       const std::vector<uint32_t>& endpoints,
                       const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                       uint32_t window)
{
    UseFabric(fabric);
    const uint8_t number = CheckJobNumber("switchml", m_jobs++);
    const auto hostOf = GetHosts(fabric, endpoints);
    const auto tree = BuildAggregationTree(fabric.topology, hostOf, number);
    // The same range of slots at all switches, because packets keep their slot from level to level.
    std::vector<Ptr<SwitchMlProgram>> programs;
    uint32_t firstSlot = 0;
    for (const AggregationNode& node : tree)
    {
        const auto children = static_cast<uint32_t>(node.hosts.size() + node.below.size());
        programs.push_back(Install(node.switchIndex, children));
        firstSlot = std::max(firstSlot, programs.back()->GetFirstFreeSlot());
    }
    std::map<uint32_t, uint32_t> switchOf; // by host: endpoint of its aggregating switch
    for (std::size_t i = 0; i < tree.size(); i++)
    {
        SwitchMlJob job;
        job.number = number;
        job.firstSlot = firstSlot;
        job.slots = window;
        job.queuePairs = m_message > 0 ? window / m_message : 0;
        for (uint32_t rank = 0; rank < endpoints.size(); rank++)
        {
            if (std::count(tree[i].hosts.begin(), tree[i].hosts.end(), hostOf[rank]))
            {
                job.children.push_back(endpoints[rank]);
                switchOf[hostOf[rank]] = programs[i]->GetEndpoint();
            }
        }
        for (uint32_t below : tree[i].below)
        {
            job.children.push_back(programs[below]->GetEndpoint());
        }
        if (tree[i].parent != AggregationNode::NONE)
        {
            job.parent = programs[tree[i].parent]->GetEndpoint();
        }
        programs[i]->AddJob(job);
    }
    std::vector<Ptr<SwitchMlCommunicator>> communicators;
    for (uint32_t rank = 0; rank < endpoints.size(); rank++)
    {
        auto communicator = GetAttributes().Create<SwitchMlCommunicator>();
        JoinGroup(*communicator, rank, number, endpoints, hosts);
        SwitchMlCommunicator::Session session;
        session.switchEndpoint = switchOf[hostOf[rank]];
        session.firstSlot = firstSlot;
        session.window = window;
        session.elements = programs.front()->GetElements();
        session.message = m_message;
        communicator->SetSession(session);
        communicators.push_back(communicator);
    }
    return communicators;
}

} // namespace ns3::training
