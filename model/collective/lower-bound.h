/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LOWER_BOUND_H
#define DISTRIBUTED_TRAINING_LOWER_BOUND_H

#include "collective-operation.h"

#include "ns3/topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The least time any algorithm without reduction in the network needs for a collective over the
 * first hosts of a topology: the largest of
 * - bandwidth: what each rank must send and receive at least, through its own links, or those of
 *   its router: reduce-scatter, all-gather and all-to-all (N-1)/N * S, all others S (nccl-tests,
 *   doc/PERFORMANCE.md);
 * - transfers: an all-reduce takes 2(N-1) * S of the links of all ranks together, of which there
 *   are E * B on a direct network of E directed links;
 * - cut: what must leave one switch and its hosts, or one half of the ranks: all-reduce,
 *   broadcast, reduce and send-receive S, reduce-scatter and all-gather S times the part of the
 *   ranks that are on the other side, all-to-all that times the number of those that are inside;
 * - latency: the farthest rank's contribution must reach the farthest rank, maybe by way of others;
 *   with a root half of that; none for send-receive.
 *
 * An all-to-all-v's depends on its matrix: what each rank must send and receive through its own
 * links, and what must cross each cut; latency 0.
 */
class LowerBound
{
  public:
    /**
     * @param topology where the ranks are hosts 0 to ranks - 1
     * @param ranks number of ranks
     * @param goodput share of the line rate that is payload, above 0 and up to 1
     */
    LowerBound(const TopologyGraph& topology, uint32_t ranks, double goodput);

    /**
     * @param operation what is done
     * @param bytes size of the whole vector
     * @param matrix all-to-all-v: bytes from each rank to each
     * @return least time, s; 0 for one rank or, but for a barrier, an empty vector
     */
    double GetSeconds(CollectiveOperation operation,
                      uint64_t bytes,
                      const ByteMatrix& matrix = nullptr) const;

  private:
    /** Some of the ranks, and what links them to the rest. */
    struct Cut
    {
        std::vector<uint32_t> inside; ///< the ranks
        double share;                 ///< of all ranks
        double bytesPerSecond;        ///< of payload, each way
    };

    double GetSecondsOfMatrix(const std::vector<uint64_t>& matrix) const;

    uint32_t m_ranks;
    Time m_latency;
    std::vector<double> m_rates; // of each rank's links, payload bytes per second
    double m_slowestRank;        // payload bytes per second of the slowest rank's links
    double m_allRanks{0};        // of all ranks' links
    std::vector<Cut> m_cuts;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LOWER_BOUND_H
