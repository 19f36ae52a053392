/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-helper.h"

#include "ns3/aggregation-tree.h"
#include "ns3/data-rate.h"
#include "ns3/switchml-wire-format.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Rate of a host for which the default number of slots is meant, bit/s.
constexpr uint64_t RATE_OF_SLOTS = 100000000000;
/// Faster hosts get up to this multiple of the slots: more would not fit into switches.
constexpr uint64_t MAX_SLOT_FACTOR = 4;

/** @return slots of the job's programs: the default grows with the rate of the hosts */
uint32_t
ChooseSlots(const InNetworkRequest& request)
{
    const TypeId program = SwitchMlProgram::GetTypeId();
    const uint32_t slots = GetNumber(request.attributes, program, "Slots");
    if (request.attributes.Has(program, "Slots") || !IsDefaultUnchanged(program, "Slots"))
    {
        return slots;
    }
    uint64_t rate = 0;
    for (uint32_t endpoint : request.endpoints)
    {
        rate = std::max(rate, request.fabric.devices[endpoint]->GetPort().GetRate());
    }
    const uint64_t factor = (rate + RATE_OF_SLOTS - 1) / RATE_OF_SLOTS;
    return slots * static_cast<uint32_t>(std::clamp<uint64_t>(factor, 1, MAX_SLOT_FACTOR));
}

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
    const uint32_t slots = ChooseSlots(request);
    SwitchMlHelper helper;
    helper.SetAttributes(request.attributes);
    helper.SetProgramAttribute("Slots", UintegerValue(slots));
    helper.SetMessagePackets(isRdma ? static_cast<uint32_t>(values.GetCount("message-packets"))
                                    : 0);
    const auto workers =
        helper.AddJob(request.fabric, request.endpoints, request.hosts, GetWindow(values, slots));
    request.notes.push_back(workers.front()->DescribeTimers());
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
    DataRateValue recirculation;
    fabric.devicesOfSwitches[tree.front().switchIndex]->GetAttribute("RecirculationRate",
                                                                     recirculation);
    const uint64_t lineRate = GetLineRate(endpoints, tree.size() > 1);
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
        session.key = window < programs.front()->GetSlots() ? "window" : "slots";
        session.lineRate = lineRate;
        session.recirculationBytes = programs.front()->GetRecirculatedBytes();
        session.recirculationRate = recirculation.Get().GetBitRate();
        communicator->SetSession(session);
        communicators.push_back(communicator);
    }
    return communicators;
}

} // namespace ns3::training
