/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARP_HELPER_H
#define DISTRIBUTED_TRAINING_SHARP_HELPER_H

#include "in-network-helper.h"

#include "ns3/aggregation-tree.h"
#include "ns3/sharp-communicator.h"
#include "ns3/sharp-program.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * SHARP's aggregation manager. Before a job it builds trees from the topology, with all their
 * levels, installs the program in their switches, gives the job its quota of outstanding
 * operations, and connects neighbors. Several jobs share the programs of one helper.
 *
 * A host with several links uses one of them in the trees: the link that minimizes the height of
 * the first tree. So hosts of one server of a rail-optimized topology have a tree of its local
 * switch.
 */
class SharpHelper : public InNetworkHelper<SharpProgram, SharpCommunicator>
{
  public:
    /**
     * @param elements numbers per packet of a low-latency tree, for later jobs; 0 (default): as
     *        many as the program's attribute Payload allows
     */
    void SetElementsPerPacket(uint32_t elements);

    /**
     * @param packets of children that switches of later jobs have memory for; 0 (default): Slots of
     *        Children each
     */
    void SetAddends(uint64_t packets)
    {
        m_addends = packets;
    }

    /**
     * @param fabric its switches aggregate; must outlive the simulation
     * @param endpoints of each rank, any of its host
     * @param hosts communicators of the ranks for collectives on hosts
     * @param window outstanding operations of the job, shared by its trees
     * @return a communicator for each rank
     * @throw ConfigurationError if a switch lacks the resources, or the quota is exhausted
     */
    std::vector<Ptr<SharpCommunicator>> AddJob(Fabric& fabric,
                                               const std::vector<uint32_t>& endpoints,
                                               const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                                               uint32_t window);

    /// Key for the numbers per packet.
    static constexpr const char* ELEMENTS_KEY = "elements-per-packet";

    /**
     * @param communicator type of the ranks
     * @return keys of a system with this type
     */
    static std::vector<Key> MakeKeys(TypeId communicator);

    /** @param request its attributes and keys are those of objects created from now on */
    void Configure(const InNetworkRequest& request);

    /** @param request of a collective @return limit of outstanding operations of a job */
    static uint32_t GetJobWindow(const InNetworkRequest& request);

  protected:
    /** A job during its setup. */
    struct Job
    {
        uint8_t number{0};                  ///< of the job and of its first tree
        std::vector<uint32_t> hosts;        ///< by rank
        std::vector<uint32_t> endpoints;    ///< by rank: endpoint in the trees
        std::vector<uint32_t> links;        ///< by rank: link in the trees
        uint32_t window{1};                 ///< per tree
        SharpConnection::Settings settings; ///< of all connections
    };

    /** A tree of a job, with the program in its switches. */
    struct Tree
    {
        std::vector<AggregationNode> nodes;      ///< the root first
        SharpSums sums;                          ///< in the same order
        std::vector<Ptr<SharpProgram>> programs; ///< in the same order
        std::vector<uint32_t> switchEndpoints;   ///< by rank: endpoint of its switch
    };

    /**
     * @param rank any rank of a job
     * @return values in a packet, bytes
     */
    uint32_t GetPayload(const SharpEndpoint& rank) const;

    /**
     * @param system for messages
     * @param number of the job
     * @param endpoints of each rank, any of its host
     * @param links of each rank in the trees
     * @param window outstanding operations, shared by the trees
     * @param trees how many
     * @param rank any rank of the job
     * @return the job
     */
    Job MakeJob(const std::string& system,
                uint8_t number,
                const std::vector<uint32_t>& endpoints,
                const std::vector<uint32_t>& links,
                uint32_t window,
                uint32_t trees,
                const SharpEndpoint& rank) const;

    /**
     * Installs the program in the switches of a tree.
     * @param job of the tree
     * @param number of the tree in the job
     * @param payload values in a packet, bytes
     * @return the tree
     */
    Tree MakeTree(const Job& job, uint32_t number, uint32_t payload);

    /**
     * Connects the switches and ranks of a tree.
     * @param job of the tree
     * @param tree its switches
     * @param streaming whether for large messages
     * @param queuePair number of the connection at the ranks
     * @param locks numbers of the streaming tree at the switches, or empty
     * @param connections receives the numbers of the connections at the switches, by rank
     * @return numbers of the tree at its switches
     */
    std::vector<uint32_t> AddToSwitches(const Job& job,
                                        const Tree& tree,
                                        bool streaming,
                                        uint32_t queuePair,
                                        const std::vector<uint32_t>& locks,
                                        std::vector<uint32_t>& connections);

    /** @param children at most of a tree at a switch */
    void SetMostChildren(uint32_t children)
    {
        m_mostChildren = children;
    }

  private:
    Ptr<SharpProgram> Install(uint32_t index, uint32_t children, uint32_t payload);
    static std::vector<uint16_t> GetChildrenOfRanks(const SharpSums& sums,
                                                    uint32_t node,
                                                    std::size_t ranks);

    uint32_t m_elements{0};
    uint64_t m_addends{0};
    uint32_t m_mostChildren{SharpProgram::MAX_PORTS};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_HELPER_H
