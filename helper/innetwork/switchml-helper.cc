/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-helper.h"

#include "aggregation-tree.h"

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
      m_message(message),
      m_programs(fabric)
{
}

Ptr<SwitchMlProgram>
SwitchMlHelper::GetProgram(uint32_t index) const
{
    return m_programs.Get(index);
}

Ptr<SwitchMlProgram>
SwitchMlHelper::Install(uint32_t index, uint32_t children)
{
    return m_programs.Install(index, [&](SwitchMlProgram& program) {
        program.SetAttribute("ElementsPerPacket", UintegerValue(m_elements));
        program.SetAttribute("Slots", UintegerValue(m_slots));
        RaiseAttribute(program, "Workers", children, SwitchMlProgram::MOST_CHILDREN);
    });
}

std::vector<Ptr<SwitchMlCommunicator>>
SwitchMlHelper::AddJob(const std::vector<uint32_t>& endpoints,
                       const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                       uint32_t window)
{
    const uint8_t number = CheckJobNumber("switchml", m_jobs++);
    const auto hostOf = GetHosts(m_fabric, endpoints);
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
        auto communicator = CreateObject<SwitchMlCommunicator>();
        InNetworkCommunicator::Group group;
        group.job = number;
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
