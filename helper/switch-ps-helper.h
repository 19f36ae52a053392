/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_HELPER_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_HELPER_H

#include "in-network-helper.h"

#include "ns3/switch-ps-communicator.h"
#include "ns3/switch-ps-program.h"

#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The controller of a switch parameter server. Before a job it selects the switch: that of the
 * hosts, or if they are on several, one with minimum distance to the farthest host. It reserves the
 * job's slots and weights there and configures the workers. Several jobs share the programs of one
 * helper.
 */
class SwitchPsHelper : public InNetworkHelper<SwitchPsProgram, SwitchPsCommunicator>
{
  public:
    /**
     * @param fabric its switches aggregate; must outlive the simulation
     * @param endpoints of each rank, the first of its host
     * @param hosts communicators of the ranks for collectives on hosts
     * @param window packets in flight of a worker, equal to the job's slots
     * @param weights number of the job's weights, with an optimizer; 0: all that the memory has
     *        left
     * @return a communicator for each rank
     * @throw ConfigurationError if a switch lacks the resources
     */
    std::vector<Ptr<SwitchPsCommunicator>> AddJob(
        Fabric& fabric,
        const std::vector<uint32_t>& endpoints,
        const std::vector<Ptr<ScheduledCommunicator>>& hosts,
        uint32_t window,
        uint64_t weights = 0);

  private:
    Ptr<SwitchPsProgram> Install(uint32_t index, uint32_t workers);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_HELPER_H
