/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IN_NETWORK_FIGURES_H
#define DISTRIBUTED_TRAINING_IN_NETWORK_FIGURES_H

#include "run-figures.h"

#include "ns3/training-cluster.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Packets and errors of offloaded collectives, over all ranks.
 */
struct InNetworkFigures : Figures
{
    uint64_t sent{0};       ///< packets sent for the first time
    uint64_t resent{0};     ///< packets retransmitted, after a timeout or because of a gap
    uint64_t received{0};   ///< sums accepted
    uint64_t duplicates{0}; ///< duplicate sums
    bool fallenBack{false}; ///< the network has failed and the hosts have taken over
    double errorBound{0};   ///< closed-form error bound of a sum
    double maxError{-1};    ///< maximum measured error; negative: not measured

    /** @return the counters that processes add up */
    static std::vector<RecordField<InNetworkFigures>> GetFields();

    std::string GetName() const override
    {
        return "in_network";
    }

    JsonValue ToJson() const override;
};

/**
 * @ingroup distributed-training-helper
 * @param workers communicators of local ranks
 * @return their figures, summed up
 */
InNetworkFigures SumFigures(const std::vector<Ptr<InNetworkCommunicator>>& workers);

/**
 * @ingroup distributed-training-helper
 * @param cluster after the run
 * @return one line with the reason why hosts have taken over the offloaded collectives; empty if
 *         they have not
 */
std::string FormatFallback(const Cluster& cluster);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IN_NETWORK_FIGURES_H
