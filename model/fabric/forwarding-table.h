/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FORWARDING_TABLE_H
#define DISTRIBUTED_TRAINING_FORWARDING_TABLE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The classes of the destinations of a fabric. A switch has the same route to all destinations of a
 * class, unless it is their last switch. The tables of all switches share the classes.
 */
struct DestinationClasses
{
    static constexpr uint32_t NONE = 0;     ///< class of destinations without routes
    static constexpr uint32_t BY_PLACE = 1; ///< class of destinations with routes of their own
    static constexpr uint32_t FIRST = 2;    ///< first class of destinations that share routes

    std::vector<uint32_t> classOf; ///< by destination
    std::vector<uint32_t> placeOf; ///< by destination: its number at its last switch, from 0
    uint32_t count{FIRST};         ///< one past the last class
};

/**
 * @ingroup distributed-training-fabric
 *
 * The routes of one switch: a group of equal-cost ports per destination. Destinations of a class
 * share their route, see DestinationClasses, and classes with the same ports share the group. So
 * the table takes two bytes per class, and two bytes per destination at the switch itself.
 */
class ForwardingTable
{
  public:
    /// Maximum number of ports of a switch, so that each can have a group of its own.
    static constexpr std::size_t MAX_PORTS = 65535;

    /// Equal-cost ports on shortest paths to a destination.
    using Group = std::vector<uint16_t>;

    ForwardingTable() = default;
    ForwardingTable(const ForwardingTable&) = delete;
    ForwardingTable& operator=(const ForwardingTable&) = delete;

    /**
     * Forgets all routes but the static ones.
     * @param classes of the destinations; whoever changes them calls SetDestination()
     * @param firstOwn first class of the destinations at this switch
     * @param ownClasses number of classes of the destinations at this switch, one after the other
     * @param ownPlaces number of destinations at this switch
     */
    void Reset(std::shared_ptr<DestinationClasses> classes,
               uint32_t firstOwn,
               uint32_t ownClasses,
               uint32_t ownPlaces);

    /** @return the classes that it shares with other tables, or null before Reset() */
    const std::shared_ptr<DestinationClasses>& GetClasses() const
    {
        return m_shared;
    }

    /**
     * Sets the route to the destinations of a class.
     * @param number of a class of destinations at other switches
     * @param ports equal-cost ports in ascending order; empty if unreachable
     * @throw ConfigurationError if there are too many different groups of ports
     */
    void SetClass(uint32_t number, const Group& ports);

    /**
     * Sets the route to a destination at this switch.
     * @param place its number at this switch
     * @param ports equal-cost ports in ascending order; empty if unreachable
     * @throw ConfigurationError if there are too many different groups of ports
     */
    void SetPlace(uint32_t place, const Group& ports);

    /**
     * A destination has got a class after Reset().
     * @param destination endpoint at another switch
     */
    void SetDestination(uint32_t destination);

    /**
     * Sets a route that no other destination shares, until Reset().
     * @param destination endpoint
     * @param ports equal-cost ports in ascending order; empty if unreachable
     * @throw ConfigurationError if there are too many different groups of ports
     */
    void Set(uint32_t destination, const Group& ports);

    /**
     * Sets a static route, which nothing else changes.
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
        return Ports(m_groups.data() + UNIT * *Find(destination));
    }

    /**
     * Prefetches the entry that Get() needs.
     * @param destination endpoint
     */
    void Prefetch(uint32_t destination) const
    {
        __builtin_prefetch(Find(destination));
    }

    /** @return number of routes, without those of no destination */
    std::size_t GetRoutes() const
    {
        return m_ofClass.size() - DestinationClasses::FIRST + m_ofPlace.size();
    }

  private:
    /// Groups begin at multiples of this, so that two bytes can tell the place of 65535 groups.
    static constexpr std::size_t UNIT = 2;

    /** @return place of the destination's group, in units */
    const uint16_t* Find(uint32_t destination) const
    {
        const DestinationClasses& classes = *m_classes;
        if (destination >= classes.classOf.size())
        {
            return m_ofClass.data();
        }
        const uint32_t number = classes.classOf[destination];
        return number - m_firstOwn < m_ownClasses ? &m_ofPlace[classes.placeOf[destination]]
                                                  : &m_ofClass[number];
    }

    void SetOwn(uint32_t destination, const Group& ports);
    uint16_t FindGroup(const Group& ports);

    std::shared_ptr<DestinationClasses> m_shared; // with all switches; null: none
    // Classes as this switch sees them, if some routes are only its own; else null.
    std::unique_ptr<DestinationClasses> m_private{std::make_unique<DestinationClasses>()};
    const DestinationClasses* m_classes{m_private.get()}; // those in use
    uint32_t m_firstOwn{DestinationClasses::BY_PLACE};
    uint32_t m_ownClasses{1};
    uint32_t m_ownPlaces{0};
    // Places of the groups, in units. Two bytes only, because the tables of all switches compete
    // for the cache.
    std::vector<uint16_t> m_ofClass = std::vector<uint16_t>(DestinationClasses::FIRST, 0);
    std::vector<uint16_t> m_ofPlace;
    std::map<uint32_t, Group> m_static; // by destination
    // Per group: port count, ports, filled up to a unit. The first group means unreachable.
    std::vector<uint16_t> m_groups{0, 0};
    std::vector<uint16_t> m_starts{0}; // places of the groups of no port or several ones, in units
    std::vector<uint16_t> m_groupOfPort; // place of the group of one port, in units; 0: none yet
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FORWARDING_TABLE_H
