/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// A network of one's own: an all-reduce over RDMA beside a flow of ns-3's TCP, a table of
// FlowMonitor, and captures of all ports:
//
//   host 0, host 1 -- switch 0 -- switch 1 -- host 2, host 3
//
//   ./ns3w run examples/tutorial/second.cc --pcap=second

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/internet-module.h"

using namespace ns3;
using namespace ns3::training;

void
OnDone(uint32_t rank)
{
    std::cout << "rank " << rank << " has the sum after " << Simulator::Now().As(Time::US) << "\n";
}

int
main(int argc, char* argv[])
{
    UsePicoseconds();
    std::string pcap;
    CommandLine commandLine;
    commandLine.AddValue("pcap", "prefix of captures", pcap);
    commandLine.Parse(argc, argv);

    // The network: hosts are numbered first, then switches.
    constexpr uint32_t HOSTS = 4;
    const DataRate rate("10Gbps");
    TopologyGraph graph;
    graph.name = "two switches";
    graph.hosts = HOSTS;
    graph.switches = 2;
    for (uint32_t host = 0; host < HOSTS; host++)
    {
        graph.links.push_back({host, HOSTS + host / 2, rate, NanoSeconds(500)});
    }
    graph.links.push_back({HOSTS, HOSTS + 1, rate, NanoSeconds(500)});
    const Fabric fabric = FabricHelper().Install(graph);

    // TCP of ns-3 from host 0 to host 3, through the same ports.
    InternetStackHelper().Install(fabric.hosts);
    NetDeviceContainer devices;
    for (const auto& device : fabric.devices)
    {
        devices.Add(device);
    }
    Ipv4AddressHelper subnet("10.1.0.0", "255.255.255.0");
    const InetSocketAddress sink(subnet.Assign(devices).GetAddress(3), 9);
    BulkSendHelper("ns3::TcpSocketFactory", sink).Install(fabric.hosts.Get(0));
    PacketSinkHelper("ns3::TcpSocketFactory", sink).Install(fabric.hosts.Get(3));

    // RDMA: a ring over all hosts.
    const auto nics = RdmaHelper().Install(fabric, HOSTS);
    const auto portPairs = std::make_shared<FabricPortPairs>(fabric, HOSTS);
    CollectiveRequest request;
    request.ranks = HOSTS;
    CollectivePlanner planner("ring", request);
    std::vector<Ptr<ScheduledCommunicator>> communicators;
    for (uint32_t rank = 0; rank < HOSTS; rank++)
    {
        auto transport = CreateObject<RdmaTransport>();
        transport->SetPortPairs(rank, portPairs);
        transport->SetNics(nics[rank]);
        communicators.push_back(CreateObject<ScheduledCommunicator>());
        communicators[rank]->Setup(
            rank,
            HOSTS,
            transport,
            [&planner](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
                return planner.Get(operation, bytes, root);
            });
        auto tensor = Create<Tensor>();
        tensor->bytes = 1 << 20;
        Simulator::ScheduleWithContext(fabric.hosts.Get(rank)->GetId(),
                                       Time(0),
                                       &Communicator::AllReduce,
                                       communicators[rank],
                                       tensor,
                                       MakeBoundCallback(&OnDone, rank));
    }

    FlowMonitorHelper flows;
    const Ptr<FlowMonitor> monitor = flows.InstallAll();
    std::unique_ptr<FabricPcap> capture;
    if (!pcap.empty())
    {
        capture = std::make_unique<FabricPcap>(fabric, pcap);
    }
    Simulator::Stop(MilliSeconds(5));
    Simulator::Run();
    for (const auto& [id, flow] : monitor->GetFlowStats())
    {
        std::cout << "TCP flow " << id << ": " << flow.txPackets << " packets sent, "
                  << flow.rxPackets << " received\n";
    }
    return 0;
}
