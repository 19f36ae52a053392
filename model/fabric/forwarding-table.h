/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FORWARDING_TABLE_H
#define DISTRIBUTED_TRAINING_FORWARDING_TABLE_H

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The routes of one switch: a group of equally good ports for each destination. Destinations with
 * the same ports (all hosts behind the up-links) share one group, so the table takes two bytes a
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

    /** Ports as the table holds them, until it changes. */
    class Ports
    {
      public:
        /** @param group a number of ports and the ports */
        explicit Ports(const uint16_t* group)
            : m_group(group)
        {
        }

        /** @return how many they are */
        std::size_t size() const
        {
            return *m_group;
        }

        /** @return whether there are none */
        bool empty() const
        {
            return *m_group == 0;
        }

        /** @param i below size() @return a port */
        uint16_t operator[](std::size_t i) const
        {
            return m_group[1 + i];
        }

        /** @return the first port */
        const uint16_t* begin() const
        {
            return m_group + 1;
        }

        /** @return behind the last port */
        const uint16_t* end() const
        {
            return begin() + size();
        }

      private:
        const uint16_t* m_group;
    };

    /**
     * @param destination endpoint
     * @return its ports; empty if there is none
     */
    Ports Get(uint32_t destination) const
    {
        return Ports(m_groups.data() +
                     (destination < m_groupOf.size() ? m_groupOf[destination] : 0));
    }

    /**
     * Brings into the cache the entry that Get() needs.
     * @param destination endpoint
     */
    void Prefetch(uint32_t destination) const
    {
        __builtin_prefetch(m_groupOf.data() + destination);
    }

  private:
    void Assign(uint32_t destination, const Group& ports);

    std::set<uint32_t> m_static; // destinations
    // By destination: where its group begins. Two bytes, as the tables of all switches compete for
    // the cache.
    std::vector<uint16_t> m_groupOf;
    std::vector<uint16_t> m_groups{0}; // each a number of ports and the ports; first: unreachable
    std::vector<uint16_t> m_starts{0}; // of the groups
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FORWARDING_TABLE_H
