/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FLOW_FILE_H
#define DISTRIBUTED_TRAINING_FLOW_FILE_H

#include "flow-pattern.h"

#include "ns3/nstime.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** A flow of a flow file. @ingroup distributed-training-traffic */
struct ListedFlow
{
    HostPair ends;       ///< its hosts
    uint64_t bytes;      ///< its size
    Time start;          ///< simulated time of its start
    uint8_t priority{3}; ///< its priority group: the traffic class of its packets with RDMA
};

/// Maximum number of flows in a flow file.
constexpr std::size_t MAX_LISTED_FLOWS = std::size_t{1} << 23;
/// Maximum start of a flow in a flow file, s.
constexpr double MAX_FLOW_START = 1e6;

/**
 * @ingroup distributed-training-traffic
 *
 * Reads flows in the format of HPCC's simulator (Li et al., SIGCOMM 2019; flow.txt): the number of
 * flows, then a line `source destination priority port bytes start` for each, with hosts from 0 and
 * the start in seconds, or without the port, as in ConWeave's. All flows have the same port, as
 * those of RoCEv2. Empty lines, and what follows '#', are skipped; further columns and lines are
 * ignored, which InputManifest counts.
 * @param path the file
 * @param hosts number of hosts
 * @param nodes numbers that stand for hosts in the file, by host; empty: those of the hosts
 * @return the flows by rising start; flows of one start in the order of the file
 * @throw ConfigurationError with file and line
 */
std::vector<ListedFlow> ReadFlowFile(const std::string& path,
                                     uint32_t hosts,
                                     const std::vector<uint32_t>& nodes = {});

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FLOW_FILE_H
