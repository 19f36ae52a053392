/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-helper.h"

#include "aggregation-tree.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitchMlHelper");

namespace
{

std::vector<Ptr<InNetworkCommunicator>>
InstallSwitchMl(const InNetworkRequest& request)
{
    const InNetworkOptions& options = request.options;
    const auto elements = GetAsked<SwitchMlProgram>(options.elementsPerPacket, "ElementsPerPacket");
    const auto slots = GetAsked<SwitchMlProgram>(options.slots, "Slots");
    const auto window = static_cast<uint32_t>(options.window > 0 ? options.window : slots);
    SwitchMlHelper helper(request.fabric,
                          elements,
                          slots,
                          options.framing == "rdma" ? static_cast<uint32_t>(options.messagePackets)
                                                    : 0);
    const auto workers = helper.AddJob(request.endpoints, request.hosts, window);
    return {workers.begin(), workers.end()};
}

const Registry<InNetworkSystem>::Entry g_switchMl(
    "switchml",
    {"switches add 32-bit integers (SwitchML, NSDI 2021)", &InstallSwitchMl});

} // namespace

SwitchMlHelper::SwitchMlHelper(Fabric& fabric, uint32_t elements, uint32_t slots, uint32_t message)
    : m_fabric(fabric),
      m_elements(elements),
      m_slots(slots),
      m_message(message)
{
}

Ptr<SwitchMlProgram>
SwitchMlHelper::GetProgram(uint32_t index) const
{
    const auto found = m_programs.find(index);
    return found == m_programs.end() ? nullptr : found->second;
}

Ptr<SwitchMlProgram>
SwitchMlHelper::Install(uint32_t index, uint32_t children)
{
    Ptr<SwitchMlProgram>& program = m_programs[index];
    if (!program)
    {
        program = CreateObject<SwitchMlProgram>();
        program->SetAttribute("ElementsPerPacket", UintegerValue(m_elements));
        program->SetAttribute("Slots", UintegerValue(m_slots));
        UintegerValue workers;
        program->GetAttribute("Workers", workers);
        program->SetAttribute(
            "Workers",
            UintegerValue(std::min<uint64_t>(std::max<uint64_t>(children, workers.Get()),
                                             SwitchMlProgram::MOST_CHILDREN)));
        program->SetEndpoint(m_fabric.AddressSwitch(index));
        m_fabric.devicesOfSwitches[index]->AddProgram(program);
    }
    return program;
}

std::vector<Ptr<SwitchMlCommunicator>>
SwitchMlHelper::AddJob(const std::vector<uint32_t>& endpoints,
                       const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                       uint32_t window)
{
    const uint32_t number = m_jobs++;
    if (number >= MOST_JOBS)
    {
        throw ConfigurationError("switchml job " + std::to_string(number) + " (allowed: up to " +
                                 std::to_string(MOST_JOBS - 1) + ")");
    }
    std::vector<uint32_t> hostOf;
    for (uint32_t endpoint : endpoints)
    {
        hostOf.push_back(m_fabric.hostOfEndpoint[endpoint]);
    }
    const auto tree = BuildAggregationTree(m_fabric.topology, hostOf, number);
    // One range of slots at all switches: the packets carry it from level to level.
    std::vector<Ptr<SwitchMlProgram>> programs;
    uint32_t firstSlot = 0;
    for (const AggregationNode& node : tree)
    {
        const auto children = static_cast<uint32_t>(node.hosts.size() + node.below.size());
        programs.push_back(Install(node.switchIndex, children));
        firstSlot = std::max(firstSlot, programs.back()->GetFirstFreeSlot());
    }
    std::map<uint32_t, uint32_t> switchOf; // by host: endpoint of the switch that adds for it
    for (std::size_t i = 0; i < tree.size(); i++)
    {
        SwitchMlJob job;
        job.number = static_cast<uint8_t>(number);
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
        auto communicator = CreateObject<SwitchMlCommunicator>();
        InNetworkCommunicator::Group group;
        group.job = static_cast<uint8_t>(number);
        group.endpoints = endpoints;
        communicator->SetGroup(rank, group, m_fabric.devices[endpoints[rank]], hosts[rank]);
        SwitchMlCommunicator::Session session;
        session.switchEndpoint = switchOf[hostOf[rank]];
        session.firstSlot = firstSlot;
        session.window = window;
        session.elements = m_elements;
        session.message = m_message;
        communicator->SetSession(session);
        communicators.push_back(communicator);
    }
    return communicators;
}

} // namespace ns3::training
