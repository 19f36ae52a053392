/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_STAGE_LAYOUT_H
#define DISTRIBUTED_TRAINING_STAGE_LAYOUT_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 *
 * @param layout layers of each stage in the words of Megatron-LM
 *        (--pipeline-model-parallel-layout): E embedding, t layer, m layer that predicts one more
 *        token, L output and loss, | the end of a stage; x*n and (xy)*n repeat, and commas mean
 *        nothing
 * @param predictions number of layers that predict one more token
 * @return number of layers of each stage, of both kinds
 * @throw ConfigurationError if it is no such text, the embedding does not come first and the output
 *        last, or predictions are not as many, in one stage and behind all other layers
 */
std::vector<uint32_t> ReadStageLayout(const std::string& layout, uint64_t predictions = 0);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_STAGE_LAYOUT_H
