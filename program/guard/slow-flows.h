/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SLOW_FLOWS_H
#define DISTRIBUTED_TRAINING_SLOW_FLOWS_H

#include "ns3/training-cluster.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Finds flows that stand still on an idle network: a message on its way from one look to the next
 * whose flow sent less than a tenth of its share for 20 round trips, while no link of its path was
 * busy above a half. A flow that sends nothing may wait for a timer, and one on a network with
 * losses for several, so these have longer. The counters of connections and ports tell, so frames
 * cost nothing. The first find is a warning of the cluster.
 */
class SlowFlows
{
  public:
    /** @param cluster its hosts are watched; must outlive this object */
    explicit SlowFlows(const Cluster& cluster);

    /**
     * @return time of the next look; Time::Max(): there is none. While nothing is slow, each is
     *         twice as far away as the last one.
     */
    Time GetNext() const;

    /**
     * Compares the counters with those of the last look.
     * @param computing whether a rank is busy other than by communication
     */
    void Look(bool computing);

  private:
    using Key = std::array<uint32_t, 3>; // host, rail and number of a connection

    /** A flow that is on its way. */
    struct Flow
    {
        OpenFlow state;  ///< at the last look
        Time since;      ///< it has been slow
        uint64_t before; ///< bytes sent before that time
    };

    double UpdateLinks(double seconds);
    std::map<Key, Flow> ListFlows() const;
    std::vector<uint32_t> FindPath(uint32_t host, uint32_t rail, uint32_t remote) const;
    double GetUse(const Key& key, const Flow& flow) const;
    bool Report(double seconds, double use);
    std::string Describe(const Key& key, const Flow& flow) const;

    const Cluster& m_cluster;
    Time m_shortest; // time that a flow must be slow
    Time m_longest;  // that one must be silent
    Time m_interval; // between looks
    Time m_last;
    std::map<Key, Flow> m_flows;
    std::map<uint32_t, double> m_sharers; // flows to each endpoint
    Time m_idleSince;                     // messages are on their way on idle links
    std::vector<uint64_t> m_bytes;        // sent by each end of each link
    std::unordered_map<const FabricPort*, uint32_t> m_ends; // 2 * link + end
    std::vector<double> m_use;                              // of each end since the look before
    bool m_isDone{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SLOW_FLOWS_H
