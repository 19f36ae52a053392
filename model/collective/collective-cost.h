/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_COST_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_COST_H

#include "collective-schedule.h"

#include "ns3/topology-graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::training
{

/** What an alpha-beta model needs to know of a network, beside its topology. */
struct NetworkCost
{
    double goodput{1};          ///< share of the line rate that is payload in a long message
    uint32_t packetBytes{4096}; ///< payload of a full packet
    uint32_t headerBytes{82};   ///< of a packet, with preamble and gap
    double messageSeconds{0};   ///< of the hosts, for each message in a row, s
    bool sprays{false};         ///< whether a message takes all its routes at once, not one
};

/**
 * @ingroup distributed-training-collective
 *
 * How long a schedule takes by an alpha-beta model, as a function of the size. In each step the
 * farthest message takes the propagation delay of its path and a packet's serialization on its
 * links (alpha), and the busiest link the bytes of all messages over it (beta). Steps follow each
 * other. The segments behind the first follow at the pace of the link that is busiest over all
 * steps. Each message takes one of its equally good routes at random (ECMP): the busiest link is
 * above the mean as the largest of as many normal variables of that variance; or it shares them
 * (spraying).
 */
class CollectiveCost
{
  public:
    /// Messages in steps that differ whose routes are looked at; more would take too long.
    static constexpr uint64_t MOST_MESSAGES = 1 << 19;

    /**
     * Works out the cost of a schedule.
     * @param topology where the ranks are
     * @param hosts host of each rank; empty: rank r is on host r
     * @param network its other parameters
     * @param schedule that is right
     * @return its cost; nothing if it has more than MOST_MESSAGES
     */
    static std::optional<CollectiveCost> Measure(const TopologyGraph& topology,
                                                 const std::vector<uint32_t>& hosts,
                                                 const NetworkCost& network,
                                                 const CollectiveSchedule& schedule);

    /** @param bytes of the whole vector @return time of all latencies, s */
    double GetLatency(uint64_t bytes) const;

    /** @param bytes of the whole vector @return time of the busiest links' bytes, s */
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
        double share{0};   // of a rank's vector in the largest message
        double extra{0};   // of a packet on the way, beside the busiest link, s/byte
        double load{0};    // of the busiest link, s per byte of the vector
    };

    NetworkCost m_network;
    std::vector<Step> m_steps;
    double m_pace{0}; // of the link that is busiest over all steps, s per byte of the vector
    uint32_t m_segments{1};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_COST_H
