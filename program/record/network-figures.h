/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NETWORK_FIGURES_H
#define DISTRIBUTED_TRAINING_NETWORK_FIGURES_H

#include "run-figures.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What befell the frames and packets of a run. A switch or host drops frames, a link loses them.
 */
struct NetworkFigures : Figures
{
    uint64_t sentFrames{0};      ///< sent by all ports
    uint64_t lostFrames{0};      ///< lost by links
    uint64_t droppedFrames{0};   ///< dropped by switches and hosts
    uint64_t markedFrames{0};    ///< with an ECN mark
    uint64_t pauseFrames{0};     ///< PFC frames sent, resumes included
    uint64_t sentPackets{0};     ///< data packets of hosts, repeated ones included
    uint64_t repeatedPackets{0}; ///< of these, packets sent again
    uint64_t timeouts{0};        ///< of their timers
    bool countsPackets{false};   ///< whether the transport counts packets

    /** @return the members of the JSON object */
    static std::vector<RecordField<NetworkFigures>> GetFields();

    std::string GetName() const override
    {
        return "network";
    }

    JsonValue ToJson() const override;

    /** @return a line, if frames were lost or dropped, or packets sent again */
    std::string Format() const override;
};

/**
 * @ingroup distributed-training-helper
 * Counts frames and packets. Collective: all processes call it (see Processes).
 * @param cluster after the run and GatherCounters()
 * @return the counts
 */
NetworkFigures CountNetwork(const Cluster& cluster);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NETWORK_FIGURES_H
