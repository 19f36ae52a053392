/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCHML_PASSES_H
#define DISTRIBUTED_TRAINING_SWITCHML_PASSES_H

#include "ns3/nstime.h"
#include "ns3/switch-program.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The passes of SwitchML's packets through the pipeline of a Tofino. A pass adds 64 integers and
 * reads back half of them. For the other passes a packet recirculates, each by a port of its own.
 */
struct SwitchMlPasses
{
    uint32_t elements{64}; ///< integers per packet
    uint32_t workers{16};  ///< children that have ports of their own
    Time latency;          ///< of a pass

    /**
     * @param slots of the program
     * @param hasTag whether they keep the number of their packet
     * @return resources of the program
     */
    SwitchProgram::Resources GetResources(uint32_t slots, bool hasTag) const;

    /** @return bytes of a packet on the line of the busiest recirculation port; 0: none */
    uint32_t GetRecirculatedBytes() const;

    /**
     * Reserves the passes that add a packet.
     * @param host the switch
     * @param frame the packet
     * @return when it is added
     */
    Time Consume(ProgramHost& host, const Frame& frame) const;

    /**
     * Reserves the passes that read a sum.
     * @param host the switch
     * @param consumed when it is complete
     * @return time from now until it is read
     */
    Time Harvest(ProgramHost& host, Time consumed) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCHML_PASSES_H
