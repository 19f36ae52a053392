/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_FILES_OPTIONS_H
#define DISTRIBUTED_TRAINING_RUN_FILES_OPTIONS_H

#include "ns3/nstime.h"
#include "ns3/program-options.h"

#include <cstdint>
#include <set>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Files with what happens in a run, of every program that runs collectives.
 */
struct RunFilesOptions
{
    std::string results;    ///< SQLite results file; empty: none
    std::string trace;      ///< timeline file; empty: none
    std::string traceRanks; ///< ranks in it, such as 0-3,8; empty: all
    Time sample;            ///< interval of samples; 0: none, or chosen for the report
    std::string report;     ///< page that draws the run; empty: none

    /** @param options of a program, which receive the fields */
    void AddTo(ProgramOptions& options);

    /** @return whether there is a file */
    bool IsGiven() const;

    /**
     * @param ranks number of ranks
     * @return ranks in the timeline; empty: all
     * @throw ConfigurationError if they are malformed, or other fields are missing
     */
    std::set<uint32_t> Check(uint64_t ranks) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_FILES_OPTIONS_H
