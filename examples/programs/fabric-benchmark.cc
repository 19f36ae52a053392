/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Benchmark of the fabric and RDMA: simulated packet-hops per second of CPU time.
 *
 *   ./ns3w run "fabric-benchmark --workload=W1"
 */

#include "../hidden-global-values.h"

#include "ns3/fabric-program.h"
#include "ns3/training-program.h"

int
main(int argc, char* argv[])
{
    using namespace ns3::training;
    return RunProgram("fabric-benchmark", [&] {
        return RunFabricBenchmark({argv + 1, argv + argc});
    });
}
