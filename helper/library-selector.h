/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LIBRARY_SELECTOR_H
#define DISTRIBUTED_TRAINING_LIBRARY_SELECTOR_H

#include "ns3/algorithm-chooser.h"
#include "ns3/host-model.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Chooses what the library of the hosts would run.
 */
class LibrarySelector : public AlgorithmSelector
{
  public:
    /// Name that users give in place of an algorithm for the choice of NCCL.
    static constexpr const char* NAME = "nccl";

    /**
     * @param hosts model of the hosts; null: none
     * @throw ConfigurationError if its library has no choice
     */
    explicit LibrarySelector(std::shared_ptr<const HostModel> hosts);

    /**
     * @param topology of the cluster
     * @param ranks that sum
     * @return the system in switches of servers that the library prefers for some sizes, with its
     *         keys; empty: servers are racks, whose published times are those of rings
     *         (doc/validation.rst)
     */
    static std::string GetInNetwork(const TopologyGraph& topology, uint32_t ranks);

    // AlgorithmSelector
    std::string GetName() const override
    {
        return NAME;
    }

    const AlgorithmChoice& Choose(const CollectiveRequest& request) override;

  private:
    std::shared_ptr<const HostModel> m_hosts;
    std::map<std::tuple<CollectiveOperation, uint64_t, uint32_t>, AlgorithmChoice> m_choices;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LIBRARY_SELECTOR_H
