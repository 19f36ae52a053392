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
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Finds flows that stand still on an idle network: a message on its way from one look to the next
 * whose flow sent less than a tenth of its share, while no link was busy above a half. The counters
 * of connections and ports tell, so frames cost nothing. The first find is a warning of the
 * cluster.
 */
class SlowFlows
{
  public:
    /** @param cluster its hosts are watched; must outlive this object */
    explicit SlowFlows(const Cluster& cluster);

    /**
     * Compares the counters with those of the last look.
     * @param computing whether a rank is busy other than by communication
     */
    void Look(bool computing);

  private:
    /** A connection at a look. */
    struct Flow
    {
        uint64_t completed; ///< messages
        uint64_t packets;   ///< sent
    };

    using Flows = std::map<std::array<uint32_t, 3>, Flow>; // by host, rail and number

    double UpdateLinks(double seconds);
    Flows ListOpenFlows() const;
    void Report(const Flows& now, double seconds, double use);

    const Cluster& m_cluster;
    Time m_last;
    Flows m_flows;                 // that were open at the last look
    bool m_hasMessages{false};     // at the last look, and nobody computed
    uint32_t m_idleLooks{0};       // in a row with messages on their way on idle links
    std::vector<uint64_t> m_bytes; // sent by each end of each link
    bool m_isDone{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SLOW_FLOWS_H
