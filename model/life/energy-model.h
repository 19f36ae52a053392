/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ENERGY_MODEL_H
#define DISTRIBUTED_TRAINING_ENERGY_MODEL_H

#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-life
 * Power of the parts of a cluster, and energy of bits that move.
 */
struct PowerFigures
{
    double server{0};     ///< W, of a server without GPUs, CPUs and NICs
    double gpuWaiting{0}; ///< W, of a GPU that does not compute
    double gpuActive{0};  ///< W, of a GPU that computes
    double cpuIdle{0};    ///< W, of the CPUs of a server with no collective in progress
    double cpuActive{0};  ///< W, of the CPUs of a server with a collective in progress
    double nic{0};        ///< W, of a NIC
    double switchIdle{0}; ///< W, of a switch
    double port{0};       ///< W, of a port of a switch with its transceiver
    double linkBit{0};    ///< pJ, for each bit on each link
    double switchBit{0};  ///< pJ, for each bit that a switch receives
    double memoryBit{0};  ///< pJ, for each bit that a NIC reads from a host's memory, or writes
    uint32_t gpus{1};     ///< GPUs of a server
};

/**
 * @ingroup distributed-training-life
 * Power figures with a source. Registers itself by Registry<PowerEntry>; each figure is a key.
 */
struct PowerEntry
{
    static constexpr const char* KIND = "power model"; ///< for messages
    std::string help;                                  ///< one line, with the source
    PowerFigures figures;                              ///< defaults of the keys
};

/**
 * @param entry of the registry
 * @return a key for each figure
 * @ingroup distributed-training-life
 */
std::vector<Key> GetKeys(const PowerEntry& entry);

/**
 * @ingroup distributed-training-life
 * @param text NAME:key=value,... of a PowerEntry
 * @return its figures
 * @throw ConfigurationError if the name is unknown or a key is invalid
 */
PowerFigures MakePowerFigures(const std::string& text);

/**
 * @ingroup distributed-training-life
 * What a cluster has done in a span of simulated time. Bits are those of frames with their headers
 * and preambles: acknowledgements, retransmissions, pauses, and frames that were lost later.
 */
struct ClusterActivity
{
    double seconds{0};           ///< length of the span
    uint32_t ranks{0};           ///< GPUs
    double computeSeconds{0};    ///< time in which GPUs compute, sum of all
    double collectiveSeconds{0}; ///< time with a collective in progress, sum of all ranks
    uint32_t nics{0};            ///< number
    uint32_t switches{0};        ///< number
    uint32_t ports{0};           ///< of switches
    double linkBits{0};          ///< sent, sum of all links
    double switchBits{0};        ///< received by switches, sum of all
    double memoryBits{0};        ///< sent and received by hosts
    double retransmittedPart{0}; ///< of the bits that hosts sent, 0 to 1
};

/**
 * @ingroup distributed-training-life
 * Energy by use, J.
 */
struct EnergyAccount
{
    double compute{0};         ///< GPUs that compute
    double waiting{0};         ///< GPUs that do not
    double hosts{0};           ///< servers, CPUs, NICs
    double switches{0};        ///< switches and their ports, with or without traffic
    double bits{0};            ///< bits on links, in switches and in memory
    double retransmissions{0}; ///< part of `bits` by ClusterActivity::retransmittedPart

    /** @return all together, J */
    double GetTotal() const;
};

/**
 * @ingroup distributed-training-life
 * @param figures of the parts
 * @param activity of the cluster
 * @return its energy
 */
EnergyAccount GetEnergy(const PowerFigures& figures, const ClusterActivity& activity);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ENERGY_MODEL_H
