/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Flow completion times and slowdowns of random or listed flows, on any topology and transport.
 *
 *   ./ns3w run "flow-benchmark --topology=fat-tree:k=4 --flow-sizes=websearch --load=0.5"
 */

#include "../hidden-global-values.h"

#include "ns3/flow-program.h"
#include "ns3/training-program.h"

int
main(int argc, char* argv[])
{
    using namespace ns3::training;
    return RunProgram("flow-benchmark", [&] { return RunFlowBenchmark({argv + 1, argv + argc}); });
}
