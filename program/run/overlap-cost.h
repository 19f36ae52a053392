/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_OVERLAP_COST_H
#define DISTRIBUTED_TRAINING_OVERLAP_COST_H

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What computations and the copies of collectives cost each other while both use a GPU: the thread
 * blocks of NCCL's channels take multiprocessors from matrix products, and both share the memory.
 */
struct OverlapCost
{
    /// Value of the option by which a host model of NCCL has the measured cost, others none.
    static constexpr const char* AUTOMATIC = "auto";
    static constexpr const char* NONE = "none"; ///< value of the option: no cost

    double compute{1}; ///< factor of the time of computations beside copies, at least 1
    double copies{1};  ///< factor of the time of copies beside computations, at least 1

    /** @return whether there is a cost */
    bool IsPaid() const
    {
        return compute > 1 || copies > 1;
    }

    /**
     * @param text auto, none, or compute=FACTOR,copies=FACTOR
     * @param hostModel a host model, with keys
     * @param isMeasured whether compute times were measured beside collectives, as in traces
     * @return the cost
     * @throw ConfigurationError if the text is wrong, or no host model copies
     */
    static OverlapCost Read(const std::string& text, const std::string& hostModel, bool isMeasured);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_OVERLAP_COST_H
