/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TREE_HELPER_H
#define DISTRIBUTED_TRAINING_TREE_HELPER_H

#include "aggregation-tree.h"
#include "in-network-system.h"
#include "switch-programs.h"

#include "ns3/nvls-communicator.h"
#include "ns3/tree-communicator.h"
#include "ns3/tree-program.h"

#include <memory>
#include <string>
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
     * @param elements numbers in a packet of a low-latency tree; 0: as attribute Payload has it
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
     * As AddJob(), for ranks on one switch, which read sums from it (NVLink SHARP). Each rank has a
     * tree of its own there.
     * @param endpoints of each rank, any of its host
     * @param hosts what the ranks do among themselves
     * @param window packets that all ranks together read at a time
     * @return a communicator for each rank
     * @throw ConfigurationError as AddJob(), or if ranks are on several switches
     */
    std::vector<Ptr<NvlsCommunicator>> AddReadingJob(
        const std::vector<uint32_t>& endpoints,
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

    /** A tree of a job, whose switches have the program. */
    struct Tree
    {
        std::vector<AggregationNode> nodes;     ///< the root first
        TreeSums sums;                          ///< likewise
        std::vector<Ptr<TreeProgram>> programs; ///< likewise
        std::vector<uint32_t> switchEndpoints;  ///< by rank: of its switch
    };

    uint32_t GetPayload(const TreeEndpoint& rank) const;
    Job MakeJob(const std::string& system,
                const std::vector<uint32_t>& endpoints,
                uint32_t window,
                uint32_t trees,
                const TreeEndpoint& rank);
    Ptr<TreeProgram> Install(uint32_t index, uint32_t children, uint32_t payload);
    Tree MakeTree(const Job& job, uint32_t number, uint32_t payload);
    /// @return numbers of the tree at its switches; `connections` at them, by rank
    std::vector<uint32_t> AddToSwitches(const Job& job,
                                        const Tree& tree,
                                        bool streaming,
                                        uint32_t queuePair,
                                        const std::vector<uint32_t>& locks,
                                        std::vector<uint32_t>& connections);
    void Join(TreeEndpoint& rank,
              uint32_t number,
              const Job& job,
              Ptr<ScheduledCommunicator> hosts,
              std::shared_ptr<const std::vector<TreeSums>> sums) const;
    static std::vector<uint8_t> GetChildrenOfRanks(const TreeSums& sums,
                                                   uint32_t node,
                                                   std::size_t ranks);

    Fabric& m_fabric;
    uint32_t m_elements;
    uint32_t m_slots;
    uint32_t m_jobs{0};
    SwitchPrograms<TreeProgram> m_programs;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TREE_HELPER_H
