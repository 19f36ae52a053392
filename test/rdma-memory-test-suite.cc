/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "memory-test-common.h"
#include "rdma-test-common.h"
#include "rdma/congestion/rdma-dcqcn.h"
#include "test-case.h"

#include "ns3/topology-builder.h"

namespace ns3::training::tests::rdma_memory_test
{

/** Memory of NICs and queue pairs that do nothing. */
void
TestRdmaMemory()
{
    constexpr uint32_t COUNT = 1000;
    const TopologyGraph graph =
        BuildTopology("single-switch", COUNT + 1, DataRate("100Gbps"), MicroSeconds(1));
    const Fabric fabric = FabricHelper().Install(graph);
    std::vector<Ptr<RdmaNic>> nics;
    const double perNic = GetBytesPerObject(COUNT, [&] {
        auto nic = CreateObject<RdmaNic>();
        nic->SetAttribute("CongestionControl", TypeIdValue(RdmaDcqcn::GetTypeId()));
        nic->Attach(fabric.devices[nics.size()]);
        nics.push_back(nic);
    });
    NS_TEST_EXPECT_MSG_LT(perNic, 1200, "a NIC");
    uint32_t number = 0;
    const double perQueuePair = GetBytesPerObject(COUNT, [&] {
        number++;
        nics[0]->CreateQueuePair(number, number, number);
    });
    NS_TEST_EXPECT_MSG_LT(perQueuePair, 1350, "a queue pair with DCQCN");
    NS_TEST_EXPECT_MSG_EQ((perNic > 100 && perQueuePair > 100) || GetHeapBytes() == 0,
                          true,
                          "they take some");
    for (const auto& nic : nics)
    {
        nic->Dispose();
    }
    Simulator::Destroy();
}

const Suite g_suite("rdma-memory",
                    Duration::QUICK,
                    {{"an idle NIC takes less than 1200 bytes, an idle queue pair less than 1350",
                      TestRdmaMemory}});

} // namespace ns3::training::tests::rdma_memory_test
