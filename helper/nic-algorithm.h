/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_ALGORITHM_H
#define DISTRIBUTED_TRAINING_NIC_ALGORITHM_H

#include "cluster-options.h"

#include "ns3/nic-communicator.h"
#include "ns3/packet-planner.h"
#include "ns3/packet-size.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-fabric.h"
#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * A collective algorithm that engines in the NICs execute, named `NAME:key=value,...` in place of
 * one that hosts execute. Its keys are those of the algorithm and of NicCommunicator.
 */
struct NicAlgorithm
{
    static constexpr const char* KIND = "algorithm in NICs"; ///< for messages
    std::string help;                                        ///< one line
    std::string algorithm;                                   ///< name of the algorithm
    std::map<std::string, std::string> defaults{};           ///< of keys, where they differ
};

/** @return descriptions of the keys of an algorithm in NICs */
std::vector<Key> GetKeys(const NicAlgorithm& entry);

/** @return the operations of an algorithm in NICs */
std::vector<std::string> GetNotes(const NicAlgorithm& entry);

/**
 * @ingroup distributed-training-helper
 * @param algorithm NAME or NAME:key=value,...
 * @return whether it is a NicAlgorithm
 */
bool IsInNic(const std::string& algorithm);

/**
 * @ingroup distributed-training-helper
 * @param algorithm NAME:key=value,... of a NicAlgorithm
 * @return the collective algorithm that it executes, with its keys
 * @throw ConfigurationError if a key is invalid
 */
std::string GetAlgorithmOfNic(const std::string& algorithm);

/** Communicators of ranks whose collectives run in NICs. @ingroup distributed-training-helper */
struct NicCommunicators
{
    std::vector<Ptr<NicCommunicator>> ranks; ///< by rank
    std::shared_ptr<PacketPlanner> packets;  ///< their schedules
};

/**
 * @ingroup distributed-training-helper
 *
 * Creates the communicators of ranks whose collectives run in the NICs.
 *
 * @param options of the cluster, whose algorithm is a NicAlgorithm
 * @param attributes of the objects to create, which override keys
 * @param fabric of the ranks
 * @param hosts communicators of the ranks, for other operations
 * @param planner of schedules by messages
 * @param packet full packet of the transport
 * @param gain of a line's rate: rate of data over that of plain packets, more than 1 if NICs code
 * @param link rate of the slowest link between ranks, bit/s
 * @param notes receives what a reader of the results must know, by line
 * @return the communicators
 * @throw ConfigurationError if options do not go together
 */
NicCommunicators InstallInNics(const ClusterOptions& options,
                               const AttributeList& attributes,
                               const Fabric& fabric,
                               const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                               const ScheduledCommunicator::Planner& planner,
                               const PacketSize& packet,
                               const std::function<double(uint64_t rate)>& gain,
                               uint64_t link,
                               std::vector<std::string>& notes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_ALGORITHM_H
