/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_ESTIMATE_H
#define DISTRIBUTED_TRAINING_HOST_ESTIMATE_H

#include "ns3/algorithm-chooser.h"
#include "ns3/host-model.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Answers what a chooser asks about hosts. Each step of a schedule takes the longest hop of its
 * messages; a channel takes one message after the other (HostChannels). What of it the line hides
 * is not known, so the busiest channel counts against the traffic.
 *
 * @param model of the hosts; null: they take no time
 * @param hosts host of each rank; empty: rank r is on host r
 * @return the answers
 */
HostQuestions AnswerForHosts(std::shared_ptr<const HostModel> model, std::vector<uint32_t> hosts);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_ESTIMATE_H
