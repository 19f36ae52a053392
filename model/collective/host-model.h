/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_MODEL_H
#define DISTRIBUTED_TRAINING_HOST_MODEL_H

#include "collective-schedule.h"

#include "ns3/nstime.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::training
{

/** What the hosts need for a collective, beside the network. */
struct HostCost
{
    Time start;               ///< from its turn until its first action
    Time localHop;            ///< from the arrival of a message of the same server until it is used
    Time remoteHop;           ///< from the arrival of a message of another server until it is used
    double secondsPerByte{0}; ///< more for each byte of a message
};

/** Gives the cost of a collective of a size. (schedule, bytes of the whole vector) */
using HostModel = std::function<HostCost(const CollectiveSchedule&, uint64_t)>;

/**
 * @ingroup distributed-training-collective
 *
 * Latencies of NCCL (src/graph/tuning.cc), us, for its protocols LL, LL128, Simple: base of a tree
 * 6.8, 14, 8.4 and of a ring 6.6, 14, 8.4; NVLink hop of a tree 0.6, 1.25, 4.0 and of a ring 0.6,
 * 1.9, 3.4; network hop of a tree 5, 8.5, 14 and of a ring 2.7, 4, 14. These are tuned from end to
 * end, so the propagation delay to the nearest rank, which is simulated, is taken off each hop. LL
 * sends two bytes for each one, LL128 128 for 120. Of the protocols the one is taken that is
 * fastest for the steps and bytes of the collective, as NCCL does.
 *
 * An algorithm counts as a tree if its name says so, otherwise as a ring.
 */
class NcclHostModel
{
  public:
    /**
     * @param topology where the ranks are; servers are those of rail-optimized
     * @param hosts host of each rank; empty: rank r is on host r
     * @param ranks number of ranks
     */
    NcclHostModel(const TopologyGraph& topology, std::vector<uint32_t> hosts, uint32_t ranks);

    /** @see HostModel */
    HostCost operator()(const CollectiveSchedule& schedule, uint64_t bytes) const;

    /**
     * @param topology of a cluster
     * @param a a host
     * @param b another host
     * @return whether they are in the same server
     */
    static bool IsLocal(const TopologyGraph& topology, uint32_t a, uint32_t b);

  private:
    uint32_t m_ranks;
    uint32_t m_servers;      // that have ranks
    double m_localDelay{0};  // from the first rank to the nearest one in its server, s
    double m_remoteDelay{0}; // from the first rank to the nearest one in another server, s
    double m_localRate{0};   // bytes/s of a host within its server
    double m_remoteRate{0};  // bytes/s of a host's slowest port
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_MODEL_H
