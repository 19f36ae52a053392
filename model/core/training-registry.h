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
 * @return the registrations without effect, because the name was taken: "topology 'torus'"
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
 * workloads). An alternative registers itself beside its own code:
 *
 * @code
 *   static const Registry<TopologyEntry>::Entry g_ring("ring", {"hosts in a ring", &MakeRing});
 * @endcode
 *
 * so that adding one means adding one file.
 *
 * @tparam T what is known of an alternative; `T::KIND` is the word for error messages, and T has a
 *         member `std::string help`.
 */
template <class T>
class Registry
{
  public:
    /** Registers an alternative for as long as the program runs. */
    class Entry
    {
      public:
        /**
         * Of two alternatives with the same name the first one counts; see
         * GetRefusedRegistrations().
         * @param name what a user types
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

    /** @return every alternative by name, in alphabetical order. */
    static std::map<std::string, T>& All()
    {
        static std::map<std::string, T> all;
        return all;
    }

    /**
     * @param name what the user typed
     * @return the alternative of that name
     * @throw ConfigurationError that lists the names there are
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

    /** @return the names there are, separated by ", ". */
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
