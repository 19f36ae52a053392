/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GATHER_SYNTHESIZER_H
#define DISTRIBUTED_TRAINING_GATHER_SYNTHESIZER_H

#include "ns3/topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** The transfer of a chunk from one rank to another in a synthesized all-gather. */
struct ChunkTransfer
{
    uint32_t chunk;  ///< number of the chunk; those of rank r begin at r * chunksPerRank
    uint32_t source; ///< rank that sends
    uint32_t target; ///< rank that receives
    uint64_t start;  ///< start, ps
    uint64_t end;    ///< arrival at the target, ps
    std::vector<uint32_t> links; ///< path: twice the index of a link, plus one from b to a
};

/** An all-gather to be synthesized. */
struct SynthesisRequest
{
    const TopologyGraph& topology;      ///< the network
    const std::vector<uint32_t>& hosts; ///< host of each rank; different ones
    uint32_t chunksPerRank;             ///< at least 1
    uint64_t chunkBytes;                ///< size of a chunk
    uint32_t runs;                      ///< attempts, of which the best is taken; at least 1
    uint32_t seed;                      ///< of the random numbers
};

/**
 * @ingroup distributed-training-collective
 *
 * Synthesizes an all-gather by a greedy match of chunks and links in the time-expanded network
 * (Won, Elavazhagan, Srinivasan, Gupta and Krishna, "TACOS: topology-aware collective algorithm
 * synthesizer for distributed machine learning", MICRO 2024). Whenever a transfer ends, each chunk
 * that a rank lacks and can get over free links is sent, in random order, on the path on which it
 * arrives first; ties are broken at random. A transfer lasts the delays of its links plus its bytes
 * at the rate of the slowest link, and occupies that rate on each of its links.
 *
 * As an extension of the paper, paths may lead through switches, but through no switch with ranks
 * other than those of the two ends.
 *
 * @param request all-gather to be synthesized
 * @return the transfers, sorted by start
 * @throw ConfigurationError if some rank cannot be reached
 */
std::vector<ChunkTransfer> SynthesizeAllGather(const SynthesisRequest& request);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GATHER_SYNTHESIZER_H
