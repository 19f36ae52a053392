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
#include <set>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * A lower bound on the time of a collective among the first hosts of a topology, for any algorithm.
 * Where the network sums up (SetSumsInNetwork()), the term "transfers" does not apply. The bound is
 * the maximum of
 * - bandwidth: the bytes that each rank must send and receive, over its own links or those of its
 *   router: (N-1)/N * S for reduce-scatter, all-gather and all-to-all, S for all others
 * (nccl-tests, doc/PERFORMANCE.md);
 * - transfers: an all-reduce transfers 2(N-1) * S bytes in total, over the aggregate capacity of
 *   all ranks' links, which is E * B on a direct network of E directed links of rate B;
 * - cut: the bytes that must cross the cut around a switch with its hosts, or around one half of
 *   the ranks: S for all-reduce, broadcast, reduce and send-receive; S times the share of the ranks
 *   on the other side for reduce-scatter and all-gather; that times the number of ranks inside for
 *   all-to-all;
 * - latency: data must travel between the two farthest ranks, possibly through other ranks; half of
 *   that for operations with a root; 0 for send-receive.
 *
 * The bound of an all-to-all-v follows from its matrix: the bytes over each rank's links and across
 * each cut, with latency 0.
 */
class LowerBound
{
  public:
    /**
     * @param topology topology; the ranks are hosts 0 to ranks - 1
     * @param ranks number of ranks
     * @param goodput payload share of the line rate, above 0; above 1 if NICs code the payload
     */
    LowerBound(const TopologyGraph& topology, uint32_t ranks, double goodput);

    /**
     * @param topology topology of the ranks
     * @param hosts host of each rank
     * @param goodput payload share of the line rate, above 0; above 1 if NICs code the payload
     */
    LowerBound(const TopologyGraph& topology, const std::vector<uint32_t>& hosts, double goodput);

    /**
     * The network sums up and distributes the result, so that each rank sends and receives each
     * element once.
     * @param operations operations that the network takes part in
     * @param goodput bytes of the vector per byte on the line; above 1 with a short number format
     */
    void SetSumsInNetwork(std::set<CollectiveOperation> operations, double goodput);

    /**
     * @param operation collective operation
     * @param bytes size of the whole vector
     * @param matrix all-to-all-v: bytes from each rank to each
     * @return the bound, s; 0 for one rank and, except for a barrier, for an empty vector
     */
    double GetSeconds(CollectiveOperation operation,
                      uint64_t bytes,
                      const ByteMatrix& matrix = nullptr) const;

  private:
    /** A cut: some of the ranks, and the capacity between them and the rest. */
    struct Cut
    {
        std::vector<uint32_t> inside; ///< ranks inside the cut
        double share;                 ///< fraction of all ranks
        double bytesPerSecond;        ///< payload capacity per direction
    };

    double GetSecondsOfMatrix(const std::vector<uint64_t>& matrix) const;

    uint32_t m_ranks;
    double m_goodput;
    std::set<CollectiveOperation> m_inNetwork; // operations that the network takes part in
    double m_goodputInNetwork{1};
    Time m_latency;
    std::vector<double> m_rates; // payload rate of each rank's links, bytes/s
    double m_slowestRank;        // payload rate of the slowest rank's links, bytes/s
    double m_allRanks{0};        // total payload rate of all ranks' links, bytes/s
    std::vector<Cut> m_cuts;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LOWER_BOUND_H
