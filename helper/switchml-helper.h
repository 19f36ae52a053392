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
 * What SwitchML's controller does before a job: installs the program in the switches of a job, two
 * levels of them if its hosts are on several, gives the job its part of their pools, and tells the
 * workers. Several jobs share the programs of one helper.
 */
class SwitchMlHelper : public InNetworkHelper<SwitchMlProgram, SwitchMlCommunicator>
{
  public:
    /**
     * @param packets in a message: RDMA framing, from the next job on; 0: UDP framing, as by
     * default
     */
    void SetMessagePackets(uint32_t packets);

    /**
     * @param fabric whose switches add; must outlive the simulation
     * @param endpoints of each rank, the first of its host
     * @param hosts collectives of the ranks among themselves
     * @param window packets in flight of a worker, which is the job's part of each pool
     * @return a communicator for each rank
     * @throw ConfigurationError if a switch has not got the resources, or the pool the slots
     */
    std::vector<Ptr<SwitchMlCommunicator>> AddJob(
        Fabric& fabric,
        const std::vector<uint32_t>& endpoints,
        const std::vector<Ptr<ScheduledCommunicator>>& hosts,
        uint32_t window);

  private:
    Ptr<SwitchMlProgram> Install(uint32_t index, uint32_t children);

    uint32_t m_message{0};
    uint32_t m_jobs{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCHML_HELPER_H
