/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TREE_HELPER_H
#define DISTRIBUTED_TRAINING_TREE_HELPER_H

#include "aggregation-tree.h"
#include "in-network-system.h"

#include "ns3/tree-communicator.h"
#include "ns3/tree-program.h"

#include <map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What SHARP's aggregation manager does before a job: builds its trees from the topology, with
 * all their levels, installs the program in their switches, gives the job its quota of outstanding
 * operations, and connects neighbors. Several jobs share the programs of one helper.
 *
 * A host with several links has one of them in the trees: that by which the first tree is the
 * lowest. So hosts of one server of a rail-optimized topology have a tree of its local switch.
 */
class TreeHelper
{
  public:
    /**
     * @param fabric whose switches are to add; must outlive the simulation
     * @param elements numbers in a packet of a low-latency tree
     * @param slots outstanding operations of each switch
     */
    TreeHelper(Fabric& fabric, uint32_t elements, uint32_t slots);

    /**
     * @param endpoints of each rank, any of its host
     * @param hosts what the ranks do among themselves
     * @param window outstanding operations of the job, shared by its trees
     * @return a communicator for each rank
     * @throw ConfigurationError if a switch has not got the resources, or the quota is exhausted
     */
    std::vector<Ptr<TreeCommunicator>> AddJob(const std::vector<uint32_t>& endpoints,
                                              const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                                              uint32_t window);

    /**
     * @param index of a switch
     * @return the program there, or null
     */
    Ptr<TreeProgram> GetProgram(uint32_t index) const;

  private:
    /** A job as it is set up. */
    struct Job
    {
        uint8_t number{0};
        std::vector<uint32_t> hosts;     ///< by rank
        std::vector<uint32_t> endpoints; ///< by rank, those of the trees
        std::vector<uint32_t> links;     ///< by rank, those of the trees
        uint32_t window{1};              ///< of each tree
        TreeConnection::Settings settings;
    };

    Ptr<TreeProgram> Install(uint32_t index, uint32_t children, uint32_t payload);
    TreeSums AddTree(const Job& job,
                     uint32_t number,
                     uint32_t payload,
                     std::vector<TreeCommunicator::Place>& places);

    static std::vector<uint8_t> GetChildrenOfRanks(const TreeSums& sums,
                                                   uint32_t node,
                                                   std::size_t ranks);

    Fabric& m_fabric;
    uint32_t m_elements;
    uint32_t m_slots;
    uint32_t m_jobs{0};
    std::map<uint32_t, Ptr<TreeProgram>> m_programs; // by switch
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TREE_HELPER_H
