/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_LOAD_H
#define DISTRIBUTED_TRAINING_HOST_LOAD_H

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 * What else the GPU of a rank does now, as far as it slows collectives.
 */
struct HostLoad
{
    double copyFactor{1}; ///< of the time that copies take
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_LOAD_H
