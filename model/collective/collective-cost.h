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

/** Network parameters of the alpha-beta model, in addition to the topology. */
struct NetworkCost
{
    double goodput{1};          ///< payload share of the line rate for a long message
    uint32_t packetBytes{4096}; ///< payload of a full packet
    uint32_t headerBytes{82};   ///< headers per packet, including preamble and gap
    double messageSeconds{0};   ///< host overhead per message in a chain, s
    bool sprays{false};         ///< whether a message uses all its routes instead of one
};

/**
 * @ingroup distributed-training-collective
 *
 * The expected time of a schedule in an alpha-beta model, as a function of the size. The time of a
 * step is the latency of its farthest message (propagation delay plus serialization of a packet at
 * each hop; alpha) plus the transfer time of all bytes over the busiest link (beta). Steps do not
 * overlap. Segments after the first follow at the pace of the link that is busiest over all steps.
 * With ECMP, a message takes one of its equal-cost routes at random, and the excess load of the
 * busiest link is estimated as the expected maximum of as many normal variables of the same
 * variance. With spraying, a message uses all its routes.
 */
class CollectiveCost
{
  public:
    /// Maximum number of messages in distinct steps; more take too long to evaluate.
    static constexpr uint64_t MAX_MESSAGES = 1 << 19;

    /**
     * Computes the cost of a schedule.
     * @param topology topology of the ranks
     * @param hosts host of each rank; empty: rank r is on host r
     * @param network further network parameters
     * @param schedule a verified schedule
     * @return the cost; none if there are more than MAX_MESSAGES messages
     */
    static std::optional<CollectiveCost> Measure(const TopologyGraph& topology,
                                                 const std::vector<uint32_t>& hosts,
                                                 const NetworkCost& network,
                                                 const CollectiveSchedule& schedule);

    /**
     * @param schedule a schedule
     * @return size of a chunk as a fraction of a rank's vector; parts of an all-to-all count as
     *         equal
     */
    static double GetShare(const CollectiveSchedule& schedule);

    /** @param bytes size of the whole vector @return sum of the step latencies (alpha), s */
    double GetLatency(uint64_t bytes) const;

    /**
     * @param bytes size of the whole vector @return sum of the busiest links' transfer times
     *        (beta), s
     */
    double GetTransfer(uint64_t bytes) const;

    /** @return number of steps per segment */
    uint32_t GetSteps() const
    {
        return static_cast<uint32_t>(m_steps.size());
    }

  private:
    class Routes;

    /** Cost of one step of a segment. */
    struct Step
    {
        double latency{0}; // latency of the farthest message, s
        double share{0};   // largest message as a fraction of a rank's vector
        double extra{0};   // packet serialization, except on the slowest link, s/byte
        double load{0};    // load of the busiest link, s per byte of the vector
    };

    NetworkCost m_network;
    std::vector<Step> m_steps;
    double m_pace{0}; // load of the busiest link over all steps, s per byte of the vector
    uint32_t m_segments{1};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_COST_H
