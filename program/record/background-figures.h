/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BACKGROUND_FIGURES_H
#define DISTRIBUTED_TRAINING_BACKGROUND_FIGURES_H

#include "run-figures.h"

#include "ns3/flow-statistics.h"
#include "ns3/training-cluster.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * The traffic beside that of the ranks: how much there was, and how slow it was.
 */
struct BackgroundFigures : Figures
{
    uint64_t startedFlows{0};  ///< flows that have started
    uint64_t endedFlows{0};    ///< of these, flows whose last byte has arrived
    uint64_t startedBytes{0};  ///< payload of the flows that have started
    uint64_t endedBytes{0};    ///< payload of the flows that have ended
    double offeredLoad{0};     ///< payload that has started, part of the rate of the loaded hosts
    std::string failure;       ///< why a flow has failed; empty: none has
    FlowStatistics::Row all{}; ///< slowdowns of all flows that have ended
    std::vector<FlowStatistics::Row> sizes; ///< the same by size, a tenth of the flows each

    std::string GetName() const override
    {
        return "background";
    }

    JsonValue ToJson() const override;

    /** @return one line */
    std::string Format() const override;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BACKGROUND_FIGURES_H
