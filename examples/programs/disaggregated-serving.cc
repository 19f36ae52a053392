/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Inference on a simulated network: some GPUs compute prompts, others answers, and keys and values
 * move between them:
 *
 *   ./ns3w run "disaggregated-serving --model=llama3-8b --arrival-rate=4 --rate=25Gbps"
 */

#include "../hidden-global-values.h"

#include "ns3/serving-program.h"
#include "ns3/training-program.h"

int
main(int argc, char* argv[])
{
    using namespace ns3::training;
    return RunProgram("disaggregated-serving", [&] {
        return RunDisaggregatedServing({argv + 1, argv + argc});
    });
}
