/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCHML_HELPER_H
#define DISTRIBUTED_TRAINING_SWITCHML_HELPER_H

#include "in-network-helper.h"

#include "ns3/switchml-communicator.h"
#include "ns3/switchml-program.h"

#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * SwitchML's controller. Before a job it installs the program in the job's switches, in two levels
 * if its hosts are on several switches, reserves the job's slots in their pools, and configures the
 * workers. Several jobs share the programs of one helper.
 */
class SwitchMlHelper : public InNetworkHelper<SwitchMlProgram, SwitchMlCommunicator>
{
  public:
    /**
     * @param packets packets per message of later jobs, with RDMA framing; 0 (default): UDP framing
     */
    void SetMessagePackets(uint32_t packets);

    /**
     * @param fabric its switches aggregate; must outlive the simulation
     * @param endpoints of each rank, the first of its host
     * @param hosts communicators of the ranks for collectives on hosts
     * @param window packets in flight of a worker, equal to the job's slots in each pool
     * @return a communicator for each rank
     * @throw ConfigurationError if a switch lacks the resources, or the pool lacks slots
     */
    std::vector<Ptr<SwitchMlCommunicator>> AddJob(
        Fabric& fabric,
        const std::vector<uint32_t>& endpoints,
        const std::vector<Ptr<ScheduledCommunicator>>& hosts,
        uint32_t window);

    /**
     * Installs the program in all switches, before jobs that may use any of them.
     * @param fabric its switches aggregate; must outlive the simulation
     * @param children most children of a job at a switch
     * @throw ConfigurationError if a switch lacks the resources
     */
    void InstallEverywhere(Fabric& fabric, uint32_t children);

    /**
     * @param number of a job that asks
     * @param endpoints of each rank
     * @param window slots that it asks for
     * @return whether all its switches have a range of so many free slots; the program is installed
     *         everywhere
     */
    bool HasRoom(uint32_t number, const std::vector<uint32_t>& endpoints, uint32_t window) const;

  private:
    Ptr<SwitchMlProgram> Install(uint32_t index, uint32_t children);
    static uint32_t FindSlots(const std::vector<Ptr<SwitchMlProgram>>& programs, uint32_t count);

    uint32_t m_message{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCHML_HELPER_H
