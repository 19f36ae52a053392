/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GATHER_SYNTHESIZER_H
#define DISTRIBUTED_TRAINING_GATHER_SYNTHESIZER_H

#include "ns3/topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** A chunk's way from one rank to another in a synthesized all-gather. */
struct ChunkTransfer
{
    uint32_t chunk;              ///< number of the chunk; those of rank r are r * chunksPerRank on
    uint32_t source;             ///< rank that sends
    uint32_t target;             ///< rank that receives
    uint64_t start;              ///< ps from the beginning
    uint64_t end;                ///< when the target has it, ps from the beginning
    std::vector<uint32_t> links; ///< on the way: twice the link's index, one more from b to a
};

/** What to synthesize. */
struct SynthesisRequest
{
    const TopologyGraph& topology;      ///< the network
    const std::vector<uint32_t>& hosts; ///< host of each rank; different ones
    uint32_t chunksPerRank;             ///< at least 1
    uint64_t chunkBytes;                ///< size of a chunk
    uint32_t runs;                      ///< the best of so many is taken, at least 1
    uint32_t seed;                      ///< of the random numbers
};

/**
 * @ingroup distributed-training-collective
 *
 * An all-gather made for the network by a greedy match of chunks and links in the time-expanded
 * network (Won, Elavazhagan, Srinivasan, Gupta and Krishna, "TACOS: topology-aware collective
 * algorithm synthesizer for distributed machine learning", MICRO 2024): whenever a transfer ends,
 * in random order each chunk that a rank lacks and can have from a rank over free links is sent
 * the way it arrives first, ties being drawn by lot. A transfer takes the delays of its links and
 * its bytes at the rate of the slowest one, and for that long this much of the rate of each of
 * its links.
 *
 * Beyond the paper's, links may lead over switches; a way leads past no switch that ranks are on,
 * except for those of its ends.
 *
 * @param request what to synthesize
 * @return the transfers by start
 * @throw ConfigurationError if some rank cannot be reached
 */
std::vector<ChunkTransfer> SynthesizeAllGather(const SynthesisRequest& request);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GATHER_SYNTHESIZER_H
