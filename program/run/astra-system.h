/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ASTRA_SYSTEM_H
#define DISTRIBUTED_TRAINING_ASTRA_SYSTEM_H

#include "training-run-options.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::training
{

class ProgramOptions;

/**
 * @ingroup distributed-training-helper
 *
 * The system layer of ASTRA-sim 2: which algorithms collectives run, and what hosts take for them.
 * doc/formats.rst has the table of keys. The defaults are those of Sys.cc.
 */
struct AstraSystem
{
    std::string path; ///< of the file
    /// By operation, such as all-reduce: an algorithm of this module for each dimension, or one for
    /// all ranks.
    std::map<std::string, std::vector<std::string>> algorithms;
    std::map<std::string, bool> isFlat;   ///< by operation: its algorithm is for all ranks
    std::string order{"fifo"};            ///< of waiting collectives, a CollectiveOrder
    std::string optimization{"baseline"}; ///< key of the algorithm per-dimension
    uint64_t splits{1};                   ///< parts of a collective
    uint64_t active{1};                   ///< parts at a time
    Time endpointDelay{NanoSeconds(10)};  ///< of a message
    double memory{0};                     ///< bandwidth of a GPU's memory, byte/s; 0: unlimited
    double peak{0};                       ///< of a GPU, operations/s
    bool hasRoofline{false};              ///< compute times follow from memory and peak
    std::vector<std::string> problems;    ///< keys that were left out, one line each

    /**
     * @param sizes of the dimensions of the network; empty: unknown
     * @return the algorithm per-dimension, with its keys
     * @throw ConfigurationError if there is not an algorithm for each dimension
     */
    std::string MakeCollective(const std::vector<uint32_t>& sizes) const;

    /**
     * Sets options that the user has not given.
     * @param given the command line
     * @param job options of the run
     * @throw ConfigurationError if the system does not suit the network or the workload
     */
    void ApplyTo(const ProgramOptions& given, TrainingRunOptions& job) const;
};

/**
 * @ingroup distributed-training-helper
 * @param path JSON file of the system layer
 * @param lenient keys that mean nothing here are counted rather than refused
 * @return the system
 * @throw ConfigurationError with the file, the key and its value, if it is wrong
 */
AstraSystem ReadAstraSystem(const std::string& path, bool lenient);

/**
 * @ingroup distributed-training-helper
 * @param topology as --topology has it
 * @return NPUs of each dimension of a network of ASTRA-sim 2, innermost first; empty for others
 * @throw ConfigurationError if its file is wrong
 */
std::vector<uint32_t> GetAstraSizes(const std::string& topology);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ASTRA_SYSTEM_H
