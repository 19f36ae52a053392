/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RCCL_TABLES_H
#define DISTRIBUTED_TRAINING_RCCL_TABLES_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * What RCCL has in place of NCCL's tables: model 5 of src/graph/tuning.cc (October 2024), which it
 * takes for servers of 8 MI300X. RCCL does not use LL128 there. Algorithms and protocols are those
 * of NcclTuning, trees and rings only.
 */
class RcclTables
{
  public:
    /// What a message passes.
    enum Hop : uint8_t
    {
        LINK, ///< xGMI
        PCI,
        NETWORK
    };

    /** @param protocol of messages @return time until a collective's first step, us */
    static double GetBaseLatency(uint32_t protocol);

    /**
     * @param hop a step takes
     * @param algorithm of a collective
     * @param protocol of its messages
     * @return latency of the step, us. For rings over a network it is a fit of whole collectives.
     */
    static double GetLatency(Hop hop, uint32_t algorithm, uint32_t protocol);

    /**
     * @param servers number of servers
     * @param algorithm of an all-reduce
     * @param protocol of its messages
     * @return part of the bus bandwidth of the links that it reaches; 0: RCCL does not use it
     */
    static double GetPart(uint32_t servers, uint32_t algorithm, uint32_t protocol);

    /**
     * @param servers number of servers
     * @param algorithm of a collective
     * @param protocol of its messages
     * @param size power of two of its bytes, from 64 bytes on
     * @return part of its bandwidth that a size reaches
     */
    static double GetCorrection(uint32_t servers,
                                uint32_t algorithm,
                                uint32_t protocol,
                                uint32_t size);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RCCL_TABLES_H
