/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TCP_FIGURES_H
#define DISTRIBUTED_TRAINING_TCP_FIGURES_H

#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What held messages back in TCP sockets, over all connections of all ranks.
 */
struct TcpFigures
{
    uint64_t sendBuffer{0};   ///< size of a send buffer, bytes
    double waitedS{0};        ///< messages waited for space in sockets, s
    double bufferLimitedS{0}; ///< part of it in which the buffer, not a window, limited the rate, s

    /** @return the share of the waiting time in which the buffers limited, 0 to 1 */
    double GetLimitedShare() const
    {
        return waitedS > 0 ? bufferLimitedS / waitedS : 0;
    }

    /** @return the JSON object `tcp` */
    JsonValue ToJson() const;

    /** @return one line if buffers limited for at least 1 % of the time, or empty */
    std::string Format() const;
};

/**
 * @ingroup distributed-training-helper
 *
 * Sums up the figures of all ranks. Collective: all processes call it (see Processes).
 *
 * @param cluster after the run
 * @return the figures; none without TCP
 */
std::optional<TcpFigures> GetTcpFigures(const Cluster& cluster);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TCP_FIGURES_H
