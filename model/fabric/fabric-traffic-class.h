/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_TRAFFIC_CLASS_H
#define DISTRIBUTED_TRAINING_FABRIC_TRAFFIC_CLASS_H

#include <cstdint>

namespace ns3::training
{

/// Number of traffic classes (priorities) of IEEE 802.1Q.
static constexpr uint8_t PRIORITIES = 8;

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_TRAFFIC_CLASS_H
