/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_OFI_TUNER_H
#define DISTRIBUTED_TRAINING_OFI_TUNER_H

#include "communicator/nccl-tuning.h"

#include <cstdint>
#include <optional>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * What AWS's plugin tells NCCL to run on servers of type p5, by regions of sizes and ranks
 * (aws-ofi-nccl, src/tuner/nccl_ofi_regions.cpp, region_init_internal_p5_p5e()).
 * @param operation operation
 * @param ranks number of ranks
 * @param servers number of servers; up to 2, the plugin leaves the choice to NCCL
 * @param bytes size of the whole vector
 * @return algorithm and protocol, without a time; none: NCCL chooses itself
 */
std::optional<NcclTuning::Plan> FindOfiChoice(CollectiveOperation operation,
                                              uint32_t ranks,
                                              uint32_t servers,
                                              uint64_t bytes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_OFI_TUNER_H
