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
 * What a controller does before a job: makes one switch its parameter server, that of its hosts or,
 * if they are on several, one nearest to the farthest of them, gives it its part of that one's
 * slots and weights, and tells the workers. Several jobs share the programs of one helper.
 */
class SwitchPsHelper : public InNetworkHelper<SwitchPsProgram, SwitchPsCommunicator>
{
  public:
    /**
     * @param fabric whose switches add; must outlive the simulation
     * @param endpoints of each rank, the first of its host
     * @param hosts collectives of the ranks among themselves
     * @param window packets in flight of a worker, which is the job's part of the slots
     * @param weights that the job has, with an optimizer; 0: all for which there is memory left
     * @return a communicator for each rank
     * @throw ConfigurationError if a switch has not got the resources
     */
    std::vector<Ptr<SwitchPsCommunicator>> AddJob(
        Fabric& fabric,
        const std::vector<uint32_t>& endpoints,
        const std::vector<Ptr<ScheduledCommunicator>>& hosts,
        uint32_t window,
        uint64_t weights = 0);

  private:
    Ptr<SwitchPsProgram> Install(uint32_t index, uint32_t workers);

    uint32_t m_jobs{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_HELPER_H
