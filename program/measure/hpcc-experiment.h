/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HPCC_EXPERIMENT_H
#define DISTRIBUTED_TRAINING_HPCC_EXPERIMENT_H

#include "published-table.h"

#include "ns3/cluster-options.h"
#include "ns3/flow-statistics.h"

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The simulation of HPCC's paper (Li et al., SIGCOMM 2019, section 5): flows on 320 hosts of
 * 100 Gbit/s in 20 racks, with links of 400 Gbit/s between switches.
 */
struct HpccExperiment
{
    /** Published slowdowns at 30 % load by size, read from plots to about 5 %; not a number: none.
     */
    struct Slowdowns
    {
        std::vector<double> p95; ///< 95th percentiles
        std::vector<double> p99; ///< 99th percentiles
    };

    /** @return the network */
    static ClusterOptions GetNetwork();

    /**
     * Sets the attributes in which run.py of HPCC's simulator differs from this module: memories of
     * 32 MiB, DCQCN and TIMELY with windows, minimum rates of 1 Gbit/s. Those that the user has
     * changed stay.
     * @param congestionControl name of the congestion control
     */
    static void SetAttributes(const std::string& congestionControl);

    /**
     * @param flowSizes name of the distribution
     * @param congestionControl name of the congestion control
     * @return what is published for each tenth of the flows; empty: nothing
     */
    static Slowdowns GetPublished(const std::string& flowSizes,
                                  const std::string& congestionControl);

    /**
     * Compares slowdowns, and prints them with the median errors, unless JSON replaces the print.
     * @param ours by size
     * @param published by size; empty: there is nothing to compare
     * @param json option of the program
     * @return the table; without rows if nothing is published
     */
    static PublishedTable Compare(const std::vector<FlowStatistics::Row>& ours,
                                  const Slowdowns& published,
                                  const std::string& json);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HPCC_EXPERIMENT_H
