/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-helper.h"

#include "aggregation-tree.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/switch-ps-wire-format.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitchPsHelper");

namespace
{

std::vector<Ptr<InNetworkCommunicator>>
InstallSwitchPs(const InNetworkRequest& request)
{
    const InNetworkOptions& options = request.options;
    if (options.framing != "udp")
    {
        throw ConfigurationError("--framing=" + options.framing + " with switch-ps (allowed: udp)");
    }
    const auto elements = GetAsked<SwitchPsProgram>(options.elementsPerPacket, "ElementsPerPacket");
    const auto slots = GetAsked<SwitchPsProgram>(options.slots, "Slots");
    const auto window = static_cast<uint32_t>(options.window > 0 ? options.window : slots);
    SwitchPsHelper helper(request.fabric, elements, slots);
    const auto workers = helper.AddJob(request.endpoints, request.hosts, window);
    return {workers.begin(), workers.end()};
}

const Registry<InNetworkSystem>::Entry g_switchPs(
    "switch-ps",
    {"an FPGA switch adds float32 and can make the optimizer's step (Hashmi)", &InstallSwitchPs});

} // namespace

SwitchPsHelper::SwitchPsHelper(Fabric& fabric, uint32_t elements, uint32_t slots)
    : m_fabric(fabric),
      m_elements(elements),
      m_slots(slots)
{
}

Ptr<SwitchPsProgram>
SwitchPsHelper::GetProgram(uint32_t index) const
{
    const auto found = m_programs.find(index);
    return found == m_programs.end() ? nullptr : found->second;
}

Ptr<SwitchPsProgram>
SwitchPsHelper::Install(uint32_t index, uint32_t workers)
{
    Ptr<SwitchPsProgram>& program = m_programs[index];
    if (!program)
    {
        SwitchDevice& device = *m_fabric.devicesOfSwitches[index];
        program = CreateObject<SwitchPsProgram>();
        program->SetAttribute("ElementsPerPacket", UintegerValue(m_elements));
        program->SetAttribute("Slots", UintegerValue(m_slots));
        UintegerValue usual;
        program->GetAttribute("Workers", usual);
        const uint64_t most = SwitchPsProgram::MOST_WORKERS;
        program->SetAttribute(
            "Workers",
            UintegerValue(std::min(std::max<uint64_t>(workers, usual.Get()), most)));
        UintegerValue lanes;
        program->GetAttribute("Lanes", lanes);
        if (lanes.Get() == 0)
        {
            uint64_t rate = 0;
            for (uint16_t port = 0; port < device.GetNPorts(); port++)
            {
                rate += device.GetPort(port).GetRate();
            }
            program->SetAttribute("Lanes", UintegerValue(program->GetLanesFor(rate)));
        }
        program->SetEndpoint(m_fabric.AddressSwitch(index));
        device.AddProgram(program);
    }
    return program;
}

std::vector<Ptr<SwitchPsCommunicator>>
SwitchPsHelper::AddJob(const std::vector<uint32_t>& endpoints,
                       const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                       uint32_t window,
                       uint64_t weights)
{
    const uint32_t number = m_jobs++;
    if (number >= MOST_JOBS)
    {
        throw ConfigurationError("switch-ps job " + std::to_string(number) + " (allowed: up to " +
                                 std::to_string(MOST_JOBS - 1) + ")");
    }
    std::vector<uint32_t> hostOf;
    for (uint32_t endpoint : endpoints)
    {
        hostOf.push_back(m_fabric.hostOfEndpoint[endpoint]);
    }
    const uint32_t root = BuildAggregationTree(m_fabric.topology, hostOf, number)[0].switchIndex;
    const auto program = Install(root, static_cast<uint32_t>(endpoints.size()));
    SwitchPsJob job;
    job.number = static_cast<uint8_t>(number);
    job.firstSlot = program->GetFirstFreeSlot();
    job.slots = window;
    job.firstRange = program->GetFirstFreeRange();
    job.workers = endpoints;
    if (program->GetOptimizer().KeepsWeights())
    {
        job.ranges = weights > 0 ? static_cast<uint32_t>((weights + m_elements - 1) / m_elements)
                                 : program->GetRanges() - job.firstRange;
    }
    program->AddJob(job);
    std::vector<Ptr<SwitchPsCommunicator>> communicators;
    for (uint32_t rank = 0; rank < endpoints.size(); rank++)
    {
        auto communicator = CreateObject<SwitchPsCommunicator>();
        InNetworkCommunicator::Group group;
        group.job = job.number;
        group.endpoints = endpoints;
        communicator->SetGroup(rank, group, m_fabric.devices[endpoints[rank]], hosts[rank]);
        SwitchPsCommunicator::Session session;
        session.switchEndpoint = program->GetEndpoint();
        session.firstSlot = job.firstSlot;
        session.window = window;
        session.elements = m_elements;
        session.ranges = job.ranges;
        session.staleness = program->GetStaleness();
        session.optimizer = program->GetOptimizer();
        communicator->SetSession(session);
        communicators.push_back(communicator);
    }
    return communicators;
}

} // namespace ns3::training
