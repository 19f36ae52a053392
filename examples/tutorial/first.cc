/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Two hosts on a switch add up a vector of a mebibyte: ./ns3w run examples/tutorial/first.cc

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

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
    ClusterOptions options;
    options.ranks = 2;
    CommandLine commandLine;
    commandLine.AddValue("ranks", "number of hosts", options.ranks);
    commandLine.AddValue("topology", "such as fat-tree:k=4", options.topology);
    commandLine.Parse(argc, argv);

    Cluster cluster(options);
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        auto tensor = Create<Tensor>();
        tensor->bytes = 1 << 20;
        Simulator::ScheduleWithContext(cluster.GetFabric().hosts.Get(rank)->GetId(),
                                       Time(0),
                                       &Communicator::AllReduce,
                                       cluster.GetCommunicator(rank),
                                       tensor,
                                       MakeBoundCallback(&OnDone, rank));
    }
    Simulator::Run();
    return 0;
}
