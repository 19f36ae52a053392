/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_MEASUREMENT_H
#define DISTRIBUTED_TRAINING_FABRIC_MEASUREMENT_H

#include "ns3/training-cluster.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/** Messages that hosts send to each other over RDMA, all at time 0. */
struct FabricTraffic
{
    /** A message: from host, to host. */
    using Message = std::pair<uint32_t, uint32_t>;

    std::vector<Message> messages; ///< who sends to whom
    uint64_t bytes;                ///< size of each message
    uint64_t queuePairs;           ///< that each message is spread over, in whole packets

    /**
     * @param pattern who sends to whom: neighbour, permutation, incast:SENDERS, all-to-all
     * @param hosts number of hosts
     * @return the messages
     * @throw ConfigurationError if there is no such pattern
     */
    static std::vector<Message> MakeMessages(const std::string& pattern, uint32_t hosts);
};

/** What a simulation of traffic has done, and what it has cost; all processes together. */
struct FabricMeasurement
{
    uint64_t dataHops{0};            ///< data frames sent on all links
    uint64_t controlHops{0};         ///< ACKs, NAKs and CNPs sent on all links
    uint64_t events{0};              ///< simulator events
    double cpuSeconds{0};            ///< of the simulation
    double setupCpuSeconds{0};       ///< since the start of the program, before the simulation
    double wallSeconds{0};           ///< of the simulation
    double setupMebibytes{0};        ///< largest resident set before the simulation
    double peakMebibytes{0};         ///< largest resident set
    double simulatedMicroseconds{0}; ///< until the last message was complete
    uint64_t droppedFrames{0};       ///< frames that found no buffer space
    uint64_t markedFrames{0};        ///< frames marked by ECN
    uint64_t pauseFrames{0};         ///< PFC frames sent

    /** @return data packet-hops per second of CPU time */
    double GetRate() const
    {
        return cpuSeconds > 0 ? static_cast<double>(dataHops) / cpuSeconds : 0;
    }
};

/**
 * @ingroup distributed-training-helper
 * Simulates traffic until all of it has arrived.
 * @param traffic what is sent
 * @param cluster to send it on, with RDMA
 * @return what it cost
 * @throw SimulationStuck if a message cannot arrive
 */
FabricMeasurement MeasureFabric(const FabricTraffic& traffic, const Cluster& cluster);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_MEASUREMENT_H
