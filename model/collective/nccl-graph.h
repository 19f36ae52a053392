/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NCCL_GRAPH_H
#define DISTRIBUTED_TRAINING_NCCL_GRAPH_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * A graph that NCCL has found for the GPUs of a server (NCCL_GRAPH_DUMP_FILE; nccl, src/graph/
 * search.cc).
 */
struct NcclGraph
{
    /** How servers are joined, and chains in them (nccl, src/include/graph.h). */
    enum Pattern : uint8_t
    {
        BALANCED_TREE = 1, ///< the first two GPUs of a chain share the traffic of other servers
        SPLIT_TREE = 2,    ///< the first GPU sends to other servers, the second one receives
        TREE = 3,          ///< the first GPU does both
        RING = 4           ///< each chain is a part of a ring
    };

    uint32_t pattern{RING}; ///< a Pattern
    bool alternates{false}; ///< in every other server, channels change places in pairs
    /// For each channel, the GPUs of the chain; they are numbered from 0 in the server.
    std::vector<std::vector<uint32_t>> channels;

    /** @return number of GPUs of the server */
    uint32_t GetGpus() const;

    /**
     * @param channel a channel
     * @param server a server
     * @return ranks of its chain; each server has as many
     */
    std::vector<uint32_t> GetChain(uint32_t channel, uint32_t server) const;
};

/**
 * @ingroup distributed-training-collective
 * @param path XML file
 * @param id 0: rings; 1: trees
 * @return the graph with this id
 * @throw ConfigurationError with the file and the element, if it is wrong or has no such graph
 */
NcclGraph ReadNcclGraph(const std::string& path, uint32_t id);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NCCL_GRAPH_H
