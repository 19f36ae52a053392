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

class RunFiles;

/** RDMA messages between hosts, all sent at time 0. */
struct FabricTraffic
{
    /** Source and destination host of a message. */
    using Message = std::pair<uint32_t, uint32_t>;

    std::vector<Message> messages; ///< source and destination of each message
    uint64_t bytes;                ///< size of each message
    uint64_t queuePairs;           ///< queue pairs per message; each gets whole packets
    Time duration{};               ///< if not 0: messages do not end, and are cut off after it

    /**
     * @param pattern traffic pattern: neighbour, permutation, incast:SENDERS, all-to-all
     * @param hosts number of hosts
     * @return the messages
     * @throw ConfigurationError if the pattern is unknown
     */
    static std::vector<Message> MakeMessages(const std::string& pattern, uint32_t hosts);
};

/** Traffic and cost of a simulation, over all processes. */
struct FabricMeasurement
{
    uint64_t dataHops{0};            ///< data frames sent on all links
    uint64_t controlHops{0};         ///< ACKs, NAKs and CNPs sent on all links
    uint64_t events{0};              ///< simulator events
    double cpuSeconds{0};            ///< of the simulation
    double setupCpuSeconds{0};       ///< since the start of the program, before the simulation
    double wallSeconds{0};           ///< of the simulation
    double setupMebibytes{0};        ///< maximum resident set before the simulation
    double peakMebibytes{0};         ///< maximum resident set
    double simulatedMicroseconds{0}; ///< completion of the last message
    double firstMicroseconds{0};     ///< completion of the first message
    uint64_t sentPackets{0};         ///< data packets sent by hosts, repeated ones included
    uint64_t repeatedPackets{0};     ///< of these, packets sent again
    double utilization{0};           ///< largest share of its rate that a link to a host carries
    double fairness{0};              ///< Jain's index of the rates of messages
    uint64_t lostFrames{0};          ///< frames that links lost
    uint64_t peakQueueBytes{0};      ///< longest queue of a switch port
    uint64_t droppedFrames{0};       ///< frames dropped for lack of buffer space
    uint64_t markedFrames{0};        ///< frames with an ECN mark
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
 * @param traffic the messages
 * @param cluster with RDMA
 * @param files record the messages; null: none
 * @return the measurement
 * @throw SimulationStuck if a message cannot arrive
 */
FabricMeasurement MeasureFabric(const FabricTraffic& traffic,
                                const Cluster& cluster,
                                RunFiles* files = nullptr);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_MEASUREMENT_H
