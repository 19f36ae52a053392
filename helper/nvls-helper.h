/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NVLS_HELPER_H
#define DISTRIBUTED_TRAINING_NVLS_HELPER_H

#include "sharp-helper.h"

#include "ns3/nvls-communicator.h"
#include "ns3/nvls-tree-communicator.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Like SharpHelper, for ranks that read sums from the switch of their server (NVLink SHARP). Each
 * rank has its own tree there.
 */
class NvlsHelper : public SharpHelper
{
  public:
    /**
     * @param name attribute of ranks created from now on
     * @param value its value
     * @throw ConfigurationError if the attribute does not exist or does not allow the value
     */
    void SetReaderAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Adds a job of ranks on one switch.
     * @param fabric its switches aggregate; must outlive the simulation
     * @param endpoints of each rank, any of its host
     * @param hosts communicators of the ranks for collectives on hosts
     * @param window packets that all ranks together read concurrently
     * @return a communicator for each rank
     * @throw ConfigurationError as SharpHelper::AddJob(), or if the ranks are on several switches
     */
    std::vector<Ptr<NvlsCommunicator>> AddReadingJob(
        Fabric& fabric,
        const std::vector<uint32_t>& endpoints,
        const std::vector<Ptr<ScheduledCommunicator>>& hosts,
        uint32_t window);

    /**
     * Adds a job of ranks on one switch, by these links.
     * @param fabric its switches aggregate; must outlive the simulation
     * @param endpoints of each rank, any of its host
     * @param links of each rank to the switch
     * @param hosts communicators of the ranks for collectives on hosts
     * @param window packets that all ranks together read concurrently
     * @return a communicator for each rank
     * @throw ConfigurationError as AddReadingJob()
     */
    std::vector<Ptr<NvlsCommunicator>> AddReadingJobOn(
        Fabric& fabric,
        const std::vector<uint32_t>& endpoints,
        const std::vector<uint32_t>& links,
        const std::vector<Ptr<ScheduledCommunicator>>& hosts,
        uint32_t window);

    /**
     * @param topology the network
     * @param hosts of a group of ranks
     * @return the link of each to the switch that joins all of them, the scale-up switch of their
     *         server if there is one; empty: no switch does
     */
    static std::vector<uint32_t> FindCommonSwitch(const TopologyGraph& topology,
                                                  const std::vector<uint32_t>& hosts);

    /**
     * Adds a job of ranks in several servers. Ranks in the same place of their servers are joined
     * by two binary trees (NVLSTree).
     * @param fabric its switches aggregate; must outlive the simulation
     * @param endpoints of each rank, any of its host
     * @param hosts communicators of the ranks for collectives on hosts, from which those of the
     *        trees split
     * @param window packets that all ranks of a server together read concurrently
     * @return a communicator for each rank
     * @throw ConfigurationError as AddReadingJob(), or as GetServers()
     */
    std::vector<Ptr<NvlsTreeCommunicator>> AddTreeJob(
        Fabric& fabric,
        const std::vector<uint32_t>& endpoints,
        const std::vector<Ptr<ScheduledCommunicator>>& hosts,
        uint32_t window);

    /**
     * @param topology the network
     * @param hosts of each rank
     * @return the ranks of each server, by its scale-up switch
     * @throw ConfigurationError if there are less than two servers, a host has no scale-up switch
     * or no other port, or servers have different numbers of ranks
     */
    static std::vector<std::vector<uint32_t>> GetServers(const TopologyGraph& topology,
                                                         const std::vector<uint32_t>& hosts);

    /// Number of the communicators of trees between servers, which split from those of the hosts.
    static constexpr uint32_t TREE_COMMUNICATOR = 255;

  private:
    /** The ranks on one switch. */
    struct Readers
    {
        Job job;                                         ///< with these ranks only
        std::vector<SharpSums> sums;                     ///< by owner
        std::vector<NvlsCommunicator::Session> sessions; ///< by rank on the switch
    };

    Readers MakeReaders(const Job& job, const NvlsCommunicator& rank);
    std::vector<Readers> MakeReadersOfServers(const std::vector<uint32_t>& endpoints,
                                              const std::vector<std::vector<uint32_t>>& servers,
                                              uint32_t window,
                                              const NvlsCommunicator& rank);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NVLS_HELPER_H
