/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-helper.h"

#include "ns3/aggregation-tree.h"
#include "ns3/switch-ps-wire-format.h"
#include "ns3/uinteger.h"

namespace ns3::training
{

namespace
{

std::vector<Ptr<InNetworkCommunicator>>
InstallSwitchPs(const InNetworkRequest& request)
{
    const uint32_t slots = GetNumber(request.attributes, SwitchPsProgram::GetTypeId(), "Slots");
    SwitchPsHelper helper;
    helper.SetAttributes(request.attributes);
    const auto workers = helper.AddJob(request.fabric,
                                       request.endpoints,
                                       request.hosts,
                                       GetWindow(request.values, slots));
    return {workers.begin(), workers.end()};
}

std::vector<Key>
GetSwitchPsKeys()
{
    return SwitchPsHelper::MakeKeys({MakeWindowKey(SWITCH_PS_MAX_SLOTS)});
}

const Registry<InNetworkSystem>::Entry g_switchPs(
    "switch-ps",
    {"an FPGA switch adds float32 and can make the optimizer's step (Hashmi)",
     &InstallSwitchPs,
     &GetSwitchPsKeys,
     "all-reduce",
     0,
     nullptr,
     true,
     nullptr,
     {256, 1.4, SumPlace::ROOT}});

/** @return value of an attribute */
uint64_t
GetNumber(const SwitchPsProgram& program, const std::string& name)
{
    UintegerValue value;
    program.GetAttribute(name, value);
    return value.Get();
}

/** @return rate of all ports of a switch, bit/s */
uint64_t
GetTotalRate(SwitchDevice& device)
{
    uint64_t rate = 0;
    for (uint16_t port = 0; port < device.GetNPorts(); port++)
    {
        rate += device.GetPort(port).GetRate();
    }
    return rate;
}

} // namespace

Ptr<SwitchPsProgram>
SwitchPsHelper::Install(uint32_t index, uint32_t workers)
{
    return InstallProgram(index, [&](SwitchPsProgram& program) {
        RaiseAttribute(program, "Workers", workers, SwitchPsProgram::MAX_WORKERS);
        UintegerValue lanes;
        program.GetAttribute("Lanes", lanes);
        if (lanes.Get() == 0)
        {
            const uint64_t rate = GetTotalRate(*GetFabric().devicesOfSwitches[index]);
            program.SetAttribute("Lanes", UintegerValue(program.GetLanesFor(rate)));
        }
    });
}

std::vector<Ptr<SwitchPsCommunicator>>
SwitchPsHelper::AddJob(Fabric& fabric,
                       const std::vector<uint32_t>& endpoints,
                       const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                       uint32_t window,
                       uint64_t weights)
{
    UseFabric(fabric);
    const uint8_t number = TakeNumber("switch-ps");
    const auto hostOf = GetHosts(fabric, endpoints);
    const uint32_t root = BuildAggregationTree(fabric.topology, hostOf, number)[0].switchIndex;
    const auto program = Install(root, static_cast<uint32_t>(endpoints.size()));
    SwitchPsJob job;
    job.number = number;
    job.firstSlot = program->GetFirstFreeSlot();
    job.slots = window;
    job.firstRange = program->GetFirstFreeRange();
    job.workers = endpoints;
    if (program->GetOptimizer().KeepsWeights())
    {
        const uint32_t elements = program->GetElements();
        job.ranges = weights > 0 ? static_cast<uint32_t>((weights + elements - 1) / elements)
                                 : program->GetRanges() - job.firstRange;
    }
    program->AddJob(job);
    std::vector<Ptr<SwitchPsCommunicator>> communicators;
    for (uint32_t rank = 0; rank < endpoints.size(); rank++)
    {
        auto communicator = GetAttributes().Create<SwitchPsCommunicator>();
        JoinGroup(*communicator, rank, number, endpoints, hosts);
        SwitchPsCommunicator::Session session;
        session.switchEndpoint = program->GetEndpoint();
        session.firstSlot = job.firstSlot;
        session.window = window;
        session.key = window < GetNumber(*program, "Slots") ? "window" : "slots";
        const uint64_t lines = GetTotalRate(*GetFabric().devicesOfSwitches[root]);
        session.fillsLines = GetNumber(*program, "Lanes") >= program->GetLanesFor(lines) &&
                             !program->GetOptimizer().KeepsWeights();
        session.elements = program->GetElements();
        session.ranges = job.ranges;
        session.staleness = program->GetStaleness();
        session.optimizer = program->GetOptimizer();
        communicator->SetSession(session);
        communicators.push_back(communicator);
    }
    return communicators;
}

} // namespace ns3::training
