/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Registers the system: installs the program in the first switch, and creates the workers.
 */

#include "adder-communicator.h"
#include "adder-program.h"

#include "ns3/in-network-helper.h"

namespace
{

using namespace ns3;
using namespace ns3::training;

/** Sets up a job of the adder. */
class AdderHelper : public InNetworkHelper<AdderProgram, AdderCommunicator>
{
  public:
    std::vector<Ptr<InNetworkCommunicator>> AddJob(const InNetworkRequest& request)
    {
        SetAttributes(request.attributes);
        UseFabric(request.fabric);
        if (request.fabric.devicesOfSwitches.empty())
        {
            throw ConfigurationError("adder on a network without switches (allowed: one or more)");
        }
        const auto slots = GetNumber(GetAttributes(), AdderProgram::GetTypeId(), "Slots");
        const uint8_t number = CheckJobNumber("adder", 0);
        const auto program = InstallProgram(0, [](AdderProgram&) {});
        program->AddJob(number, request.endpoints, slots);

        AdderCommunicator::Session session;
        session.switchEndpoint = program->GetEndpoint();
        session.window = slots / 2;
        session.elements = GetNumber(GetAttributes(), AdderProgram::GetTypeId(), "Elements");
        session.fractionBits = static_cast<uint32_t>(request.values.GetCount("fraction-bits"));
        std::vector<Ptr<InNetworkCommunicator>> workers;
        for (uint32_t rank = 0; rank < request.endpoints.size(); rank++)
        {
            const auto worker = GetAttributes().Create<AdderCommunicator>();
            JoinGroup(*worker, rank, number, request.endpoints, request.hosts);
            worker->SetSession(session);
            workers.push_back(worker);
        }
        return workers;
    }
};

std::vector<Ptr<InNetworkCommunicator>>
Install(const InNetworkRequest& request)
{
    return AdderHelper().AddJob(request);
}

std::vector<Key>
MakeKeys()
{
    std::vector<Key> keys = GetAttributeKeys(AdderProgram::GetTypeId());
    keys.push_back(Key::Count("fraction-bits", 16, 0, 24, "bits behind the binary point"));
    const auto ofWorkers = GetAttributeKeys(AdderCommunicator::GetTypeId());
    keys.insert(keys.end(), ofWorkers.begin(), ofWorkers.end());
    return keys;
}

const Registry<InNetworkSystem>::Entry g_adder("adder",
                                               {"one switch adds fixed-point numbers of 32 bits",
                                                &Install,
                                                &MakeKeys});

} // namespace
