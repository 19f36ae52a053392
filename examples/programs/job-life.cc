/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The life of a job in weeks: failures, checkpoints, restarts, and what they cost.
 *
 *   ./ns3w run "job-life --failures=llama3 --gpus=16384 --days=54"
 *
 * The spans of an iteration, a checkpoint and a restart are inputs. training-job simulates them by
 * packets.
 */

#include "../hidden-global-values.h"

#include "ns3/life-program.h"
#include "ns3/training-program.h"

int
main(int argc, char* argv[])
{
    using namespace ns3::training;
    return RunProgram("job-life", [&] { return RunJobLife({argv + 1, argv + argc}); });
}
