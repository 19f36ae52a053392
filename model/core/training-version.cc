/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-version.h"

namespace ns3::training
{

std::string
GetVersion()
{
    return DISTRIBUTED_TRAINING_VERSION; // defined for this file by the build
}

} // namespace ns3::training
