/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Jobs that share a cluster, each compared with itself alone on the same hosts:
 *
 *   ./ns3w run "shared-cluster --jobs=jobs.toml --ranks=16 --topology=fat-tree:k=4"
 */

#include "../hidden-global-values.h"

#include "ns3/shared-program.h"
#include "ns3/training-program.h"

int
main(int argc, char* argv[])
{
    using namespace ns3::training;
    return RunProgram("shared-cluster", [&] { return RunSharedCluster({argv + 1, argv + argc}); });
}
