/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-time-resolution.h"

#include "ns3/log.h"
#include "ns3/nstime.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTimeResolution");

void
UsePicoseconds()
{
    NS_LOG_FUNCTION_NOARGS();
    // A second Time::SetResolution() walks a list that the first one has deleted.
    if (Time::GetResolution() != Time::PS)
    {
        Time::SetResolution(Time::PS);
    }
}

} // namespace ns3::training
