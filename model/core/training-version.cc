/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-version.h"

// The build writes it where it knows the commit, so that a commit compiles this file alone.
#if __has_include("training-commit.h")
#include "training-commit.h"
#else
#define DISTRIBUTED_TRAINING_COMMIT "unknown"
#endif

namespace ns3::training
{

std::string
GetVersion()
{
    return DISTRIBUTED_TRAINING_VERSION; // defined for this file by the build
}

std::string
DescribeVersion()
{
    return "distributed-training " DISTRIBUTED_TRAINING_VERSION
           " (commit " DISTRIBUTED_TRAINING_COMMIT "), ns-" DISTRIBUTED_TRAINING_NS3;
}

} // namespace ns3::training
