/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_COMMAND_LINE_H
#define DISTRIBUTED_TRAINING_CLUSTER_COMMAND_LINE_H

#include "program-options.h"

#include "ns3/training-cluster.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The command line of a cluster: options for the fields of ClusterOptions, and for the output of
 * its topology and schedule.
 */
class ClusterCommandLine
{
  public:
    /** @param cluster receives the values of the options; its values are their defaults */
    explicit ClusterCommandLine(ClusterOptions& cluster);

    /**
     * Adds options for the ranks and the network.
     * @param options of the program
     */
    void AddNetworkTo(ProgramOptions& options);

    /**
     * Adds the option for the congestion control.
     * @param options of the program
     * @param otherwise description of congestion controls besides those of RDMA; empty: none
     */
    void AddCongestionControlTo(ProgramOptions& options, const std::string& otherwise = "");

    /**
     * Adds options for the transport of messages, and its congestion control.
     * @param options of the program
     */
    void AddTransportTo(ProgramOptions& options);

    /**
     * Adds the option for traffic beside that of the ranks.
     * @param options of the program
     */
    void AddBackgroundTo(ProgramOptions& options);

    /**
     * Adds options for the time that hosts take.
     * @param options of the program
     */
    void AddHostsTo(ProgramOptions& options);

    /**
     * Adds options for all fields.
     * @param options of the program
     */
    void AddTo(ProgramOptions& options);

    /**
     * Refuses attributes that every Cluster sets, because a user's value would have no effect.
     * @param options of a program that creates clusters
     */
    static void ReserveAttributes(ProgramOptions& options);

    /**
     * Sets the number of ranks to that of the hosts, if the command line has a topology of a fixed
     * number of hosts, such as torus:8x8, but no --ranks. Background traffic between other hosts
     * leaves the number as it is. Call after Parse().
     * @param options with those of AddNetworkTo()
     * @throw ConfigurationError if the topology cannot be built
     */
    void FollowTopology(const ProgramOptions& options);

    /**
     * Executes --print-topology, and then --export-topology, too.
     * @return whether the program is done
     * @throw ConfigurationError if the topology is invalid
     */
    bool ShowTopology() const;

    /**
     * Executes --export-topology. Call when all options are known to be right.
     * @throw std::runtime_error if the file cannot be written
     */
    void ExportTopology() const;

    /**
     * Executes --export-topology, --print-schedule and --export-schedule.
     * @param cluster the cluster with the schedule
     * @param operation of the schedule
     * @param bytes size of the whole vector
     * @return whether the program is done
     * @throw std::runtime_error if a file cannot be written
     */
    bool ShowSchedule(const Cluster& cluster, CollectiveOperation operation, uint64_t bytes) const;

    /** @return whether ShowSchedule() prints or exports a schedule */
    bool IsScheduleRequested() const;

  private:
    TopologyGraph GetTopology() const;

    ClusterOptions& m_cluster;
    std::string m_machine{"none"}; // whose parts are defaults
    bool m_printTopology{false};
    std::string m_exportTopology; // file, or empty: none
    bool m_printSchedule{false};
    std::string m_exportSchedule; // file, or empty: none
};

/**
 * @ingroup distributed-training-helper
 * @param error of the library
 * @return its text, with the field's name replaced by its option, in which dashes join the words:
 *         "--mtu=100 (allowed: ...)"
 */
std::string NameOption(const ConfigurationError& error);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_COMMAND_LINE_H
