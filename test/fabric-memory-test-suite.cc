/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "memory-test-common.h"

#include "ns3/fabric-helper.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/topology-builder.h"
#include "ns3/training-time-resolution.h"

#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

/**
 * @ingroup distributed-training-fabric-tests
 * Memory of idle networks with all their routes.
 */
class FabricMemoryTestCase : public TestCase
{
  public:
    /**
     * @param topology with all its hosts
     * @param hosts number of hosts
     * @param networks number of simultaneous networks
     * @param mebibytes limit per network
     */
    FabricMemoryTestCase(const std::string& topology,
                         uint32_t hosts,
                         uint32_t networks,
                         double mebibytes)
        : TestCase(topology + " takes less than " + std::to_string(mebibytes) + " MiB"),
          m_topology(topology),
          m_hosts(hosts),
          m_networks(networks),
          m_mebibytes(mebibytes)
    {
    }

  private:
    void DoRun() override
    {
        UsePicoseconds();
        const TopologyGraph graph =
            BuildTopology(m_topology, m_hosts, DataRate("100Gbps"), MicroSeconds(1));
        const auto first = FabricHelper().Install(graph); // excludes one-time allocations
        const double before = GetResident();
        std::vector<Fabric> fabrics;
        for (uint32_t i = 0; i < m_networks; i++)
        {
            fabrics.push_back(FabricHelper().Install(graph));
        }
        const double taken = (GetResident() - before) / m_networks;
        NS_TEST_EXPECT_MSG_LT(taken, m_mebibytes, "memory of " << m_topology);
        NS_TEST_EXPECT_MSG_EQ((taken > 0 || before == 0), true, "it takes some");
        fabrics.clear();
        Simulator::Destroy();
    }

    std::string m_topology;
    uint32_t m_hosts;
    uint32_t m_networks;
    double m_mebibytes;
};

/**
 * @ingroup distributed-training-fabric-tests
 * Memory of ports: without a frame, and after the first one.
 */
class PortMemoryTestCase : public TestCase
{
  public:
    PortMemoryTestCase()
        : TestCase("an idle port takes less than 400 bytes, one with a frame less than 1400")
    {
    }

  private:
    void DoRun() override
    {
        UsePicoseconds();
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
            ports[next]->OverridePause(0, true);
            ports[next]->OverridePause(0, false);
            next++;
        });
        NS_TEST_EXPECT_MSG_LT(idle + used, 1400, "a port that was paused");
        NS_TEST_EXPECT_MSG_EQ(ports[0]->GetCounters().byPriority[0].pausedTime, 0, "for no time");
        Simulator::Destroy();
    }
};

/**
 * @ingroup distributed-training-fabric-tests
 * The suite.
 */
class FabricMemoryTestSuite : public TestSuite
{
  public:
    FabricMemoryTestSuite()
        : TestSuite("distributed-training-fabric-memory", TestSuite::Type::UNIT)
    {
        const auto add = [this](TestCase* test) { AddTestCase(test); };
        add(new PortMemoryTestCase());
        // One switch with 64 ports, and 64 hosts.
        add(new FabricMemoryTestCase("single-switch", 64, 32, 0.3 * MEMORY_FACTOR));
        // 1024 hosts and 320 switches.
        add(new FabricMemoryTestCase("fat-tree:k=16", 1024, 1, 12 * MEMORY_FACTOR));
    }
};

/// The suite, registered.
static FabricMemoryTestSuite g_fabricMemoryTestSuite;
