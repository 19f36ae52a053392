/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LIFE_OPTIONS_H
#define DISTRIBUTED_TRAINING_LIFE_OPTIONS_H

#include "program-options.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Checkpoints and failures of a job that is simulated by packets.
 */
struct LifeOptions
{
    /// Value of `checkpoint`: there are none.
    static constexpr const char* NONE = "none";
    /// Value of `checkpoint`: training stands still until its state is stored.
    static constexpr const char* BLOCKING = "blocking";
    /// Value of `checkpoint`: training stands still for a copy, which is stored beside it.
    static constexpr const char* ASYNCHRONOUS = "asynchronous";
    /// Longest span of an option, s.
    static constexpr double MAX_SECONDS = 1e6;

    std::string checkpoint{NONE};        ///< none, blocking or asynchronous
    uint64_t every{1};                   ///< iterations from checkpoint to checkpoint
    uint64_t bytes{0};                   ///< of a checkpoint; 0: by the number of parameters
    uint64_t storageHosts{1};            ///< behind the hosts of the ranks; 0: each rank has a disk
    DataRate storageRate{20000000000};   ///< of a storage host, or of a disk
    DataRate snapshotRate{100000000000}; ///< of the copy of a rank
    std::string failures;                ///< a FailureLogEntry; empty: none
    std::vector<std::string> fail;       ///< TARGET:TIME, each a list with commas
    uint64_t spares{0};                  ///< nodes besides those of the job
    Time repair;                         ///< from a failure until the node is a spare
    Time detection;                      ///< from a failure until the job stops
    Time rendezvous;                     ///< of a restart, before checkpoints are loaded

    /**
     * Adds the fields as options of a program.
     * @param options of the program
     */
    void AddTo(ProgramOptions& options);

    /** @return what follows the target of a failure that is given: its time */
    static FirstValue GetFailureTime();

    /** @throw ConfigurationError if a value is out of range, or has no use with the others */
    void Check() const;

    /** @return whether there are checkpoints */
    bool HasCheckpoints() const
    {
        return checkpoint != NONE;
    }

    /** @return whether nodes may fail */
    bool HasFailures() const
    {
        return !failures.empty() || !fail.empty();
    }

    /** @return hosts that only store */
    uint64_t GetStorageHosts() const
    {
        return HasCheckpoints() ? storageHosts : 0;
    }

    /**
     * @param checkpointBytes size of a checkpoint
     * @return one line about checkpoints and failures; empty: there are none
     */
    std::string Describe(uint64_t checkpointBytes) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LIFE_OPTIONS_H
