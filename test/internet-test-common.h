/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_INTERNET_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_INTERNET_TEST_COMMON_H

#include "fabric-test-common.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"

namespace ns3::training::tests
{

/** Installs IPv4 with static routes on a node. */
inline void
InstallStack(const Ptr<Node>& node)
{
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.SetIpv6StackInstall(false);
    stack.Install(node);
}

/** Installs IPv4 on all hosts, with the addresses that HostDevice has for them. */
inline void
InstallStacks(const Fabric& fabric)
{
    for (uint32_t host = 0; host < fabric.hosts.GetN(); host++)
    {
        InstallStack(fabric.hosts.Get(host));
        auto ipv4 = fabric.hosts.Get(host)->GetObject<Ipv4>();
        const uint32_t interface = ipv4->AddInterface(fabric.devices[host]);
        ipv4->AddAddress(interface,
                         Ipv4InterfaceAddress(HostDevice::GetIpv4Address(host), "255.0.0.0"));
        ipv4->SetUp(interface);
    }
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_INTERNET_TEST_COMMON_H
