/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FORWARDING_TABLE_H
#define DISTRIBUTED_TRAINING_FORWARDING_TABLE_H

#include <cstdint>
#include <set>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The routes of one switch: for each destination a group of equally good ports. Destinations that
 * share the same ports (all hosts behind the up-links) share one group, so the table is two bytes a
 * destination.
 */
class ForwardingTable
{
  public:
    /// Ports that lead to a destination on a shortest path.
    using Group = std::vector<uint16_t>;

    /**
     * @param destination endpoint
     * @param ports ports to it in ascending order; empty if it cannot be reached
     */
    void Set(uint32_t destination, const Group& ports);

    /**
     * Fixes the ports to a destination: Set() no longer changes them.
     * @param destination endpoint
     * @param ports ports to it in ascending order
     */
    void SetStatic(uint32_t destination, const Group& ports);

    /**
     * @param destination endpoint
     * @return its ports; empty if there is none
     */
    const Group& Get(uint32_t destination) const
    {
        return m_groups[destination < m_groupOf.size() ? m_groupOf[destination] : 0];
    }

  private:
    void Assign(uint32_t destination, const Group& ports);

    std::set<uint32_t> m_static; // destinations
    std::vector<uint16_t> m_groupOf;
    std::vector<Group> m_groups{{}}; // group 0: unreachable
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FORWARDING_TABLE_H
