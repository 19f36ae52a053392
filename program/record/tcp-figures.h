/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TCP_FIGURES_H
#define DISTRIBUTED_TRAINING_TCP_FIGURES_H

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
 * What held messages back in TCP sockets, over all connections of all ranks.
 */
struct TcpFigures : Figures
{
    uint64_t sendBuffer{0}; ///< size of a send buffer, bytes
    Time waited;            ///< messages waited for space in sockets
    Time bufferLimited;     ///< part of it in which the buffer, not a window, limited the rate

    /** @return the share of the waiting time in which the buffers limited, 0 to 1 */
    double GetLimitedShare() const
    {
        return waited.IsZero() ? 0 : bufferLimited.GetSeconds() / waited.GetSeconds();
    }

    /** @return the counters that processes add up */
    static std::vector<RecordField<TcpFigures>> GetFields();

    std::string GetName() const override
    {
        return "tcp";
    }

    JsonValue ToJson() const override;

    /** @return one line if buffers limited for at least 1 % of the time, or empty */
    std::string Format() const override;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TCP_FIGURES_H
