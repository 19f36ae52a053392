/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHAKRA_GROUPS_H
#define DISTRIBUTED_TRAINING_CHAKRA_GROUPS_H

#include "formats/chakra-trace.h"
#include "formats/workload-format.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 * The groups of ranks of a trace of Chakra, by name.
 */
class ChakraGroups
{
  public:
    /**
     * @param ranks of the job
     * @param lenient groups that are not defined are all ranks
     * @param problems counts these; outlives this
     */
    ChakraGroups(uint32_t ranks, bool lenient, FormatProblems& problems);

    /**
     * @param path JSON file of an object: lists of ranks by name
     * @throw ConfigurationError if it is wrong
     */
    void ReadFile(const std::string& path);

    /**
     * Traces of PyTorch list their process groups in a node of metadata.
     * @param nodes of a rank
     * @param path of its trace, for messages
     * @throw ConfigurationError if a list is malformed
     */
    void ReadNodes(const std::vector<ChakraNode>& nodes, const std::string& path);

    /** @return whether no group is defined */
    bool IsEmpty() const
    {
        return m_groups.empty();
    }

    /**
     * @param node a collective
     * @param where the node, for messages
     * @return ranks of its group
     * @throw ConfigurationError if it is not defined, or has a rank that the job has not
     */
    std::vector<uint32_t> Get(const ChakraNode& node, const std::string& where);

    /**
     * @param node a collective, which may be of some dimensions of the network only
     * @param network ranks of each dimension; empty: not known
     * @param where the node, for messages
     * @return those of the node, and 1 for the others; empty if all count, or the node has a group
     * @throw ConfigurationError if its list is not one of the network
     */
    std::vector<uint32_t> GetDimensions(const ChakraNode& node,
                                        const std::vector<uint32_t>& network,
                                        const std::string& where);

  private:
    std::vector<uint32_t> MakeAll() const;

    uint32_t m_ranks;
    bool m_isLenient;
    FormatProblems& m_problems;
    std::map<std::string, std::vector<uint32_t>> m_groups;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHAKRA_GROUPS_H
