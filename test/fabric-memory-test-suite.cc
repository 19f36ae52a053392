/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "memory-test-common.h"
#include "test-case.h"

#include "ns3/topology-builder.h"

namespace ns3::training::tests::fabric_memory_test
{

/** Memory of idle networks with all their routes. @param mebibytes limit per network */
void
TestFabricMemory(const std::string& topology, uint32_t hosts, uint32_t networks, double mebibytes)
{
    const TopologyGraph graph =
        BuildTopology(topology, hosts, DataRate("100Gbps"), MicroSeconds(1));
    const auto first = FabricHelper().Install(graph); // excludes one-time allocations
    const double before = GetResident();
    std::vector<Fabric> fabrics;
    for (uint32_t i = 0; i < networks; i++)
    {
        fabrics.push_back(FabricHelper().Install(graph));
    }
    const double taken = (GetResident() - before) / networks;
    NS_TEST_EXPECT_MSG_LT(taken, mebibytes, "memory of " << topology);
    NS_TEST_EXPECT_MSG_EQ((taken > 0 || before == 0), true, "it takes some");
    fabrics.clear();
    Simulator::Destroy();
}

/** Memory of ports: without a frame, and after the first one. */
void
TestPortMemory()
{
    const Fabric fabric = FabricHelper().Install(
        BuildTopology("single-switch", 2, DataRate("100Gbps"), MicroSeconds(1)));
    std::vector<Ptr<FabricPort>> ports;
    const double idle = GetBytesPerObject(1000, [&] {
        ports.push_back(Create<FabricPort>(*fabric.devices[0], 0, 0));
    });
    NS_TEST_EXPECT_MSG_LT(idle, 400, "an idle port");
    NS_TEST_EXPECT_MSG_EQ((idle > 100 || GetHeapBytes() == 0), true, "it takes some");
    std::size_t next = 0;
    const double used = GetBytesPerObject(999, [&] {
        ports[next]->GetPauses().Override(0, true);
        ports[next]->GetPauses().Override(0, false);
        next++;
    });
    NS_TEST_EXPECT_MSG_LT(idle + used, 1400, "a port that was paused");
    NS_TEST_EXPECT_MSG_EQ(ports[0]->GetCounters().byPriority[0].pausedTime, 0, "for no time");
    Simulator::Destroy();
}

const Suite g_suite(
    "fabric-memory",
    Duration::QUICK,
    {{"an idle port takes less than 400 bytes, one with a frame less than 1400", TestPortMemory},
     {"single-switch takes less than " + std::to_string(0.3 * MEMORY_FACTOR) + " MiB",
      [] { TestFabricMemory("single-switch", 64, 32, 0.3 * MEMORY_FACTOR); }},
     {"fat-tree:k=16 takes less than " + std::to_string(12 * MEMORY_FACTOR) + " MiB",
      [] { TestFabricMemory("fat-tree:k=16", 1024, 1, 12 * MEMORY_FACTOR); }}});

} // namespace ns3::training::tests::fabric_memory_test
