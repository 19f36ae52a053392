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
 * The routes of one switch: a group of equal-cost ports per destination. Destinations with the same
 * ports (such as all hosts reached by the up-links) share a group, so the table takes two bytes per
 * destination.
 */
class ForwardingTable
{
  public:
    /// Maximum number of ports of a switch, so that each can have a group of its own.
    static constexpr std::size_t MAX_PORTS = 65535;

    /// Equal-cost ports on shortest paths to a destination.
    using Group = std::vector<uint16_t>;

    /**
     * @param destination endpoint
     * @param ports equal-cost ports in ascending order; empty if unreachable
     * @throw ConfigurationError if there are too many different groups of ports
     */
    void Set(uint32_t destination, const Group& ports);

    /**
     * Sets a static route, which Set() does not change.
     * @param destination endpoint
     * @param ports equal-cost ports in ascending order
     */
    void SetStatic(uint32_t destination, const Group& ports);

    /** A view of a port group in the table; valid until the table changes. */
    class Ports
    {
      public:
        /** @param group encoded group: the number of ports, then the ports */
        explicit Ports(const uint16_t* group)
            : m_group(group)
        {
        }

        /** @return number of ports */
        std::size_t size() const
        {
            return *m_group;
        }

        /** @return whether the group is empty */
        bool empty() const
        {
            return *m_group == 0;
        }

        /** @param i index below size() @return the port at the index */
        uint16_t operator[](std::size_t i) const
        {
            return m_group[1 + i];
        }

        /** @return the first port */
        const uint16_t* begin() const
        {
            return m_group + 1;
        }

        /** @return past the last port */
        const uint16_t* end() const
        {
            return begin() + size();
        }

      private:
        const uint16_t* m_group;
    };

    /**
     * @param destination endpoint
     * @return its ports; empty if unreachable
     */
    Ports Get(uint32_t destination) const
    {
        return Ports(m_groups.data() +
                     UNIT * (destination < m_groupOf.size() ? m_groupOf[destination] : 0));
    }

    /**
     * Prefetches the entry that Get() needs.
     * @param destination endpoint
     */
    void Prefetch(uint32_t destination) const
    {
        __builtin_prefetch(m_groupOf.data() + destination);
    }

  private:
    /// Groups begin at multiples of this, so that two bytes can tell the place of 65535 groups.
    static constexpr std::size_t UNIT = 2;

    void Assign(uint32_t destination, const Group& ports);
    uint16_t FindGroup(const Group& ports);

    std::set<uint32_t> m_static; // destinations with static routes
    // Place of the group by destination, in units. Two bytes only, because the tables of all
    // switches compete for the cache.
    std::vector<uint16_t> m_groupOf;
    // Per group: port count, ports, filled up to a unit. The first group means unreachable.
    std::vector<uint16_t> m_groups{0, 0};
    std::vector<uint16_t> m_starts{0}; // places of the groups of no port or several ones, in units
    std::vector<uint16_t> m_groupOfPort; // place of the group of one port, in units; 0: none yet
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FORWARDING_TABLE_H
