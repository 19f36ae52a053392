/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LOWER_BOUND_H
#define DISTRIBUTED_TRAINING_LOWER_BOUND_H

#include "ns3/collective-operation.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * A lower bound on the time of a collective among the first hosts of a topology, for any algorithm
 * without reduction in the network. It is the largest of
 * - bandwidth: the bytes that each rank must send and receive, over its own links or those of its
 *   router: (N-1)/N * S for reduce-scatter, all-gather and all-to-all, S for all others
 * (nccl-tests, doc/PERFORMANCE.md);
 * - transfers: an all-reduce needs 2(N-1) * S of the capacity of all ranks' links together, which
 * is E * B on a direct network of E directed links;
 * - cut: the bytes that must leave a switch with its hosts, or one half of the ranks: S for
 *   all-reduce, broadcast, reduce and send-receive; S times the share of the ranks on the other
 * side for reduce-scatter and all-gather; for all-to-all that times the number of ranks inside;
 * - latency: the contribution of the farthest rank must reach the farthest rank, possibly through
 *   other ranks; half of that with a root; 0 for send-receive.
 *
 * The bound of an all-to-all-v follows from its matrix: the bytes over each rank's links and across
 * each cut; latency 0.
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
     * @param topology where the ranks are
     * @param hosts host of each rank
     * @param goodput share of the line rate that is payload, above 0 and up to 1
     */
    LowerBound(const TopologyGraph& topology, const std::vector<uint32_t>& hosts, double goodput);

    /**
     * @param operation of the collective
     * @param bytes size of the whole vector
     * @param matrix all-to-all-v: bytes from each rank to each
     * @return the bound, s; 0 for one rank and, except for a barrier, for an empty vector
     */
    double GetSeconds(CollectiveOperation operation,
                      uint64_t bytes,
                      const ByteMatrix& matrix = nullptr) const;

  private:
    /** Some of the ranks, and the capacity between them and the rest. */
    struct Cut
    {
        std::vector<uint32_t> inside; ///< the ranks
        double share;                 ///< share of all ranks
        double bytesPerSecond;        ///< payload, each way
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
