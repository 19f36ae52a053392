/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BACKGROUND_HELPER_H
#define DISTRIBUTED_TRAINING_BACKGROUND_HELPER_H

#include "cluster-options.h"

#include "ns3/background-traffic.h"
#include "ns3/multi-port-transport.h"
#include "ns3/training-fabric.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Installs traffic beside that of the ranks, as `ClusterOptions::background` describes it: flow
 * sizes with their keys, and the keys of GetKeys().
 */
class BackgroundHelper
{
  public:
    /// Value of an option for no traffic.
    static constexpr const char* NONE = "none";
    /// Lowest number of a connection of the traffic.
    static constexpr uint32_t FIRST_CONNECTION = 1 << 23;
    /// Maximum number of connections between two ports.
    static constexpr uint32_t MAX_CONNECTIONS = 16;

    /** No traffic. */
    BackgroundHelper() = default;

    /**
     * @param options of the cluster
     * @throw ConfigurationError if the traffic is not possible
     */
    explicit BackgroundHelper(const ClusterOptions& options);

    /** @return whether there is traffic */
    bool IsInstalled() const;

    /** @return whether hosts without ranks take part */
    bool UsesAllHosts() const;

    /**
     * @param fabric its hosts send
     * @param idle completion times on an idle network
     * @param connect makes the transport of a host
     * @return the traffic
     * @throw ConfigurationError if there are too few hosts
     */
    std::unique_ptr<BackgroundTraffic> Install(
        const Fabric& fabric,
        std::unique_ptr<IdlePaths> idle,
        const std::function<Ptr<MultiPortTransport>(uint32_t)>& connect) const;

    /**
     * @param traffic of Install()
     * @return one line
     */
    std::string Describe(const BackgroundTraffic& traffic) const;

    /** @return keys of the traffic, beside those of the flow sizes */
    static std::vector<Key> GetKeys();

  private:
    std::string m_text;
    uint32_t m_ranks{0};
    std::optional<BackgroundSettings> m_settings; // none: no traffic
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BACKGROUND_HELPER_H
