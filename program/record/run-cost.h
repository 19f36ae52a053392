/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_COST_H
#define DISTRIBUTED_TRAINING_RUN_COST_H

#include "ns3/training-fabric.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/** Cost of a simulation, over all its processes. */
struct RunCost
{
    double cpuSeconds{0};          ///< user and system CPU time since the start of the program
    uint64_t events{0};            ///< simulator events
    uint64_t packetHops{0};        ///< frames sent on all links
    uint64_t skippedHops{0};       ///< of these, in periods that were skipped, see SteadyState
    double peakMemoryMebibytes{0}; ///< maximum resident set

    /** @return simulated packet-hops per second of CPU time */
    double GetPacketHopsPerSecond() const
    {
        return cpuSeconds > 0 ? static_cast<double>(packetHops - skippedHops) / cpuSeconds : 0;
    }

    /** @param next cost of the next simulation of the same program */
    void Add(const RunCost& next);
};

/**
 * @ingroup distributed-training-helper
 * Leaves events out of the cost: those that only look at the simulation.
 * @param count number of events so far; 0: of another simulation than before, perhaps
 */
void LeaveOutEvents(uint64_t count);

/**
 * @ingroup distributed-training-helper
 * @param fabric its packet-hops are counted
 * @return the cost so far; packet-hops are valid after GatherCounters(). Collective: all processes
 *         call it (see Processes)
 */
RunCost GetRunCost(const Fabric& fabric);

/**
 * @ingroup distributed-training-helper
 * @param packetHops frames on all links, without acknowledgements
 * @param ranks that are simulated
 * @param transport of the packets
 * @param tasks of an iteration of a job, of all ranks
 * @return what such a simulation takes, about: CPU time by the rates that the manual states, which
 *         fall with the number of ranks, and by the tasks; memory by ranks and tasks; no events
 */
RunCost EstimateRunCost(double packetHops,
                        uint64_t ranks,
                        const std::string& transport,
                        double tasks = 0);

/**
 * @ingroup distributed-training-helper
 * @param document receives the members events, packet_hops, packet_hops_per_cpu_s, cpu_s,
 *        peak_memory_MiB
 * @param cost their values
 */
void AddRunCost(JsonValue& document, const RunCost& cost);

/**
 * @ingroup distributed-training-helper
 * @param cost of a simulation
 * @return the cost in one line
 */
std::string FormatRunCost(const RunCost& cost);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_COST_H
