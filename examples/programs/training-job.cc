/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Simulates the training of a model on a cluster and reports the iteration time:
 *
 *   ./ns3w run "training-job --workload=resnet50 --ranks=16 --topology=fat-tree:k=4"
 */

#include "../hidden-global-values.h"

#include "ns3/job-program.h"
#include "ns3/training-program.h"

int
main(int argc, char* argv[])
{
    using namespace ns3::training;
    return RunProgram("training-job", [&] { return RunTrainingJob({argv + 1, argv + argc}); });
}
