/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_HELPER_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_HELPER_H

#include "in-network-system.h"
#include "switch-programs.h"

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
class SwitchPsHelper
{
  public:
    /**
     * @param fabric whose switches are to add; must outlive the simulation
     * @param elements float32 numbers in a packet
     * @param slots of each switch
     */
    SwitchPsHelper(Fabric& fabric, uint32_t elements, uint32_t slots);

    /**
     * @param endpoints of each rank, the first of its host
     * @param hosts what the ranks do among themselves
     * @param window packets in flight of a worker, which is the job's part of the slots
     * @param weights that the job has, with an optimizer; 0: all for which there is memory left
     * @return a communicator for each rank
     * @throw ConfigurationError if a switch has not got the resources
     */
    std::vector<Ptr<SwitchPsCommunicator>> AddJob(
        const std::vector<uint32_t>& endpoints,
        const std::vector<Ptr<ScheduledCommunicator>>& hosts,
        uint32_t window,
        uint64_t weights = 0);

    /**
     * @param index of a switch
     * @return the program there, or null
     */
    Ptr<SwitchPsProgram> GetProgram(uint32_t index) const;

  private:
    Ptr<SwitchPsProgram> Install(uint32_t index, uint32_t workers);

    Fabric& m_fabric;
    uint32_t m_elements;
    uint32_t m_slots;
    uint32_t m_jobs{0};
    SwitchPrograms<SwitchPsProgram> m_programs;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_HELPER_H
