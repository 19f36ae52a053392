/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Measures collectives over sizes, as nccl-tests does on real clusters:
 *
 *   ./ns3w run "collective-benchmark --operation=all-reduce --ranks=16 --bytes=8:64M:x4"
 */

#include "../hidden-global-values.h"

#include "ns3/collective-program.h"
#include "ns3/training-program.h"

int
main(int argc, char* argv[])
{
    using namespace ns3::training;
    return RunProgram("collective-benchmark", [&] {
        return RunCollectiveBenchmark({argv + 1, argv + argc});
    });
}
