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

/** ATP jobs that share the slots of one switch. */
struct AtpScenario
{
    uint32_t jobs{2};                ///< number of jobs
    uint32_t workers{4};             ///< per job; each job also has a server on its own host
    uint32_t slots{0};               ///< of the switch; 0: default of the program
    uint32_t window{0};              ///< packets in flight of a worker; 0: default
    uint64_t bytes{16 << 20};        ///< size of a tensor; each job sums one tensor at a time
    Time duration{MilliSeconds(10)}; ///< simulated time
    Time warmup{MilliSeconds(2)};    ///< unmeasured initial part of `duration`
    DataRate rate{100000000000};     ///< of each link
    Time delay{NanoSeconds(500)};    ///< of each link
    double loss{0};                  ///< drop probability of each frame on each link
    std::vector<uint8_t> priorities; ///< ESA: by job; empty: default
    DataRate background{0};          ///< extra traffic of the last job's first worker
    AttributeList attributes;        ///< of switch programs, workers and servers
};

/** Measurements of one job. */
struct AtpJobResult
{
    double goodput{0};         ///< values summed per worker and time, Gbit/s
    double occupancy{0};       ///< time average of its fraction of the slots
    double serverFrames{0};    ///< frames per sum that reached the server
    uint64_t tensors{0};       ///< completed at all workers, warm-up included
    InNetworkCounters workers; ///< total of all workers, warm-up included
    AtpServerCounters server;  ///< warm-up included
};

/** Measurements of all jobs. */
struct AtpResult
{
    std::vector<AtpJobResult> jobs; ///< by job
    AtpCounters program;            ///< of the switch, warm-up included
};

/**
 * @ingroup distributed-training-helper
 *
 * Runs jobs on the hosts of one switch, with the current attributes of ATP, and measures their
 * shares of slots and links. Records them into the files of an experiment
 * (RunOutputs::GetCurrent()), if it has any. Destroys the simulation afterwards.
 * @param scenario the jobs
 * @return the measurements
 * @throw ConfigurationError if the switch lacks the resources
 */
AtpResult MeasureAtpJobs(const AtpScenario& scenario);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_MEASUREMENT_H
