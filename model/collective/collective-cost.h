/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_COST_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_COST_H

#include "ns3/collective-schedule.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::training
{

/** Parameters of an alpha-beta model of a network, beyond its topology. */
struct NetworkCost
{
    double goodput{1};          ///< share of the line rate that is payload of a long message
    uint32_t packetBytes{4096}; ///< payload of a full packet
    uint32_t headerBytes{82};   ///< headers of a packet, with preamble and gap
    double messageSeconds{0};   ///< time of the hosts for each message in a row, s
    bool sprays{false};         ///< whether a message takes all its routes instead of one
};

/**
 * @ingroup distributed-training-collective
 *
 * The expected time of a schedule by an alpha-beta model, as a function of the size. A step takes
 * the propagation delay of its farthest message and a packet's serialization on the way (alpha),
 * plus the bytes of all messages over the busiest link (beta). Steps do not overlap; segments after
 * the first follow at the pace of the link that is busiest over all steps. A message takes one of
 * its equally good routes at random (ECMP), and the load of the busiest link exceeds the mean as
 * the maximum of as many normal variables of the same variance does; or it uses all of them
 * (spraying).
 */
class CollectiveCost
{
  public:
    /// Most messages, in steps that differ, whose routes are examined; more take too long.
    static constexpr uint64_t MAX_MESSAGES = 1 << 19;

    /**
     * Measures the cost of a schedule.
     * @param topology where the ranks are
     * @param hosts host of each rank; empty: rank r is on host r
     * @param network parameters beyond the topology
     * @param schedule proven right
     * @return its cost; none if it has more than MAX_MESSAGES
     */
    static std::optional<CollectiveCost> Measure(const TopologyGraph& topology,
                                                 const std::vector<uint32_t>& hosts,
                                                 const NetworkCost& network,
                                                 const CollectiveSchedule& schedule);

    /** @param bytes of the whole vector @return sum of the latencies, s */
    double GetLatency(uint64_t bytes) const;

    /** @param bytes of the whole vector @return sum of the busiest links' times, s */
    double GetTransfer(uint64_t bytes) const;

    /** @return number of steps of a segment */
    uint32_t GetSteps() const
    {
        return static_cast<uint32_t>(m_steps.size());
    }

  private:
    class Routes;

    /** A step of a segment. */
    struct Step
    {
        double latency{0}; // of the farthest message, s
        double share{0};   // share of a rank's vector in the largest message
        double extra{0};   // serialization of a packet, except on the busiest link, s/byte
        double load{0};    // of the busiest link, s per byte of the vector
    };

    NetworkCost m_network;
    std::vector<Step> m_steps;
    double m_pace{0}; // of the link that is busiest over all steps, s per byte of the vector
    uint32_t m_segments{1};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_COST_H
