/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Checkpoints and a restart of a job, packet by packet:
 *
 *   ./ns3w run "checkpoint-times --ranks=12 --topology=fat-tree:k=4 --storage-hosts=4"
 *
 * The spans that it prints are inputs of job-life.
 */

#include "../hidden-global-values.h"

#include "ns3/checkpoint-program.h"
#include "ns3/training-program.h"

int
main(int argc, char* argv[])
{
    using namespace ns3::training;
    return RunProgram("checkpoint-times", [&] {
        return RunCheckpointTimes({argv + 1, argv + argc});
    });
}
