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
    uint32_t chunk;  ///< chunk number; chunks of rank r start at r * chunksPerRank
    uint32_t source; ///< sending rank
    uint32_t target; ///< receiving rank
    uint64_t start;  ///< start time, ps
    uint64_t end;    ///< arrival time at the target, ps
};

/** The path of a transfer: per link, 2 * link index, + 1 if from b to a. */
using TransferPath = std::vector<uint32_t>;

/** Work of a synthesis, for tests of its growth. */
struct SynthesisWork
{
    uint64_t visits{0};   ///< links looked at in searches for a path
    uint64_t words{0};    ///< words of 64 chunks looked at in searches for a chunk
    uint64_t attempts{0}; ///< times that a rank looked for a chunk that it can receive
};

/** Parameters of an all-gather to synthesize. */
struct SynthesisRequest
{
    const TopologyGraph& topology;      ///< the network
    const std::vector<uint32_t>& hosts; ///< host of each rank; distinct
    uint32_t chunksPerRank;             ///< chunks per rank, at least 1
    uint64_t chunkBytes;                ///< size of a chunk
    uint32_t runs;                      ///< number of attempts (best result wins), at least 1
    uint32_t seed;                      ///< random seed
    std::vector<TransferPath>* paths{nullptr}; ///< receives the path of each transfer, unless null
    SynthesisWork* work{nullptr};              ///< receives the work of all attempts, unless null
};

/**
 * @ingroup distributed-training-collective
 *
 * Synthesizes an all-gather by a greedy match of chunks and links in the time-expanded network
 * (Won, Elavazhagan, Srinivasan, Gupta and Krishna, "TACOS: topology-aware collective algorithm
 * synthesizer for distributed machine learning", MICRO 2024). Whenever a transfer ends, the missing
 * chunks that can be sent over free links are sent in random order, each on the path with the
 * earliest arrival; ties are broken at random. The duration of a transfer is the sum of the link
 * delays plus the transmission time at the rate of the slowest link. The transfer occupies that
 * rate on each of its links.
 *
 * The order is drawn step by step: a rank that can still receive, then one of its missing chunks. A
 * rank that finds none waits until a rank near it has a new chunk or a free link. So the number of
 * draws and searches is proportional to the number of transfers, not to that of missing chunks.
 *
 * As an extension of the paper, paths may pass through switches, except for switches with ranks
 * other than the switches of the two ends.
 *
 * @param request request all-gather to synthesize
 * @return the transfers, sorted by start
 * @throw ConfigurationError if some rank cannot be reached
 */
std::vector<ChunkTransfer> SynthesizeAllGather(const SynthesisRequest& request);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GATHER_SYNTHESIZER_H
