/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REGISTRY_H
#define DISTRIBUTED_TRAINING_REGISTRY_H

#include "training-configuration-error.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 * @return registrations rejected because the name was already taken, such as "topology 'torus'"
 */
inline std::vector<std::string>&
GetRefusedRegistrations()
{
    static std::vector<std::string> refused;
    return refused;
}

/**
 * @ingroup distributed-training
 *
 * The named alternatives of one kind (topologies, collective algorithms, congestion controls,
 * workloads). An alternative registers itself in its own source file:
 *
 * @code
 *   static const Registry<TopologyEntry>::Entry g_ring("ring", {"hosts in a ring", &MakeRing});
 * @endcode
 *
 * so that adding an alternative means adding one file.
 *
 * @tparam T description of an alternative; `T::KIND` names the kind in error messages, and T has a
 *         member `std::string help`.
 */
template <class T>
class Registry
{
  public:
    /** Registers an alternative for the lifetime of the program. */
    class Entry
    {
      public:
        /**
         * Registers an alternative. If the name is already taken, the first registration wins; see
         * GetRefusedRegistrations().
         * @param name name that the user types
         * @param value the alternative
         */
        Entry(const std::string& name, T value)
        {
            if (!All().emplace(name, std::move(value)).second)
            {
                GetRefusedRegistrations().push_back(std::string(T::KIND) + " '" + name + "'");
            }
        }
    };

    /** @return all alternatives by name, in alphabetical order */
    static std::map<std::string, T>& All()
    {
        static std::map<std::string, T> all;
        return all;
    }

    /**
     * @param name name typed by the user
     * @return the alternative of that name
     * @throw ConfigurationError that lists the registered names if there is no such name
     */
    static const T& Find(const std::string& name)
    {
        const auto found = All().find(name);
        if (found == All().end())
        {
            throw ConfigurationError("unknown " + std::string(T::KIND) + " '" + name +
                                     "' (allowed: " + Names() + ")");
        }
        return found->second;
    }

    /** @return all registered names, separated by ", " */
    static std::string Names()
    {
        std::string names;
        for (const auto& [name, value] : All())
        {
            names += (names.empty() ? "" : ", ") + name;
        }
        return names;
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_REGISTRY_H
