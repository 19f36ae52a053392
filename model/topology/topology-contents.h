/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TOPOLOGY_CONTENTS_H
#define DISTRIBUTED_TRAINING_TOPOLOGY_CONTENTS_H

#include "topology-graph.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * A link of a file, with the node numbers of the file.
 */
struct FileLink
{
    TopologyGraph::Link link; ///< of nodes of the file
    std::size_t line{1};      ///< line number in the file
};

/**
 * @ingroup distributed-training-fabric
 * The contents of a file.
 */
struct FileContents
{
    uint32_t nodes{0};                     ///< number of nodes
    std::vector<bool> isSwitch;            ///< by node
    std::vector<uint32_t> scaleUpSwitches; ///< switches that join the GPUs of a server
    bool isExport{false};                  ///< a graph as it was: those switches stay what they are
    TopologyShape shape;                   ///< properties
    bool hostsForward{false};              ///< whether hosts with several links forward
    uint64_t hostFactor{
        1}; ///< rate between a forwarding host and its router over that of its links
    std::vector<FileLink> links; ///< in the order of the file
};

/**
 * @ingroup distributed-training-fabric
 * Numbers the nodes of a file: hosts in their order, and then switches. A host with a link to
 * another host forwards, so it gets a router; FileContents::hostsForward adds others.
 * @param contents of the file
 * @param graph empty; gets hosts, switches, links and properties
 */
void BuildFromContents(const FileContents& contents, TopologyGraph& graph);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TOPOLOGY_CONTENTS_H
