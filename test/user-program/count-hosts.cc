/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// A program of a user: ./ns3w run test/user-program/count-hosts.cc --ranks=8

#include "ns3/core-module.h"
#include "ns3/topology-builder.h"

#include <iostream>

int
main(int argc, char* argv[])
{
    uint32_t ranks = 16;
    ns3::CommandLine commandLine;
    commandLine.AddValue("ranks", "number of ranks", ranks);
    commandLine.Parse(argc, argv);
    const auto topology = ns3::training::BuildTopology("fat-tree:k=4",
                                                       ranks,
                                                       ns3::DataRate("100Gbps"),
                                                       ns3::Time("500ns"));
    std::cout << ranks << " ranks, " << topology.hosts << " hosts, " << topology.switches
              << " switches" << std::endl;
    return 0;
}
