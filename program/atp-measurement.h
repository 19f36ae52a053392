/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_MEASUREMENT_H
#define DISTRIBUTED_TRAINING_ATP_MEASUREMENT_H

#include "ns3/atp-program.h"
#include "ns3/atp-server.h"
#include "ns3/data-rate.h"
#include "ns3/in-network-communicator.h"
#include "ns3/nstime.h"
#include "ns3/training-attribute-list.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** Jobs of ATP that share the slots of one switch. */
struct AtpScenario
{
    uint32_t jobs{2};                ///< how many
    uint32_t workers{4};             ///< of each; a server on a host of its own comes on top
    uint32_t slots{0};               ///< of the switch; 0: as the program's default
    uint32_t window{0};              ///< packets in flight of a worker; 0: as its default
    uint64_t bytes{16 << 20};        ///< of a tensor; each job sums one after the other
    Time duration{MilliSeconds(10)}; ///< of the simulation
    Time warmup{MilliSeconds(2)};    ///< of it, not measured
    DataRate rate{100000000000};     ///< of each link
    Time delay{NanoSeconds(500)};    ///< of each link
    double loss{0};                  ///< of each frame on each link
    std::vector<uint8_t> priorities; ///< of the jobs, for ESA; none: as their default
    DataRate background{0};          ///< that the first worker of the last job sends besides
    AttributeList attributes;        ///< of switch programs, workers and servers
};

/** What one of them has got. */
struct AtpJobResult
{
    double goodput{0};         ///< values that a worker has had the sums of, Gbit/s
    double occupancy{0};       ///< share of the slots, on average over time
    double serverFrames{0};    ///< frames that reached the server for each sum
    uint64_t tensors{0};       ///< complete at all workers, warm-up included
    InNetworkCounters workers; ///< of all workers, warm-up included
    AtpServerCounters server;  ///< likewise
};

/** What all have. */
struct AtpResult
{
    std::vector<AtpJobResult> jobs; ///< in their order
    AtpCounters program;            ///< of the switch, warm-up included
};

/**
 * @ingroup distributed-training-helper
 *
 * Runs jobs on hosts of one switch, with ATP's attributes as they are set, and measures each: what
 * they get of the slots and of the links. The simulation is over afterwards.
 * @param scenario which jobs
 * @return what each has got
 * @throw ConfigurationError if the switch has not got the resources
 */
AtpResult MeasureAtpJobs(const AtpScenario& scenario);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_MEASUREMENT_H
