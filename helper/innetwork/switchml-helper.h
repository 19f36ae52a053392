/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCHML_HELPER_H
#define DISTRIBUTED_TRAINING_SWITCHML_HELPER_H

#include "in-network-system.h"
#include "switch-programs.h"

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
class SwitchMlHelper
{
  public:
    /**
     * @param fabric whose switches are to add; must outlive the simulation
     * @param elements 32-bit integers in a packet
     * @param slots of each switch's pool
     * @param message RDMA framing: packets in a message; 0: UDP
     */
    SwitchMlHelper(Fabric& fabric, uint32_t elements, uint32_t slots, uint32_t message = 0);

    /**
     * @param endpoints of each rank, the first of its host
     * @param hosts what the ranks do among themselves
     * @param window packets in flight of a worker, which is the job's part of each pool
     * @return a communicator for each rank
     * @throw ConfigurationError if a switch has not got the resources, or the pool the slots
     */
    std::vector<Ptr<SwitchMlCommunicator>> AddJob(
        const std::vector<uint32_t>& endpoints,
        const std::vector<Ptr<ScheduledCommunicator>>& hosts,
        uint32_t window);

    /**
     * @param index of a switch
     * @return the program there, or null
     */
    Ptr<SwitchMlProgram> GetProgram(uint32_t index) const;

  private:
    Ptr<SwitchMlProgram> Install(uint32_t index, uint32_t children);

    Fabric& m_fabric;
    uint32_t m_elements;
    uint32_t m_slots;
    uint32_t m_message;
    uint32_t m_jobs{0};
    SwitchPrograms<SwitchMlProgram> m_programs;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCHML_HELPER_H
