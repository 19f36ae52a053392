/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-helper.h"

#include "aggregation-tree.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/switch-ps-wire-format.h"
#include "ns3/uinteger.h"

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
      m_slots(slots),
      m_programs(fabric)
{
}

Ptr<SwitchPsProgram>
SwitchPsHelper::GetProgram(uint32_t index) const
{
    return m_programs.Get(index);
}

Ptr<SwitchPsProgram>
SwitchPsHelper::Install(uint32_t index, uint32_t workers)
{
    return m_programs.Install(index, [&](SwitchPsProgram& program) {
        program.SetAttribute("ElementsPerPacket", UintegerValue(m_elements));
        program.SetAttribute("Slots", UintegerValue(m_slots));
        RaiseAttribute(program, "Workers", workers, SwitchPsProgram::MOST_WORKERS);
        UintegerValue lanes;
        program.GetAttribute("Lanes", lanes);
        if (lanes.Get() == 0)
        {
            SwitchDevice& device = *m_fabric.devicesOfSwitches[index];
            uint64_t rate = 0;
            for (uint16_t port = 0; port < device.GetNPorts(); port++)
            {
                rate += device.GetPort(port).GetRate();
            }
            program.SetAttribute("Lanes", UintegerValue(program.GetLanesFor(rate)));
        }
    });
}

std::vector<Ptr<SwitchPsCommunicator>>
SwitchPsHelper::AddJob(const std::vector<uint32_t>& endpoints,
                       const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                       uint32_t window,
                       uint64_t weights)
{
    const uint8_t number = CheckJobNumber("switch-ps", m_jobs++);
    const auto hostOf = GetHosts(m_fabric, endpoints);
    const uint32_t root = BuildAggregationTree(m_fabric.topology, hostOf, number)[0].switchIndex;
    const auto program = Install(root, static_cast<uint32_t>(endpoints.size()));
    SwitchPsJob job;
    job.number = number;
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
