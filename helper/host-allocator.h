/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_ALLOCATOR_H
#define DISTRIBUTED_TRAINING_HOST_ALLOCATOR_H

#include "ns3/random-variable-stream.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * The hosts of a cluster that no job has, and which of them a job gets.
 */
class HostAllocator
{
  public:
    /// Names of placements.
    static const std::vector<std::string> PLACEMENTS;

    /**
     * @param topology of the cluster
     * @param hosts number of hosts for jobs, the first ones
     * @param stream random stream of random placements
     */
    HostAllocator(const TopologyGraph& topology, uint32_t hosts, int64_t stream);

    /**
     * Takes hosts for a job.
     * @param placement packed: the lowest free hosts; spread: an equal number under each switch, as
     *        far as there are free ones; random: in random order; list: the given ones
     * @param count number of hosts
     * @param list given hosts, of placement list
     * @return the host of each rank; by rising number, but for random and list. Empty if too few
     *         are free, and none is taken then
     */
    std::vector<uint32_t> Take(const std::string& placement,
                               uint32_t count,
                               const std::vector<uint32_t>& list);

    /** @param hosts that a job gives back */
    void GiveBack(const std::vector<uint32_t>& hosts);

  private:
    std::vector<uint32_t> m_groups; // by host: the first node it is linked to
    std::vector<bool> m_isFree;     // by host
    Ptr<UniformRandomVariable> m_random;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_ALLOCATOR_H
