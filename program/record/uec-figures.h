/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_FIGURES_H
#define DISTRIBUTED_TRAINING_UEC_FIGURES_H

#include "run-figures.h"

#include "ns3/training-cluster.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What the connections of Ultra Ethernet of all ranks sent, and what switches trimmed.
 */
struct UecFigures : Figures
{
    uint64_t sentPackets{0};      ///< data packets sent, repeated ones included
    uint64_t repeatedPackets{0};  ///< of these, packets sent again
    uint64_t trimmedPackets{0};   ///< packets that switches cut to their header
    uint64_t nacks{0};            ///< NACKs that the senders received
    uint64_t timeouts{0};         ///< packets not acknowledged in time
    uint64_t duplicatePackets{0}; ///< packets that had arrived before

    /** @return the counters that processes add up */
    static std::vector<RecordField<UecFigures>> GetFields();

    std::string GetName() const override
    {
        return "uec";
    }

    JsonValue ToJson() const override;

    /** @return one line if a packet was sent again, or empty */
    std::string Format() const override;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_FIGURES_H
